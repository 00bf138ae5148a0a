//! Durations, shards and numbers of things in words; long words shortened.

use std::time::Duration;

use nqueens::Shard;

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

/// Seconds as a duration: 0 if they are negative, the longest if they are too many.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// All of these times together, or the longest time if they are more.
pub(crate) fn sum(times: impl Iterator<Item = Duration>) -> Duration {
    times.fold(Duration::ZERO, Duration::saturating_add)
}

/// A number with one decimal or, if it is less than 1, with two figures: `44.7`, `0.034`, `0`.
#[expect(clippy::cast_possible_truncation, reason = "a dozen decimals at most")]
pub(crate) fn figures(number: f64) -> String {
    if number >= 1.0 {
        return format!("{number:.1}");
    }
    // The decimals down to the second figure; beyond these, nobody counts.
    let decimals = (1.0 - number.max(1e-12).log10().floor()) as usize;
    if number > 0.0 { format!("{number:.decimals$}") } else { "0".to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_times_has_a_limit() {
        let times = [Duration::MAX, Duration::from_secs(1)];
        assert_eq!(sum(times.into_iter()), Duration::MAX);
    }

    #[test]
    fn small_numbers_keep_two_figures() {
        let texts = [0.0, 1.1e-4, 0.034, 0.5, 1.0, 44.66, 2650.7].map(figures);
        assert_eq!(texts, ["0", "0.00011", "0.034", "0.50", "1.0", "44.7", "2650.7"]);
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
    fn durations_are_short() {
        let texts = [-1.0, 0.04, 59.94, 61.0, 3599.0, 3600.0, 90_000.0]
            .map(|number| duration(seconds(number)));
        assert_eq!(texts, ["0.0s", "0.0s", "59.9s", "1m01s", "59m59s", "1h00m", "1d01h"]);
    }
}
