//! The AVX-512 kernel: eight words per step, 512 build words per block.

use std::arch::x86_64::*;
use std::ops::Range;

use super::super::group::Group;
use super::partition_rest;
use super::tables::{
    BitMove, BitOrder, BlockTables, CHUNK_BITS, CHUNK_VALUES, CacheLines, MAX_CHUNKS, Tables,
    valid_words,
};
use super::vector::{Room, fetch_after, fetch_before, vector_kernel};
use crate::engine::simd::LANES_TO_FRONT;
use crate::engine::simd::avx512::{load, store};

/// Words of one vector.
const WORDS: usize = 8;

const MOST_CHUNKS: usize = MAX_CHUNKS;
const CHUNK_DISTANCE: u32 = CHUNK_BITS as u32;
type LeafTables = BlockTables<WORDS>;

type Vector = __m512i;

vector_kernel!("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt", Eight);

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(word: u64) -> Vector {
    _mm512_set1_epi64(word as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn or(a: Vector, b: Vector) -> Vector {
    _mm512_or_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "vector loads take pointers")]
fn load_part(words: &[u64]) -> (Vector, __mmask8) {
    let lanes = if words.len() >= WORDS { u8::MAX } else { (1 << words.len()) - 1 };
    // SAFETY: only the first `min(8, words.len())` words are read.
    let vector = unsafe { _mm512_maskz_loadu_epi64(lanes, words.as_ptr().cast()) };
    (vector, lanes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn disjoint_lanes(a: Vector, b: Vector) -> __mmask8 {
    _mm512_testn_epi64_mask(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn disjoint_among(lanes: __mmask8, a: Vector, b: Vector) -> __mmask8 {
    _mm512_mask_testn_epi64_mask(lanes, a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn to_front(lanes: __mmask8, vector: Vector) -> Vector {
    let order = _mm_cvtsi64_si128(LANES_TO_FRONT[usize::from(lanes)] as i64);
    _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(order), vector)
}

/// For every set of lanes, the permutation that moves these lanes to the back and the others to the
/// front.
static LANES_TO_BACK: [u64; 256] = {
    let mut table = [0; 256];
    let mut lanes = 0;
    while lanes < 256 {
        table[lanes] = LANES_TO_FRONT[255 - lanes];
        lanes += 1;
    }
    table
};

/// The bit that words are sorted by.
#[derive(Clone, Copy)]
struct BitTest(Vector);

impl BitTest {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(bit: u64) -> Self {
        Self(splat(bit))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn lanes_with(self, vector: Vector) -> __mmask8 {
        _mm512_test_epi64_mask(vector, self.0)
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn to_back(lanes: __mmask8, vector: Vector) -> Vector {
    let order = _mm_cvtsi64_si128(LANES_TO_BACK[usize::from(lanes)] as i64);
    _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(order), vector)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn compress(lanes: __mmask8, vector: Vector) -> Vector {
    _mm512_maskz_compress_epi64(lanes, vector)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn move_bits(image: Vector, vector: Vector, to: &BitMove) -> Vector {
    // 0xF8: the first, or both of the others. The mask drops the bits that a rotation wraps around.
    let bits = _mm512_rolv_epi64(vector, _mm512_set1_epi64(i64::from(to.shift)));
    _mm512_ternarylogic_epi64::<0xF8>(image, bits, splat(to.mask))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn inverted_halves<const HIGH: bool>(a: Vector, b: Vector) -> Vector {
    // 0x1B takes the first where the mask is set, else the second, and inverts.
    let low_half = splat(0xffff_ffff);
    if HIGH {
        _mm512_ternarylogic_epi64::<0x1B>(_mm512_srli_epi64::<32>(a), b, low_half)
    } else {
        _mm512_ternarylogic_epi64::<0x1B>(a, _mm512_slli_epi64::<32>(b), low_half)
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
pub(super) fn positional_popcount(sample: &[u64]) -> [u8; 64] {
    debug_assert!(sample.len() <= 255, "{} words overflow a byte", sample.len());
    // A word is itself the mask of the byte lanes to be raised.
    let minus_one = _mm512_set1_epi8(-1);
    let mut counts = _mm512_setzero_si512();
    for &word in sample {
        counts = _mm512_mask_sub_epi8(counts, word, counts, minus_one);
    }
    let mut words = [0_u64; WORDS];
    store(&mut words, counts);
    let mut bytes = [0_u8; 64];
    for (eight, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *eight = word.to_le_bytes();
    }
    bytes
}

/// Swaps, in rows that are `distance` apart, the high bits of one with the low bits of the other.
#[inline]
#[target_feature(enable = "avx512f")]
fn swap_squares<const SHIFT: u32>(rows: &mut [__m512i], distance: usize, low: u64) {
    let low = _mm512_set1_epi64(low as i64);
    for row in 0..rows.len() {
        if row & distance == 0 {
            let (a, b) = (rows[row], rows[row + distance]);
            // 0xE4 takes the first where the mask is set, else the second.
            let shifted_b = _mm512_slli_epi64::<SHIFT>(b);
            let shifted_a = _mm512_srli_epi64::<SHIFT>(a);
            rows[row] = _mm512_ternarylogic_epi64::<0xE4>(a, shifted_b, low);
            rows[row + distance] = _mm512_ternarylogic_epi64::<0xE4>(shifted_a, b, low);
        }
    }
}

/// Transposes a block of build words and tabulates the ANDs of its bit slices.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn fill_tables<const CHUNKS: usize>(block: &[u64], tables: &mut BlockTables<WORDS>) {
    fill_chunks(block, CHUNKS, tables);
}

/// The same for any number of chunks: the code is not worth eight copies.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn fill_chunks(block: &[u64], chunks: usize, tables: &mut BlockTables<WORDS>) {
    let BlockTables { tables, slices, padded } = tables;
    // What follows the last word of a partial block is masked out.
    let whole = if let Some(whole) = block.as_chunks::<WORDS>().0.first_chunk() {
        whole
    } else {
        padded.as_flattened_mut()[..block.len()].copy_from_slice(block);
        padded
    };
    transpose::<false>(whole, &mut slices[0]);
    if chunks * CHUNK_BITS > 32 {
        transpose::<true>(whole, &mut slices[1]);
    }
    let slices = slices.as_flattened();
    let all = splat(u64::MAX);
    for (chunk, table) in tables[..chunks].iter_mut().enumerate() {
        let first = if chunk == 0 { load(&valid_words::<WORDS>(block.len())) } else { all };
        store(&mut table[0], first);
        for bit in 0..CHUNK_BITS {
            let slice = match slices.get(chunk * CHUNK_BITS + bit) {
                Some(slice) => load(slice),
                None => all,
            };
            let (known, new) = table.split_at_mut(1 << bit);
            for (entry, below) in new.iter_mut().zip(&*known) {
                store(entry, and(load(below), slice));
            }
        }
    }
}

/// Bit slices of a block, inverted: 32 of them, of the low or the high half of the words.
///
/// The 64 vectors are the rows of `WORDS` 64 x 64 bit matrices side by side in the lanes, so
/// nothing ever crosses a lane. The first step packs the wanted halves of two rows into one;
/// the others swap ever smaller squares of bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn transpose<const HIGH: bool>(rows: &[[u64; WORDS]; 64], slices: &mut [[u64; WORDS]; 32]) {
    let CacheLines(half) = &mut CacheLines([[0_u64; WORDS]; 32]);
    for lane in 0..8 {
        let pack = |row: usize| inverted_halves::<HIGH>(load(&rows[row]), load(&rows[row + 32]));
        let mut quad = [pack(lane), pack(lane + 8), pack(lane + 16), pack(lane + 24)];
        swap_squares::<16>(&mut quad, 2, 0x0000_ffff_0000_ffff);
        swap_squares::<8>(&mut quad, 1, 0x00ff_00ff_00ff_00ff);
        for (at, vector) in quad.into_iter().enumerate() {
            store(&mut half[lane + 8 * at], vector);
        }
    }
    for at in 0..4 {
        let mut eight = [splat(0); 8];
        for (vector, row) in eight.iter_mut().zip(&half[8 * at..]) {
            *vector = load(row);
        }
        swap_squares::<4>(&mut eight, 4, 0x0f0f_0f0f_0f0f_0f0f);
        swap_squares::<2>(&mut eight, 2, 0x3333_3333_3333_3333);
        swap_squares::<1>(&mut eight, 1, 0x5555_5555_5555_5555);
        for (vector, slice) in eight.into_iter().zip(&mut slices[8 * at..]) {
            store(slice, vector);
        }
    }
}

/// Looks up every probe word and counts the build words that fit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &LeafTables) -> u64 {
    let tables = &tables.tables;
    let mut sums = _mm512_setzero_si512();
    for &word in probe {
        let mut fit = load(&tables[0][word as usize % CHUNK_VALUES]);
        for (chunk, table) in tables[..CHUNKS].iter().enumerate().skip(1) {
            let value = (word >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
            fit = _mm512_and_si512(fit, load(&table[value]));
        }
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(fit));
    }
    _mm512_reduce_add_epi64(sums) as u64
}
