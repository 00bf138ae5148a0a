//! The AVX2 kernel: four words per step, 256 build words per block.

use std::arch::x86_64::*;
use std::ops::Range;

use super::super::group::Group;
use super::partition_rest;
use super::tables::{
    BYTES, BitMove, BitOrder, ByteTable, ByteTables, CHUNK_BITS, CacheLines, Tables, valid_words,
};
use super::vector::{Room, fetch_after, fetch_before, vector_kernel};
use crate::engine::simd::avx2::{load, store};

/// Words of one vector.
const WORDS: usize = 4;

const MOST_CHUNKS: usize = BYTES;
const CHUNK_DISTANCE: u32 = 8;
type LeafTables = ByteTables;

type Vector = __m256i;

vector_kernel!("avx2,bmi2,popcnt", Bytes);

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
static LANES_TO_FRONT: CacheLines<[[u32; 8]; 16]> = CacheLines(lane_orders(true));

/// The same with the other lanes at the front.
static LANES_TO_BACK: CacheLines<[[u32; 8]; 16]> = CacheLines(lane_orders(false));

const fn lane_orders(to_front: bool) -> [[u32; 8]; 16] {
    let mut table = [[0; 8]; 16];
    let mut lanes = 0;
    while lanes < 16 {
        let mut at = 0;
        let mut step = 0;
        while step < 2 * WORDS {
            let lane = step % WORDS;
            if (lanes >> lane & 1 == 1) == ((step < WORDS) == to_front) {
                table[lanes][2 * at] = 2 * lane as u32;
                table[lanes][2 * at + 1] = 2 * lane as u32 + 1;
                at += 1;
            }
            step += 1;
        }
        lanes += 1;
    }
    table
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_front(lanes: u32, vector: Vector) -> Vector {
    _mm256_permutevar8x32_epi32(vector, load(&LANES_TO_FRONT.0[lanes as usize % 16]))
}

/// The bit that words are sorted by, as the distance that brings it to the sign.
#[derive(Clone, Copy)]
struct BitTest(Vector);

impl BitTest {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(bit: u64) -> Self {
        Self(splat(bit.leading_zeros().into()))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes_with(self, vector: Vector) -> u32 {
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sllv_epi64(vector, self.0))) as u32
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn to_back(lanes: u32, vector: Vector) -> Vector {
    _mm256_permutevar8x32_epi32(vector, load(&LANES_TO_BACK.0[lanes as usize % 16]))
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

/// Swaps, in rows that are `distance` apart, the high bits of one with the low bits of the other.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_squares<const SHIFT: i32>(rows: &mut [Vector; 8], distance: usize, low: u64) {
    let low = splat(low);
    for row in 0..8 {
        if row & distance == 0 {
            let (a, b) = (rows[row], rows[row + distance]);
            let swapped = and(_mm256_xor_si256(_mm256_srli_epi64::<SHIFT>(a), b), low);
            rows[row] = _mm256_xor_si256(a, _mm256_slli_epi64::<SHIFT>(swapped));
            rows[row + distance] = _mm256_xor_si256(b, swapped);
        }
    }
}

/// The low and the high parts of each pair of vectors, interleaved within lanes of 128 bits.
macro_rules! interleave {
    ($low:ident, $high:ident, $vectors:expr) => {{
        let [a, b, c, d, e, f, g, h] = $vectors;
        [
            $low(a, b),
            $high(a, b),
            $low(c, d),
            $high(c, d),
            $low(e, f),
            $high(e, f),
            $low(g, h),
            $high(g, h),
        ]
    }};
}

/// Gathers the bytes of eight vectors: byte v of word k of result c is byte c of word k of vector v.
///
/// Of the two words in a lane of 128 bits, the first are called even here and the second odd.
#[inline]
#[target_feature(enable = "avx2")]
fn gather_bytes(vectors: [Vector; 8]) -> [Vector; 8] {
    // The bytes of two vectors side by side, then of four, then of eight.
    let [e01, o01, e23, o23, e45, o45, e67, o67] =
        interleave!(_mm256_unpacklo_epi8, _mm256_unpackhi_epi8, vectors);
    let pairs = [e01, e23, o01, o23, e45, e67, o45, o67];
    // Bytes 0 to 3 are low, bytes 4 to 7 high.
    let [low_e0, high_e0, low_o0, high_o0, low_e4, high_e4, low_o4, high_o4] =
        interleave!(_mm256_unpacklo_epi16, _mm256_unpackhi_epi16, pairs);
    let fours = [low_e0, low_e4, high_e0, high_e4, low_o0, low_o4, high_o0, high_o4];
    let [even01, even23, even45, even67, odd01, odd23, odd45, odd67] =
        interleave!(_mm256_unpacklo_epi32, _mm256_unpackhi_epi32, fours);
    let eights = [even01, odd01, even23, odd23, even45, odd45, even67, odd67];
    interleave!(_mm256_unpacklo_epi64, _mm256_unpackhi_epi64, eights)
}

/// Transposes a block of build words and tabulates the ANDs of its inverted bit slices.
///
/// First the bytes of each chunk come together: eight vectors hold those of all 256 words. In them,
/// squares of eight by eight bits are transposed. Nothing leaves its lane of 64 bits, so word p is bit
/// p / 4 of lane p % 4.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn fill_tables<const CHUNKS: usize>(block: &[u64], tables: &mut ByteTables) {
    let ByteTables { tables, padded } = tables;
    // What follows the last word of a partial block is masked out.
    let whole: &[[u64; WORDS]; 64] = if let Some(whole) = block.as_chunks::<WORDS>().0.first_chunk()
    {
        whole
    } else {
        padded.as_flattened_mut()[..block.len()].copy_from_slice(block);
        padded
    };
    let CacheLines(bytes) = &mut CacheLines([[[0_u64; WORDS]; 8]; CHUNKS]);
    for row in 0..8 {
        let mut vectors = [splat(0); 8];
        for (at, vector) in vectors.iter_mut().enumerate() {
            *vector = load(&whole[8 * at + row]);
        }
        for (rows, vector) in bytes.iter_mut().zip(gather_bytes(vectors)) {
            store(&mut rows[row], vector);
        }
    }
    for (chunk, (table, bytes)) in tables.iter_mut().zip(&*bytes).enumerate() {
        let mut rows = [splat(0); 8];
        for (row, bytes) in rows.iter_mut().zip(bytes) {
            *row = load(bytes);
        }
        swap_squares::<4>(&mut rows, 4, 0x0f0f_0f0f_0f0f_0f0f);
        swap_squares::<2>(&mut rows, 2, 0x3333_3333_3333_3333);
        swap_squares::<1>(&mut rows, 1, 0x5555_5555_5555_5555);
        let valid =
            if chunk == 0 { load(&valid_words::<WORDS>(block.len())) } else { splat(u64::MAX) };
        store(&mut table[0], valid);
        for (bit, &slice) in rows[8 - CHUNK_BITS..].iter().enumerate() {
            let (known, new) = table.split_at_mut(1 << bit);
            for (entry, below) in new.iter_mut().zip(&*known).take(1 << bit) {
                store(entry, _mm256_andnot_si256(slice, load(below)));
            }
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

/// The entry of a byte, whose number is that of the first word.
#[inline]
#[target_feature(enable = "avx2")]
fn entry(table: &ByteTable, byte: u8) -> Vector {
    let first = usize::from(byte);
    match table.as_flattened()[first..first + WORDS].first_chunk::<WORDS>() {
        Some(entry) => load(entry),
        None => unreachable!("the range has the length of an entry"),
    }
}

/// The build words that fit a probe word.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up<const CHUNKS: usize>(word: &[u8; 8], tables: &[ByteTable; BYTES]) -> Vector {
    // Four bytes by one load, the others one by one: so loads and shifts share the work.
    let low = word.as_chunks::<4>().0[0];
    let mut fit = entry(&tables[0], low[0]);
    for chunk in 1..CHUNKS.min(4) {
        fit = and(fit, entry(&tables[chunk], low[chunk]));
    }
    for chunk in 4..CHUNKS {
        fit = and(fit, entry(&tables[chunk], word[chunk]));
    }
    fit
}

/// The bytes of words.
#[expect(unsafe_code, reason = "the standard library has no safe cast of slices")]
fn bytes_of(words: &[u64]) -> &[[u8; 8]] {
    // SAFETY: eight bytes are as long as a word, need no alignment, and may have any value.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// Looks up every probe word and counts the build words that fit.
///
/// Carry-save adders gather eight lookups into one vector of weight eight, so eight probe words need
/// only one popcount.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &LeafTables) -> u64 {
    debug_assert!(
        probe.iter().all(|word| word & 0x0303_0303_0303_0303 == 0),
        "half-boards have no spare bits"
    );
    let zero = _mm256_setzero_si256();
    let (mut ones, mut twos, mut fours, mut eights) = (zero, zero, zero, zero);
    let (groups, rest) = bytes_of(probe).as_chunks::<8>();
    for group in groups {
        let mut four_of = [zero; 2];
        for (quad, four) in group.as_chunks::<4>().0.iter().zip(&mut four_of) {
            let mut two_of = [zero; 2];
            for ([a, b], two) in quad.as_chunks::<2>().0.iter().zip(&mut two_of) {
                let (a, b) =
                    (look_up::<CHUNKS>(a, &tables.tables), look_up::<CHUNKS>(b, &tables.tables));
                (ones, *two) = full_adder(ones, a, b);
            }
            (twos, *four) = full_adder(twos, two_of[0], two_of[1]);
        }
        let eight;
        (fours, eight) = full_adder(fours, four_of[0], four_of[1]);
        eights = _mm256_add_epi64(eights, lane_popcount(eight));
    }
    let mut singles = zero;
    for word in rest {
        singles = _mm256_add_epi64(singles, lane_popcount(look_up::<CHUNKS>(word, &tables.tables)));
    }
    sum_of_lanes(singles)
        + sum_of_lanes(lane_popcount(ones))
        + 2 * sum_of_lanes(lane_popcount(twos))
        + 4 * sum_of_lanes(lane_popcount(fours))
        + 8 * sum_of_lanes(eights)
}
