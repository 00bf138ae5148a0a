//! A bar on the terminal.
//!
//! ```text
//! verify [====>     ] 84/200 units, 1.8s, ETA 2.5s
//! ```
//!
//! It is redrawn ten times a second by a thread of its own. indicatif can do that too, but stops the
//! program with a panic where no thread can be started (`pids.max`, `ulimit -u`). Without the thread
//! a bar is drawn whenever it advances.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// How often a bar is drawn.
const TICK: Duration = Duration::from_millis(100);

/// A line never takes more columns: a terminal has 80 at least, and the cursor needs one.
pub(crate) const COLUMNS: usize = 79;

/// The columns of a bar, its brackets and the spaces around them.
pub(crate) const BAR_COLUMNS: usize = 14;

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

/// What takes the place of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    Nothing,
    Bar,
    Lines,
}

impl ProgressWhen {
    /// What is shown on the standard error of this process.
    pub(crate) fn display(self) -> Display {
        match (self, std::io::stderr().is_terminal()) {
            (Self::Never, _) | (Self::Auto, false) => Display::Nothing,
            (Self::Always, false) => Display::Lines,
            (_, true) => Display::Bar,
        }
    }
}

/// A bar, its prefix before it and its text behind it.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// While the bar is on the terminal.
    ticker: Mutex<Option<Ticker>>,
}

impl Bar {
    /// A bar that is not on the terminal yet. `text` is asked for whenever it is drawn.
    pub(crate) fn new(
        prefix: &'static str,
        length: usize,
        text: impl Fn(&ProgressState) -> String + Clone + Send + Sync + 'static,
    ) -> Self {
        let write_text = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A text that cannot be formatted is drawn empty, and the count continues.
            let _ = out.write_str(&text(state));
        };
        let style = ProgressStyle::with_template("{prefix} [{bar:10}] {text}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ")
            .with_key("text", write_text);
        let target = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        bar.set_style(style);
        bar.set_prefix(prefix);
        Self { bar, ticker: Mutex::default() }
    }

    /// Sets what is shown.
    pub(crate) fn restart(&self, prefix: String, length: usize, done: usize) {
        self.bar.set_prefix(prefix);
        self.bar.set_length(length as u64);
        self.bar.set_position(done as u64);
    }

    pub(crate) fn advance(&self, by: usize) {
        self.bar.inc(by as u64);
    }

    /// Puts the bar on the terminal, if it is not there yet.
    pub(crate) fn show(&self) {
        let mut ticker = self.ticker();
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            *ticker = Ticker::start(&self.bar);
        }
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        drop(self.ticker().take());
        self.bar.finish_and_clear();
    }

    fn ticker(&self) -> MutexGuard<'_, Option<Ticker>> {
        self.ticker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that redraws a bar until this is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    /// Nothing is sent: the thread ends when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread; `None` if there can be none.
    pub(crate) fn start(bar: &ProgressBar) -> Option<Self> {
        let (end, ended) = channel();
        let bar = bar.clone();
        let draw = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
        };
        let thread = Builder::new().name("nqueens-bar".to_owned()).spawn(draw).ok()?;
        Some(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    /// The bar may be taken off the terminal afterwards: it is not drawn again.
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It draws and waits, and has no result; the message of a panic was printed already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticker_ends_when_it_is_dropped() {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        let ticker = Ticker::start(&bar).expect("a thread");
        drop(ticker);
        bar.finish_and_clear();
    }
}
