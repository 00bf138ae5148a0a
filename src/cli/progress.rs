//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! n = 18 [==>       ] 26.1%, ETA 5.1 s ± 1.4 s, elapsed 2.3 s, 85/325 units
//! estimate [==>       ] 2.6 s of 10.0 s
//! compare n = 18 [==>       ] 13/48 runs, elapsed 4.3 s, ETA roughly 12.0 s
//! verify [====>     ] 84/200 units, elapsed 1.8 s, ETA roughly 2.5 s
//! ```
//!
//! What matters most comes first, because a narrow terminal shows only the beginning. The line is drawn
//! when something is reported.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nqueens::forecast::TimeLeft;
use nqueens::{Error, Observer, Shard, Start, UnitsDone, cores};

use super::exit::Failure;
use super::format::{duration, expected};
use super::journals::warn_of_damage;
use super::stderr::message;

/// Work that ends sooner shows no bar, which would only flash up.
const QUIET_START: Duration = Duration::from_millis(300);
/// The time of the first line where no line can be redrawn, and the longest time between two lines.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

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
    /// Holds the steps, which are units, runs, or milliseconds of a sample, and the time. It is hidden
    /// until the work has taken a while.
    bar: ProgressBar,
    work: Mutex<Work>,
    /// When the next line comes, where no line can be redrawn.
    next_line: Mutex<Duration>,
}

/// What is under way.
pub(crate) enum Work {
    /// A count, with the time left.
    Count(TimeLeft),
    /// An estimate: the steps are milliseconds.
    Sample,
    /// Steps of this name that take equally long.
    Steps(&'static str),
}

/// Returns the seconds of a count that roughly costs this many hours of a core.
pub(crate) fn rough_seconds(core_hours: f64, threads: usize) -> f64 {
    3600.0 * core_hours / threads.min(cores()) as f64
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        Self {
            when,
            is_terminal: !ProgressDrawTarget::stderr().is_hidden(),
            bar: ProgressBar::hidden(),
            work: Mutex::new(Work::Steps("")),
            next_line: Mutex::new(FIRST_LINE),
        }
    }

    /// Begins a piece of work, of which some steps may be done.
    pub(crate) fn begin(&self, name: &str, [done, all]: [usize; 2], work: Work) {
        let style = ProgressStyle::with_template("{prefix} [{bar:10}] {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
        *lock(&self.work) = work;
        *lock(&self.next_line) = FIRST_LINE;
        self.clear();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.bar.reset();
        self.bar.set_style(style);
        self.bar.set_prefix(name.to_owned());
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }

    /// Reports that some steps are done.
    pub(crate) fn advance(&self, steps: usize) {
        self.bar.inc(steps as u64);
        let text = || lock(&self.work).text(&self.bar);
        let elapsed = self.bar.elapsed();
        match (self.when, self.is_terminal) {
            (ProgressWhen::Never, _) | (ProgressWhen::Auto, false) => {}
            (ProgressWhen::Always, false) => {
                if is_line_due(&mut lock(&self.next_line), elapsed) {
                    message!("{}", text());
                }
            }
            (_, true) if elapsed < QUIET_START => {}
            (_, true) => {
                if self.bar.is_hidden() {
                    self.bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                self.bar.set_message(text());
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
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, units, done, .. } = *start;
        if start.cut_off > 0 && done.units < units {
            message!("warning: the journal's last line was cut off: its units are counted again");
        }
        let mut name = format!("n = {}", plan.size());
        if shard != Shard::WHOLE {
            name += &format!(" shard {shard}");
        }
        warn_of_damage(start.left_out);
        self.begin(&name, [done.units, units], Work::Count(start.time_left.clone()));
    }

    fn units_done(&self, done: &UnitsDone) {
        let steps = match &mut *lock(&self.work) {
            Work::Count(left) => {
                left.record(done);
                done.units.len()
            }
            Work::Sample => {
                self.bar.set_position(done.elapsed.as_millis().try_into().unwrap_or(u64::MAX));
                0
            }
            _ => done.units.len(),
        };
        self.advance(steps);
    }

    fn journal_harmed(&self, harm: &Error) {
        self.suspend(|| message!("warning: {}", Failure::from(harm.clone())));
    }

    fn waits_for_disk(&self, total: Option<u128>) {
        let counted = total
            .map_or(String::new(), |total| format!("all units are counted, {total} solutions; "));
        self.suspend(|| {
            message!(
                "{counted}waiting for the disk; Ctrl-C quits without the journal's last lines"
            );
        });
    }
}

/// Returns whether it is time for a line; the gaps between lines double up to the longest.
fn is_line_due(next_line: &mut Duration, elapsed: Duration) -> bool {
    let is_due = elapsed >= *next_line;
    if is_due {
        *next_line = elapsed + elapsed.min(LONGEST_GAP);
    }
    is_due
}

impl Work {
    /// Returns the text beside the bar that holds the steps and the time.
    fn text(&self, bar: &ProgressBar) -> String {
        let (done, all) = (bar.position(), bar.length().unwrap_or_default());
        let elapsed = duration(bar.elapsed());
        match self {
            Self::Count(left) => {
                let left = left.estimate().map(|left| format!("ETA {}, ", expected(left)));
                let (percent, left) = (percent(done, all), left.unwrap_or_default());
                format!("{percent}%, {left}elapsed {elapsed}, {done}/{all} units")
            }
            Self::Sample => format!("{elapsed} of {}", duration(Duration::from_millis(all))),
            Self::Steps(name) => {
                format!(
                    "{done}/{all} {name}, elapsed {elapsed}, ETA roughly {}",
                    duration(bar.eta())
                )
            }
        }
    }
}

/// Returns how much is done, with one decimal and never rounded up: 100.0 is the end.
fn percent(done: u64, all: u64) -> String {
    format!("{:.1}", (1000 * done / all.max(1)) as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let mut next_line = FIRST_LINE;
        let is_due = |second: &u64| is_line_due(&mut next_line, Duration::from_secs(*second));
        let shown: Vec<u64> = (0..250).filter(is_due).collect();
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }

    fn text(work: Work, done: u64, all: u64) -> String {
        let bar = ProgressBar::hidden().with_elapsed(Duration::from_secs(2));
        bar.set_length(all);
        bar.set_position(done);
        work.text(&bar)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = text(Work::Count(TimeLeft::default()), 103_456_789, 123_456_789);
        assert_eq!(text, "83.7%, elapsed 2.0 s, 103456789/123456789 units");
    }

    #[test]
    fn each_work_has_its_text() {
        let runs = text(Work::Steps("runs"), 50, 200);
        assert!(runs.starts_with("50/200 runs, elapsed 2.0 s, ETA roughly "), "{runs}");
        assert_eq!(text(Work::Sample, 2000, 10_000), "2.0 s of 10.0 s");
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        let all = [3, 325, 46_508, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66.6", "99.6", "99.9", "99.9"]);
        assert_eq!([percent(325, 325), percent(0, 0)], ["100.0", "0.0"]);
    }
}
