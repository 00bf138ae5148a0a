//! What is under way, how far it has come, and the line that says so.

use std::time::{Duration, Instant};

use nqueens::forecast::{Approximate, TimeLeft};

use crate::cli::format::{duration, many, scientific, to_go};

/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 58;

pub(crate) struct State {
    pub(super) name: String,
    pub(super) begun: Instant,
    /// When something is shown next.
    pub(super) due: Duration,
    /// What is on the terminal.
    pub(super) drawn: String,
    /// Steps: units, runs, or milliseconds of a sample.
    pub(crate) done: usize,
    pub(crate) all: usize,
    pub(crate) work: Work,
}

/// What is under way.
pub(crate) enum Work {
    /// The solutions of finished units, those of journals too.
    Count {
        solutions: u128,
        left: TimeLeft,
    },
    /// For an estimate, with so many units so far.
    Sample {
        units: usize,
    },
    /// The run of a comparison.
    Compare(String),
    Verify,
}

impl State {
    pub(super) fn new(name: &str, [done, all]: [usize; 2], work: Work) -> Self {
        Self {
            name: name.to_owned(),
            begun: Instant::now(),
            due: Duration::ZERO,
            drawn: String::new(),
            done,
            all,
            work,
        }
    }

    /// The line on a terminal.
    pub(super) fn bar(&self, elapsed: Duration, columns: usize) -> String {
        let mut line = self.name.clone() + " ";
        if columns >= BAR_FROM_COLUMNS {
            let part = "=".repeat(10 * self.done / self.all.max(1)) + ">";
            line += &format!("[{part:<10.10}] ");
        }
        let text = self.text(elapsed, columns.saturating_sub(line.chars().count()));
        (line + &text).chars().take(columns).collect()
    }

    /// What is known. If not all of it fits, the less important is left out.
    pub(super) fn text(&self, elapsed: Duration, columns: usize) -> String {
        joined(self.parts(elapsed), columns)
    }

    /// The parts of the text in their order, with their ranks.
    fn parts(&self, elapsed: Duration) -> Vec<(u8, String)> {
        let Self { all, done, .. } = *self;
        let so_far = |unit| (4, format!("{done}/{all} {unit}"));
        let left = self.time_left(elapsed).map(|left| (1, format!("ETA {}", to_go(left))));
        let time = (2, duration(elapsed));
        match &self.work {
            Work::Count { solutions, .. } => {
                let solutions = (3, format!("{} solutions", scientific(*solutions as f64, 2)));
                let begin = [(0, percent(done, all)), so_far("units"), time];
                begin.into_iter().chain(left).chain([solutions]).collect()
            }
            Work::Sample { units } => {
                let whole = duration(Duration::from_millis(all as u64));
                vec![(0, format!("{} of {whole}", duration(elapsed))), (1, many(*units, "unit"))]
            }
            Work::Compare(run) => vec![so_far("runs"), (5, run.clone())],
            Work::Verify => [so_far("units"), time].into_iter().chain(left).collect(),
        }
    }

    /// The time left, of a count by its forecast, of `verify` by its pace so far.
    fn time_left(&self, elapsed: Duration) -> Option<Approximate> {
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

    const TIME: Duration = Duration::from_secs(2);

    fn count() -> State {
        let work = Work::Count { solutions: 4_970_000_000_000, left: TimeLeft::default() };
        State::new("colours 24", [103_456_789, 123_456_789], work)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = count().text(TIME, 78);
        assert_eq!(text, "83.7999%, 103456789/123456789 units, 2.0 s, 4.97e12 solutions");
    }

    #[test]
    fn each_work_has_its_line() {
        let line = |name, work, columns| State::new(name, [50, 200], work).bar(TIME, columns);
        let compare = || Work::Compare("n = 18: colours on 2 threads".to_owned());
        let text = "compare [==>       ] 50/200 runs, n = 18: colours on 2 threads";
        assert_eq!(line("compare", compare(), 62), text);
        assert_eq!(line("compare", compare(), 61), "compare [==>       ] 50/200 runs");
        assert_eq!(
            line("compare", compare(), 57),
            "compare 50/200 runs, n = 18: colours on 2 threads"
        );
        let verify = line("verify", Work::Verify, 57);
        assert_eq!(verify, "verify 50/200 units, 2.0 s, ETA roughly 6.0 s");
        let sample = line("estimate", Work::Sample { units: 7 }, 40);
        assert_eq!(sample, "estimate 2.0 s of 200 ms, 7 units");
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
            let line = count().bar(TIME, columns);
            assert!(line.chars().count() <= columns, "{line}");
        }
    }

    #[test]
    fn the_bar_is_full_at_the_end() {
        let line = |done| State::new("count", [done, 7], Work::Verify).bar(Duration::ZERO, 70);
        let bars = [0, 1, 6, 7].map(|done| line(done)[6..18].to_owned());
        assert_eq!(bars, ["[>         ]", "[=>        ]", "[========> ]", "[==========]"]);
    }

    #[test]
    fn a_percentage_is_rounded_down_and_moves_with_the_units() {
        let all = [3, 325, 46_508, 10_000_000, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66%", "99%", "99.99%", "99.9999%", "99.9999%"]);
        assert_eq!(percent(325, 325), "100%");
        assert_eq!(percent(0, 0), "0%");
    }
}
