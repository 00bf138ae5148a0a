//! The bar over a whole comparison.
//!
//! ```text
//! compare [=====>              ] 13/48 runs 4.1s, n = 18: halves on 2 threads, 3.2s to go on this board
//! ```

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::output::bar::{ProgressWhen, Ticker};
use crate::cli::output::stderr::message;
use crate::cli::output::text::duration;

/// Shows how far a comparison is.
pub(super) struct CompareBar {
    bar: ProgressBar,
    ticker: Option<Ticker>,
    /// Whether lines take the place of the bar.
    lines: bool,
}

impl CompareBar {
    /// A bar on a terminal; elsewhere nothing, or a line for each board if progress is always
    /// wanted.
    pub(super) fn new(when: ProgressWhen, runs: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template("compare [{bar:20}] {pos}/{len} runs {elapsed}, {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        let mut ticker = None;
        if terminal && when != ProgressWhen::Never {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            ticker = Ticker::start(&bar);
        }
        Self { bar, ticker, lines: !terminal && when == ProgressWhen::Always }
    }

    /// A board's rounds begin: so long will they take.
    pub(super) fn begin_rounds(&self, n: u32, rest: Duration) {
        if self.lines {
            message!("n = {n}: about {} to go on this board", duration(rest));
        }
    }

    /// A run begins; `rest` is the time for this board's runs, if it is known.
    pub(super) fn begin_run(&self, what: impl FnOnce() -> String, rest: Option<Duration>) {
        if self.bar.is_hidden() {
            return;
        }
        let rest = rest.map_or_else(
            || "warming up".to_owned(),
            |rest| format!("{} to go on this board", duration(rest)),
        );
        self.bar.set_message(format!("{}, {rest}", what()));
    }

    pub(super) fn end_run(&self) {
        self.bar.inc(1);
    }

    /// So many runs will not take place.
    pub(super) fn leave_out(&self, runs: u64) {
        self.bar.set_length(self.bar.length().unwrap_or_default().saturating_sub(runs));
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(self) {
        drop(self.ticker);
        self.bar.finish_and_clear();
    }
}
