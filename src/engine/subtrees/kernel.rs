//! The passes over a level: two functions, with a version for each [`Kernel`].
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
use crate::engine::kernel::{Kernel, dispatch};

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
    dispatch!(kernel, expand(level, next, from, blocked));
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
    dispatch!(kernel, finish(level, from, blocked, board))
}

/// Stops the process: nodes beyond the capacity would overwrite others and make the count wrong. One
/// comparison before each pass is enough, since a pass writes at most one child for each node.
#[cold]
#[inline(never)]
fn overflows(len: usize) -> ! {
    panic!("a level of {len} nodes overflows");
}

#[cfg(test)]
mod tests;
