//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3 s, ETA 5.1 s ± 1.4 s, 2.21e8 solutions
//! estimate [==>       ] 2.6 s of 10.0 s, 318 units
//! compare [==>       ] 13/48 runs, n = 18: colours on 2 threads
//! verify [====>     ] 84/200 units, 1.8 s, ETA 2.5 s
//! ```
//!
//! The line is drawn when something is reported.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use console::{Term, is_dumb};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nqueens::forecast::{Approximate, TimeLeft};
use nqueens::{Error, Observer, Shard, Start, UnitsDone, cores};

use super::exit::Failure;
use super::format::{duration, many, scientific, to_go};
use super::journals::warn_of_damage;
use super::stderr::message;

/// What ends sooner draws nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The first line where none can be redrawn, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 60;
/// The bar with its brackets and the space behind it.
const BAR_COLUMNS: usize = 13;

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressWhen {
    /// Not at all
    Never,
    /// As a bar, if standard error is a terminal
    Auto,
    /// As a bar on a terminal, as lines elsewhere
    Always,
}

/// Shows the progress of one piece of work after the other.
pub(crate) struct Progress {
    when: ProgressWhen,
    /// Whether lines can be redrawn.
    is_terminal: bool,
    /// Hidden until the work has taken a while.
    bar: ProgressBar,
    state: Mutex<State>,
}

/// The seconds of a count that roughly costs so many hours of a core.
pub(crate) fn rough_seconds(core_hours: f64, threads: usize) -> f64 {
    3600.0 * core_hours / threads.min(cores()) as f64
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let is_terminal = io::stderr().is_terminal() && !is_dumb();
        let state = Mutex::new(State::new([0, 0], Work::Verify));
        Self { when, is_terminal, bar: ProgressBar::hidden(), state }
    }

    /// Work of so many steps begins.
    pub(crate) fn begin(&self, name: &str, [done, all]: [usize; 2], work: Work) {
        *self.lock() = State::new([done, all], work);
        let bar = if columns() < BAR_FROM_COLUMNS { "" } else { "[{bar:10}] " };
        let style = ProgressStyle::with_template(&format!("{{prefix}} {bar}{{msg}}"));
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.bar.reset();
        self.bar.set_style(style);
        self.bar.set_prefix(name.to_owned());
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let elapsed = state.begun.elapsed();
        match (self.when, self.is_terminal) {
            (ProgressWhen::Never, _) | (ProgressWhen::Auto, false) => {}
            (ProgressWhen::Always, false) => {
                if let Some(line) = state.line_if_due(elapsed) {
                    message!("{line}");
                }
            }
            (_, true) if elapsed < QUIET_START => {}
            (_, true) => {
                if self.bar.is_hidden() {
                    self.bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                let columns = columns();
                let bar = if columns < BAR_FROM_COLUMNS { 0 } else { BAR_COLUMNS };
                let before = self.bar.prefix().chars().count() + 1 + bar;
                let text = joined(state.items(elapsed), columns.saturating_sub(before));
                self.bar.set_length(state.all as u64);
                self.bar.set_position(state.done as u64);
                self.bar.set_message(text);
            }
        }
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns that a line on the terminal may take now: users change the size of windows.
fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS)
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, units, done, .. } = *start;
        let (size, engine) = (plan.size(), plan.engine());
        if start.cut_off > 0 && done.units < units {
            message!("warning: the journal's last line was cut off: its units are counted again");
        }
        let mut name = format!("{engine} {size}");
        if shard != Shard::WHOLE {
            name += &format!(" shard {}", shard.index());
        }
        warn_of_damage(start.left_out);
        let (solutions, left) = (done.solutions, start.time_left.clone());
        self.begin(&name, [done.units, units], Work::Count(solutions, left));
    }

    fn units_done(&self, done: &UnitsDone) {
        self.update(|state| match &mut state.work {
            Work::Sample(units) => {
                *units += done.units.len();
                let elapsed = done.elapsed.as_millis().try_into();
                state.done = state.all.min(elapsed.unwrap_or(usize::MAX));
            }
            work => {
                state.done += done.units.len();
                if let Work::Count(solutions, left) = work {
                    *solutions += done.solutions;
                    left.record(done);
                }
            }
        });
    }

    fn journal_harmed(&self, harm: Option<&Error>) {
        self.suspend(|| match harm.cloned().map(Failure::from) {
            Some(harm) => message!("warning: {harm}"),
            None => message!("the journal is again where it was, with all that was written"),
        });
        self.update(|state| state.is_harmed = harm.is_some());
    }

    fn waits_for_disk(&self, total: Option<u128>) {
        let counted = total
            .map_or(String::new(), |total| format!("all units are counted, {total} solutions; "));
        self.suspend(|| {
            message!(
                "{counted}the disk has not taken the last lines of the journal yet; a signal ends the \
                 program at once, without them"
            );
        });
    }
}

pub(crate) struct State {
    begun: Instant,
    /// When the next line comes, where none can be redrawn.
    next_line: Duration,
    /// Steps: units, runs, or milliseconds of a sample.
    pub(crate) done: usize,
    pub(crate) all: usize,
    pub(crate) work: Work,
    /// Whether the journal is not as it was written.
    is_harmed: bool,
}

/// What is under way.
pub(crate) enum Work {
    /// The solutions of finished units, those of journals too, and the time left.
    Count(u128, TimeLeft),
    /// For an estimate, with so many units so far.
    Sample(usize),
    /// The run of a comparison.
    Compare(String),
    Verify,
}

impl State {
    fn new([done, all]: [usize; 2], work: Work) -> Self {
        Self { begun: Instant::now(), next_line: FIRST_LINE, done, all, work, is_harmed: false }
    }

    /// The line if it is time for one; the gaps double up to the longest.
    fn line_if_due(&mut self, elapsed: Duration) -> Option<String> {
        (elapsed >= self.next_line).then(|| {
            self.next_line = elapsed + elapsed.min(LONGEST_GAP);
            joined(self.items(elapsed), usize::MAX)
        })
    }

    /// The items of the text in their order, with their ranks.
    fn items(&self, elapsed: Duration) -> Vec<(u8, String)> {
        let Self { all, done, .. } = *self;
        let so_far = |unit| (4, format!("{done}/{all} {unit}"));
        let left = self.time_left(elapsed).map(|left| (1, format!("ETA {}", to_go(left))));
        let time = (2, duration(elapsed));
        match &self.work {
            Work::Count(solutions, _) => {
                let solutions = (3, format!("{} solutions", scientific(*solutions as f64, 2)));
                let begin = [(0, percent(done, all)), so_far("units"), time];
                let harm = self.is_harmed.then(|| (0, "JOURNAL CHANGED".to_owned()));
                harm.into_iter().chain(begin).chain(left).chain([solutions]).collect()
            }
            Work::Sample(units) => {
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
            Work::Count(_, left) => left.estimate(),
            Work::Verify if self.done > 0 => {
                let left = self.all.saturating_sub(self.done) as f64 / self.done as f64;
                let value = elapsed.as_secs_f64() * left;
                Some(Approximate { value, standard_error: f64::INFINITY })
            }
            _ => None,
        }
    }
}

/// The items in one line. While it is too long, the one with the highest rank is left out.
fn joined(mut items: Vec<(u8, String)>, columns: usize) -> String {
    loop {
        let texts: Vec<&str> = items.iter().map(|(_, text)| text.as_str()).collect();
        let line = texts.join(", ");
        let last = (0..items.len()).max_by_key(|&place| items[place].0);
        match last.filter(|_| line.chars().count() > columns && items.len() > 1) {
            Some(last) => drop(items.remove(last)),
            None => return line.chars().take(columns).collect(),
        }
    }
}

/// How much is done, with the more decimals the more units there are. It is never rounded up: 100 % is
/// the end.
fn percent(done: usize, units: usize) -> String {
    let decimals = units.max(1).ilog10().saturating_sub(2).min(4);
    let steps_of_percent = 10_f64.powi(decimals as i32);
    let steps = (100.0 * steps_of_percent * done as f64 / units.max(1) as f64).floor();
    format!("{:.*}%", decimals as usize, steps / steps_of_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let mut state = count();
        let is_due = |second: &u64| state.line_if_due(Duration::from_secs(*second)).is_some();
        let shown: Vec<u64> = (0..250).filter(is_due).collect();
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }

    const TIME: Duration = Duration::from_secs(2);

    fn count() -> State {
        let work = Work::Count(4_970_000_000_000, TimeLeft::default());
        State::new([103_456_789, 123_456_789], work)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = joined(count().items(TIME), 78);
        assert_eq!(text, "83.7999%, 103456789/123456789 units, 2.0 s, 4.97e12 solutions");
    }

    #[test]
    fn each_work_has_its_text() {
        let text = |work, columns| joined(State::new([50, 200], work).items(TIME), columns);
        let compare = || Work::Compare("n = 18: colours on 2 threads".to_owned());
        assert_eq!(text(compare(), 41), "50/200 runs, n = 18: colours on 2 threads");
        assert_eq!(text(compare(), 40), "50/200 runs");
        assert_eq!(text(Work::Verify, 70), "50/200 units, 2.0 s, ETA roughly 6.0 s");
        assert_eq!(text(Work::Sample(7), 40), "2.0 s of 200 ms, 7 units");
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
            let line = super::joined(count().items(TIME), columns);
            assert!(line.chars().count() <= columns, "{line}");
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
}
