//! Fields of JSON and CSV. Counts are strings, since they pass 2^53 from n = 26 on; times are
//! seconds.

use std::time::Duration;

use serde::Serializer;

/// Seconds to the microsecond: more digits are noise.
pub(crate) fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

pub(crate) fn seconds(time: Duration) -> f64 {
    microseconds(time.as_secs_f64())
}

pub(crate) fn as_string<S: Serializer>(value: &impl ToString, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&value.to_string())
}
