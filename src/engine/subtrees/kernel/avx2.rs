//! Eight nodes at a time with AVX2; a permutation from a table packs the survivors.
//!
//! AVX2 compares into vectors, and only for equality, so the masks below mark the lanes that *lack*
//! something.

use std::arch::x86_64::*;

use super::super::level::Level;
use crate::engine::x86::LANES_TO_FRONT;
use crate::engine::x86::avx2::{load, store};

const LANES: usize = 8;
type Lanes = u8;
type Vector = __m256i;

vector_passes!("avx2,bmi1,bmi2,popcnt");

/// Each node's child on its lowest free square, and the squares left after it.
#[target_feature(enable = "avx2")]
fn next_child(nodes: Nodes, limit: Vector) -> (Nodes, Vector) {
    let minus_one = _mm256_set1_epi32(-1);
    let rest = _mm256_and_si256(nodes.free, _mm256_add_epi32(nodes.free, minus_one));
    let queen = _mm256_xor_si256(nodes.free, rest);
    let mut child = Nodes {
        columns: _mm256_or_si256(nodes.columns, queen),
        falling: _mm256_slli_epi32::<1>(_mm256_or_si256(nodes.falling, queen)),
        rising: _mm256_srli_epi32::<1>(_mm256_or_si256(nodes.rising, queen)),
        free: nodes.free,
    };
    child.free = free_below::<0>(child, limit);
    (child, rest)
}

/// The free squares `ROWS` rows further down.
#[target_feature(enable = "avx2")]
fn free_below<const ROWS: i32>(nodes: Nodes, limit: Vector) -> Vector {
    let falling = _mm256_slli_epi32::<ROWS>(nodes.falling);
    let rising = _mm256_srli_epi32::<ROWS>(nodes.rising);
    let taken = _mm256_or_si256(nodes.columns, _mm256_or_si256(falling, rising));
    _mm256_andnot_si256(taken, limit)
}

#[target_feature(enable = "avx2")]
fn is_zero(words: Vector) -> Vector {
    _mm256_cmpeq_epi32(words, _mm256_setzero_si256())
}

/// One bit for each lane of a comparison's result.
#[target_feature(enable = "avx2")]
fn lanes_of(marked: Vector) -> u8 {
    let bits = _mm256_movemask_ps(_mm256_castsi256_ps(marked));
    u8::try_from(bits).unwrap_or_else(|_| unreachable!("eight lanes"))
}

#[target_feature(enable = "avx2")]
fn splat(word: u32) -> Vector {
    _mm256_set1_epi32(word.cast_signed())
}

/// The squares that are not forbidden.
#[target_feature(enable = "avx2")]
fn limit(blocked: u32) -> Vector {
    splat(!blocked)
}

#[target_feature(enable = "avx2")]
fn lanes_with_squares<const ROWS: usize>(lanes: Lanes, rows: [Vector; ROWS]) -> Lanes {
    let mut dead = is_zero(rows[0]);
    for &row in &rows[1..] {
        dead = _mm256_or_si256(dead, is_zero(row));
    }
    lanes & !lanes_of(dead)
}

/// See the portable kernel for the rule.
#[target_feature(enable = "avx2")]
fn ways(lanes: Lanes, child: Nodes, free_last: Vector, board: Vector) -> (Lanes, Lanes) {
    let left = _mm256_andnot_si256(child.columns, board);
    let apart = is_zero(_mm256_and_si256(left, _mm256_slli_epi32::<1>(left)));
    let covered = _mm256_cmpeq_epi32(_mm256_or_si256(child.free, free_last), left);
    let empty = _mm256_or_si256(is_zero(child.free), is_zero(free_last));
    let one_way = _mm256_andnot_si256(empty, _mm256_and_si256(apart, covered));
    let same = _mm256_cmpeq_epi32(_mm256_and_si256(child.free, free_last), left);
    let both_ways = _mm256_and_si256(one_way, same);
    (lanes & lanes_of(one_way), lanes & lanes_of(both_ways))
}

#[target_feature(enable = "avx2")]
fn order(lanes: Lanes) -> Vector {
    let order = LANES_TO_FRONT[usize::from(lanes)].cast_signed();
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(order))
}

#[target_feature(enable = "avx2")]
fn to_front(order: Vector, vector: Vector) -> Vector {
    _mm256_permutevar8x32_epi32(vector, order)
}
