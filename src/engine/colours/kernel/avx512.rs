//! 64 labels in a vector, with population counts of bytes and sums of products.

use std::arch::x86_64::*;

use super::{Bytes, Counts, LANES, Labels, Planes, Purpose, Rows, Run, SLOTS, Scratch, TILE, Tile};
use crate::cancel::Cancel;
use crate::engine::simd::avx512;

type Vector = __m512i;
type Sums = __m512i;
type Eight = __m512i;

loops! {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bitalg,avx512vnni,bmi1,bmi2,popcnt")]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &Bytes) -> Vector {
    avx512::load::<u8, LANES>(&bytes.0)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut Bytes, vector: Vector) {
    avx512::store::<u8, LANES>(&mut bytes.0, vector);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_plane(plane: &[u64; 8]) -> Vector {
    avx512::load::<u64, 8>(plane)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn open_of(words: Vector, a: Vector, b: Vector) -> Vector {
    _mm512_ternarylogic_epi64::<{ 0xf0 & !(0xcc | 0xaa) }>(words, a, b)
}

#[inline]
#[target_feature(enable = "avx512bitalg")]
fn bits(a: Vector) -> Vector {
    _mm512_popcnt_epi8(a)
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn count(counts: &mut Counts, bits: Vector) {
    let (halves, _) = counts.0.as_chunks_mut::<32>();
    let more = [_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64::<1>(bits)];
    for (half, more) in halves.iter_mut().zip(more) {
        let sum = _mm512_adds_epu16(avx512::load::<u16, 32>(half), _mm512_cvtepu8_epi16(more));
        avx512::store::<u16, 32>(half, sum);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn zero() -> Sums {
    _mm512_setzero_si512()
}

/// The weights are the unsigned bytes, the numbers of bits the signed ones.
#[inline]
#[target_feature(enable = "avx512vnni")]
fn add_products(sums: Sums, bits: Vector, weights: &Bytes) -> Sums {
    _mm512_dpbusd_epi32(sums, load(weights), bits)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn widen([a, b, c, d]: [Sums; 4], totals: &mut [u64; 8]) {
    let sums = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
    let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
    let total = avx512::load::<u64, 8>(totals);
    avx512::store::<u64, 8>(totals, _mm512_add_epi64(total, _mm512_add_epi64(low, high)));
}

/// The packed vector goes through a register and a full store: the form of `vpcompressq` that writes to
/// memory is many times slower on some CPUs.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn filter(words: &[u64], bits: u64, out: &mut [u64]) -> usize {
    let bits = _mm512_set1_epi64(bits.cast_signed());
    let (vectors, rest) = words.as_chunks::<8>();
    let mut len = 0;
    for words in vectors {
        let words = avx512::load::<u64, 8>(words);
        let kept = _mm512_testn_epi64_mask(words, bits);
        let out = out[len..].first_chunk_mut::<8>().expect("room for all words and a vector more");
        avx512::store::<u64, 8>(out, _mm512_maskz_compress_epi64(kept, words));
        len += kept.count_ones() as usize;
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = avx512::load::<u64, 8>(&last);
    let kept = _mm512_testn_epi64_mask(words, bits) & ((1 << rest.len()) - 1) as u8;
    let out = out[len..].first_chunk_mut::<8>().expect("room for all words and a vector more");
    avx512::store::<u64, 8>(out, _mm512_maskz_compress_epi64(kept, words));
    len + kept.count_ones() as usize
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_8(words: &[u64; 8]) -> Eight {
    avx512::load::<u64, 8>(words)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_8(words: &mut [u64; 8], eight: Eight) {
    avx512::store::<u64, 8>(words, eight);
}

/// See the portable kernel.
#[inline]
#[target_feature(enable = "avx512f")]
fn swap(a: Eight, b: Eight, distance: u32, mask: u64) -> (Eight, Eight) {
    let count = _mm_cvtsi32_si128(distance.cast_signed());
    let mask = _mm512_set1_epi64(mask.cast_signed());
    let shifted = _mm512_srl_epi64(a, count);
    // (shifted ^ b) & mask
    let differing = _mm512_ternarylogic_epi64::<{ (0xf0 ^ 0xcc) & 0xaa }>(shifted, b, mask);
    (_mm512_xor_si512(a, _mm512_sll_epi64(differing, count)), _mm512_xor_si512(b, differing))
}
