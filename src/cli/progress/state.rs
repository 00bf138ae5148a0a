//! What is under way, how far it has come, and the line that says so.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nqueens::forecast::{Approximate, TimeLeft};

use crate::cli::format::{duration, many, scientific, to_go};

/// `verify` often takes less, and can do with fewer units.
const LONG_TO_VERIFY: f64 = 60.0;

/// The first line where none can be redrawn, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

pub(crate) struct State {
    pub(super) begun: Instant,
    next_line: Duration,
    /// Until it is known whether the work is long.
    pub(super) announcement: Option<Announcement>,
    /// Steps: units, runs, or milliseconds of a sample.
    pub(crate) all: usize,
    pub(crate) done: usize,
    pub(crate) work: Work,
}

/// What is under way.
pub(crate) enum Work {
    Count {
        /// Those of journals.
        solutions_before: u128,
        solutions: u128,
        left: TimeLeft,
    },
    /// For an estimate, so long, with so many units so far.
    Sample {
        time: Duration,
        units: usize,
    },
    /// The run of a comparison.
    Compare(String),
    Verify,
}

/// What is said of long work.
pub(super) struct Announcement {
    pub(super) what: String,
    /// Work of more seconds is long.
    pub(super) long: f64,
    /// What helps.
    pub(super) advice: &'static str,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(super) fn new(done: usize, all: usize, work: Work) -> Self {
        let verify = || {
            let (what, advice) = ("verify".to_owned(), "; fewer --units take less");
            Announcement { what, long: LONG_TO_VERIFY, advice }
        };
        let announcement = matches!(work, Work::Verify).then(verify);
        Self { begun: Instant::now(), next_line: FIRST_LINE, announcement, all, done, work }
    }

    /// What is known. If not all of it fits, the less important is left out.
    pub(super) fn text(&self, columns: usize) -> String {
        joined(self.parts(self.begun.elapsed()), columns)
    }

    /// The parts of the line in their order, with their ranks.
    fn parts(&self, elapsed: Duration) -> Vec<(u8, String)> {
        let Self { all, done, .. } = *self;
        let left = self.time_left(elapsed).map(|left| (1, format!("ETA {}", to_go(left))));
        match &self.work {
            Work::Count { solutions_before, solutions, .. } => {
                let seconds = elapsed.as_secs_f64().max(1e-3);
                let rate = (solutions - solutions_before) as f64 / seconds;
                let begin = [
                    (0, percent(done, all)),
                    (5, format!("{done}/{all} units")),
                    (2, duration(elapsed)),
                ];
                let end = [
                    (3, format!("{} solutions", scientific(*solutions as f64, 2))),
                    (4, format!("{}/s", scientific(rate, 1))),
                ];
                begin.into_iter().chain(left).chain(end).collect()
            }
            Work::Sample { time, units } => vec![
                (0, format!("{} of {}", duration(elapsed), duration(*time))),
                (1, many(*units, "unit")),
            ],
            Work::Compare(run) => vec![(0, format!("{done}/{all} runs")), (1, run.clone())],
            Work::Verify => {
                let begin = [(0, format!("{done}/{all} units")), (2, duration(elapsed))];
                begin.into_iter().chain(left).collect()
            }
        }
    }

    /// Of a count by its forecast, of `verify` by its pace so far.
    pub(super) fn time_left(&self, elapsed: Duration) -> Option<Approximate> {
        match &self.work {
            Work::Count { left, .. } => left.estimate(),
            Work::Verify if self.done > 0 => {
                let left = self.all.saturating_sub(self.done) as f64 / self.done as f64;
                let value = elapsed.as_secs_f64() * left;
                Some(Approximate { value, standard_error: f64::INFINITY })
            }
            _ => None,
        }
    }

    /// The line if it is time for one; the gaps double up to the longest.
    pub(super) fn line_if_due(&mut self, elapsed: Duration, columns: usize) -> Option<String> {
        (elapsed >= self.next_line).then(|| {
            self.next_line = elapsed + elapsed.min(LONGEST_GAP);
            self.text(columns.saturating_sub("nqueens: ".len()))
        })
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
            None => return line.chars().take(columns).collect(),
        }
    }
}

/// How much is done, with the more decimals the more units there are. It is never rounded up: 100 % is
/// the end.
fn percent(done: usize, units: usize) -> String {
    let decimals = units.max(1).ilog10().saturating_sub(2).min(4);
    let parts_of_percent = 10_f64.powi(decimals as i32);
    let parts = (100.0 * parts_of_percent * done as f64 / units.max(1) as f64).floor();
    format!("{:.*}%", decimals as usize, parts / parts_of_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count() -> State {
        let work = Work::Count {
            solutions_before: 0,
            solutions: 4_970_000_000_000,
            left: TimeLeft::default(),
        };
        State::new(103_456_789, 123_456_789, work)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = count().text(78);
        let begins = "83.7999%, 103456789/123456789 units, ";
        assert!(text.starts_with(begins), "{text}");
    }

    #[test]
    fn each_work_has_its_text() {
        let text = |work, columns| {
            let parts = State::new(50, 200, work).parts(Duration::from_secs(2));
            joined(parts, columns)
        };
        let compare = || Work::Compare("n = 18: colours on 2 threads".to_owned());
        assert_eq!(text(compare(), 41), "50/200 runs, n = 18: colours on 2 threads");
        assert_eq!(text(compare(), 40), "50/200 runs");
        assert_eq!(text(Work::Verify, 70), "50/200 units, 2.0 s, ETA roughly 6.0 s");
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
        for columns in 1..80 {
            let text = count().text(columns);
            assert!(text.chars().count() <= columns, "{text}");
        }
    }

    #[test]
    fn a_percentage_is_rounded_down_and_moves_with_the_units() {
        let all = [3, 325, 46_508, 10_000_000, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66%", "99%", "99.99%", "99.9999%", "99.9999%"]);
        assert_eq!(percent(325, 325), "100%");
        assert_eq!(percent(0, 0), "0%");
    }

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let mut state = count();
        let mut due = Vec::new();
        for second in 0..250 {
            let line = state.line_if_due(Duration::from_secs(second), 80);
            due.extend(line.map(|_| second));
        }
        assert_eq!(due, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }
}
