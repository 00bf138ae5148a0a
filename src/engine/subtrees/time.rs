//! The approximate time that the engine takes: the alternative for those who lack the memory for
//! others.

use crate::board::known::known;
use crate::board::size::BoardSize;

/// How long this engine takes with its fastest kernel, as `570 core-hours`.
pub(crate) fn expected_time(n: u32) -> String {
    let hours = core_hours(n);
    match hours {
        ..1.0 => "an hour of one core or less".to_owned(),
        ..20_000.0 => format!("{} core-hours", two_digits(hours)),
        _ => format!("{} core-years", two_digits(hours / 8766.0)),
    }
}

/// How long this engine takes with its fastest kernel.
pub(crate) fn core_hours(n: u32) -> f64 {
    // Measured: 7.6 ns at n = 16 and 17, 7.9 at 18, 8.0 at 19. Beyond that it is a guess.
    let nanoseconds = 8.0 + 0.15 * (f64::from(n) - 19.0);
    solutions(n) * nanoseconds / 1e9 / 3600.0
}

/// The published number of solutions; beyond the table, the last one grows as Simkin's leading term
/// (0.143 n)^n does.
fn solutions(n: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let published = |n| BoardSize::new(n).ok().and_then(|n| known(n).total).map(|q| q as f64);
    let simkin = |n: u32| (0.143 * f64::from(n)).powf(n.into());
    let extended = || {
        let last = (0..n).rev().find(|&n| published(n).is_some()).unwrap_or(0);
        published(last).unwrap_or(1.0) * simkin(n) / simkin(last)
    };
    published(n).unwrap_or_else(extended)
}

fn two_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0).max(1.0);
    (number / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rise_with_the_board() {
        let times = [14, 20, 22, 27, 32].map(expected_time);
        let expected = [
            "an hour of one core or less",
            "an hour of one core or less",
            "6 core-hours",
            "68 core-years",
            "15000000 core-years",
        ];
        assert_eq!(times, expected);
    }
}
