//! Sixteen nodes at a time with AVX-512 F; `vpcompressd` packs the survivors.
//!
//! The packed vector goes through a register and a full store: the form of `vpcompressd` that
//! writes to memory is many times slower on some CPUs.

use std::arch::x86_64::*;

use super::super::level::Level;
use crate::engine::x86::avx512::{load, store};

const LANES: usize = 16;
type Lanes = __mmask16;
type Vector = __m512i;

/// `!(a | b | c)`, as a truth table for `vpternlogd`.
const NONE_OF: i32 = 0b0000_0001;

vector_passes!("avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt");

/// Each node's child on its lowest free square, and the squares left after it.
#[target_feature(enable = "avx512f")]
fn next_child(nodes: Nodes, limit: Vector) -> (Nodes, Vector) {
    let minus_one = _mm512_set1_epi32(-1);
    let rest = _mm512_and_si512(nodes.free, _mm512_add_epi32(nodes.free, minus_one));
    let queen = _mm512_xor_si512(nodes.free, rest);
    let mut child = Nodes {
        columns: _mm512_or_si512(nodes.columns, queen),
        falling: _mm512_slli_epi32::<1>(_mm512_or_si512(nodes.falling, queen)),
        rising: _mm512_srli_epi32::<1>(_mm512_or_si512(nodes.rising, queen)),
        free: nodes.free,
    };
    child.free = free_below::<0>(child, limit);
    (child, rest)
}

/// The free squares `ROWS` rows further down.
#[target_feature(enable = "avx512f")]
fn free_below<const ROWS: u32>(nodes: Nodes, limit: Vector) -> Vector {
    let columns = _mm512_or_si512(nodes.columns, limit);
    let falling = _mm512_slli_epi32::<ROWS>(nodes.falling);
    let rising = _mm512_srli_epi32::<ROWS>(nodes.rising);
    _mm512_ternarylogic_epi32::<NONE_OF>(columns, falling, rising)
}

#[target_feature(enable = "avx512f")]
fn splat(word: u32) -> Vector {
    _mm512_set1_epi32(word.cast_signed())
}

/// The forbidden squares.
#[target_feature(enable = "avx512f")]
fn limit(blocked: u32) -> Vector {
    splat(blocked)
}

#[target_feature(enable = "avx512f")]
fn lanes_with_squares<const ROWS: usize>(mut lanes: Lanes, rows: [Vector; ROWS]) -> Lanes {
    for row in rows {
        lanes = _mm512_mask_test_epi32_mask(lanes, row, row);
    }
    lanes
}

/// See the portable kernel for the rule.
#[target_feature(enable = "avx512f")]
fn ways(lanes: Lanes, child: Nodes, free_last: Vector, board: Vector) -> (Lanes, Lanes) {
    let left = _mm512_andnot_si512(child.columns, board);
    let neighbours = _mm512_slli_epi32::<1>(left);
    let either = _mm512_or_si512(child.free, free_last);
    let both = _mm512_and_si512(child.free, free_last);
    let one_way = _mm512_mask_testn_epi32_mask(lanes, left, neighbours);
    let one_way = _mm512_mask_cmpeq_epi32_mask(one_way, either, left);
    let one_way = lanes_with_squares(one_way, [child.free, free_last]);
    (one_way, _mm512_mask_cmpeq_epi32_mask(one_way, both, left))
}

fn order(lanes: Lanes) -> Lanes {
    lanes
}

#[target_feature(enable = "avx512f")]
fn to_front(lanes: Lanes, vector: Vector) -> Vector {
    _mm512_maskz_compress_epi32(lanes, vector)
}
