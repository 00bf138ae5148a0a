//! A set is two vectors; their bits are counted four at a time by a table of 16 entries.

use std::arch::x86_64::*;

use super::super::fillings::Filling;
use super::Set;
use crate::engine::kernel::avx2::load;

#[target_feature(enable = "avx2")]
pub(in super::super) fn count(
    pairs: &[[Set; 256]],
    counting: &[[Set; 2]],
    list: &[Filling],
) -> [u64; 2] {
    let mut found = [_mm256_setzero_si256(); 2];
    for filling in list {
        let mut fits = [_mm256_set1_epi8(-1); 2];
        for (sets, pair) in pairs.iter().zip(filling.pairs) {
            fits = and(fits, load_set(&sets[usize::from(pair)]));
        }
        for (counting, found) in counting[usize::from(filling.northern)].iter().zip(&mut found) {
            let [low, high] = and(fits, load_set(counting));
            let bytes = _mm256_add_epi8(bits_of_bytes(low), bits_of_bytes(high));
            let sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
            *found = _mm256_add_epi64(*found, sums);
        }
    }
    found.map(|found| sum(found))
}

#[target_feature(enable = "avx2")]
fn and(a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])]
}

/// The number of bits of each byte.
#[target_feature(enable = "avx2")]
fn bits_of_bytes(bytes: __m256i) -> __m256i {
    let bits = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let four = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(bytes, four);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), four);
    _mm256_add_epi8(_mm256_shuffle_epi8(bits, low), _mm256_shuffle_epi8(bits, high))
}

#[target_feature(enable = "avx2")]
fn sum(words: __m256i) -> u64 {
    let two = _mm_add_epi64(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    let one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    _mm_cvtsi128_si64(one).cast_unsigned()
}

#[target_feature(enable = "avx2")]
fn load_set(set: &Set) -> [__m256i; 2] {
    let [low, high] = set.0.as_chunks::<4>().0 else { unreachable!("a set has eight words") };
    [load(low), load(high)]
}
