//! What stands in JSON and CSV: counts as strings, since they pass 2^53 from n = 26 on.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

/// Writes an object as one line.
pub(super) fn write_json(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    writeln!(out)
}

/// Seconds to the microsecond: more digits are noise.
pub(super) fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

pub(super) fn as_string<S: Serializer>(
    value: &impl ToString,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

pub(super) fn as_string_or_null<S: Serializer>(
    value: &Option<u128>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => as_string(value, serializer),
        None => serializer.serialize_none(),
    }
}
