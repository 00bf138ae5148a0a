//! 64 labels in two vectors. Population counts come from a table of nibbles.

use std::arch::x86_64::*;

use super::Tile;
use super::portable::{join_eight, transpose_words};
use crate::engine::vectors::avx2;

type Vector = [__m256i; 2];
type Sums = __m256i;
/// For each quarter of the lanes, the places within the quarter. Places elsewhere are bytes of 128 or more.
type Index = [Bytes; 4];

loops! {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
}

#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; LANES]) -> Vector {
    let halves = chunks(bytes);
    [avx2::load::<u8, 32>(&halves[0]), avx2::load::<u8, 32>(&halves[1])]
}

#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    let halves = chunks_mut(bytes);
    avx2::store::<u8, 32>(&mut halves[0], vector[0]);
    avx2::store::<u8, 32>(&mut halves[1], vector[1]);
}

#[target_feature(enable = "avx2")]
fn and(a: Vector, b: Vector) -> Vector {
    [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])]
}

#[target_feature(enable = "avx2")]
fn or(a: Vector, b: Vector) -> Vector {
    [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])]
}

#[target_feature(enable = "avx2")]
fn add(a: Vector, b: Vector) -> Vector {
    [_mm256_add_epi8(a[0], b[0]), _mm256_add_epi8(a[1], b[1])]
}

#[target_feature(enable = "avx2")]
fn open_of(words: Vector, sum: Vector, difference: Vector) -> Vector {
    let taken = or(sum, difference);
    [_mm256_andnot_si256(taken[0], words[0]), _mm256_andnot_si256(taken[1], words[1])]
}

#[target_feature(enable = "avx2")]
fn bit_counts(a: Vector) -> Vector {
    [bit_counts_of_half(a[0]), bit_counts_of_half(a[1])]
}

/// Looks up the number of bits of each half of a byte, and adds both.
#[inline]
#[target_feature(enable = "avx2")]
fn bit_counts_of_half(half: __m256i) -> __m256i {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0xf);
    let low = _mm256_and_si256(half, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(half), nibble);
    _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high))
}

#[target_feature(enable = "avx2")]
fn index(places: &Bytes) -> Index {
    let [low, high] = load(&places.0);
    let mut index = [Bytes::ZERO; 4];
    for (bytes, first) in index.iter_mut().zip([0, 16, 32, 48]) {
        store(&mut bytes.0, [within_quarter(low, first), within_quarter(high, first)]);
    }
    index
}

/// Returns places within the quarter that begins at `first`. Places outside it get their highest bit set, for which the
/// shuffle gives 0.
#[inline]
#[target_feature(enable = "avx2")]
fn within_quarter(places: __m256i, first: i8) -> __m256i {
    let from_first = _mm256_sub_epi8(places, _mm256_set1_epi8(first));
    _mm256_adds_epu8(from_first, _mm256_set1_epi8(0x70))
}

/// Returns the byte in each place of the index, or 0 if the place is outside.
#[target_feature(enable = "avx2")]
fn pick(bytes: Vector, index: &Index) -> Vector {
    let quarters = [
        _mm256_permute4x64_epi64::<0b01_00_01_00>(bytes[0]),
        _mm256_permute4x64_epi64::<0b11_10_11_10>(bytes[0]),
        _mm256_permute4x64_epi64::<0b01_00_01_00>(bytes[1]),
        _mm256_permute4x64_epi64::<0b11_10_11_10>(bytes[1]),
    ];
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| {
        let [low, high] = load(&index[at].0);
        [_mm256_shuffle_epi8(quarters[at], low), _mm256_shuffle_epi8(quarters[at], high)]
    });
    or(or(a, b), or(c, d))
}

#[target_feature(enable = "avx2")]
fn add_hits(entries: &mut Entries, hits: Vector, lane_maps: &[Index], _labels: &Bytes) {
    for lane_map in lane_maps {
        let picked = pick(hits, lane_map);
        let more = [
            _mm256_castsi256_si128(picked[0]),
            _mm256_extracti128_si256::<1>(picked[0]),
            _mm256_castsi256_si128(picked[1]),
            _mm256_extracti128_si256::<1>(picked[1]),
        ];
        for (quarter, more) in chunks_mut(&mut entries.0).iter_mut().zip(more) {
            let sum = _mm256_adds_epu16(avx2::load::<u16, 16>(quarter), _mm256_cvtepu8_epi16(more));
            avx2::store::<u16, 16>(quarter, sum);
        }
    }
}

#[target_feature(enable = "avx2")]
fn zero() -> Sums {
    _mm256_setzero_si256()
}

#[target_feature(enable = "avx2")]
fn add_products(sums: Sums, hits: Vector, coefficients: &Bytes, labels: &Index) -> Sums {
    const { assert!(2 * 8 * MAX_GROUP * 255 < 1 << 15) };
    let coefficients = pick(load(&coefficients.0), labels);
    let ones = _mm256_set1_epi16(1);
    // Products are added in pairs to sums of 16 bits, and these in pairs to sums of 32 bits.
    let low = _mm256_madd_epi16(_mm256_maddubs_epi16(coefficients[0], hits[0]), ones);
    let high = _mm256_madd_epi16(_mm256_maddubs_epi16(coefficients[1], hits[1]), ones);
    _mm256_add_epi32(sums, _mm256_add_epi32(low, high))
}

#[target_feature(enable = "avx2")]
fn widen(sums: Sums, totals: &mut [u64; 8]) {
    let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(sums));
    let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(sums));
    let halves = chunks_mut(totals);
    let sum = _mm256_add_epi64(low, high);
    let total = _mm256_add_epi64(avx2::load::<u64, 4>(&halves[0]), sum);
    avx2::store::<u64, 4>(&mut halves[0], total);
}

/// Transposes in four stages of unpacking, in each quarter of the rows.
#[target_feature(enable = "avx2")]
fn transpose_quarters(tile: &mut Tile) {
    for half in 0..2 {
        let mut rows = tile.each_ref().map(|row| avx2::load::<u8, 32>(&chunks(&row.0)[half]));
        for _ in 0..TILE.ilog2() {
            let last = rows;
            for at in 0..TILE / 2 {
                rows[2 * at] = _mm256_unpacklo_epi8(last[at], last[at + TILE / 2]);
                rows[2 * at + 1] = _mm256_unpackhi_epi8(last[at], last[at + TILE / 2]);
            }
        }
        for (to, row) in tile.iter_mut().zip(rows) {
            avx2::store::<u8, 32>(&mut chunks_mut(&mut to.0)[half], row);
        }
    }
}
