//! Eight nodes at a time with AVX2. A permutation from a table packs the survivors.

use std::arch::x86_64::{
    __m256i as Vector, _mm_cvtsi64_si128, _mm256_add_epi32 as add, _mm256_and_si256 as and,
    _mm256_andnot_si256 as and_not, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cvtepu8_epi32,
    _mm256_min_epu32 as min, _mm256_movemask_ps, _mm256_or_si256 as or,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32 as splat, _mm256_setzero_si256,
    _mm256_slli_epi32 as left, _mm256_srli_epi32 as right, _mm256_xor_si256 as xor,
};

use super::super::level::Level;
use crate::board::solutions::Node;
use crate::engine::vectors::LANES_TO_FRONT;
use crate::engine::vectors::avx2::{load, store};

const LANES: usize = 8;
type Lanes = u8;

vector_passes!("avx2,bmi1,bmi2,popcnt");

#[target_feature(enable = "avx2")]
fn nonzero(lanes: Lanes, words: Vector) -> Lanes {
    let are_zero = _mm256_cmpeq_epi32(words, _mm256_setzero_si256());
    let bits = _mm256_movemask_ps(_mm256_castsi256_ps(are_zero));
    lanes & !Lanes::try_from(bits).unwrap_or_else(|_| unreachable!("eight lanes"))
}

#[target_feature(enable = "avx2")]
fn to_front(lanes: Lanes, vector: Vector) -> Vector {
    let order = _mm_cvtsi64_si128(LANES_TO_FRONT[usize::from(lanes)].cast_signed());
    _mm256_permutevar8x32_epi32(vector, _mm256_cvtepu8_epi32(order))
}
