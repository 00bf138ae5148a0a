//! The progress bar: an observer of the count that draws on stderr.
//!
//! ```text
//! subtrees 18 [=====>              ] 84/325 units 26% 1.8s ETA 5.1s ± 0.4s, 172021456 solutions, 9.6e7/s
//! ```

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nqueens::{Error, Observer, Shard, Start, UnitsDone};

use super::remaining::{Estimate, RemainingTime};
use super::talk::say;
use super::ticker::Ticker;

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Never,
    Auto,
    Always,
}

/// Counts that end sooner show nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The first line where there is no terminal, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LAST_LINE_GAP: Duration = Duration::from_secs(60);

/// Draws a count's progress.
pub(super) struct Progress {
    display: Display,
    /// While the bar is on the terminal, unless it has to be drawn from the reports alone.
    ticker: Mutex<Option<Ticker>>,
    state: Arc<Mutex<State>>,
}

enum Display {
    Hidden,
    Bar(ProgressBar),
    /// Lines, each printed by the thread whose report makes it due.
    Lines,
}

struct State {
    begun: Instant,
    units: usize,
    done: usize,
    solutions: u128,
    /// Of them, those that a journal held already.
    solutions_before: u128,
    remaining: RemainingTime,
    next_line: Duration,
}

impl Progress {
    /// A bar on a terminal; elsewhere nothing, or lines if progress is always wanted.
    pub(super) fn new(when: When) -> Self {
        let state = Arc::new(Mutex::new(State {
            begun: Instant::now(),
            units: 0,
            done: 0,
            solutions: 0,
            solutions_before: 0,
            remaining: RemainingTime::default(),
            next_line: FIRST_LINE,
        }));
        let display = match (when, std::io::stderr().is_terminal()) {
            (When::Never, _) | (When::Auto, false) => Display::Hidden,
            (When::Always, false) => Display::Lines,
            (_, true) => Display::Bar(bar(&state)),
        };
        Self { display, ticker: Mutex::default(), state }
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(&self) {
        if let Display::Bar(bar) = &self.display {
            drop(self.ticker().take());
            bar.finish_and_clear();
        }
    }

    /// Puts the bar on the terminal, once.
    fn show(&self, bar: &ProgressBar) {
        let mut ticker = self.ticker();
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            *ticker = Ticker::start(bar);
        }
    }

    fn ticker(&self) -> MutexGuard<'_, Option<Ticker>> {
        self.ticker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A bar that is drawn from the shared state.
fn bar(state: &Arc<Mutex<State>>) -> ProgressBar {
    let shared = Arc::clone(state);
    let tail = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        // A line that cannot be formatted is drawn empty; the count goes on.
        let _ = out.write_str(&state.tail());
    };
    let style = ProgressStyle::with_template("{prefix} [{bar:20}] {tail}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
        .with_key("tail", tail);
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(style);
    bar
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, threads, units, units_done, solutions, .. } = *start;
        if start.torn > 0 {
            say(format_args!(
                "warning: the journal's last line was cut off ({} bytes): it is dropped, and its \
                 units are counted again",
                start.torn
            ));
        }
        if start.withdrawn > 0 {
            say(format_args!(
                "warning: the journal withdrew {} units after a recount differed: they are counted \
                 again; do not trust the machine that counted them",
                start.withdrawn
            ));
        }
        self.with_state(|state| {
            state.begun = Instant::now();
            state.units = units;
            state.done = units_done;
            state.solutions = solutions;
            state.solutions_before = solutions;
            state.remaining = RemainingTime::new(units - units_done, threads);
        });
        if let Display::Bar(bar) = &self.display {
            bar.set_length(units as u64);
            bar.set_position(units_done as u64);
            let part =
                if shard == Shard::WHOLE { String::new() } else { format!(" shard {shard}") };
            bar.set_prefix(format!("{} {}{part}", plan.engine(), plan.size()));
        }
    }

    fn units_done(&self, done: &UnitsDone) {
        if matches!(self.display, Display::Hidden) {
            return;
        }
        let (elapsed, line) = self.with_state(|state| {
            state.done += done.units.len();
            state.solutions += done.solutions;
            state.remaining.record(done.units.len(), done.busy);
            let elapsed = state.begun.elapsed();
            (elapsed, state.line_if_due(elapsed, &self.display))
        });
        if let Some(line) = line {
            say(line);
        }
        if let Display::Bar(bar) = &self.display {
            bar.inc(done.units.len() as u64);
            if bar.is_hidden() && elapsed >= QUIET_START {
                self.show(bar);
            }
        }
    }

    fn journal_changed(&self, change: &Error) {
        self.say_above(format_args!("warning: {change}"));
    }

    fn file_system_hangs(&self, waited: Duration) {
        self.say_above(format_args!(
            "the file system has not taken the last records for {}: waiting for it; a second signal \
             ends the program at once, without them",
            short(waited)
        ));
    }
}

/// Lines that are said while a count goes on.
impl Progress {
    fn say_above(&self, message: std::fmt::Arguments<'_>) {
        match &self.display {
            Display::Bar(bar) => bar.suspend(|| say(message)),
            Display::Hidden | Display::Lines => say(message),
        }
    }
}

impl State {
    /// The text behind the bar.
    fn tail(&self) -> String {
        let Self { units, done, solutions, .. } = self;
        let elapsed = self.begun.elapsed();
        let percent = 100 * done / units.max(&1);
        let mut text = format!("{done}/{units} units {percent}% {}", short(elapsed));
        // Writing to a string cannot fail.
        let _ = match self.remaining.estimate(elapsed) {
            Some(Estimate { mean, error }) => {
                write!(text, " ETA {} ± {}", short(mean), short(error))
            }
            None => write!(text, " ETA unknown yet"),
        };
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with two digits")]
        let per_second =
            (solutions - self.solutions_before) as f64 / elapsed.as_secs_f64().max(1e-3);
        let _ = write!(text, ", {solutions} solutions, {per_second:.1e}/s");
        text
    }

    /// Where lines are shown, the line if it is time for one; the gaps double up to a minute.
    fn line_if_due(&mut self, elapsed: Duration, display: &Display) -> Option<String> {
        if !matches!(display, Display::Lines) || elapsed < self.next_line {
            return None;
        }
        self.next_line = elapsed + elapsed.min(LAST_LINE_GAP);
        Some(self.tail())
    }
}

/// The bar of a check of so many units.
pub(super) struct RecountBar {
    bar: ProgressBar,
    ticker: Option<Ticker>,
}

impl RecountBar {
    /// A bar on a terminal; elsewhere nothing.
    pub(super) fn new(when: When, units: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(units as u64), ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template("verify [{bar:20}] {pos}/{len} units {elapsed} ETA {eta}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        let mut ticker = None;
        if when != When::Never && std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            ticker = Ticker::start(&bar);
        }
        Self { bar, ticker }
    }

    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(self) {
        drop(self.ticker);
        self.bar.finish_and_clear();
    }
}

/// A duration in the unit that suits it.
pub(super) fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1}s", duration.as_secs_f64()),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let texts = [0.04, 59.94, 61.0, 3599.0, 3600.0, 90_000.0]
            .map(|seconds| short(Duration::from_secs_f64(seconds)));
        assert_eq!(texts, ["0.0s", "59.9s", "1m01s", "59m59s", "1h00m", "1d01h"]);
    }
}
