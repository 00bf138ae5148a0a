//! One count, of a whole board or of a shard: its settings ([`Count`]) and its result ([`Outcome`]).

mod driver;
mod estimate;
mod job;
mod observe;
pub(crate) mod ranges;
mod settings;

use crate::board::size::BoardSize;
use crate::error::Error;
pub use estimate::Estimate;
pub use job::Outcome;
pub use observe::{Observer, OnProgress, SoFar, Start};
pub use settings::Count;

/// Returns the number of ways to place `n` queens on an `n` x `n` board so that none attacks another: Q(n),
/// [A000170](https://oeis.org/A000170), with Q(0) = 1.
///
/// The count runs on the current rayon pool. [`Count`] has settings for everything else.
///
/// ```
/// assert_eq!(nqueens::count(8)?, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidValue`] for `n` above 32, and [`Error::LacksMemory`] if the engine needs more memory than there
/// is.
pub fn count(n: u32) -> Result<u128, Error> {
    let outcome = Count::new(BoardSize::new(n)?).run()?;
    Ok(outcome.total.expect("nothing has stopped the count"))
}
