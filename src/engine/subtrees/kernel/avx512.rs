//! Sixteen nodes at a time with AVX-512 F; `vpcompressd` packs the survivors.
//!
//! The packed vector goes through a register and a full store: the form of `vpcompressd` that
//! writes to memory is many times slower on some CPUs. What the store writes after the last
//! node is overwritten later or never read.

use std::arch::x86_64::*;

use super::super::level::Level;
use crate::engine::kernel::avx512::{load, store};

const LANES: usize = 16;

/// `!(a | b | c)`, as a truth table for `vpternlogd`.
const NONE_OF: i32 = 0b0000_0001;

#[derive(Clone, Copy)]
struct Nodes {
    columns: __m512i,
    falling: __m512i,
    rising: __m512i,
    free: __m512i,
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
pub(super) fn expand(level: &mut Level, next: &mut Level, from: usize, blocked: [u32; 3]) {
    let blocked = blocked.map(|row| _mm512_set1_epi32(row.cast_signed()));
    let len = level.len;
    let (mut kept, mut added) = (from, next.len);
    for at in (from..len).step_by(LANES) {
        let present = first_lanes(len - at);
        let nodes = load_nodes(level, at);
        let (child, rest) = next_child(nodes, blocked[0]);
        let free_2 = free_below::<1>(child, blocked[1]);
        let free_3 = free_below::<2>(child, blocked[2]);
        let alive = _mm512_mask_test_epi32_mask(present, child.free, child.free);
        let alive = _mm512_mask_test_epi32_mask(alive, free_2, free_2);
        let alive = _mm512_mask_test_epi32_mask(alive, free_3, free_3);
        added += pack(next, added, child, alive);
        kept += keep_unfinished(level, kept, nodes, rest, present);
    }
    (level.len, next.len) = (kept, added);
}

/// See the portable kernel for the rule.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
pub(super) fn finish(level: &mut Level, from: usize, blocked: [u32; 2], board: u32) -> u64 {
    let blocked = blocked.map(|row| _mm512_set1_epi32(row.cast_signed()));
    let board = _mm512_set1_epi32(board.cast_signed());
    let len = level.len;
    let mut kept = from;
    let mut solutions = 0;
    for at in (from..len).step_by(LANES) {
        let present = first_lanes(len - at);
        let nodes = load_nodes(level, at);
        let (child, rest) = next_child(nodes, blocked[0]);
        let free_last = free_below::<1>(child, blocked[1]);
        let left = _mm512_andnot_si512(child.columns, board);
        let neighbours = _mm512_slli_epi32::<1>(left);
        let either = _mm512_or_si512(child.free, free_last);
        let both = _mm512_and_si512(child.free, free_last);
        let one_way = _mm512_mask_testn_epi32_mask(present, left, neighbours);
        let one_way = _mm512_mask_cmpeq_epi32_mask(one_way, either, left);
        let one_way = _mm512_mask_test_epi32_mask(one_way, child.free, child.free);
        let one_way = _mm512_mask_test_epi32_mask(one_way, free_last, free_last);
        let both_ways = _mm512_mask_cmpeq_epi32_mask(one_way, both, left);
        solutions += u64::from(one_way.count_ones() + both_ways.count_ones());
        kept += keep_unfinished(level, kept, nodes, rest, present);
    }
    level.len = kept;
    solutions
}

/// The lanes that hold nodes when `len` of them are left, at least one.
fn first_lanes(len: usize) -> __mmask16 {
    if len >= LANES { !0 } else { (1 << len) - 1 }
}

/// Each node's child on its lowest free square, and the squares left after it.
#[target_feature(enable = "avx512f")]
fn next_child(nodes: Nodes, blocked: __m512i) -> (Nodes, __m512i) {
    let minus_one = _mm512_set1_epi32(-1);
    let rest = _mm512_and_si512(nodes.free, _mm512_add_epi32(nodes.free, minus_one));
    let queen = _mm512_xor_si512(nodes.free, rest);
    let mut child = Nodes {
        columns: _mm512_or_si512(nodes.columns, queen),
        falling: _mm512_slli_epi32::<1>(_mm512_or_si512(nodes.falling, queen)),
        rising: _mm512_srli_epi32::<1>(_mm512_or_si512(nodes.rising, queen)),
        free: nodes.free,
    };
    child.free = free_below::<0>(child, blocked);
    (child, rest)
}

/// The free squares `ROWS` rows further down.
#[target_feature(enable = "avx512f")]
fn free_below<const ROWS: u32>(nodes: Nodes, blocked: __m512i) -> __m512i {
    let columns = _mm512_or_si512(nodes.columns, blocked);
    let falling = _mm512_slli_epi32::<ROWS>(nodes.falling);
    let rising = _mm512_srli_epi32::<ROWS>(nodes.rising);
    _mm512_ternarylogic_epi32::<NONE_OF>(columns, falling, rising)
}

/// Keeps the nodes that have squares left to try, from `at` on; returns how many.
#[target_feature(enable = "avx512f")]
fn keep_unfinished(
    level: &mut Level,
    at: usize,
    nodes: Nodes,
    rest: __m512i,
    present: __mmask16,
) -> usize {
    let unfinished = _mm512_mask_test_epi32_mask(present, rest, rest);
    pack(level, at, Nodes { free: rest, ..nodes }, unfinished)
}

/// Writes the chosen lanes from `at` on; returns how many.
#[target_feature(enable = "avx512f")]
fn pack(level: &mut Level, at: usize, nodes: Nodes, chosen: __mmask16) -> usize {
    store::<_, LANES>(
        level.columns.lanes_mut(at),
        _mm512_maskz_compress_epi32(chosen, nodes.columns),
    );
    store::<_, LANES>(
        level.falling.lanes_mut(at),
        _mm512_maskz_compress_epi32(chosen, nodes.falling),
    );
    store::<_, LANES>(
        level.rising.lanes_mut(at),
        _mm512_maskz_compress_epi32(chosen, nodes.rising),
    );
    store::<_, LANES>(level.free.lanes_mut(at), _mm512_maskz_compress_epi32(chosen, nodes.free));
    chosen.count_ones() as usize
}

#[target_feature(enable = "avx512f")]
fn load_nodes(level: &Level, at: usize) -> Nodes {
    Nodes {
        columns: load::<_, LANES>(level.columns.lanes(at)),
        falling: load::<_, LANES>(level.falling.lanes(at)),
        rising: load::<_, LANES>(level.rising.lanes(at)),
        free: load::<_, LANES>(level.free.lanes(at)),
    }
}
