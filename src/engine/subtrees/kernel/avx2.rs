//! Eight nodes at a time with AVX2; a permutation from a table packs the survivors.
//!
//! AVX2 compares into vectors, and only for equality, so the masks below mark the lanes that *lack*
//! something. What a store writes after the last node is overwritten later or never read.

use std::arch::x86_64::*;

use super::super::level::Level;
use crate::engine::kernel::LANES_TO_FRONT;
use crate::engine::kernel::avx2::{load, store};

const LANES: usize = 8;

#[derive(Clone, Copy)]
struct Nodes {
    columns: __m256i,
    falling: __m256i,
    rising: __m256i,
    free: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, blocked: [u32; 3]) {
    let open = blocked.map(|row| _mm256_set1_epi32((!row).cast_signed()));
    let len = level.len;
    let (mut kept, mut added) = (from, next.len);
    for at in (from..len).step_by(LANES) {
        let present = first_lanes(len - at);
        let nodes = load_nodes(level, at);
        let (child, rest) = next_child(nodes, open[0]);
        let dead = _mm256_or_si256(
            is_zero(child.free),
            _mm256_or_si256(
                is_zero(free_below::<1>(child, open[1])),
                is_zero(free_below::<2>(child, open[2])),
            ),
        );
        added += pack(next, added, child, present & !lanes_of(dead));
        kept += keep_unfinished(level, kept, nodes, rest, present);
    }
    (level.len, next.len) = (kept, added);
}

/// See the portable kernel for the rule.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn finish(level: &mut Level, from: usize, blocked: [u32; 2], board: u32) -> u64 {
    let open = blocked.map(|row| _mm256_set1_epi32((!row).cast_signed()));
    let board = _mm256_set1_epi32(board.cast_signed());
    let len = level.len;
    let mut kept = from;
    let mut solutions = 0;
    for at in (from..len).step_by(LANES) {
        let present = first_lanes(len - at);
        let nodes = load_nodes(level, at);
        let (child, rest) = next_child(nodes, open[0]);
        let free_last = free_below::<1>(child, open[1]);
        let left = _mm256_andnot_si256(child.columns, board);
        let apart = is_zero(_mm256_and_si256(left, _mm256_slli_epi32::<1>(left)));
        let covered = _mm256_cmpeq_epi32(_mm256_or_si256(child.free, free_last), left);
        let empty = _mm256_or_si256(is_zero(child.free), is_zero(free_last));
        let one_way = _mm256_andnot_si256(empty, _mm256_and_si256(apart, covered));
        let same = _mm256_cmpeq_epi32(_mm256_and_si256(child.free, free_last), left);
        let both_ways = _mm256_and_si256(one_way, same);
        let one_way = present & lanes_of(one_way);
        let both_ways = present & lanes_of(both_ways);
        solutions += u64::from(one_way.count_ones() + both_ways.count_ones());
        kept += keep_unfinished(level, kept, nodes, rest, present);
    }
    level.len = kept;
    solutions
}

/// The lanes that hold nodes when `len` of them are left, at least one.
fn first_lanes(len: usize) -> u8 {
    if len >= LANES { !0 } else { (1 << len) - 1 }
}

/// Each node's child on its lowest free square, and the squares left after it.
#[target_feature(enable = "avx2")]
fn next_child(nodes: Nodes, open: __m256i) -> (Nodes, __m256i) {
    let minus_one = _mm256_set1_epi32(-1);
    let rest = _mm256_and_si256(nodes.free, _mm256_add_epi32(nodes.free, minus_one));
    let queen = _mm256_xor_si256(nodes.free, rest);
    let mut child = Nodes {
        columns: _mm256_or_si256(nodes.columns, queen),
        falling: _mm256_slli_epi32::<1>(_mm256_or_si256(nodes.falling, queen)),
        rising: _mm256_srli_epi32::<1>(_mm256_or_si256(nodes.rising, queen)),
        free: nodes.free,
    };
    child.free = free_below::<0>(child, open);
    (child, rest)
}

/// The free squares `ROWS` rows further down, where `open` are those not forbidden.
#[target_feature(enable = "avx2")]
fn free_below<const ROWS: i32>(nodes: Nodes, open: __m256i) -> __m256i {
    let falling = _mm256_slli_epi32::<ROWS>(nodes.falling);
    let rising = _mm256_srli_epi32::<ROWS>(nodes.rising);
    let taken = _mm256_or_si256(nodes.columns, _mm256_or_si256(falling, rising));
    _mm256_andnot_si256(taken, open)
}

#[target_feature(enable = "avx2")]
fn is_zero(words: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(words, _mm256_setzero_si256())
}

/// One bit for each lane of a comparison's result.
#[target_feature(enable = "avx2")]
fn lanes_of(marked: __m256i) -> u8 {
    let bits = _mm256_movemask_ps(_mm256_castsi256_ps(marked));
    u8::try_from(bits).unwrap_or_else(|_| unreachable!("eight lanes"))
}

/// Keeps the nodes that have squares left to try, from `at` on; returns how many.
#[target_feature(enable = "avx2,popcnt")]
fn keep_unfinished(
    level: &mut Level,
    at: usize,
    nodes: Nodes,
    rest: __m256i,
    present: u8,
) -> usize {
    let unfinished = present & !lanes_of(is_zero(rest));
    pack(level, at, Nodes { free: rest, ..nodes }, unfinished)
}

/// Writes the chosen lanes from `at` on; returns how many.
#[target_feature(enable = "avx2,popcnt")]
fn pack(level: &mut Level, at: usize, nodes: Nodes, chosen: u8) -> usize {
    let lanes = LANES_TO_FRONT[usize::from(chosen)].cast_signed();
    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes));
    store::<_, LANES>(
        level.columns.lanes_mut(at),
        _mm256_permutevar8x32_epi32(nodes.columns, order),
    );
    store::<_, LANES>(
        level.falling.lanes_mut(at),
        _mm256_permutevar8x32_epi32(nodes.falling, order),
    );
    store::<_, LANES>(level.rising.lanes_mut(at), _mm256_permutevar8x32_epi32(nodes.rising, order));
    store::<_, LANES>(level.free.lanes_mut(at), _mm256_permutevar8x32_epi32(nodes.free, order));
    chosen.count_ones() as usize
}

#[target_feature(enable = "avx2")]
fn load_nodes(level: &Level, at: usize) -> Nodes {
    Nodes {
        columns: load::<_, LANES>(level.columns.lanes(at)),
        falling: load::<_, LANES>(level.falling.lanes(at)),
        rising: load::<_, LANES>(level.rising.lanes(at)),
        free: load::<_, LANES>(level.free.lanes(at)),
    }
}
