//! Every kernel against the portable one, on the same levels, at edge lengths.

use super::*;
use crate::engine::subtrees::level::Node;

/// Lengths around the lanes of the kernels and of a full pass.
const LENGTHS: [usize; 12] = [1, 7, 8, 9, 15, 16, 17, 31, 33, 95, 96, 191];

/// Pseudo-random words (a linear congruential generator), so that failures repeat.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        u32::try_from(self.0 >> 32).expect("32 bits")
    }
}

/// A level of nodes on a board of `n` columns, with `queens` columns taken in each.
fn level(n: u32, queens: u32, len: usize, words: &mut Words) -> Level {
    let board = u32::MAX >> (32 - n);
    let mut level = Level::new();
    while level.len < len {
        let mut columns = 0u32;
        while columns.count_ones() < queens {
            columns |= 1 << (words.next() % n);
        }
        let falling = words.next() & words.next() & board;
        let rising = words.next() & words.next() & board;
        let free = words.next() & board & !columns;
        if free != 0 {
            level.push(Node { columns, falling, rising, free });
        }
    }
    level
}

fn nodes(level: &Level) -> Vec<[u32; 4]> {
    (0..level.len)
        .map(|at| {
            [&level.columns, &level.falling, &level.rising, &level.free]
                .map(|field| field.lanes::<1>(at)[0])
        })
        .collect()
}

#[test]
fn every_kernel_expands_as_the_portable_one() {
    let mut words = Words(1);
    for n in [6, 16, 31, 32] {
        for len in LENGTHS {
            let from = len.saturating_sub(96);
            let before = level(n, n / 2, len, &mut words);
            let below = level(n, n / 2, 5, &mut words);
            let outside = !(u32::MAX >> (32 - n));
            let blocked = [0; 3].map(|_| words.next() & words.next() & words.next() | outside);
            let results: Vec<_> = Kernel::available()
                .into_iter()
                .map(|kernel| {
                    let (mut level, mut next) = (before.clone(), below.clone());
                    expand(kernel, &mut level, &mut next, from, blocked);
                    (kernel, nodes(&level), nodes(&next))
                })
                .collect();
            let (_, level_0, next_0) = &results[0];
            assert_eq!(nodes(&before)[..from], level_0[..from], "nodes before `from` stay");
            for (kernel, level, next) in &results[1..] {
                assert_eq!(level, level_0, "{kernel}, n = {n}, {len} nodes");
                assert_eq!(next, next_0, "{kernel}, n = {n}, {len} nodes");
            }
        }
    }
}

#[test]
fn every_kernel_finishes_as_the_portable_one() {
    let mut words = Words(2);
    let mut found = 0;
    for n in [4, 6, 16, 31, 32] {
        let board = u32::MAX >> (32 - n);
        for len in LENGTHS {
            let from = len.saturating_sub(96);
            let before = level(n, n - 3, len, &mut words);
            let blocked = [!board; 2];
            let results: Vec<_> = Kernel::available()
                .into_iter()
                .map(|kernel| {
                    let mut level = before.clone();
                    let solutions = finish(kernel, &mut level, from, blocked, board);
                    (kernel, solutions, nodes(&level))
                })
                .collect();
            let (_, solutions_0, level_0) = &results[0];
            found += solutions_0;
            for (kernel, solutions, level) in &results[1..] {
                assert_eq!(solutions, solutions_0, "{kernel}, n = {n}, {len} nodes");
                assert_eq!(level, level_0, "{kernel}, n = {n}, {len} nodes");
            }
        }
    }
    assert!(found > 100, "the levels hold solutions to count");
}

#[test]
fn a_pass_that_could_overflow_the_next_level_stops() {
    for kernel in Kernel::available() {
        let mut words = Words(3);
        let [mut level, next] = [96, 161].map(|len| level(16, 8, len, &mut words));
        let stopped = std::panic::catch_unwind(move || {
            expand(kernel, &mut level, &mut next.clone(), 0, [0; 3]);
        });
        let message = stopped.expect_err("161 and 96 nodes are too many");
        let message = message.downcast_ref::<String>().expect("a message");
        assert_eq!(message, "a level of 161 nodes overflows", "{kernel}");
    }
}
