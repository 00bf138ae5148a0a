//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3 s, ETA 5.1 s ± 1.4 s, 2.21e8 solutions
//! estimate [==>       ] 2.6 s of 10.0 s, 318 units
//! compare [==>       ] 13/48 runs, n = 18: colours on 2 threads
//! verify [====>     ] 84/200 units, 1.8 s, ETA 2.5 s
//! ```
//!
//! The line is drawn when something is reported. Before a long count it says what the count takes, and
//! what would help.

mod state;

use std::io::{self, IsTerminal};
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use console::{Term, is_dumb};
use nqueens::forecast::core_hours;
use nqueens::{Observer, Shard, Start, UnitsDone};

use super::format::{date_in, rounded_to_figures, time};
use super::stderr::message;
use state::State;
pub(crate) use state::Work;

/// A count of so many seconds is announced.
const LONG: f64 = 600.0;
/// Nobody means to wait for a longer one on one machine.
const HOPELESS: f64 = 30.0 * 86_400.0;

/// What ends sooner draws nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The time between two drawings of the bar.
const TICK: Duration = Duration::from_millis(100);
/// The first line where none can be redrawn, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// Columns that stay free for the `^C` that the terminal shows for Ctrl-C: it would begin a new line
/// and leave the bar behind.
const FREE_COLUMNS: usize = 2;

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

impl ProgressWhen {
    /// After what time to show something for the first time, and what time later again; `None` for never.
    fn pace(self, is_terminal: bool, elapsed: Duration) -> Option<[Duration; 2]> {
        match (self, is_terminal) {
            (Self::Never, _) | (Self::Auto, false) => None,
            (_, true) => Some([QUIET_START, TICK]),
            // The gaps double up to the longest.
            (Self::Always, false) => Some([FIRST_LINE, elapsed.min(LONGEST_GAP)]),
        }
    }
}

/// Shows the progress of one piece of work after the other.
pub(crate) struct Progress {
    when: ProgressWhen,
    /// Whether lines can be redrawn.
    is_terminal: bool,
    /// What helps against long counts, if they are to be announced.
    pub(crate) advice: Option<&'static str>,
    state: Mutex<State>,
}

/// The seconds of a count that roughly costs so many hours of a core.
pub(crate) fn rough_seconds(core_hours: f64, threads: usize) -> f64 {
    3600.0 * core_hours / threads.min(num_cpus::get()) as f64
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let is_terminal = io::stderr().is_terminal() && !is_dumb();
        let state = Mutex::new(State::new("", [0, 0], Work::Verify));
        Self { when, is_terminal, advice: None, state }
    }

    /// Work of so many steps begins.
    pub(crate) fn begin(&self, name: &str, steps: [usize; 2], work: Work) {
        let mut state = self.lock();
        let drawn = take(&mut state.drawn);
        *state = State { drawn, ..State::new(name, steps, work) };
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let elapsed = state.begun.elapsed();
        let Some([first, gap]) = self.when.pace(self.is_terminal, elapsed) else { return };
        if elapsed < first.max(state.due) {
            return;
        }
        state.due = elapsed + gap;
        if !self.is_terminal {
            return message!("{}", state.text(elapsed, usize::MAX));
        }
        state.drawn = state.bar(elapsed, columns());
        draw(&state.drawn);
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let state = self.lock();
        if state.drawn.is_empty() {
            return print();
        }
        draw("");
        let printed = print();
        draw(&state.drawn);
        printed
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        if !take(&mut self.lock().drawn).is_empty() {
            draw("");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The columns that a line on the terminal may take now: users change the size of windows.
fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS).saturating_sub(FREE_COLUMNS).max(1)
}

/// Puts a line on the terminal in place of the one before. If the terminal has gone, nobody can be told.
fn draw(line: &str) {
    let terminal = Term::buffered_stderr();
    let drawn = terminal.clear_line().and_then(|()| terminal.write_str(line));
    let _ = drawn.and_then(|()| terminal.flush());
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, kernel, threads, units, done, .. } = *start;
        let (size, engine) = (plan.size(), plan.engine());
        if let bytes @ 1.. = start.cut_off {
            message!(
                "warning: the journal's last line was cut off ({bytes} bytes): it is dropped, and \
                 its units are counted again"
            );
        }
        let mut name = format!("{engine} {size}");
        if shard != Shard::WHOLE {
            name += &format!(" shard {}", shard.index());
        }
        let (solutions, left) = (done.solutions, start.time_left.clone());
        self.begin(&name, [done.units, units], Work::Count { solutions, left });
        let Some(advice) = self.advice.filter(|_| done.units == 0) else { return };
        let rough = rough_seconds(core_hours(size, engine, kernel), threads);
        let advice = match rough {
            ..LONG => return,
            _ if !engine.has_kernels() => "; --engine auto is faster",
            HOPELESS.. => "; 'nqueens shard' counts on many machines",
            _ => advice,
        };
        let (time, end) = (time(rounded_to_figures(rough, 1)), date_in(rough));
        message!("n = {size} takes roughly {time} here{end}{advice}");
    }

    fn units_done(&self, done: &UnitsDone) {
        self.update(|state| match &mut state.work {
            Work::Sample { units } => {
                *units += done.units.len();
                let elapsed = done.elapsed.as_millis().try_into();
                state.done = state.all.min(elapsed.unwrap_or(usize::MAX));
            }
            work => {
                state.done += done.units.len();
                if let Work::Count { solutions, left } = work {
                    *solutions += done.solutions;
                    left.record(done);
                }
            }
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let (mut due, mut shown) = (Duration::ZERO, Vec::new());
        for second in 0..250 {
            let now = Duration::from_secs(second);
            let pace = ProgressWhen::Always.pace(false, now);
            let [first, gap] = pace.expect("lines");
            if now >= first.max(due) {
                due = now + gap;
                shown.push(second);
            }
        }
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }
}
