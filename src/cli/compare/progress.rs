//! The bar over a whole comparison.
//!
//! ```text
//! compare [==>       ] 13/48 runs, n = 18: halves on 2 threads, 3.2s left
//! ```

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cli::bar::{Bar, Display, ProgressWhen};
use crate::cli::stderr::message;
use crate::cli::text::duration;

const NAME: &str = "compare";

/// Shows how far a comparison is.
pub(super) struct Progress {
    bar: Bar,
    display: Display,
    /// The run that is under way.
    run: Arc<Mutex<String>>,
    runs: Cell<usize>,
    runs_done: Cell<usize>,
}

impl Progress {
    /// A bar on a terminal; elsewhere nothing, or a line for each board if progress is always
    /// wanted.
    pub(super) fn new(when: ProgressWhen, runs: usize) -> Self {
        let run = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&run);
        let bar = Bar::new(NAME, runs, move |state, _| {
            let run = shown.lock().unwrap_or_else(PoisonError::into_inner);
            format!("{}/{} runs{run}", state.pos(), state.len().unwrap_or_default())
        });
        let display = when.display();
        if display == Display::Bar {
            bar.show();
        }
        Self { bar, display, run, runs: Cell::new(runs), runs_done: Cell::new(0) }
    }

    /// The timed runs on a board begin.
    pub(super) fn begin_rounds(&self, n: u32, left: Duration) {
        if matches!(self.display, Display::Lines(_)) {
            message!("n = {n}: about {} left for this board", duration(left));
        }
    }

    /// A run begins; `left` is the time for this board's runs, if it is known.
    pub(super) fn begin_run(&self, n: u32, contestant: &str, left: Option<Duration>) {
        let left = left.map_or_else(|| "warming up".to_owned(), |left| duration(left) + " left");
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) =
            format!(", n = {n}: {contestant}, {left}");
    }

    pub(super) fn end_run(&self) {
        self.runs_done.set(self.runs_done.get() + 1);
        self.bar.advance(1);
    }

    /// Some of the runs will not take place.
    pub(super) fn leave_out(&self, runs: usize) {
        self.runs.set(self.runs.get().saturating_sub(runs));
        self.bar.restart(NAME.to_owned(), self.runs.get(), self.runs_done.get());
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(&self) {
        self.bar.clear();
    }
}
