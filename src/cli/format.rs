//! Numbers, sizes and durations for people, and as fields of JSON and CSV; long words shortened.
//!
//! In JSON, counts are strings, since they pass 2^53 from n = 26 on, and times are seconds.

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use nqueens::Shard;
use nqueens::forecast::Approximate;
use serde::Serializer;

/// A duration in the units that suit it: `1.5s`, `12m05s`, `3h40m`, `2d07h`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1}s", duration.as_secs_f64()),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A measured time to three figures, in the unit that suits it: `0.432 ms`, `12.3 s`, `1h02m`.
pub(crate) fn measured(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds @ ..0.1 => format!("{} ms", figures(1000.0 * seconds, 3)),
        seconds @ ..60.0 => format!("{} s", figures(seconds, 3)),
        _ => duration(time),
    }
}

/// A time that may be longer than anything: from 400 days on in years, as `5.2 years` or `1.3e9 years`.
pub(crate) fn long_time(time: f64) -> String {
    let days = time / 86_400.0;
    let years = days / 365.25;
    match days {
        ..400.0 => duration(seconds(time)),
        ..40_000.0 => format!("{years:.1} years"),
        _ => format!("{} years", scientific(years, 1)),
    }
}

/// An expected time and its interval of 95 %, or what it is roughly, if nobody can say how exact that is.
pub(crate) fn expected(time: Approximate) -> String {
    let Approximate { value, standard_error, .. } = time;
    match standard_error.is_finite() {
        true => format!("{} ± {}", long_time(value), long_time(2.0 * standard_error)),
        false => format!("roughly {}", long_time(value)),
    }
}

/// Seconds as a duration: 0 if they are negative, the longest if they are too many.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// All of these times together, or the longest time if they are more.
pub(crate) fn sum(times: impl Iterator<Item = Duration>) -> Duration {
    times.fold(Duration::ZERO, Duration::saturating_add)
}

/// A rough CPU time to two figures: `570 core-hours`, `68 core-years`.
pub(crate) fn core_time(hours: f64) -> String {
    match hours {
        ..1.0 => "an hour of one core or less".to_owned(),
        ..100_000.0 => format!("{} core-hours", figures(hours, 2)),
        _ => format!("{} core-years", figures(hours / 8766.0, 2)),
    }
}

/// A number with so many figures: `2650`, `44.7`, `0.0340`, `1.2e-6`; nothing is `0`.
#[expect(clippy::cast_possible_truncation, reason = "a dozen decimals at most")]
pub(crate) fn figures(number: f64, figures: usize) -> String {
    let number = rounded_to_figures(number, figures);
    match number {
        0.0 => "0".to_owned(),
        ..0.001 => format!("{number:.1e}"),
        _ => {
            let before_point = number.log10().floor() as i64 + 1;
            let decimals = (figures as i64 - before_point).max(0) as usize;
            format!("{number:.decimals$}")
        }
    }
}

/// A whole number in groups of three digits: `2 602 198`, with narrow spaces that do not break.
pub(crate) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join("\u{202f}")
}

/// More figures are noise.
pub(crate) fn rounded_to_figures(number: f64, figures: usize) -> f64 {
    format!("{number:.*e}", figures - 1).parse().unwrap_or(number)
}

/// More decimals are noise.
pub(crate) fn rounded(number: f64, decimals: i32) -> f64 {
    let one = 10_f64.powi(decimals);
    (number * one).round() / one
}

/// Seconds in JSON, to the microsecond.
pub(crate) fn json_seconds(time: Duration) -> f64 {
    rounded(time.as_secs_f64(), 6)
}

/// A field that is a string in JSON and CSV.
pub(crate) fn as_string<S: Serializer>(value: &impl ToString, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&value.to_string())
}

/// Seconds with as many decimals as eight characters have room for, six at most.
pub(crate) fn eight_places(seconds: f64) -> String {
    let digits = seconds.trunc().to_string().len();
    format!("{seconds:.*}", 7usize.saturating_sub(digits))
}

/// A number of many digits with so many decimals: `4.97e9`; short ones are written out.
pub(crate) fn scientific(number: f64, decimals: usize) -> String {
    if number < 1e5 { format!("{number:.0}") } else { format!("{number:.decimals$e}") }
}

/// `1 unit`, `2 units`.
pub(crate) fn many(number: usize, singular: &str) -> String {
    format!("{number} {singular}{}", if number == 1 { "" } else { "s" })
}

/// A text without what it has beyond so many characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() {
        all if all > most => {
            format!("{}... ({all} characters)", text.chars().take(most).collect::<String>())
        }
        _ => text.to_owned(),
    }
}

/// A text whose longest words are shortened.
pub(crate) fn with_short_words(text: &str, most: usize) -> String {
    text.split(' ').map(|word| shortened(word, most)).collect::<Vec<_>>().join(" ")
}

/// `shard 2 (of 0..=9)`.
pub(crate) fn shard(shard: Shard) -> String {
    format!("shard {} (of 0..={})", shard.index(), shard.shards() - 1)
}

/// As `2026-11-22 05:45:12 UTC`; 1970 for a time that no calendar has, since files tell any time.
pub(crate) fn utc(time: SystemTime) -> String {
    Timestamp::try_from(time).unwrap_or_default().strftime("%F %T UTC").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn a_sum_of_times_has_a_limit() {
        let times = [Duration::MAX, Duration::from_secs(1)];
        assert_eq!(sum(times.into_iter()), Duration::MAX);
    }

    #[test]
    fn numbers_have_so_many_figures() {
        let texts = [0.0, 1.23e-6, 0.034, 0.5, 1.0, 9.996, 44.66, 99.9, 100.0, 2650.7]
            .map(|number| figures(number, 3));
        let expected =
            ["0", "1.2e-6", "0.0340", "0.500", "1.00", "10.0", "44.7", "99.9", "100", "2650"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn seconds_have_room_for_eight_characters() {
        let seconds =
            [1.5e-6, 0.004_042, 9.5, 59.123_456_7, 512.345_678, 123_456.7].map(eight_places);
        let expected = ["0.000002", "0.004042", "9.500000", "59.12346", "512.3457", "123456.7"];
        assert_eq!(seconds, expected);
    }

    #[test]
    fn cpu_times_have_two_figures() {
        let texts = [0.1, 6.3, 92_000.0, 6e5, 1.3e11].map(core_time);
        let expected = [
            "an hour of one core or less",
            "6.3 core-hours",
            "92000 core-hours",
            "68 core-years",
            "15000000 core-years",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn long_times_are_years() {
        let texts = [-1.0, 7.25, 3e7, 1.6e8, 3.16e10, 1e17, 1e40].map(long_time);
        let expected = ["0.0s", "7.2s", "347d05h", "5.1 years", "1001 years", "3.2e9 years"];
        assert_eq!(texts[..6], expected);
        assert_eq!(texts[6], "3.2e32 years");
    }

    #[test]
    fn long_numbers_are_short() {
        let texts = [0.0, 92.0, 99_999.0, 4_968_057_848.0].map(|number| scientific(number, 2));
        assert_eq!(texts, ["0", "92", "99999", "4.97e9"]);
    }

    #[test]
    fn long_numbers_are_grouped() {
        let numbers = [0, 12, 123, 1234, 2_602_198].map(grouped);
        let expected = ["0", "12", "123", "1_234", "2_602_198"];
        assert_eq!(numbers, expected.map(|text| text.replace('_', "\u{202f}")));
    }

    #[test]
    fn durations_are_short() {
        let texts = [-1.0, 0.04, 59.94, 61.0, 3599.0, 3600.0, 90_000.0]
            .map(|number| duration(seconds(number)));
        assert_eq!(texts, ["0.0s", "0.0s", "59.9s", "1m01s", "59m59s", "1h00m", "1d01h"]);
    }

    #[test]
    fn measured_times_have_three_figures_and_a_unit() {
        let texts = [0.0, 4.32e-4, 0.0552, 0.1, 0.6996, 12.34, 59.96, 60.0, 3720.0]
            .map(|number| measured(seconds(number)));
        let expected = [
            "0 ms", "0.432 ms", "55.2 ms", "0.100 s", "0.700 s", "12.3 s", "60.0 s", "1m00s",
            "1h02m",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn any_time_of_a_file_is_written() {
        let after_1970 = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let dates = [1_795_326_312, i64::MAX as u64].map(|seconds| utc(after_1970(seconds)));
        assert_eq!(dates, ["2026-11-22 05:45:12 UTC", "1970-01-01 00:00:00 UTC"]);
    }
}
