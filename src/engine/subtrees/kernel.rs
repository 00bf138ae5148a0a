//! The passes over a level: two functions, with a version for each [`Kernel`].
//!
//! * `expand` writes the next child of each node to the next level, if each of the three rows below the node's own
//!   has a free square left.
//! * `finish` counts the solutions below the next child of each node, for the third row from the bottom.
//!
//! Both take the nodes from index `from` to the end, and keep the nodes with more children, packed. The portable
//! kernel is the reference. The other kernels do with all lanes of a vector what it does with one node.

/// Defines the passes of a vector kernel, compiled for these CPU features. The module has a type `Vector` of `LANES`
/// 32-bit words, a type `Lanes` with a bit for each of them, and these operations:
///
/// | operation | result |
/// |---|---|
/// | `and`, `or`, `xor`, `and_not(a, b)` | bit by bit; the last one is `!a & b` |
/// | `add`, `min`, `left::<1>`, `right::<1>` | word by word; the last two shift |
/// | `splat(word)` | the word in each lane |
/// | `nonzero(lanes, vector)` | the lanes that are not 0, among these lanes |
/// | `to_front(lanes, vector)` | the vector with these lanes first |
///
/// What a store writes after the last node is overwritten later or never read.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
macro_rules! vector_passes {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, allowed: [u32; 3]) {
            let allowed = allowed.map(|row| splat(row.cast_signed()));
            let len = level.len;
            let mut kept = from;
            let mut added = next.len;
            for at in (from..len).step_by(LANES) {
                let present = first_lanes(len - at);
                let child = next_child(level, at, present, &mut kept, allowed[0]);
                let below = next_row(child, allowed[1]);
                let below_that = next_row(below, allowed[2]);
                let free = min(child.free, min(below.free, below_that.free));
                added += pack(next, added, child, nonzero(present, free));
            }
            level.len = kept;
            next.len = added;
        }

        #[target_feature(enable = $features)]
        pub(super) fn finish(level: &mut Level, from: usize, allowed: [u32; 2], board: u32) -> u64 {
            let allowed = allowed.map(|row| splat(row.cast_signed()));
            let board = splat(board.cast_signed());
            let len = level.len;
            let mut kept = from;
            let mut solutions = 0;
            for at in (from..len).step_by(LANES) {
                let present = first_lanes(len - at);
                let child = next_child(level, at, present, &mut kept, allowed[0]);
                let last = next_row(child, allowed[1]);
                let unused = and_not(child.columns, board);
                let adjacent = and(unused, left::<1>(unused));
                let uncovered = xor(or(child.free, last.free), unused);
                let one_way = nonzero(present, min(child.free, last.free));
                let one_way = one_way & !nonzero(one_way, or(adjacent, uncovered));
                let one_free = nonzero(one_way, xor(and(child.free, last.free), unused));
                let both_ways = one_way & !one_free;
                solutions += u64::from(one_way.count_ones() + both_ways.count_ones());
            }
            level.len = kept;
            solutions
        }

        /// Returns the lanes that hold nodes when `len` nodes are left, at least one.
        fn first_lanes(len: usize) -> Lanes {
            if len >= LANES { !0 } else { (1 << len) - 1 }
        }

        /// Returns the child of each node on its lowest free square. Nodes with more free squares move to `kept`.
        #[target_feature(enable = $features)]
        fn next_child(
            level: &mut Level,
            at: usize,
            present: Lanes,
            kept: &mut usize,
            allowed: Vector,
        ) -> Node<Vector> {
            let [columns, falling, rising, free] =
                level.lanes::<LANES>(at).map(|field| load(field));
            let node = Node { columns, falling, rising, free };
            let rest = and(node.free, add(node.free, splat(-1)));
            let queen = xor(node.free, rest);
            *kept += pack(level, *kept, Node { free: rest, ..node }, nonzero(present, rest));
            let with_queen = Node {
                columns: or(node.columns, queen),
                falling: or(node.falling, queen),
                rising: or(node.rising, queen),
                ..node
            };
            next_row(with_queen, allowed)
        }

        /// Returns the nodes of the next row, without a queen in this row.
        #[target_feature(enable = $features)]
        fn next_row(above: Node<Vector>, allowed: Vector) -> Node<Vector> {
            let falling = left::<1>(above.falling);
            let rising = right::<1>(above.rising);
            let free = and_not(or(above.columns, or(falling, rising)), allowed);
            Node { falling, rising, free, ..above }
        }

        /// Writes the chosen lanes from `at` on, and returns their number.
        #[target_feature(enable = $features)]
        fn pack(level: &mut Level, at: usize, nodes: Node<Vector>, chosen: Lanes) -> usize {
            let [columns, falling, rising, free] = level.lanes_mut::<LANES>(at);
            store(columns, to_front(chosen, nodes.columns));
            store(falling, to_front(chosen, nodes.falling));
            store(rising, to_front(chosen, nodes.rising));
            store(free, to_front(chosen, nodes.free));
            chosen.count_ones() as usize
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::level::Level;
use crate::engine::simd::Kernel;

impl Kernel {
    dispatch! {
        /// Moves the next children to the next level. `allowed` has the columns in which queens may stand in the
        /// three rows below the level's own.
        pub(super) fn expand(
            self, level: &mut Level, next: &mut Level, from: usize, allowed: [u32; 3],
        );

        /// Counts the solutions below the next children. `allowed` has the columns in which queens may stand in the
        /// last two rows, `board` a bit for each column.
        pub(super) fn finish(
            self, level: &mut Level, from: usize, allowed: [u32; 2], board: u32,
        ) -> u64;
    }
}

#[cfg(test)]
mod tests;
