//! Redraws a progress bar now and then, from a thread of its own.
//!
//! indicatif can do that too, but stops the program with a panic where no thread can be started
//! (`pids.max`, `ulimit -u`). A count needs no ticker: without one its bar is drawn whenever units
//! are reported.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use indicatif::ProgressBar;

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(100);

/// A thread that redraws a bar until this is dropped.
#[derive(Debug)]
pub(super) struct Ticker {
    /// Nothing is sent: the thread ends when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread; `None` if there can be none.
    pub(super) fn start(bar: &ProgressBar) -> Option<Self> {
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
            // It draws and waits, and has no result; a panic of it was said already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::ProgressDrawTarget;

    #[test]
    fn a_ticker_ends_when_it_is_dropped() {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        let ticker = Ticker::start(&bar).expect("a thread");
        drop(ticker);
        bar.finish_and_clear();
    }
}
