//! What a running count reports to its observer.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::engine::Kernel;
use crate::error::Error;
use crate::forecast::{Forecast, TimeLeft};
use crate::plan::Plan;
use crate::plan::done::Sum;
use crate::plan::shard::Shard;
use crate::record::Difference;

/// A receiver of reports about a running count. By default every method does nothing.
///
/// [`Count::on_progress`](crate::Count::on_progress) is enough for a program that wants to hear only of finished units.
/// Counting threads call [`Observer::progress`], so it should return at once: a thread that waits for a terminal does
/// not count.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use nqueens::{BoardSize, Count, Error, Observer, Progress};
///
/// #[derive(Default)]
/// struct Watch {
///     most: AtomicUsize,
/// }
///
/// impl Observer for Watch {
///     fn progress(&self, progress: &Progress<'_>) {
///         self.most.fetch_max(progress.units_done(), Ordering::Relaxed);
///     }
///
///     fn warned(&self, warning: &Error) {
///         eprintln!("warning: {warning}");
///     }
/// }
///
/// let watch = Arc::new(Watch::default());
/// let outcome = Count::new(BoardSize::new(12)?).observer(Arc::clone(&watch)).run()?;
/// assert_eq!(watch.most.load(Ordering::Relaxed), outcome.units);
/// # Ok::<(), Error>(())
/// ```
#[expect(unused_variables, reason = "names of the interface")]
pub trait Observer: Send + Sync {
    /// Called once, before any unit is counted. What journals already hold is part of the progress.
    /// [`Count::estimate`](crate::Count::estimate) does not call it.
    fn started(&self, progress: &Progress<'_>) {}

    /// Called when some units are finished: by each thread about every tenth of a second, or after a unit that takes
    /// longer. Nothing is reported if no unit was missing. It may [cancel](crate::Cancel) the count.
    fn progress(&self, progress: &Progress<'_>) {}

    /// Called for lines and journals that are left out, before [`Observer::started`], and when the journal of this
    /// process was moved, removed or cut by others ([`JournalErrorKind::Lost`]). The count goes on.
    ///
    /// [`JournalErrorKind::Lost`]: crate::journal::JournalErrorKind::Lost
    fn warned(&self, warning: &Error) {}
}

/// Lets a pointer to an observer be an observer.
macro_rules! observes_through {
    ($pointer:ty) => {
        impl<T: Observer + ?Sized> Observer for $pointer {
            fn started(&self, progress: &Progress<'_>) {
                (**self).started(progress);
            }

            fn progress(&self, progress: &Progress<'_>) {
                (**self).progress(progress);
            }

            fn warned(&self, warning: &Error) {
                (**self).warned(warning);
            }
        }
    };
}

observes_through!(&T);
observes_through!(Arc<T>);
observes_through!(Box<T>);

impl fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nobody;

impl Observer for Nobody {}

/// An observer that receives only the reports of finished units.
pub(super) struct OnProgress<F>(pub(super) F);

impl<F: Fn(&Progress<'_>) + Send + Sync> Observer for OnProgress<F> {
    fn progress(&self, progress: &Progress<'_>) {
        (self.0)(progress);
    }
}

/// How far a count of a board or of a shard has come.
///
/// Several threads report at the same time, so a report may come after one that knows of more. Whoever shows numbers
/// that must not fall keeps the largest one. When the last unit is finished, one report says so.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub(crate) start: &'a Start<'a>,
    pub(super) done: Sum,
    /// The wall time since counting began.
    pub(super) elapsed: Duration,
    pub(super) time_left: &'a Mutex<TimeLeft>,
}

impl Progress<'_> {
    /// Returns the number of units of the board or of the shard.
    pub fn units(&self) -> usize {
        self.start.units
    }

    /// Returns the number of finished units, including those that journals already held.
    pub fn units_done(&self) -> usize {
        self.done.units
    }

    /// Returns the number of solutions in the finished units.
    pub fn solutions(&self) -> u128 {
        self.done.solutions
    }

    /// Returns the finished part of the units, from 0 to 1. It is 1 only at the end.
    pub fn fraction(&self) -> f64 {
        // A shard may have no unit.
        if self.done.units == self.start.units {
            return 1.0;
        }
        self.done.units as f64 / self.start.units as f64
    }

    /// Returns the number of counting threads.
    pub fn threads(&self) -> usize {
        self.start.threads
    }

    /// Forecasts the missing units. What the journals hold is part of the sample, if it comes from runs like this one.
    /// Returns `None` before the first unit is finished, or if the CPU clock stands still.
    ///
    /// ```
    /// use nqueens::{BoardSize, Count};
    ///
    /// let count = Count::new(BoardSize::new(12)?).on_progress(|progress| {
    ///     if let Some(seconds) = progress.time_left().and_then(|left| left.wall_seconds) {
    ///         eprintln!("{:.0} %, {seconds:.0} s left", 100.0 * progress.fraction());
    ///     }
    /// });
    /// count.run()?;
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn time_left(&self) -> Option<Forecast> {
        self.time_left.lock().unwrap_or_else(PoisonError::into_inner).estimate()
    }
}

/// The state of a count when it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    /// The plan of the whole count.
    pub(crate) plan: &'a Plan,
    /// The shard to be counted: [`Shard::WHOLE`] for a whole count.
    pub(crate) shard: Shard,
    /// The kernel: [`Kernel::PORTABLE`] for engines without kernels.
    pub(crate) kernel: Kernel,
    /// The number of counting threads.
    pub(crate) threads: usize,
    /// The number of units in the shard.
    pub(crate) units: usize,
    /// The units of the shard that journals already hold, and their solutions.
    pub(crate) done: Sum,
    /// The reasons why lines and journals were left out. Their units count as not finished.
    pub(crate) left_out: &'a [Error],
    /// The units for which journals hold different numbers. Those that are not settled count as not finished.
    pub(crate) differences: &'a [Difference],
}
