//! Numbers, sizes and durations for people, and as fields of JSON and CSV.
//!
//! In JSON, counts are strings, since they pass 2^53 from n = 26 on, and times are seconds.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use crate::forecast::Approximate;
use crate::machine::date::date_and_time;
use crate::numbers::{add_number, text_of_ranges};

/// Returns a time in the unit that suits it, with three figures or to a tenth of a second: `446 µs`, `190 ms`, `2.8 s`,
/// `1m27s`, `3h40m`, `2d07h`, `226d`, `5.2 years`.
#[expect(clippy::cast_possible_truncation, reason = "less than 400 days")]
pub(crate) fn time(seconds: f64) -> String {
    // Rounded first, because 999.9 ms are a second.
    let seconds = if seconds < 60.0 { rounded_to_figures(seconds, 3) } else { seconds };
    let whole = seconds as u64;
    let years = seconds / (365.25 * 86_400.0);
    match seconds {
        ..5e-8 => "0 s".to_owned(),
        ..1e-3 => with_unit(1e6 * seconds, "µs"),
        ..1.0 => with_unit(1e3 * seconds, "ms"),
        ..60.0 => with_unit(seconds, "s"),
        ..3600.0 => format!("{}m{:02}s", whole / 60, whole % 60),
        ..86_400.0 => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
        ..864_000.0 => format!("{}d{:02}h", whole / 86_400, whole / 3600 % 24),
        ..34_560_000.0 => format!("{}d", whole / 86_400),
        _ => format!("{} years", figures(years, 2)),
    }
}

/// Returns a number below 1000 with its unit. Below 100 it has one decimal.
fn with_unit(number: f64, unit: &str) -> String {
    if number < 99.95 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

/// Returns a measured time in the unit that suits it.
pub(crate) fn duration(time: Duration) -> String {
    self::time(time.as_secs_f64())
}

/// Returns an expected time with its interval of 95 %. If the interval would begin below zero, only its upper end is
/// given. A time whose error is unknown has `roughly` in front of it.
pub(crate) fn expected(Approximate { value, standard_error, .. }: Approximate) -> String {
    if !standard_error.is_finite() {
        return format!("roughly {}", time(value));
    }
    if standard_error == 0.0 {
        return time(value);
    }
    let error = 2.0 * standard_error;
    if value < error {
        // No time is below zero.
        return format!("{} (at most {})", time(value), time(value + error));
    }
    if (1.0..60.0).contains(&value) && error < 60.0 {
        // Both in seconds, with one decimal.
        return format!("{value:.1} s ± {error:.1} s");
    }
    format!("{} ± {}", time(value), time(rounded_to_figures(error, 2)))
}

/// Returns an expected wall time with its interval. If other programs took a part of the CPUs, or there are fewer CPUs
/// than threads, it says how many CPUs the threads got: `20h00m ± 2h00m (2 threads got 1.2 CPUs)`.
pub(crate) fn wall_time(seconds: Approximate, threads: usize, cores: Option<f64>) -> String {
    let mut text = expected(seconds);
    if let Some(cores) = fewer_cores(threads, cores) {
        text += &format!(" ({cores})");
    }
    text
}

/// Returns how many CPUs the threads got, if they are fewer than the threads: `2 threads got 1.2 CPUs`.
pub(crate) fn fewer_cores(threads: usize, cores: Option<f64>) -> Option<String> {
    let cores = cores?;
    // A quiet machine has programs of its own, too.
    let is_short = cores < 0.95 * threads as f64;
    is_short.then(|| format!("{} got {cores:.1} CPUs", many(threads, "thread")))
}

/// Returns the sum of times, or the longest possible time if the sum is longer.
pub(crate) fn sum(times: impl Iterator<Item = Duration>) -> Duration {
    times.fold(Duration::ZERO, Duration::saturating_add)
}

/// Returns a number rounded to this many figures: `2650`, `44.7`, `0.0340`, `1.2e-6`, `5.4e4`. Zero is `0`.
#[expect(clippy::cast_possible_truncation, reason = "a dozen decimals at most")]
pub(crate) fn figures(number: f64, figures: usize) -> String {
    let number = rounded_to_figures(number, figures);
    match number {
        0.0 => "0".to_owned(),
        ..0.001 | 1e4.. => format!("{number:.1e}"),
        _ => {
            let before_point = number.log10().floor() as i64 + 1;
            let decimals = (figures as i64 - before_point).max(0) as usize;
            format!("{number:.decimals$}")
        }
    }
}

/// Rounds a number to this many figures.
pub(crate) fn rounded_to_figures(number: f64, figures: usize) -> f64 {
    format!("{number:.*e}", figures - 1).parse().unwrap_or(number)
}

/// Rounds a number to this many decimals.
pub(crate) fn rounded(number: f64, decimals: i32) -> f64 {
    let one = 10_f64.powi(decimals);
    (number * one).round() / one
}

/// Returns seconds for JSON, to the microsecond.
pub(crate) fn json_seconds(time: Duration) -> f64 {
    rounded(time.as_secs_f64(), 6)
}

/// Returns a number with its noun: `1 unit`, `2602198 units`.
pub(crate) fn many(number: usize, singular: &str) -> String {
    if number == 1 { format!("1 {singular}") } else { format!("{number} {singular}s") }
}

/// Returns how much is done, in percent with two decimals. It is rounded down, because what is missing must not be
/// rounded away, so only the whole is `100`.
pub(crate) fn percent(done: u128, all: u128) -> String {
    if done == all {
        return "100".to_owned();
    }
    let hundredths = 10_000 * done / all;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Returns a date like `2026-11-22 05:45:12 UTC`.
pub(crate) fn utc(time: SystemTime) -> String {
    let (date, time) = date_and_time(time);
    format!("{date} {time} UTC")
}

/// Returns shards as `--shard` takes them: `shards 3/10, 7/10 to 9/10`.
pub(crate) fn shards_text(indices: &[usize], shards: usize) -> String {
    let shard = if indices.len() == 1 { "shard" } else { "shards" };
    let mut parts = Vec::new();
    for range in ranges_of(indices) {
        let (first, last) = range.into_inner();
        parts.push(match last - first {
            0 => format!("{first}/{shards}"),
            _ => format!("{first}/{shards} to {last}/{shards}"),
        });
    }
    format!("{shard} {}", parts.join(", "))
}

/// Returns numbers in increasing order as a job array is written: `3,7-9`.
pub(crate) fn ranges(numbers: &[usize]) -> String {
    text_of_ranges(&ranges_of(numbers))
}

/// Returns the ranges that numbers in increasing order make.
pub(crate) fn ranges_of(numbers: &[usize]) -> Vec<RangeInclusive<usize>> {
    let mut ranges = Vec::new();
    for number in numbers {
        add_number(&mut ranges, *number);
    }
    ranges
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
    fn times_are_short_at_every_size() {
        for (seconds, text) in [
            (-1.0, "0 s"),
            (0.0, "0 s"),
            (7e-7, "0.7 µs"),
            (9.9e-5, "99.0 µs"),
            (1e-4, "100 µs"),
            (4.457e-4, "446 µs"),
            (9.9996e-4, "1.0 ms"),
            (0.0552, "55.2 ms"),
            (0.19, "190 ms"),
            (0.9996, "1.0 s"),
            (2.84, "2.8 s"),
            (59.94, "59.9 s"),
            (59.96, "1m00s"),
            (87.0, "1m27s"),
            (3599.0, "59m59s"),
            (13_200.0, "3h40m"),
            (90_000.0, "1d01h"),
            (19_526_400.0, "226d"),
            (1.6e8, "5.1 years"),
            (3.16e10, "1000 years"),
            (1e17, "3.2e9 years"),
            (1e40, "3.2e32 years"),
        ] {
            assert_eq!(time(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn an_expected_time_has_an_interval() {
        let left = |value, standard_error| expected(Approximate { value, standard_error });
        assert_eq!(left(0.0, 0.0), "0 s");
        assert_eq!(left(0.3, 0.6), "300 ms (at most 1.5 s)");
        assert_eq!(left(0.3, f64::INFINITY), "roughly 300 ms");
        assert_eq!(left(3.0, 0.333), "3.0 s ± 0.7 s");
        assert_eq!(left(107.0, 55.0), "1m47s (at most 3m37s)");
        let seconds = Approximate { value: 97_200.0, standard_error: 3600.0 };
        assert_eq!(wall_time(seconds, 2, Some(1.96)), "1d03h ± 2h00m");
        assert_eq!(wall_time(seconds, 2, Some(1.23)), "1d03h ± 2h00m (2 threads got 1.2 CPUs)");
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        let texts = [3, 325, 46_508, 123_456_789].map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66.66", "99.69", "99.99", "99.99"]);
        assert_eq!([percent(325, 325), percent(0, 9), percent(0, 0)], ["100", "0.00", "100"]);
    }

    #[test]
    fn any_time_of_a_file_is_written() {
        let after_1970 = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let dates = [1_795_326_312, i64::MAX as u64].map(|seconds| utc(after_1970(seconds)));
        assert_eq!(dates, ["2026-11-22 05:45:12 UTC", "1970-01-01 00:00:00 UTC"]);
    }

    #[test]
    fn missing_shards_are_written_as_they_are_typed_and_as_job_arrays() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1]), "0-1");
        assert_eq!(ranges(&[3, 7, 8, 9, 99]), "3,7-9,99");
        assert_eq!(shards_text(&[3, 7, 8, 9, 99], 100), "shards 3/100, 7/100 to 9/100, 99/100");
        assert_eq!(shards_text(&[3], 100), "shard 3/100");
    }
}
