//! One node at a time, for any CPU. This kernel is the reference for the vector kernels.
//!
//! The loop bodies have no branch: a node is always written, and the length grows by 0 or 1. The passes are not
//! inlined into their caller, because the loops would spill registers there (0.77 s instead of 0.56 s at n = 16).

use super::super::level::Level;
use crate::board::solutions::Node;

/// Writes the next child of each node to the next level, if each of the three rows below the node's own has a free
/// square left.
#[inline(never)]
pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, allowed: [u32; 3]) {
    let mut kept = from;
    let mut added = next.len;
    for at in from..level.len {
        let child = next_child(level, at, &mut kept, allowed[0]);
        let below = child.next_row(allowed[1]);
        let below_that = below.next_row(allowed[2]);
        next.set(added, child);
        added += usize::from((child.free != 0) & (below.free != 0) & (below_that.free != 0));
    }
    level.len = kept;
    next.len = added;
}

/// Counts the solutions below the next child of each node: the ways to fill the last two rows, for which two columns
/// are left.
///
/// If the columns are adjacent, the two queens would attack each other. Otherwise there is one way if each row has a
/// free square and each column is free in some row. There are two ways if both rows have both squares free.
#[inline(never)]
pub(super) fn finish(level: &mut Level, from: usize, allowed: [u32; 2], board: u32) -> u64 {
    let mut kept = from;
    let mut solutions = 0;
    for at in from..level.len {
        let child = next_child(level, at, &mut kept, allowed[0]);
        let last = child.next_row(allowed[1]);
        let unused = board & !child.columns;
        let one_way = (unused & unused << 1 == 0)
            & (child.free | last.free == unused)
            & (child.free != 0)
            & (last.free != 0);
        let both_ways = one_way & (child.free & last.free == unused);
        solutions += u64::from(one_way) + u64::from(both_ways);
    }
    level.len = kept;
    solutions
}

/// Returns a node's child on its lowest free square. If the node has more free squares, it moves to `kept`.
#[inline(always)]
fn next_child(level: &mut Level, at: usize, kept: &mut usize, allowed: u32) -> Node {
    let node = level.get(at);
    let rest = node.free & node.free.wrapping_sub(1);
    level.set(*kept, Node { free: rest, ..node });
    *kept += usize::from(rest != 0);
    node.with_queen(node.free ^ rest, allowed)
}
