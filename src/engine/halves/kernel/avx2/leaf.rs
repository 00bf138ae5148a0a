//! The bit-sliced leaf of the AVX2 kernel.
//!
//! ```text
//!     for each block of 256 build words:
//!         slice b  = the inverted bits b of all build words          (a transposition)
//!         table k  = for each value x of chunk k: AND of the slices of the bits of x
//!         for each probe word: AND of table k [chunk k of the probe word] over all k
//!                        has a bit for each build word that fits: count them
//! ```
//!
//! Tried and lost (n = 18 and 20, best of 5 runs): two blocks side by side, 2 to 4 % slower; chunks
//! of seven bits, even at n = 18 and 6 % slower at n = 20.

use std::arch::x86_64::*;

use super::super::{CHUNK_BITS, CHUNK_VALUES, JoinKernel, MAX_CHUNKS};
use super::{Avx2, WORDS, load, splat, store};

/// One bit of each of 256 build words.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Slice([u64; WORDS]);

const NONE: Slice = Slice([0; WORDS]);

/// For each value of a chunk: the build words that do not clash with it.
type Table = [Slice; CHUNK_VALUES];

/// The tables of one block, and space to make them.
pub(crate) struct Tables(Box<Scratch>);

struct Scratch {
    /// One for each chunk.
    tables: [Table; MAX_CHUNKS],
    /// The bit slices of the block, of the low and of the high halves of its words.
    slices: [[Slice; 32]; 2],
    /// A partial block.
    padded: [u64; Avx2::BLOCK],
}

impl Tables {
    pub(super) fn new() -> Self {
        Self(Box::new(Scratch {
            tables: [[NONE; CHUNK_VALUES]; MAX_CHUNKS],
            slices: [[NONE; 32]; 2],
            padded: [0; Avx2::BLOCK],
        }))
    }
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
pub(super) fn count_bit_sliced(
    build: &[u64],
    probe: &[u64],
    bits: u32,
    tables: &mut Tables,
) -> u64 {
    let scratch = &mut *tables.0;
    let chunks = (bits as usize).div_ceil(CHUNK_BITS);
    match chunks {
        ..=4 => count_blocks::<4>(build, probe, scratch),
        5 => count_blocks::<5>(build, probe, scratch),
        6 => count_blocks::<6>(build, probe, scratch),
        7 => count_blocks::<7>(build, probe, scratch),
        8 => count_blocks::<8>(build, probe, scratch),
        _ => count_blocks::<MAX_CHUNKS>(build, probe, scratch),
    }
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn count_blocks<const CHUNKS: usize>(build: &[u64], probe: &[u64], scratch: &mut Scratch) -> u64 {
    let mut pairs = 0;
    for block in build.chunks(Avx2::BLOCK) {
        fill_tables(block, CHUNKS, scratch);
        pairs += count_probes::<CHUNKS>(probe, &scratch.tables);
    }
    pairs
}

/// Transposes a block of build words and tabulates the ANDs of its bit slices.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn fill_tables(block: &[u64], chunks: usize, scratch: &mut Scratch) {
    // What stands behind the last build word of a partial block does not matter: it is masked out.
    let whole: &[u64; Avx2::BLOCK] = if let Some(whole) = block.first_chunk() {
        whole
    } else {
        scratch.padded[..block.len()].copy_from_slice(block);
        &scratch.padded
    };
    transpose(whole, false, &mut scratch.slices[0]);
    if chunks * CHUNK_BITS > 32 {
        transpose(whole, true, &mut scratch.slices[1]);
    }
    let slices = scratch.slices.as_flattened();
    let all = splat(u64::MAX);
    for (chunk, table) in scratch.tables[..chunks].iter_mut().enumerate() {
        let first = if chunk == 0 { load(&valid_words(block.len())) } else { all };
        store(&mut table[0].0, first);
        for bit in 0..CHUNK_BITS {
            let slice = match slices.get(chunk * CHUNK_BITS + bit) {
                Some(slice) => load(&slice.0),
                None => all,
            };
            let (known, new) = table.split_at_mut(1 << bit);
            for (entry, below) in new.iter_mut().zip(&*known) {
                store(&mut entry.0, _mm256_and_si256(load(&below.0), slice));
            }
        }
    }
}

/// The places of the first `count` build words in a slice: build word p stands in lane p % 4, at the
/// bit that `transpose` gives to row p / 4.
fn valid_words(count: usize) -> [u64; WORDS] {
    let mut valid = [0; WORDS];
    for (lane, word) in valid.iter_mut().enumerate() {
        let rows = (count + WORDS - 1 - lane) / WORDS;
        *word = if rows >= 64 { u64::MAX } else { (1 << rows) - 1 };
    }
    valid
}

/// The bits of `a` where `mask` is set, those of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn choose(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
}

/// Bit slices of 256 build words, inverted: 32 of them, of the low or the high half of the words.
///
/// The 64 vectors of four build words are the rows of four 64 x 64 bit matrices that lie side by
/// side in the lanes, so that nothing ever crosses a lane. The first step packs the wanted halves
/// of two rows into one; the others swap ever smaller squares of bits.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn transpose(block: &[u64; Avx2::BLOCK], high: bool, slices: &mut [Slice; 32]) {
    let rows = block.as_chunks::<WORDS>().0;
    let all = splat(u64::MAX);
    let mut half = [NONE; 32];
    for lane in 0..8 {
        let pack = |row: usize| {
            let (a, b) = (load(&rows[row]), load(&rows[row + 32]));
            let packed = if high {
                _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b)
            } else {
                _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b))
            };
            _mm256_xor_si256(packed, all)
        };
        let mut quad = [pack(lane), pack(lane + 8), pack(lane + 16), pack(lane + 24)];
        swap_squares::<16>(&mut quad, 2, 0x0000_ffff_0000_ffff);
        swap_squares::<8>(&mut quad, 1, 0x00ff_00ff_00ff_00ff);
        for (at, vector) in quad.into_iter().enumerate() {
            store(&mut half[lane + 8 * at].0, vector);
        }
    }
    for at in 0..4 {
        let mut eight = [all; 8];
        for (vector, row) in eight.iter_mut().zip(&half[8 * at..]) {
            *vector = load(&row.0);
        }
        swap_squares::<4>(&mut eight, 4, 0x0f0f_0f0f_0f0f_0f0f);
        swap_squares::<2>(&mut eight, 2, 0x3333_3333_3333_3333);
        swap_squares::<1>(&mut eight, 1, 0x5555_5555_5555_5555);
        for (vector, slice) in eight.into_iter().zip(&mut slices[8 * at..]) {
            store(&mut slice.0, vector);
        }
    }
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
    let mut words = [0; WORDS];
    store(&mut words, vector);
    words.into_iter().sum()
}

/// The build words that fit a probe word.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up<const CHUNKS: usize>(word: u64, tables: &[Table; MAX_CHUNKS]) -> __m256i {
    let mut fit = load(&tables[0][word as usize % CHUNK_VALUES].0);
    for (chunk, table) in tables[..CHUNKS].iter().enumerate().skip(1) {
        let value = (word >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
        fit = _mm256_and_si256(fit, load(&table[value].0));
    }
    fit
}

/// Looks every probe word up and counts the build words that fit.
///
/// Carry-save adders gather eight look-ups into one vector of weight eight, so that there is one
/// popcount for eight probe words.
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &[Table; MAX_CHUNKS]) -> u64 {
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
