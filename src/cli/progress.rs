//! The progress of a count: an observer that draws a bar or prints lines.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3s, ETA 5.1s ± 0.4s, 2.21e8 solutions
//! ```

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nqueens::forecast::TimeLeft;
use nqueens::{DiskTrouble, Observer, Shard, Start, UnitsDone};

use super::bar::{Bar, Display, ProgressWhen, columns};
use super::long_count::LongCount;
use super::stderr::message;
use super::text::{duration, scientific, seconds};

/// Counts that end sooner show nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The first line where there is no bar.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// The last decimal of the percentage changes this often, or more slowly if that takes more decimals.
const DECIMAL_EVERY: f64 = 5.0;
const MOST_DECIMALS: u32 = 4;

/// Shows the progress of one count.
pub(crate) struct Progress {
    display: Display,
    long_count: Option<LongCount>,
    bar: Bar,
    state: Arc<Mutex<State>>,
}

struct State {
    begun: Instant,
    units: usize,
    done: usize,
    /// Units of journals.
    done_before: usize,
    /// All solutions, and those of journals.
    solutions: u128,
    solutions_before: u128,
    left: TimeLeft,
    next_line: Duration,
}

impl Progress {
    /// Shows progress; a long count is announced, if one is given.
    pub(crate) fn new(when: ProgressWhen, long_count: Option<LongCount>) -> Self {
        let state = Arc::new(Mutex::new(State {
            begun: Instant::now(),
            units: 0,
            done: 0,
            done_before: 0,
            solutions: 0,
            solutions_before: 0,
            left: TimeLeft::default(),
            next_line: FIRST_LINE,
        }));
        let shared = Arc::clone(&state);
        let bar = Bar::new("", 0, move |_, columns| with(&shared, |state| state.text(columns)));
        Self { display: when.display(), long_count, bar, state }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        self.bar.clear();
    }

    /// Prints above the bar.
    fn print(&self, message: std::fmt::Arguments<'_>) {
        self.bar.suspend(|| message!("{message}"));
    }
}

fn with<T>(state: &Mutex<State>, change: impl FnOnce(&mut State) -> T) -> T {
    change(&mut state.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, threads, units, units_done, solutions, .. } = *start;
        if start.cut_off > 0 {
            message!(
                "warning: the journal's last line was cut off ({} bytes): it is dropped, and its \
                 units are counted again",
                start.cut_off
            );
        }
        if let Some(warning) = self.long_count.and_then(|count| count.warning(start)) {
            message!("{warning}");
        }
        let mut prefix = format!("{} {}", plan.engine(), plan.size());
        if shard != Shard::WHOLE {
            prefix += &format!(" shard {}", shard.index());
        }
        with(&self.state, |state| {
            state.begun = Instant::now();
            (state.units, state.done, state.done_before) = (units, units_done, units_done);
            (state.solutions, state.solutions_before) = (solutions, solutions);
            state.left = TimeLeft::new(units - units_done, threads);
        });
        self.bar.restart(prefix, units, units_done);
    }

    fn units_done(&self, done: &UnitsDone) {
        if self.display == Display::Nothing {
            return;
        }
        let (elapsed, line) = with(&self.state, |state| {
            state.done += done.units.len();
            state.solutions += done.solutions;
            state.left.record(done);
            let elapsed = state.begun.elapsed();
            let line = match self.display {
                Display::Lines(longest_gap) => state.line_if_due(elapsed, longest_gap),
                _ => None,
            };
            (elapsed, line)
        });
        self.bar.advance(done.units.len());
        if let Some(line) = line {
            message!("{line}");
        }
        if self.display == Display::Bar && elapsed >= QUIET_START {
            self.bar.show();
        }
    }

    fn disk_trouble(&self, trouble: &DiskTrouble) {
        match trouble {
            DiskTrouble::Hangs { waited, total } => {
                let counted = total
                    .map(|total| format!("all units are counted, {total} solutions; "))
                    .unwrap_or_default();
                let waited = duration(*waited);
                self.print(format_args!(
                    "{counted}the disk has not taken the last lines of the journal for {waited}; a \
                     second signal ends the program at once, without them"
                ));
            }
            DiskTrouble::Repaired { error } => self.print(format_args!(
                "warning: the disk did not take the last lines of the journal ({error}); they were \
                 written again, and it took them now"
            )),
            _ => {}
        }
    }
}

impl State {
    /// What is known. If not all of it fits, the less important is left out.
    #[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
    fn text(&self, columns: usize) -> String {
        let Self { units, done, .. } = *self;
        let elapsed = self.begun.elapsed();
        let (time, new) = (elapsed.as_secs_f64().max(1e-3), done - self.done_before);
        let time_of_percent = time * units as f64 / (100.0 * new as f64);
        let rate = scientific((self.solutions - self.solutions_before) as f64 / time, 1);
        let left = self.left.estimate(elapsed).map(|left| {
            let [time, error] = [left.value, 2.0 * left.standard_error].map(seconds).map(duration);
            format!("ETA {time} ± {error}")
        });
        // In the order of the line, with their ranks.
        let parts = [
            (0, Some(percent(done, units, time_of_percent))),
            (5, Some(format!("{done}/{units} units"))),
            (2, Some(duration(elapsed))),
            (1, left),
            (3, Some(format!("{} solutions", scientific(self.solutions as f64, 2)))),
            (4, Some(format!("{rate}/s"))),
        ];
        let parts = parts.into_iter().filter_map(|(rank, part)| Some((rank, part?)));
        joined(parts.collect(), columns)
    }

    /// The line if it is time for one; the gaps double up to the longest.
    fn line_if_due(&mut self, elapsed: Duration, longest_gap: Duration) -> Option<String> {
        if elapsed < self.next_line {
            return None;
        }
        self.next_line = elapsed + elapsed.min(longest_gap);
        Some(self.text(columns().saturating_sub("nqueens: ".len())))
    }
}

/// The parts in one line. While it is too long, the part with the highest rank is left out.
fn joined(mut parts: Vec<(u8, String)>, columns: usize) -> String {
    loop {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let line = texts.join(", ");
        let last = (0..parts.len()).max_by_key(|&place| parts[place].0);
        match last.filter(|_| line.chars().count() > columns && parts.len() > 1) {
            Some(last) => drop(parts.remove(last)),
            None => return line,
        }
    }
}

/// How much is done, with the more decimals the more seconds a percent takes. It is never rounded up:
/// 100 % is the end.
fn percent(done: usize, units: usize, time_of_percent: f64) -> String {
    let decimals = (0..MOST_DECIMALS)
        .find(|&decimals| time_of_percent <= DECIMAL_EVERY * 10_f64.powf(decimals.into()))
        .unwrap_or(MOST_DECIMALS);
    let one = 10_u128.pow(decimals);
    let parts = 100 * one * done as u128 / units.max(1) as u128;
    match decimals {
        0 => format!("{parts}%"),
        _ => format!("{}.{:0width$}%", parts / one, parts % one, width = decimals as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State {
            begun: Instant::now(),
            units: 123_456_789,
            done: 103_456_789,
            done_before: 0,
            solutions: 4_970_000_000_000,
            solutions_before: 0,
            left: TimeLeft::default(),
            next_line: FIRST_LINE,
        }
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = state().text(78);
        let begins = "83%, 103456789/123456789 units, 0.0s, 4.97e12 solutions, ";
        assert!(text.starts_with(begins), "{text}");
    }

    #[test]
    fn what_matters_most_is_left_on_short_lines() {
        let parts = || vec![(0, "51%"), (4, "9/20 units"), (2, "2.0s"), (1, "ETA 1.9s ± 0.1s")];
        let joined = |columns| {
            let parts = parts().into_iter().map(|(rank, text)| (rank, text.to_owned()));
            joined(parts.collect(), columns)
        };
        assert_eq!(joined(40), "51%, 9/20 units, 2.0s, ETA 1.9s ± 0.1s");
        assert_eq!(joined(37), "51%, 2.0s, ETA 1.9s ± 0.1s");
        assert_eq!(joined(20), "51%, ETA 1.9s ± 0.1s");
        assert_eq!(joined(19), "51%");
        for columns in 3..80 {
            let text = state().text(columns);
            assert!(text.chars().count() <= columns, "{text}");
        }
    }

    #[test]
    fn the_last_decimal_of_a_percentage_moves_every_few_seconds() {
        let seconds = [0.1, 5.0, 6.0, 60.0, 6e3, 6e9, f64::INFINITY];
        let texts = seconds.map(|seconds| percent(9_999_999, 10_000_000, seconds));
        let four = "99.9999%";
        assert_eq!(texts, ["99%", "99%", "99.9%", "99.99%", four, four, four]);
        assert_eq!(percent(3, 3, 60.0), "100.00%");
        assert_eq!(percent(0, 0, 0.0), "0%");
    }

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let mut state = state();
        let mut due = Vec::new();
        for second in 0..60 {
            let time = Duration::from_secs(second);
            due.extend(state.line_if_due(time, Duration::from_secs(10)).map(|_| second));
        }
        assert_eq!(due, [1, 2, 4, 8, 16, 26, 36, 46, 56]);
    }
}
