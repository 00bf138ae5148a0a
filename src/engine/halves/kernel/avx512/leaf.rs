//! The bit-sliced leaf of the AVX-512 kernel.
//!
//! ```text
//!     for each block of 512 build words:
//!         slice b  = the inverted bits b of all build words          (a transposition)
//!         table k  = for each value x of chunk k: AND of the slices of the bits of x
//!         for each probe word: AND of table k [chunk k of the probe word] over all k
//!                        has a bit for each build word that fits: count them
//! ```
//!
//! With five chunks a look-up takes 1.2 ns and each further chunk 0.2 ns, which looks like a limit
//! of two loads of 64 bytes per cycle; a block takes 140 ns to make.
//!
//! Tried and lost (Xeon with 48 KiB of first-level cache, n = 18 and 20, best of 5 to 8 runs):
//!
//! * two blocks side by side, to share the work of finding the entries: 2.1 ns a look-up instead of
//!   2.4, but tables of 40 KiB crowd the cache and took 430 ns to fill instead of 270: even;
//! * chunks of seven bits, 28 or 35 bits in a leaf: 10 % and 20 % slower;
//! * three-operand shifts with hidden distances, to spare moves: even to 3 % slower.

use std::arch::x86_64::*;

use super::super::{CHUNK_BITS, CHUNK_VALUES, JoinKernel, MAX_CHUNKS};
use super::{Avx512, WORDS, load, store};

/// One bit of each of 512 build words.
#[derive(Clone, Copy)]
#[repr(align(64))]
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
    padded: [u64; Avx512::BLOCK],
}

impl Tables {
    pub(super) fn new() -> Self {
        Self(Box::new(Scratch {
            tables: [[NONE; CHUNK_VALUES]; MAX_CHUNKS],
            slices: [[NONE; 32]; 2],
            padded: [0; Avx512::BLOCK],
        }))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
pub(super) fn count_bit_sliced(
    build: &[u64],
    probe: &[u64],
    bits: u32,
    tables: &mut Tables,
) -> u64 {
    let scratch = &mut *tables.0;
    let chunks = (bits as usize).div_ceil(CHUNK_BITS);
    match chunks {
        ..=2 => count_blocks::<2>(build, probe, scratch),
        3 => count_blocks::<3>(build, probe, scratch),
        4 => count_blocks::<4>(build, probe, scratch),
        5 => count_blocks::<5>(build, probe, scratch),
        6 => count_blocks::<6>(build, probe, scratch),
        7 => count_blocks::<7>(build, probe, scratch),
        8 => count_blocks::<8>(build, probe, scratch),
        _ => count_blocks::<MAX_CHUNKS>(build, probe, scratch),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn count_blocks<const CHUNKS: usize>(build: &[u64], probe: &[u64], scratch: &mut Scratch) -> u64 {
    let mut pairs = 0;
    for block in build.chunks(Avx512::BLOCK) {
        fill_tables(block, CHUNKS, scratch);
        pairs += count_probes::<CHUNKS>(probe, &scratch.tables);
    }
    pairs
}

/// Transposes a block of build words and tabulates the ANDs of its bit slices.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn fill_tables(block: &[u64], chunks: usize, scratch: &mut Scratch) {
    // What stands behind the last build word of a partial block does not matter: it is masked out.
    let whole: &[u64; Avx512::BLOCK] = if let Some(whole) = block.first_chunk() {
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
    let all = _mm512_set1_epi64(-1);
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
                store(&mut entry.0, _mm512_and_si512(load(&below.0), slice));
            }
        }
    }
}

/// The places of the first `count` build words in a slice: build word p stands in lane p % 8, at the
/// bit that `transpose` gives to row p / 8.
fn valid_words(count: usize) -> [u64; WORDS] {
    let mut valid = [0; WORDS];
    for (lane, word) in valid.iter_mut().enumerate() {
        let rows = (count + WORDS - 1 - lane) / WORDS;
        *word = if rows >= 64 { u64::MAX } else { (1 << rows) - 1 };
    }
    valid
}

/// Bit slices of 512 build words, inverted: 32 of them, of the low or the high half of the words.
///
/// The 64 vectors of eight build words are the rows of eight 64 x 64 bit matrices that lie side by
/// side in the lanes, so that nothing ever crosses a lane. The first step packs the wanted halves
/// of two rows into one; the others swap ever smaller squares of bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn transpose(block: &[u64; Avx512::BLOCK], high: bool, slices: &mut [Slice; 32]) {
    let rows = block.as_chunks::<WORDS>().0;
    let all = _mm512_set1_epi64(-1);
    let low_half = _mm512_set1_epi64(0xffff_ffff);
    let mut half = [NONE; 32];
    for lane in 0..8 {
        let pack = |row: usize| {
            let (a, b) = (load(&rows[row]), load(&rows[row + 32]));
            // 0x1B takes the first where the mask is set, else the second, and inverts.
            if high {
                _mm512_ternarylogic_epi64::<0x1B>(_mm512_srli_epi64::<32>(a), b, low_half)
            } else {
                _mm512_ternarylogic_epi64::<0x1B>(a, _mm512_slli_epi64::<32>(b), low_half)
            }
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

/// Looks every probe word up and counts the build words that fit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &[Table; MAX_CHUNKS]) -> u64 {
    let mut sums = _mm512_setzero_si512();
    for &word in probe {
        let mut fit = load(&tables[0][word as usize % CHUNK_VALUES].0);
        for (chunk, table) in tables[..CHUNKS].iter().enumerate().skip(1) {
            let value = (word >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
            fit = _mm512_and_si512(fit, load(&table[value].0));
        }
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(fit));
    }
    _mm512_reduce_add_epi64(sums) as u64
}
