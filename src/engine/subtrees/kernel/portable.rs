//! One node at a time, for any CPU; the reference for the vector kernels.
//!
//! The loop bodies have no branch: a node is always written, and the length grows by 0 or 1. The
//! functions are not inlined into their caller, where the loops would spill registers (0.77 s
//! instead of 0.56 s at n = 16).

use super::super::level::Level;
use crate::board::solution::Node;

#[inline(never)]
pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, blocked: [u32; 3]) {
    let (mut kept, mut added) = (from, next.len);
    for index in from..level.len {
        let node = level.get(index);
        let rest = node.free & node.free.wrapping_sub(1);
        let child = node.with_queen(node.free ^ rest, blocked[0]);
        let Node { columns, falling, rising, free } = child;
        let free_2 = !(columns | falling << 1 | rising >> 1 | blocked[1]);
        let free_3 = !(columns | falling << 2 | rising >> 2 | blocked[2]);
        next.set(added, child);
        added += usize::from((free != 0) & (free_2 != 0) & (free_3 != 0));
        level.set(kept, Node { free: rest, ..node });
        kept += usize::from(rest != 0);
    }
    (level.len, next.len) = (kept, added);
}

/// Two columns are left for the last two rows. If they are adjacent, their queens would attack each
/// other. Otherwise there is one way if each row has a free square and each column is free in some
/// row, and there are two ways if both rows have both squares free.
#[inline(never)]
pub(super) fn finish(level: &mut Level, from: usize, blocked: [u32; 2], board: u32) -> u64 {
    let mut kept = from;
    let mut solutions = 0;
    for index in from..level.len {
        let node = level.get(index);
        let rest = node.free & node.free.wrapping_sub(1);
        let child = node.with_queen(node.free ^ rest, blocked[0]);
        let Node { columns, falling, rising, free } = child;
        let free_last = !(columns | falling << 1 | rising >> 1 | blocked[1]);
        let left = board & !columns;
        let one_way =
            (left & left << 1 == 0) & (free | free_last == left) & (free != 0) & (free_last != 0);
        let both_ways = one_way & (free & free_last == left);
        solutions += u64::from(one_way) + u64::from(both_ways);
        level.set(kept, Node { free: rest, ..node });
        kept += usize::from(rest != 0);
    }
    level.len = kept;
    solutions
}
