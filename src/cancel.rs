//! A request to stop, shared between the caller and the counting threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use crate::error::Error;

/// How often a thread that watches looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A flag that stops a count once it is raised. Clones share the flag.
///
/// Every engine polls it often enough to stop within a few tens of milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the count to stop. A signal handler may call it: it only raises an atomic flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the count was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// [`Error::StoppedBefore`] this, if it was asked to stop.
    pub(crate) fn check(&self, what: &'static str) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::StoppedBefore { what }) } else { Ok(()) }
    }

    /// Does some work until it ends or another thread stops it: the work is given a new flag, and while it lasts, the
    /// other thread asks `is_over` every 20 ms and raises the flag once the answer is yes. Returns what the
    /// work returns; to look at the flag and to end early is up to the work.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use nqueens::{BoardSize, Cancel, Count};
    ///
    /// let begun = Instant::now();
    /// let is_over = || begun.elapsed() > Duration::from_millis(100);
    /// let count = Count::new(BoardSize::new(24)?);
    /// let outcome = Cancel::run_until(is_over, |stop| count.cancel(stop).run())?;
    /// assert!(outcome.is_err_and(|error| error.is_cancelled()));
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ThreadsNotStarted`] if the operating system refuses the thread.
    pub fn run_until<T>(
        is_over: impl Fn() -> bool + Send,
        work: impl FnOnce(&Self) -> T,
    ) -> Result<T, Error> {
        let stop = Self::new();
        thread::scope(|scope| {
            // Nothing is ever sent: the channel closes when the work has ended.
            let (_works, ended) = channel::<()>();
            let flag = stop.clone();
            let watch = move || {
                while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if is_over() {
                        flag.cancel();
                    }
                }
            };
            let watch = Builder::new().name("nqueens-watch".to_owned()).spawn_scoped(scope, watch);
            watch.map_err(Error::no_thread)?;
            Ok(work(&stop))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn work_that_is_over_is_stopped_and_other_work_is_not() {
        let begun = Instant::now();
        let wait = |stop: &Cancel| {
            while !stop.is_cancelled() {
                thread::sleep(Duration::from_millis(1));
            }
        };
        Cancel::run_until(|| begun.elapsed() > Duration::from_millis(30), wait).expect("a thread");
        assert_eq!(Cancel::run_until(|| false, |stop| (5, stop.is_cancelled())), Ok((5, false)));
    }
}
