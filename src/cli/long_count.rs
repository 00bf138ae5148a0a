//! A line before a long count: what it takes, and how it can be resumed.

use std::io::{self, IsTerminal};

use nqueens::forecast::rough_core_hours;
use nqueens::{Kernel, Start};

/// A shorter count needs no journal.
const LONG_HOURS: f64 = 1.0 / 6.0;
/// Nobody means to wait for a longer one, so it is told wherever standard error goes.
const HOPELESS_HOURS: f64 = 30.0 * 24.0;

/// A count that may be long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongCount {
    pub(crate) kernel: Kernel,
    pub(crate) has_journal: bool,
}

impl LongCount {
    /// The line, if one is due.
    #[expect(clippy::cast_precision_loss, reason = "a rough time")]
    pub(crate) fn warning(self, start: &Start<'_>) -> Option<String> {
        let Start { plan, units, units_done, threads, .. } = *start;
        let left = (units - units_done) as f64 / plan.units() as f64;
        let core_hours = left * rough_core_hours(plan.size(), plan.engine(), self.kernel);
        // More threads than cores count no faster.
        let hours = core_hours / threads.min(num_cpus::get()) as f64;
        self.text(plan.size().get(), core_hours, hours, io::stderr().is_terminal())
    }

    fn text(self, n: u32, core_hours: f64, hours: f64, is_terminal: bool) -> Option<String> {
        let time = rough_time(hours);
        match self.has_journal {
            _ if hours >= HOPELESS_HOURS => Some(format!(
                "n = {n} takes about {} core-hours, here {time}: 'nqueens shard' counts on many \
                 machines{}",
                two_digits(core_hours),
                if self.has_journal { "" } else { ", --journal FILE makes a count resumable" }
            )),
            false if hours >= LONG_HOURS && is_terminal => {
                Some(format!("n = {n} takes about {time} here; --journal FILE makes it resumable"))
            }
            _ => None,
        }
    }
}

/// A time to two digits, in the unit that suits it.
fn rough_time(hours: f64) -> String {
    let (number, unit) = match hours {
        ..1.0 => (hours * 60.0, "minutes"),
        ..48.0 => (hours, "hours"),
        ..9600.0 => (hours / 24.0, "days"),
        _ => (hours / 8766.0, "years"),
    };
    format!("{} {unit}", two_digits(number))
}

fn two_digits(number: f64) -> String {
    if number < 10.0 {
        return format!("{number:.1}");
    }
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    format!("{:.0}", (number / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHOUT: LongCount = LongCount { kernel: Kernel::Portable, has_journal: false };
    const WITH: LongCount = LongCount { has_journal: true, ..WITHOUT };

    #[test]
    fn a_count_of_hours_is_told_on_a_terminal_if_it_has_no_journal() {
        let expected = "n = 23 takes about 1.2 hours here; --journal FILE makes it resumable";
        assert_eq!(WITHOUT.text(23, 2.3, 1.17, true).as_deref(), Some(expected));
        assert_eq!(WITHOUT.text(23, 2.3, 1.17, false), None);
        assert_eq!(WITHOUT.text(22, 0.26, 0.13, true), None);
        assert_eq!(WITH.text(23, 2.3, 1.17, true), None);
    }

    #[test]
    fn a_count_of_years_is_always_told() {
        let expected = "n = 28 takes about 92000 core-hours, here 5.2 years: 'nqueens shard' counts \
                        on many machines";
        assert_eq!(WITH.text(28, 92_000.0, 46_000.0, false).as_deref(), Some(expected));
        let text = WITHOUT.text(28, 92_000.0, 46_000.0, false).expect("a line");
        assert_eq!(text, format!("{expected}, --journal FILE makes a count resumable"));
    }

    #[test]
    fn times_have_two_digits() {
        let texts = [0.1833, 1.17, 23.4, 170.0, 46_000.0, 8e9].map(rough_time);
        let expected =
            ["11 minutes", "1.2 hours", "23 hours", "7.1 days", "5.2 years", "910000 years"];
        assert_eq!(texts, expected);
    }
}
