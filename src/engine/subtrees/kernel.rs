//! The passes over a level: two functions, with a version for each [`Kernel`].
//!
//! * `expand` moves the next child of each node to the next level, if each of the three rows
//!   below the node's own has a free square left;
//! * `finish` counts the solutions below the next child of each node of the third row from below.
//!
//! Both take the nodes from index `from` to the end and keep, packed, those with more children.

/// Defines the passes of a vector kernel, compiled for these CPU features. Its module has a type
/// `Vector` of `LANES` 32-bit words, a type `Lanes` with a bit for each of them, and these operations:
///
/// | operation | result |
/// |---|---|
/// | `splat(word)`, `limit(blocked)` | a word, the forbidden squares of a row, in each lane |
/// | `next_child(nodes, limit)` | each node's child on its lowest free square, and the squares left |
/// | `free_below::<ROWS>(nodes, limit)` | the free squares `ROWS` rows further down |
/// | `lanes_with_squares(lanes, rows)` | those of the lanes in which no row is 0 |
/// | `ways(lanes, child, free_last, board)` | those with a way to fill the last two rows, with two ways |
/// | `to_front(order(lanes), vector)` | these lanes first |
///
/// What a store writes after the last node is overwritten later or never read.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_passes {
    ($features:literal) => {
        #[derive(Clone, Copy)]
        struct Nodes {
            columns: Vector,
            falling: Vector,
            rising: Vector,
            free: Vector,
        }

        #[target_feature(enable = $features)]
        pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, blocked: [u32; 3]) {
            let limits = blocked.map(|row| limit(row));
            let len = level.len;
            let (mut kept, mut added) = (from, next.len);
            for at in (from..len).step_by(LANES) {
                let present = first_lanes(len - at);
                let nodes = load_nodes(level, at);
                let (child, rest) = next_child(nodes, limits[0]);
                let [free_2, free_3] =
                    [free_below::<1>(child, limits[1]), free_below::<2>(child, limits[2])];
                let alive = lanes_with_squares(present, [child.free, free_2, free_3]);
                added += pack(next, added, child, alive);
                let unfinished = lanes_with_squares(present, [rest]);
                kept += pack(level, kept, Nodes { free: rest, ..nodes }, unfinished);
            }
            (level.len, next.len) = (kept, added);
        }

        #[target_feature(enable = $features)]
        pub(super) fn finish(level: &mut Level, from: usize, blocked: [u32; 2], board: u32) -> u64 {
            let limits = blocked.map(|row| limit(row));
            let board = splat(board);
            let len = level.len;
            let mut kept = from;
            let mut solutions = 0;
            for at in (from..len).step_by(LANES) {
                let present = first_lanes(len - at);
                let nodes = load_nodes(level, at);
                let (child, rest) = next_child(nodes, limits[0]);
                let free_last = free_below::<1>(child, limits[1]);
                let (one_way, both_ways) = ways(present, child, free_last, board);
                solutions += u64::from(one_way.count_ones() + both_ways.count_ones());
                let unfinished = lanes_with_squares(present, [rest]);
                kept += pack(level, kept, Nodes { free: rest, ..nodes }, unfinished);
            }
            level.len = kept;
            solutions
        }

        /// The lanes that hold nodes when `len` of them are left, at least one.
        fn first_lanes(len: usize) -> Lanes {
            if len >= LANES { !0 } else { (1 << len) - 1 }
        }

        /// Writes the chosen lanes from `at` on; returns how many.
        #[target_feature(enable = $features)]
        fn pack(level: &mut Level, at: usize, nodes: Nodes, chosen: Lanes) -> usize {
            let order = order(chosen);
            store::<_, LANES>(level.columns.lanes_mut(at), to_front(order, nodes.columns));
            store::<_, LANES>(level.falling.lanes_mut(at), to_front(order, nodes.falling));
            store::<_, LANES>(level.rising.lanes_mut(at), to_front(order, nodes.rising));
            store::<_, LANES>(level.free.lanes_mut(at), to_front(order, nodes.free));
            chosen.count_ones() as usize
        }

        #[target_feature(enable = $features)]
        fn load_nodes(level: &Level, at: usize) -> Nodes {
            Nodes {
                columns: load::<_, LANES>(level.columns.lanes(at)),
                falling: load::<_, LANES>(level.falling.lanes(at)),
                rising: load::<_, LANES>(level.rising.lanes(at)),
                free: load::<_, LANES>(level.free.lanes(at)),
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::level::{CAPACITY, Level};
use crate::engine::simd::Kernel;

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
    kernel.expand(level, next, from, blocked);
}

impl Kernel {
    dispatch! {
        fn expand(self, level: &mut Level, next: &mut Level, from: usize, blocked: [u32; 3]);

        /// Counts the solutions below the next children. `blocked` are the forbidden squares of the last
        /// two rows, `board` has a bit for each column.
        pub(super) fn finish(
            self, level: &mut Level, from: usize, blocked: [u32; 2], board: u32,
        ) -> u64;
    }
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
