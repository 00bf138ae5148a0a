//! Tests every kernel against the portable one, on equal levels of many lengths.

use super::*;
use crate::board::solutions::Node;
use crate::engine::tests::{kernels, random};

/// Lengths of levels: near the lengths of a vector and of a full pass.
const LENGTHS: [usize; 12] = [1, 7, 8, 9, 15, 16, 17, 31, 33, 95, 96, 191];

/// Makes a level of nodes on a board of `n` columns, with `queens` columns taken in each.
fn level(n: u32, queens: u32, len: usize, random: &mut fastrand::Rng) -> Level {
    let board = u32::MAX >> (32 - n);
    let mut level = Level::EMPTY;
    while level.len < len {
        let mut columns = 0u32;
        while columns.count_ones() < queens {
            columns |= 1 << random.u32(0..n);
        }
        let falling = random.u32(..) & random.u32(..) & board;
        let rising = random.u32(..) & random.u32(..) & board;
        let free = random.u32(..) & board & !columns;
        if free != 0 {
            level.set(level.len, Node { columns, falling, rising, free });
            level.len += 1;
        }
    }
    level
}

fn nodes(level: &Level) -> Vec<[u32; 4]> {
    (0..level.len).map(|at| level.lanes::<1>(at).map(|lane| lane[0])).collect()
}

/// A pass over a level from a node on, given the next level and the allowed columns of the rows below.
type Pass = dyn Fn(Kernel, &mut Level, &mut Level, usize, [u32; 3]) -> u64;

/// Makes a pass with every kernel over levels with `queens` queens, and compares the level, the next level and the
/// number that the pass returns. Returns the sum of these numbers.
fn agree(n: u32, queens: u32, pass: &Pass) -> u64 {
    let mut random = random();
    let board = u32::MAX >> (32 - n);
    let mut sum = 0;
    for len in LENGTHS {
        let from = len.saturating_sub(96);
        let before = level(n, queens, len, &mut random);
        let below = level(n, queens, 5, &mut random);
        let mut most_columns = || board & (random.u32(..) | random.u32(..) | random.u32(..));
        let allowed = [most_columns(), most_columns(), most_columns()];
        let result = |kernel| {
            let mut level = before.clone();
            let mut next = below.clone();
            let returned = pass(kernel, &mut level, &mut next, from, allowed);
            (returned, nodes(&level), nodes(&next))
        };
        let expected = result(Kernel::PORTABLE);
        assert_eq!(nodes(&before)[..from], expected.1[..from], "nodes before `from` stay");
        for kernel in kernels() {
            assert_eq!(result(kernel), expected, "{kernel}, n = {n}, {len} nodes");
        }
        sum += expected.0;
    }
    sum
}

#[test]
fn every_kernel_expands_as_the_portable_one() {
    for n in [6, 16, 31, 32] {
        agree(n, n / 2, &|kernel, level, next, from, allowed| {
            kernel.expand(level, next, from, allowed);
            0
        });
    }
}

#[test]
fn every_kernel_finishes_as_the_portable_one() {
    let found = [4, 6, 16, 31, 32].map(|n| {
        let board = u32::MAX >> (32 - n);
        agree(n, n - 3, &move |kernel, level, _, from, _| {
            kernel.finish(level, from, [board; 2], board)
        })
    });
    assert!(found.iter().sum::<u64>() > 100, "the levels hold solutions to count");
}

#[test]
#[cfg(debug_assertions)]
fn a_pass_that_overflows_the_next_level_stops() {
    for kernel in kernels() {
        let mut above = level(16, 8, 96, &mut random());
        let mut below = level(16, 8, 256, &mut random());
        let stopped = std::panic::catch_unwind(move || {
            kernel.expand(&mut above, &mut below, 0, [0; 3]);
        });
        let message = stopped.expect_err("no node more fits");
        let message = message.downcast_ref::<&str>().expect("a message");
        assert_eq!(*message, "a level overflows", "{kernel}");
    }
}
