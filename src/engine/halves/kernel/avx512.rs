//! The AVX-512 kernel: eight words per step, 512 build words per block.
//!
//! All arithmetic uses by-value intrinsics, which are safe inside functions that enable the
//! features; the loads, the stores and the calls at the door are the only `unsafe` places.

#![expect(unsafe_code, reason = "vector loads and stores, and calls that the value proves sound")]

use std::arch::x86_64::*;

use crate::engine::kernel::Avx512;

use super::{BitOrder, JoinKernel, no_room};

mod leaf;

pub(crate) use leaf::Tables;

/// Words of one vector.
const WORDS: usize = 8;

implement_join_kernel!(Avx512);

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; WORDS]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes read, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Loads up to eight words and fills up with zeros; also says which lanes hold words.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_part(words: &[u64]) -> (__m512i, __mmask8) {
    let lanes = lanes_below(words.len());
    // SAFETY: only the first `min(8, words.len())` words are read.
    let vector = unsafe { _mm512_maskz_loadu_epi64(lanes, words.as_ptr().cast()) };
    (vector, lanes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; WORDS], vector: __m512i) {
    // SAFETY: the reference covers the 64 bytes written, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
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
    #[target_feature(enable = "avx512f")]
    fn store(&mut self, at: usize, vector: __m512i) {
        if at >= self.places {
            no_room(at, self.words.len());
        }
        // SAFETY: `places` leaves room for a whole vector behind `at`.
        unsafe { _mm512_storeu_si512(self.words.as_mut_ptr().add(at).cast(), vector) }
    }
}

/// The first `count` lanes, all eight if there are more.
fn lanes_below(count: usize) -> __mmask8 {
    if count >= WORDS { u8::MAX } else { (1 << count) - 1 }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn select(words: &[u64], avoid: u64, add: u64, out: &mut [u64]) -> usize {
    let mut room = Room::new(out);
    let avoid = _mm512_set1_epi64(avoid as i64);
    let add = _mm512_set1_epi64(add as i64);
    let mut kept = 0;
    let (vectors, rest) = words.as_chunks::<WORDS>();
    for vector in vectors {
        let vector = load(vector);
        let free = _mm512_testn_epi64_mask(vector, avoid);
        room.store(kept, _mm512_maskz_compress_epi64(free, _mm512_or_si512(vector, add)));
        kept += free.count_ones() as usize;
    }
    if !rest.is_empty() {
        let (vector, lanes) = load_part(rest);
        let free = _mm512_mask_testn_epi64_mask(lanes, vector, avoid);
        room.store(kept, _mm512_maskz_compress_epi64(free, _mm512_or_si512(vector, add)));
        kept += free.count_ones() as usize;
    }
    kept
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn combine(short: &[u64], long: &[u64], out: &mut [u64]) -> usize {
    let mut room = Room::new(out);
    let mut kept = 0;
    let (vectors, rest) = long.as_chunks::<WORDS>();
    let (last, last_lanes) = load_part(rest);
    for &word in short {
        let word = _mm512_set1_epi64(word as i64);
        for vector in vectors {
            let vector = load(vector);
            let free = _mm512_testn_epi64_mask(vector, word);
            room.store(kept, _mm512_maskz_compress_epi64(free, _mm512_or_si512(vector, word)));
            kept += free.count_ones() as usize;
        }
        if last_lanes != 0 {
            let free = _mm512_mask_testn_epi64_mask(last_lanes, last, word);
            room.store(kept, _mm512_maskz_compress_epi64(free, _mm512_or_si512(last, word)));
            kept += free.count_ones() as usize;
        }
    }
    kept
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn permute_bits(words: &mut [u64], order: &BitOrder) {
    let moved = |vectors: &mut [__m512i]| {
        let mut images = [_mm512_setzero_si512(); 4];
        for at in order.moves() {
            let shift = _mm512_set1_epi64(i64::from(at.shift));
            let mask = _mm512_set1_epi64(at.mask as i64);
            for (image, &vector) in images.iter_mut().zip(&*vectors) {
                // 0xF8: the first, or both of the others. The mask drops the bits that a rotation
                // brings round.
                let bits = _mm512_rolv_epi64(vector, shift);
                *image = _mm512_ternarylogic_epi64::<0xF8>(*image, bits, mask);
            }
        }
        vectors.copy_from_slice(&images[..vectors.len()]);
    };
    let (groups, rest) = words.as_chunks_mut::<{ 4 * WORDS }>();
    for group in groups {
        let vectors = group.as_chunks_mut::<WORDS>().0;
        let mut four = [_mm512_setzero_si512(); 4];
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn positional_popcount(sample: &[u64]) -> [u8; 64] {
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    debug_assert!(words.len() <= out.len(), "the parts fit the space");
    let (vectors, rest) = words.as_chunks::<WORDS>();
    let (mut front, mut back) = partition_rest(rest, bit, out);
    let bit = _mm512_set1_epi64(bit as i64);
    let mut room = Room::new(out);
    for vector in vectors {
        let vector = load(vector);
        let lacks = _mm512_testn_epi64_mask(vector, bit);
        let count = lacks.count_ones() as usize;
        // At least as many places are free as words are left, so that whole vectors fit at both ends: the
        // first lanes stay at the front, the last ones at the back, the others are overwritten.
        let sorted = _mm512_permutexvar_epi64(lanes_to_front(lacks), vector);
        room.store(front, sorted);
        front += count;
        room.store(back.wrapping_sub(WORDS), sorted);
        back = back.wrapping_sub(WORDS - count);
    }
    front
}

/// The places that bring the chosen lanes to the front and the others behind them.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes_to_front(lanes: __mmask8) -> __m512i {
    _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(LANES_TO_FRONT[usize::from(lanes)] as i64))
}

/// For every set of lanes, its lanes and then the others, a byte each.
static LANES_TO_FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut lanes = 0;
    while lanes < 256 {
        let mut at = 0;
        let mut step = 0;
        while step < 2 * WORDS {
            let lane = step % WORDS;
            if (lanes >> lane & 1 == 1) == (step < WORDS) {
                table[lanes] |= (lane as u64) << (8 * at);
                at += 1;
            }
            step += 1;
        }
        lanes += 1;
    }
    table
};

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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
fn nested_loop(build: &[u64], probe: &[u64]) -> u64 {
    let mut pairs = 0;
    let (vectors, rest) = build.as_chunks::<WORDS>();
    let (last, last_lanes) = load_part(rest);
    for &word in probe {
        let word = _mm512_set1_epi64(word as i64);
        for vector in vectors {
            let free = _mm512_testn_epi64_mask(load(vector), word);
            pairs += u64::from(free.count_ones());
        }
        let free = _mm512_mask_testn_epi64_mask(last_lanes, last, word);
        pairs += u64::from(free.count_ones());
    }
    pairs
}
