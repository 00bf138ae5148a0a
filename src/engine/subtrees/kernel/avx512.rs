//! Sixteen nodes at a time with AVX-512 F. `vpcompressd` packs the survivors.
//!
//! The packed vector goes through a register and a full store, because the form of `vpcompressd` that writes to
//! memory is many times slower on some CPUs.

use std::arch::x86_64::{
    __m512i as Vector, __mmask16 as Lanes, _mm512_add_epi32 as add, _mm512_and_si512 as and,
    _mm512_andnot_si512 as and_not, _mm512_mask_test_epi32_mask,
    _mm512_maskz_compress_epi32 as to_front, _mm512_min_epu32 as min, _mm512_or_si512 as or,
    _mm512_set1_epi32 as splat, _mm512_slli_epi32 as left, _mm512_srli_epi32 as right,
    _mm512_xor_si512 as xor,
};

use super::super::level::Level;
use crate::board::solutions::Node;
use crate::engine::vectors::avx512::{load, store};

const LANES: usize = 16;

vector_passes!("avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt");

#[target_feature(enable = "avx512f")]
fn nonzero(lanes: Lanes, words: Vector) -> Lanes {
    _mm512_mask_test_epi32_mask(lanes, words, words)
}
