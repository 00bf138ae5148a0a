//! The door to the passes over a level: two functions, each in one version for each [`Kernel`].
//!
//! * `expand` moves the next child of each node to the next level, if each of the three rows
//!   below the node's own has a free square left;
//! * `finish` counts the solutions below the next child of each node of the third row from below.
//!
//! Both take the nodes from index `from` to the end and keep, packed, those with more children.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::level::{CAPACITY, Level};
use crate::engine::Kernel;

/// Moves children from `level` to `next`. `blocked` are the forbidden squares of the three rows
/// below the level's.
pub(super) fn expand(
    kernel: Kernel,
    level: &mut Level,
    next: &mut Level,
    from: usize,
    blocked: [u32; 3],
) {
    if next.len + level.len.saturating_sub(from) > CAPACITY {
        overflows(next.len);
    }
    match kernel {
        Kernel::Portable => portable::expand(level, next, from, blocked),
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
        Kernel::Avx2(_) => {
            // SAFETY: an `Avx2` comes from `Avx2::detect` only, which found these features.
            unsafe { avx2::expand(level, next, from, blocked) }
        }
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
        Kernel::Avx512(_) => {
            // SAFETY: an `Avx512` comes from `Avx512::detect` only, which found these features.
            unsafe { avx512::expand(level, next, from, blocked) }
        }
    }
}

/// Counts the solutions below the next children. `blocked` are the forbidden squares of the last
/// two rows, `board` has a bit for each column.
pub(super) fn finish(
    kernel: Kernel,
    level: &mut Level,
    from: usize,
    blocked: [u32; 2],
    board: u32,
) -> u64 {
    match kernel {
        Kernel::Portable => portable::finish(level, from, blocked, board),
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
        Kernel::Avx2(_) => {
            // SAFETY: an `Avx2` comes from `Avx2::detect` only, which found these features.
            unsafe { avx2::finish(level, from, blocked, board) }
        }
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
        Kernel::Avx512(_) => {
            // SAFETY: an `Avx512` comes from `Avx512::detect` only, which found these features.
            unsafe { avx512::finish(level, from, blocked, board) }
        }
    }
}

/// Stops the process: nodes beyond the capacity would overwrite others, and the count would be
/// wrong. One comparison before each pass is enough, since a pass writes at most one child for each
/// node.
#[cold]
#[inline(never)]
fn overflows(len: usize) -> ! {
    panic!("a level of {len} nodes overflows");
}

#[cfg(test)]
mod tests;
