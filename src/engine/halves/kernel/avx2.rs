//! The AVX2 kernel: four words per step, 256 build words per block.
//!
//! All arithmetic uses by-value intrinsics, which are safe inside functions that enable the
//! features; the loads, the stores and the calls at the door are the only `unsafe` places.

#![expect(unsafe_code, reason = "vector loads and stores, and calls that the value proves sound")]

use std::arch::x86_64::*;

use crate::engine::kernel::Avx2;

use super::{BitOrder, JoinKernel, no_room};

mod leaf;

pub(crate) use leaf::Tables;

/// Words of one vector.
const WORDS: usize = 4;

implement_join_kernel!(Avx2);

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u64; WORDS]) -> __m256i {
    // SAFETY: the reference covers the 32 bytes read, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Loads up to four words and fills up with ones; also says which lanes hold words.
#[inline]
#[target_feature(enable = "avx2")]
fn load_part(words: &[u64]) -> (__m256i, u32) {
    let mut four = [u64::MAX; WORDS];
    for (lane, &word) in four.iter_mut().zip(words) {
        *lane = word;
    }
    (load(&four), (1 << words.len().min(WORDS)) - 1)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u64; WORDS], vector: __m256i) {
    // SAFETY: the reference covers the 32 bytes written, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}

/// Memory for whole vectors at any place; its last place is worked out once.
struct Room<'a> {
    words: &'a mut [u64],
    places: usize,
}

impl<'a> Room<'a> {
    fn new(words: &'a mut [u64]) -> Self {
        let places = (words.len() + 1).saturating_sub(WORDS);
        Self { words, places }
    }

    /// Stores a whole vector at `at`; the callers keep a vector of room behind what they count. A
    /// store without room would lose words, and the count would be wrong: it stops the process.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(&mut self, at: usize, vector: __m256i) {
        if at >= self.places {
            no_room(at, self.words.len());
        }
        // SAFETY: `places` leaves room for a whole vector behind `at`.
        unsafe { _mm256_storeu_si256(self.words.as_mut_ptr().add(at).cast(), vector) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(word: u64) -> __m256i {
    _mm256_set1_epi64x(word as i64)
}

/// The lanes in which two vectors share no bit, as four bits.
#[inline]
#[target_feature(enable = "avx2")]
fn disjoint_lanes(a: __m256i, b: __m256i) -> u32 {
    let equal = _mm256_cmpeq_epi64(_mm256_and_si256(a, b), _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32
}

/// For every set of lanes, the 32-bit places that bring these lanes to the front
/// and the others behind them.
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

/// Brings the chosen lanes to the front, the others behind them.
#[inline]
#[target_feature(enable = "avx2")]
fn compress(lanes: u32, vector: __m256i) -> __m256i {
    let places = &LANES_TO_FRONT[lanes as usize % 16];
    // SAFETY: the reference covers the 32 bytes read, and the load needs no alignment.
    let places = unsafe { _mm256_loadu_si256(places.as_ptr().cast()) };
    _mm256_permutevar8x32_epi32(vector, places)
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn select(words: &[u64], avoid: u64, add: u64, out: &mut [u64]) -> usize {
    let mut room = Room::new(out);
    let (avoid, add) = (splat(avoid), splat(add));
    let mut kept = 0;
    let (vectors, rest) = words.as_chunks::<WORDS>();
    for vector in vectors {
        let vector = load(vector);
        let free = disjoint_lanes(vector, avoid);
        room.store(kept, compress(free, _mm256_or_si256(vector, add)));
        kept += free.count_ones() as usize;
    }
    if !rest.is_empty() {
        let (vector, lanes) = load_part(rest);
        let free = disjoint_lanes(vector, avoid) & lanes;
        room.store(kept, compress(free, _mm256_or_si256(vector, add)));
        kept += free.count_ones() as usize;
    }
    kept
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn combine(short: &[u64], long: &[u64], out: &mut [u64]) -> usize {
    let mut room = Room::new(out);
    let mut kept = 0;
    let (vectors, rest) = long.as_chunks::<WORDS>();
    let (last, last_lanes) = load_part(rest);
    for &word in short {
        let word = splat(word);
        for vector in vectors {
            let vector = load(vector);
            let free = disjoint_lanes(vector, word);
            room.store(kept, compress(free, _mm256_or_si256(vector, word)));
            kept += free.count_ones() as usize;
        }
        if last_lanes != 0 {
            let free = disjoint_lanes(last, word) & last_lanes;
            room.store(kept, compress(free, _mm256_or_si256(last, word)));
            kept += free.count_ones() as usize;
        }
    }
    kept
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn permute_bits(words: &mut [u64], order: &BitOrder) {
    let moved = |vectors: &mut [__m256i]| {
        let mut images = [_mm256_setzero_si256(); 4];
        for at in order.moves() {
            let mask = splat(at.mask);
            let distance = _mm_cvtsi32_si128(at.shift.abs());
            for (image, &vector) in images.iter_mut().zip(&*vectors) {
                let bits = if at.shift >= 0 {
                    _mm256_sll_epi64(vector, distance)
                } else {
                    _mm256_srl_epi64(vector, distance)
                };
                *image = _mm256_or_si256(*image, _mm256_and_si256(bits, mask));
            }
        }
        vectors.copy_from_slice(&images[..vectors.len()]);
    };
    let (groups, rest) = words.as_chunks_mut::<{ 4 * WORDS }>();
    for group in groups {
        let vectors = group.as_chunks_mut::<WORDS>().0;
        let mut four = [_mm256_setzero_si256(); 4];
        for (vector, words) in four.iter_mut().zip(&*vectors) {
            *vector = load(words);
        }
        moved(&mut four);
        for (words, vector) in vectors.iter_mut().zip(four) {
            store(words, vector);
        }
    }
    for words in rest.chunks_mut(WORDS) {
        let mut one = [load_part(words).0];
        moved(&mut one);
        let mut last = [0; WORDS];
        store(&mut last, one[0]);
        words.copy_from_slice(&last[..words.len()]);
    }
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn positional_popcount(sample: &[u64]) -> [u8; 64] {
    debug_assert!(sample.len() <= 255, "{} words overflow a byte", sample.len());
    // Each byte of a vector looks at one bit of the half word that is broadcast to all lanes.
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
        let mut words = [0; WORDS];
        store(&mut words, count);
        for (eight, word) in half.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *eight = word.to_le_bytes();
        }
    }
    bytes
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    debug_assert!(words.len() <= out.len(), "the parts fit the space");
    let (vectors, rest) = words.as_chunks::<WORDS>();
    let (mut front, mut back) = partition_rest(rest, bit, out);
    let bit = splat(bit);
    let mut room = Room::new(out);
    for vector in vectors {
        let vector = load(vector);
        let lacks = disjoint_lanes(vector, bit);
        let count = lacks.count_ones() as usize;
        // At least as many places are free as words are left, so that whole vectors fit at both ends: the
        // first lanes stay at the front, the last ones at the back, the others are overwritten.
        let sorted = compress(lacks, vector);
        room.store(front, sorted);
        front += count;
        room.store(back.wrapping_sub(WORDS), sorted);
        back = back.wrapping_sub(WORDS - count);
    }
    front
}

/// Partitions words one by one; returns the free range of `out` that is left.
fn partition_rest(words: &[u64], bit: u64, out: &mut [u64]) -> (usize, usize) {
    let (mut front, mut back) = (0, out.len());
    for &word in words {
        if word & bit == 0 {
            out[front] = word;
            front += 1;
        } else {
            back -= 1;
            out[back] = word;
        }
    }
    (front, back)
}

#[target_feature(enable = "avx2,bmi2,popcnt")]
fn nested_loop(build: &[u64], probe: &[u64]) -> u64 {
    let mut pairs = 0;
    let (vectors, rest) = build.as_chunks::<WORDS>();
    let (last, last_lanes) = load_part(rest);
    for &word in probe {
        let word = splat(word);
        for vector in vectors {
            pairs += u64::from(disjoint_lanes(load(vector), word).count_ones());
        }
        pairs += u64::from((disjoint_lanes(last, word) & last_lanes).count_ones());
    }
    pairs
}
