//! One count, of a whole board or of a shard: its settings ([`Count`]) and its result ([`Outcome`]).

pub(crate) mod completions;
mod driver;
mod estimate;
mod job;
mod observe;
pub(crate) mod ranges;
mod settings;

use crate::board::size::BoardSize;
use crate::error::Error;
pub use job::Outcome;
pub use observe::{Observer, Progress};
pub use settings::Count;

/// Returns the number of ways to place `n` queens on an `n` x `n` board so that none attacks another: Q(n),
/// [A000170](https://oeis.org/A000170), with Q(0) = 1.
///
/// The count runs on all CPUs, and returns when it is finished. One CPU with AVX-512 needs 0.02 s for n = 16, 5 to 7 s
/// for n = 20, 1.3 to 1.7 hours for n = 24, and an estimated three to six months for n = 28. From n = 20 on, a
/// [`Count`] is better: it can be cancelled, resumed, and shared between machines.
///
/// ```
/// assert_eq!(nqueens::count(8)?, 92);
/// # Ok::<(), nqueens::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidValue`] for `n` above 32, [`Error::LacksMemory`] if the engine needs more memory than there is,
/// [`Error::ThreadsNotStarted`] if the threads cannot be started, and [`Error::Overflow`] if a number does not fit.
pub fn count(n: u32) -> Result<u128, Error> {
    let outcome = Count::new(BoardSize::new(n)?).run()?;
    Ok(outcome.total.expect("nothing has stopped the count"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::{BoardSize, Count};
    use crate::machine::thread_pool;

    /// The number of times that this thread has read from files. Returns `None` if Linux does not count them.
    fn reads() -> Option<u64> {
        let io = fs::read_to_string("/proc/thread-self/io").ok()?;
        io.lines().find_map(|line| line.strip_prefix("syscr: "))?.parse().ok()
    }

    /// It needs no memory to speak of, and has no journal that names the machine. Each question to the operating system
    /// would take longer than the count.
    #[test]
    fn a_small_count_asks_nothing_of_the_operating_system() {
        let pool = thread_pool(1).expect("a thread");
        pool.install(|| {
            let [Some(first), Some(second)] = [reads(), reads()] else {
                eprintln!("skipped: the reads of a thread are not counted");
                return;
            };
            let count = Count::new(BoardSize::new(8).expect("in range"));
            assert_eq!(count.run_here().map(|outcome| outcome.total), Ok(Some(92)));
            let third = reads().expect("they were counted");
            assert_eq!(third - second, second - first, "files were read");
        });
    }
}
