//! The AVX2 kernel: four words per step, 256 build words per block.

use std::arch::x86_64::*;
use std::ops::Range;

use super::super::join::Group;
use super::bit_order::{BitMove, BitOrder};
use super::room::{Room, partition_rest};
use super::tables::{
    BlockTables, CHUNK_BITS, CHUNK_VALUES, CacheLines, MAX_CHUNKS, Table, Tables, valid_words,
};
use super::vector::vector_kernel;
use crate::engine::kernel::avx2::{load, store};

/// Words of one vector.
const WORDS: usize = 4;

type Vector = __m256i;

vector_kernel!("avx2,bmi2,popcnt", Four);

#[inline]
#[target_feature(enable = "avx2")]
fn splat(word: u64) -> Vector {
    _mm256_set1_epi64x(word as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm256_and_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn or(a: Vector, b: Vector) -> Vector {
    _mm256_or_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_part(words: &[u64]) -> (Vector, u32) {
    let mut four = [0; WORDS];
    for (lane, &word) in four.iter_mut().zip(words) {
        *lane = word;
    }
    (load(&four), (1 << words.len().min(WORDS)) - 1)
}

#[inline]
#[target_feature(enable = "avx2")]
fn disjoint_lanes(a: Vector, b: Vector) -> u32 {
    let equal = _mm256_cmpeq_epi64(and(a, b), _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn disjoint_among(lanes: u32, a: Vector, b: Vector) -> u32 {
    disjoint_lanes(a, b) & lanes
}

/// For every set of lanes, the permutation of 32-bit halves that moves these lanes to the front and
/// the others after them.
static LANES_TO_FRONT: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut lanes = 0;
    while lanes < 16 {
        let mut at = 0;
        let mut step = 0;
        while step < 2 * WORDS {
            let lane = step % WORDS;
            if (lanes >> lane & 1 == 1) == (step < WORDS) {
                table[lanes][2 * at] = 2 * lane as u32;
                table[lanes][2 * at + 1] = 2 * lane as u32 + 1;
                at += 1;
            }
            step += 1;
        }
        lanes += 1;
    }
    table
};

#[inline]
#[target_feature(enable = "avx2")]
fn to_front(lanes: u32, vector: Vector) -> Vector {
    _mm256_permutevar8x32_epi32(vector, load(&LANES_TO_FRONT[lanes as usize % 16]))
}

#[inline]
#[target_feature(enable = "avx2")]
fn compress(lanes: u32, vector: Vector) -> Vector {
    to_front(lanes, vector)
}

#[inline]
#[target_feature(enable = "avx2")]
fn move_bits(image: Vector, vector: Vector, to: &BitMove) -> Vector {
    let distance = _mm_cvtsi32_si128(to.shift.abs());
    let bits = if to.shift >= 0 {
        _mm256_sll_epi64(vector, distance)
    } else {
        _mm256_srl_epi64(vector, distance)
    };
    or(image, and(bits, splat(to.mask)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn inverted_halves<const HIGH: bool>(a: Vector, b: Vector) -> Vector {
    let halves = if HIGH {
        _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b)
    } else {
        _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b))
    };
    _mm256_xor_si256(halves, splat(u64::MAX))
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
pub(super) fn positional_popcount(sample: &[u64]) -> [u8; 64] {
    debug_assert!(sample.len() <= 255, "{} words overflow a byte", sample.len());
    // Each byte of a vector tests one bit of the half word that is broadcast to all lanes.
    let spread = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3,
    );
    let select = splat(0x8040_2010_0804_0201);
    let mut counts = [_mm256_setzero_si256(); 2];
    for &word in sample {
        for (half, count) in counts.iter_mut().enumerate() {
            let bytes = _mm256_set1_epi32((word >> (32 * half)) as i32);
            let bits = _mm256_and_si256(_mm256_shuffle_epi8(bytes, spread), select);
            *count = _mm256_sub_epi8(*count, _mm256_cmpeq_epi8(bits, select));
        }
    }
    let mut bytes = [0_u8; 64];
    for (half, count) in bytes.as_chunks_mut::<32>().0.iter_mut().zip(counts) {
        let mut words = [0_u64; WORDS];
        store(&mut words, count);
        for (eight, word) in half.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *eight = word.to_le_bytes();
        }
    }
    bytes
}

/// The bits of `a` where `mask` is set, those of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn choose(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
}

/// Swaps, in rows that are `distance` apart, the high bits of one with the low bits of the other.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_squares<const SHIFT: i32>(rows: &mut [__m256i], distance: usize, low: u64) {
    let low = splat(low);
    for row in 0..rows.len() {
        if row & distance == 0 {
            let (a, b) = (rows[row], rows[row + distance]);
            rows[row] = choose(low, a, _mm256_slli_epi64::<SHIFT>(b));
            rows[row + distance] = choose(low, _mm256_srli_epi64::<SHIFT>(a), b);
        }
    }
}

/// Sum and carry of three bits, 256 times.
#[inline]
#[target_feature(enable = "avx2")]
fn full_adder(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
    let half = _mm256_xor_si256(a, b);
    let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(half, c));
    (_mm256_xor_si256(half, c), carry)
}

/// The set bits of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn lane_popcount(vector: __m256i) -> __m256i {
    let nibble_counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibbles = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(nibble_counts, _mm256_and_si256(vector, nibbles));
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(vector), nibbles);
    let bytes = _mm256_add_epi8(low, _mm256_shuffle_epi8(nibble_counts, high));
    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_of_lanes(vector: __m256i) -> u64 {
    let mut words = [0_u64; WORDS];
    store(&mut words, vector);
    words.into_iter().sum()
}

/// The build words that fit a probe word.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up<const CHUNKS: usize>(word: u64, tables: &[Table<WORDS>; MAX_CHUNKS]) -> __m256i {
    let mut fit = load(&tables[0][word as usize % CHUNK_VALUES]);
    for (chunk, table) in tables[..CHUNKS].iter().enumerate().skip(1) {
        let value = (word >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
        fit = _mm256_and_si256(fit, load(&table[value]));
    }
    fit
}

/// Looks up every probe word and counts the build words that fit.
///
/// Carry-save adders gather eight lookups into one vector of weight eight, so eight probe words need
/// only one popcount.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &[Table<WORDS>; MAX_CHUNKS]) -> u64 {
    let zero = _mm256_setzero_si256();
    let (mut ones, mut twos, mut fours, mut eights) = (zero, zero, zero, zero);
    let (groups, rest) = probe.as_chunks::<8>();
    for group in groups {
        let mut four_of = [zero; 2];
        for (quad, four) in group.as_chunks::<4>().0.iter().zip(&mut four_of) {
            let mut two_of = [zero; 2];
            for (&[a, b], two) in quad.as_chunks::<2>().0.iter().zip(&mut two_of) {
                let (a, b) = (look_up::<CHUNKS>(a, tables), look_up::<CHUNKS>(b, tables));
                (ones, *two) = full_adder(ones, a, b);
            }
            (twos, *four) = full_adder(twos, two_of[0], two_of[1]);
        }
        let eight;
        (fours, eight) = full_adder(fours, four_of[0], four_of[1]);
        eights = _mm256_add_epi64(eights, lane_popcount(eight));
    }
    let mut singles = zero;
    for &word in rest {
        singles = _mm256_add_epi64(singles, lane_popcount(look_up::<CHUNKS>(word, tables)));
    }
    sum_of_lanes(singles)
        + sum_of_lanes(lane_popcount(ones))
        + 2 * sum_of_lanes(lane_popcount(twos))
        + 4 * sum_of_lanes(lane_popcount(fours))
        + 8 * sum_of_lanes(eights)
}
