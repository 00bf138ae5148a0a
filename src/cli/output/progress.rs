//! The progress of a count: an observer that draws a bar or prints lines.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 1.8s, ETA 5.1s ± 0.4s, 9.6e7 sol/s
//! ```

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nqueens::{Error, Observer, Shard, Start, UnitsDone};

use super::bar::{BAR_COLUMNS, Bar, COLUMNS, Display, ProgressWhen};
use super::eta::Eta;
use super::stderr::message;
use super::text::{duration, many};

/// Counts that end sooner show nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The first line where there is no terminal, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LAST_LINE_GAP: Duration = Duration::from_secs(60);

/// Shows the progress of one count.
pub(crate) struct Progress {
    display: Display,
    bar: Bar,
    state: Arc<Mutex<State>>,
}

struct State {
    begun: Instant,
    units: usize,
    done: usize,
    /// Solutions counted since the beginning.
    solutions: u128,
    eta: Eta,
    next_line: Duration,
    /// The columns that the text may take.
    columns: usize,
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let state = Arc::new(Mutex::new(State {
            begun: Instant::now(),
            units: 0,
            done: 0,
            solutions: 0,
            eta: Eta::default(),
            next_line: FIRST_LINE,
            columns: COLUMNS - "nqueens: ".len(),
        }));
        let shared = Arc::clone(&state);
        let bar = Bar::new("", 0, move |_| with(&shared, |state| state.text()));
        Self { display: when.display(), bar, state }
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
        let Start { plan, shard, threads, units, units_done, .. } = *start;
        if start.torn > 0 {
            message!(
                "warning: the journal's last line was cut off ({} bytes): it is dropped, and its \
                 units are counted again",
                start.torn
            );
        }
        if start.withdrawn > 0 {
            message!(
                "warning: the journal withdrew {} after a recount differed: they are counted \
                 again; do not trust the machine that counted them",
                many(start.withdrawn, "unit")
            );
        }
        let mut prefix = format!("{} {}", plan.engine(), plan.size());
        if shard != Shard::WHOLE {
            prefix += &format!(" shard {}", shard.index());
        }
        with(&self.state, |state| {
            state.begun = Instant::now();
            (state.units, state.done) = (units, units_done);
            state.eta = Eta::new(units - units_done, threads);
            if self.display == Display::Bar {
                state.columns = COLUMNS - BAR_COLUMNS - prefix.len();
            }
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
            state.eta.record(done.units.len(), done.busy);
            let elapsed = state.begun.elapsed();
            (elapsed, state.line_if_due(elapsed))
        });
        self.bar.advance(done.units.len());
        match (self.display, line) {
            (Display::Lines, Some(line)) => message!("{line}"),
            (Display::Bar, _) if elapsed >= QUIET_START => self.bar.show(),
            _ => {}
        }
    }

    fn journal_changed(&self, change: &Error) {
        self.print(format_args!("warning: {change}"));
    }

    fn file_system_hangs(&self, waited: Duration) {
        self.print(format_args!(
            "the file system has not taken the last records for {}: waiting for it; a second signal \
             ends the program at once, without them",
            duration(waited)
        ));
    }
}

impl State {
    /// What is known, the most important first; what does not fit is left out.
    fn text(&self) -> String {
        let Self { units, done, solutions, .. } = self;
        let elapsed = self.begun.elapsed();
        let eta = self.eta.estimate(elapsed).map_or("unknown yet".to_owned(), |(rest, error)| {
            format!("{} ± {}", duration(rest), duration(error))
        });
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown with two digits")]
        let rate = *solutions as f64 / elapsed.as_secs_f64().max(1e-3);
        let mut text = format!("{}%", 100 * done / units.max(&1));
        for part in [
            format!("{done}/{units} units"),
            duration(elapsed),
            format!("ETA {eta}"),
            format!("{rate:.1e} sol/s"),
        ] {
            if text.chars().count() + 2 + part.chars().count() <= self.columns {
                text = format!("{text}, {part}");
            }
        }
        text
    }

    /// The line if it is time for one; the gaps double up to a minute.
    fn line_if_due(&mut self, elapsed: Duration) -> Option<String> {
        if elapsed < self.next_line {
            return None;
        }
        self.next_line = elapsed + elapsed.min(LAST_LINE_GAP);
        Some(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_columns() {
        let mut state = State {
            begun: Instant::now(),
            units: 123_456_789,
            done: 103_456_789,
            solutions: 1 << 100,
            eta: Eta::default(),
            next_line: FIRST_LINE,
            columns: 70,
        };
        let begins = "83%, 103456789/123456789 units, 0.0s, ETA unknown yet";
        assert!(state.text().starts_with(begins), "{}", state.text());
        for columns in [10, 30, 50, 70] {
            state.columns = columns;
            assert!(state.text().chars().count() <= columns, "{}", state.text());
        }
    }
}
