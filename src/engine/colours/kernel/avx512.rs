//! 64 lanes in one vector, with population counts of bytes and sums of products.

use std::arch::x86_64::*;

use super::portable::{index_of_labels, index_of_lanes};
use super::{MAX_LANES, Tile};
use crate::engine::vectors::avx512;

type Vector = __m512i;
type Sums = __m512i;
type Index = [Bytes; 1];

const LANES: usize = MAX_LANES;
/// Counting the bits of a vector takes one instruction, so there is too little to save.
const SKIPS_GROUPS: bool = false;

loops! {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bitalg,avx512vbmi,avx512vnni,avx512vpopcntdq,gfni,bmi1,bmi2,popcnt")]
}

#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; LANES]) -> Vector {
    avx512::load::<u8, LANES>(bytes)
}

#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    avx512::store::<u8, LANES>(bytes, vector);
}

#[target_feature(enable = "avx512f")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

#[target_feature(enable = "avx512f")]
fn or(a: Vector, b: Vector) -> Vector {
    _mm512_or_si512(a, b)
}

#[target_feature(enable = "avx512f")]
fn is_zero(a: Vector) -> bool {
    _mm512_test_epi64_mask(a, a) == 0
}

#[target_feature(enable = "avx512bw")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi8(a, b)
}

#[target_feature(enable = "avx512f")]
fn open_of(words: Vector, sum: Vector, difference: Vector) -> Vector {
    _mm512_ternarylogic_epi64::<{ 0xf0 & !(0xcc | 0xaa) }>(words, sum, difference)
}

#[target_feature(enable = "avx512bitalg")]
fn bit_counts(a: Vector) -> Vector {
    _mm512_popcnt_epi8(a)
}

/// Returns the byte in each place of the index, or 0 if the highest bit of the place is set.
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn pick(bytes: Vector, [places]: &Index) -> Vector {
    let places = load(&places.0);
    _mm512_maskz_permutexvar_epi8(!_mm512_movepi8_mask(places), places, bytes)
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
fn add_hits(entries: &mut Numbers, hits: Vector, lane_maps: &[Index], _labels: &[u8; LANES]) {
    let [low, high] = chunks_mut(&mut entries.0) else { unreachable!("two halves") };
    let mut sums = [avx512::load::<u16, 32>(low), avx512::load::<u16, 32>(high)];
    for lane_map in lane_maps {
        let picked = pick(hits, lane_map);
        let more = [_mm512_castsi512_si256(picked), _mm512_extracti64x4_epi64::<1>(picked)];
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = _mm512_adds_epu16(*sum, _mm512_cvtepu8_epi16(more));
        }
    }
    avx512::store::<u16, 32>(low, sums[0]);
    avx512::store::<u16, 32>(high, sums[1]);
}

#[target_feature(enable = "avx512f")]
fn zero() -> Sums {
    _mm512_setzero_si512()
}

#[target_feature(enable = "avx512bw")]
fn add_hits_in_order(entries: &mut [u16; LANES], hits: Vector) {
    let [low, high] = chunks_mut(entries) else { unreachable!("two halves") };
    let more = [_mm512_castsi512_si256(hits), _mm512_extracti64x4_epi64::<1>(hits)];
    for (half, more) in [low, high].into_iter().zip(more) {
        let sum = _mm512_adds_epu16(avx512::load::<u16, 32>(half), _mm512_cvtepu8_epi16(more));
        avx512::store::<u16, 32>(half, sum);
    }
}

#[target_feature(enable = "avx512vbmi,avx512vnni")]
fn add_products(sums: Sums, hits: Vector, coefficients: &Bytes, [labels]: &Index) -> Sums {
    let of_lanes = _mm512_permutexvar_epi8(load(&labels.0), load(&coefficients.0));
    _mm512_dpbusd_epi32(sums, of_lanes, hits)
}

/// Adds products. The instruction multiplies unsigned bytes, the coefficients, by signed bytes, the hits.
#[target_feature(enable = "avx512vnni")]
fn add_products_in_order(sums: Sums, hits: Vector, coefficients: &[u8; LANES]) -> Sums {
    const { assert!(8 * MAX_GROUP < 1 << 7) };
    _mm512_dpbusd_epi32(sums, load(coefficients), hits)
}

#[target_feature(enable = "avx512f")]
fn widen(sums: Sums, totals: &mut [u64; 8]) {
    let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
    let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
    let total = avx512::load::<u64, 8>(totals);
    avx512::store::<u64, 8>(totals, _mm512_add_epi64(total, _mm512_add_epi64(low, high)));
}

/// Joins in registers, and moves the fitting words to the front. The packed vector is stored whole, because the form
/// of `vpcompressq` that writes to memory is many times slower on some CPUs.
#[target_feature(enable = "avx512f,popcnt")]
fn join_eight(one: u64, words: &[u64; 8], mask: u8, joined: &mut [u64; 8]) -> usize {
    let one = _mm512_set1_epi64(one.cast_signed());
    let words = avx512::load::<u64, 8>(words);
    let fitting = _mm512_testn_epi64_mask(one, words) & mask;
    let packed = _mm512_maskz_compress_epi64(fitting, _mm512_or_si512(one, words));
    avx512::store::<u64, 8>(joined, packed);
    fitting.count_ones() as usize
}

/// Transposes the words of a layer in two steps. First the eight words of a lane become a row of bytes, one byte for
/// each bit of a word. For this the bytes of the words are sorted into eight groups of eight. Each group is a matrix
/// of eight by eight bits, and one instruction transposes all eight. Then sixteen rows by sixteen bytes are
/// transposed by four stages of unpacking, in each quarter of the lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
#[expect(clippy::cast_possible_truncation, reason = "places in 64 bytes")]
fn transpose_words(words: Words<'_>, starts: &[u32; LANES], planes: &mut [[u8; LANES]; PLANES]) {
    // Byte 8 j + 7 - s comes from byte j of word s: matrices begin with their last row.
    let by_byte = load(&std::array::from_fn(|at| ((7 - at % 8) * 8 + at / 8) as u8));
    // Unit vectors: their product with a matrix is the columns of the matrix.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    let mut rows = [[_mm512_setzero_si512(); TILE]; 4];
    for lane in 0..TILE {
        let [a, b, c, d] = [0, 16, 32, 48].map(|first| {
            let start = starts[first + lane] as usize;
            let words = words.padded[start..].first_chunk().expect("eight words and more");
            let bytes = _mm512_permutexvar_epi8(by_byte, avx512::load::<u64, 8>(words));
            _mm512_gf2p8affine_epi64_epi8::<0>(units, bytes)
        });
        // Quarters of the bytes change places with the quarters of the lanes.
        let ab_low = _mm512_shuffle_i64x2::<0x44>(a, b);
        let cd_low = _mm512_shuffle_i64x2::<0x44>(c, d);
        let ab_high = _mm512_shuffle_i64x2::<0xee>(a, b);
        let cd_high = _mm512_shuffle_i64x2::<0xee>(c, d);
        rows[0][lane] = _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low);
        rows[1][lane] = _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low);
        rows[2][lane] = _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high);
        rows[3][lane] = _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high);
    }
    let (planes, _no_bit) = planes.as_chunks_mut::<TILE>();
    for (rows, planes) in rows.iter().zip(planes) {
        for (plane, row) in planes.iter_mut().zip(transpose_rows(*rows)) {
            store(plane, row);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn transpose_quarters(tile: &mut Tile) {
    let rows = transpose_rows(tile.each_ref().map(|row| load(&row.0)));
    for (to, row) in tile.iter_mut().zip(rows) {
        store(&mut to.0, row);
    }
}

/// Transposes in four stages of unpacking, in each quarter of the rows.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn transpose_rows(mut rows: [Vector; TILE]) -> [Vector; TILE] {
    for _ in 0..TILE.ilog2() {
        let last = rows;
        for at in 0..TILE / 2 {
            rows[2 * at] = _mm512_unpacklo_epi8(last[at], last[at + TILE / 2]);
            rows[2 * at + 1] = _mm512_unpackhi_epi8(last[at], last[at + TILE / 2]);
        }
    }
    rows
}
