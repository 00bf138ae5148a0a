//! A request to stop, shared between the caller and the counting threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use crate::error::Error;

/// The interval at which a thread that waits for another one asks whether its wait is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A flag that stops a count or a search once it is raised. Clones share one flag.
///
/// ```
/// use nqueens::{BoardSize, Cancel, Solutions};
///
/// let cancel = Cancel::new();
/// let raise_it = cancel.clone();
/// // Without the flag, this search would take millions of years.
/// let solutions = Solutions::new(BoardSize::new(32)?).cancel_on(&cancel);
/// std::thread::spawn(move || raise_it.cancel());
/// solutions.for_each(drop);
/// assert!(cancel.is_cancelled());
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// Every engine checks the flag often, also in the middle of a unit: counts of boards up to n = 30 ended within 0.3 s.
/// An observer may raise the flag of its own count.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Makes a flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the count to stop. A signal handler may call this, because it only raises an atomic flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the count was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns [`Error::Cancelled`] if the count was asked to stop.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Runs `work` until it ends or `is_over` returns true, and returns the result of `work`.
    ///
    /// The work is given a new flag. While it runs, another thread calls `is_over` every 20 ms, and raises the flag
    /// once the answer is true. The work has to check the flag and end early by itself.
    ///
    /// # Errors
    ///
    /// [`Error::ThreadsNotStarted`] if the operating system cannot start the thread.
    pub(crate) fn run_until<T>(
        is_over: impl Fn() -> bool + Send,
        work: impl FnOnce(&Self) -> T,
    ) -> Result<T, Error> {
        let stop = Self::new();
        thread::scope(|scope| {
            // Nothing is ever sent: the channel closes when the work has ended.
            let (_works, ended) = channel::<()>();
            let thread = Builder::new().name("nqueens-watch".to_owned());
            let flag = stop.clone();
            let watch = move || {
                if let Waited::Over = wait_for_message(&ended, is_over) {
                    flag.cancel();
                }
            };
            thread.spawn_scoped(scope, watch).map_err(Error::thread_not_started)?;
            Ok(work(&stop))
        })
    }
}

/// What ended a wait for another thread.
pub(crate) enum Waited<T> {
    /// The thread has sent this.
    Message(T),
    /// The thread has ended without a message.
    Ended,
    /// The wait was over before that.
    Over,
}

/// Waits for a message of another thread, or until `is_over` returns true, which is called every 20 ms.
pub(crate) fn wait_for_message<T>(receiver: &Receiver<T>, is_over: impl Fn() -> bool) -> Waited<T> {
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(message) => return Waited::Message(message),
            Err(RecvTimeoutError::Disconnected) => return Waited::Ended,
            Err(RecvTimeoutError::Timeout) if is_over() => return Waited::Over,
            Err(RecvTimeoutError::Timeout) => {}
        }
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
