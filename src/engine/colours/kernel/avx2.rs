//! 32 lanes in one vector. Population counts come from a table of nibbles.

use std::arch::x86_64::*;

use super::Tile;
use crate::engine::vectors::avx2;

const LANES: usize = 32;
const SKIPS_GROUPS: bool = true;

type Vector = __m256i;
type Sums = __m256i;
/// For each half of the lanes, the place of each label within the half. Places elsewhere are bytes of 128 or more.
type Index = [Bytes; 2];
/// For each quarter of the labels, the place of each lane within the quarter. Places elsewhere are bytes of 128 or
/// more.
type LabelIndex = [Vector; 4];

loops! {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
}

#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; LANES]) -> Vector {
    avx2::load::<u8, LANES>(bytes)
}

#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    avx2::store::<u8, LANES>(bytes, vector);
}

#[target_feature(enable = "avx2")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm256_and_si256(a, b)
}

#[target_feature(enable = "avx2")]
fn or(a: Vector, b: Vector) -> Vector {
    _mm256_or_si256(a, b)
}

#[target_feature(enable = "avx2")]
fn is_zero(a: Vector) -> bool {
    _mm256_testz_si256(a, a) == 1
}

#[target_feature(enable = "avx2")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm256_add_epi8(a, b)
}

#[target_feature(enable = "avx2")]
fn open_of(words: Vector, sum: Vector, difference: Vector) -> Vector {
    _mm256_andnot_si256(_mm256_or_si256(sum, difference), words)
}

/// Looks up the number of bits of each half of a byte, and adds both.
#[target_feature(enable = "avx2")]
fn bit_counts(a: Vector) -> Vector {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0xf);
    let low = _mm256_and_si256(a, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(a), nibble);
    _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high))
}

#[target_feature(enable = "avx2")]
fn index_of_lanes(places: &Bytes) -> Index {
    let mut index = [Bytes::ZERO; 2];
    for (bytes, first) in index.iter_mut().zip([0, 16]) {
        for (to, half) in chunks_mut(&mut bytes.0).iter_mut().zip(chunks(&places.0)) {
            store(to, within_sixteen(load(half), first));
        }
    }
    index
}

#[target_feature(enable = "avx2")]
fn index_of_labels(labels: &[u8; LANES]) -> LabelIndex {
    let labels = load(labels);
    [0, 16, 32, 48].map(|first| within_sixteen(labels, first))
}

/// Returns places among the sixteen that begin at `first`. Places outside get their highest bit set, for which the
/// shuffle gives 0: with 0x70 added, 16 and more reach 0x80, and what is below `first` is so large that it stays above.
#[inline]
#[target_feature(enable = "avx2")]
fn within_sixteen(places: Vector, first: i8) -> Vector {
    let from_first = _mm256_sub_epi8(places, _mm256_set1_epi8(first));
    _mm256_adds_epu8(from_first, _mm256_set1_epi8(0x70))
}

#[target_feature(enable = "avx2")]
fn add_hits(entries: &mut Numbers, hits: Vector, lane_maps: &[Index], _labels: &[u8; LANES]) {
    const { assert!(3 * 8 * MAX_GROUP <= 255, "a byte has room for the hits of three lanes") };
    let halves = [
        _mm256_permute4x64_epi64::<0b01_00_01_00>(hits),
        _mm256_permute4x64_epi64::<0b11_10_11_10>(hits),
    ];
    let [low_entries, high_entries] = chunks_mut(&mut entries.0) else { unreachable!("halves") };
    for lane_maps in lane_maps.chunks(3) {
        let mut picked = [_mm256_setzero_si256(); 2];
        for lane_map in lane_maps {
            for (half, places) in halves.iter().zip(lane_map) {
                for (sum, places) in picked.iter_mut().zip(chunks(&places.0)) {
                    *sum = add(*sum, _mm256_shuffle_epi8(*half, load(places)));
                }
            }
        }
        add_hits_in_order(low_entries, picked[0]);
        add_hits_in_order(high_entries, picked[1]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_hits_in_order(entries: &mut [u16; LANES], hits: Vector) {
    let more = [_mm256_castsi256_si128(hits), _mm256_extracti128_si256::<1>(hits)];
    for (half, more) in chunks_mut(entries).iter_mut().zip(more) {
        let sum = _mm256_adds_epu16(avx2::load::<u16, 16>(half), _mm256_cvtepu8_epi16(more));
        avx2::store::<u16, 16>(half, sum);
    }
}

#[target_feature(enable = "avx2")]
fn add_products(sums: Sums, hits: Vector, coefficients: &Bytes, labels: &LabelIndex) -> Sums {
    let quarters: &[[u8; 16]] = chunks(&coefficients.0);
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| _mm256_shuffle_epi8(twice(&quarters[at]), labels[at]));
    let of_lanes = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
    add_products_of_lanes(sums, hits, of_lanes)
}

#[target_feature(enable = "avx2")]
fn add_products_in_order(sums: Sums, hits: Vector, coefficients: &[u8; LANES]) -> Sums {
    add_products_of_lanes(sums, hits, load(coefficients))
}

/// Loads sixteen bytes into both halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(bytes: &[u8; 16]) -> Vector {
    let [low, high] = chunks(bytes) else { unreachable!("two halves") };
    let both = _mm_set_epi64x(i64::from_le_bytes(*high), i64::from_le_bytes(*low));
    _mm256_broadcastsi128_si256(both)
}

#[target_feature(enable = "avx2")]
fn zero() -> Sums {
    _mm256_setzero_si256()
}

/// Adds products in pairs to sums of 16 bits, and these in pairs to sums of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products_of_lanes(sums: Sums, hits: Vector, coefficients: Vector) -> Sums {
    const { assert!(2 * 8 * MAX_GROUP * 255 < 1 << 15) };
    let of_two = _mm256_maddubs_epi16(coefficients, hits);
    _mm256_add_epi32(sums, _mm256_madd_epi16(of_two, _mm256_set1_epi16(1)))
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

/// For each set of four words, the order that moves them to the front, in halves of words.
static TO_FRONT: [[u32; 8]; 16] = {
    let mut orders = [[0; 8]; 16];
    let mut set = 0;
    while set < 16 {
        let mut to = 0;
        let mut word = 0;
        while word < 4 {
            if set >> word & 1 == 1 {
                orders[set][to] = 2 * word;
                orders[set][to + 1] = 2 * word + 1;
                to += 2;
            }
            word += 1;
        }
        set += 1;
    }
    orders
};

/// Joins four words at a time, and moves the fitting ones to the front.
#[target_feature(enable = "avx2,popcnt")]
fn join_eight(one: u64, words: &[u64; 8], mask: u8, joined: &mut [u64; 8]) -> usize {
    let one = _mm256_set1_epi64x(one.cast_signed());
    let mut len = 0;
    for (words, mask) in chunks(words).iter().zip([mask & 0xf, mask >> 4]) {
        let words = avx2::load::<u64, 4>(words);
        let fits = _mm256_cmpeq_epi64(_mm256_and_si256(one, words), _mm256_setzero_si256());
        let fitting = _mm256_movemask_pd(_mm256_castsi256_pd(fits)) as usize & usize::from(mask);
        let order = avx2::load::<u32, 8>(&TO_FRONT[fitting]);
        let packed = _mm256_permutevar8x32_epi32(_mm256_or_si256(one, words), order);
        let room = joined[len..].first_chunk_mut().expect("room for four words");
        avx2::store::<u64, 4>(room, packed);
        len += fitting.count_ones() as usize;
    }
    len
}

/// Transposes the words of a layer in two steps. First the eight words of four lanes are in eight vectors, in which
/// eight by eight bits are transposed at a time. Then sixteen rows by sixteen bytes are transposed.
#[target_feature(enable = "avx2")]
fn transpose_words(words: Words<'_>, starts: &[u32; LANES], planes: &mut [[u8; LANES]; PLANES]) {
    let mut of_bit = [[_mm256_setzero_si256(); TILE / 2]; 8];
    for lane in 0..TILE / 2 {
        // Two lanes of each half of the planes.
        let lanes = [0, 8, 16, 24].map(|first| {
            let words = words.padded[starts[first + lane] as usize..].first_chunk().expect("slack");
            let halves: &[[u64; 4]] = chunks::<_, 8, 4>(words);
            [avx2::load::<u64, 4>(&halves[0]), avx2::load::<u64, 4>(&halves[1])]
        });
        let [a, b, c, d] = transpose_four(lanes.map(|[first_four, _]| first_four));
        let [e, f, g, h] = transpose_four(lanes.map(|[_, last_four]| last_four));
        let rows = swap::<4>([a, b, c, d, e, f, g, h], 0x0f);
        let rows = swap::<1>(swap::<2>(rows, 0x33), 0x55);
        for bit in 0..8 {
            of_bit[bit][lane] = rows[bit];
        }
    }
    // Alternates the bytes of two lanes.
    let alternate = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
    ));
    for bit in 0..8 {
        let mut rows = of_bit[bit].map(|row| _mm256_shuffle_epi8(row, alternate));
        for _ in 0..3 {
            rows = interleave(rows);
        }
        for byte in 0..8 {
            store(&mut planes[8 * byte + bit], rows[byte]);
        }
    }
}

/// Transposes four rows of four words.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_four([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let ab_even = _mm256_unpacklo_epi64(a, b);
    let ab_odd = _mm256_unpackhi_epi64(a, b);
    let cd_even = _mm256_unpacklo_epi64(c, d);
    let cd_odd = _mm256_unpackhi_epi64(c, d);
    [
        _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
        _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
        _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
        _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
    ]
}

/// Makes a stage of the transposition of bits: of two rows at this distance, the high bits of the first one and the
/// low bits of the second one change places.
#[inline]
#[target_feature(enable = "avx2")]
fn swap<const DISTANCE: i32>(mut rows: [Vector; 8], low: i8) -> [Vector; 8] {
    let low = _mm256_set1_epi8(low);
    let distance = DISTANCE as usize;
    for at in 0..8 {
        if at & distance == 0 {
            let (a, b) = (rows[at], rows[at | distance]);
            let differing =
                _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<DISTANCE>(a), b), low);
            rows[at] = _mm256_xor_si256(a, _mm256_slli_epi64::<DISTANCE>(differing));
            rows[at | distance] = _mm256_xor_si256(b, differing);
        }
    }
    rows
}

/// Makes a stage of the transposition of bytes: the bytes of the upper rows alternate with the bytes of the lower
/// rows, in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave<const ROWS: usize>(rows: [Vector; ROWS]) -> [Vector; ROWS] {
    let mut interleaved = rows;
    for at in 0..ROWS / 2 {
        interleaved[2 * at] = _mm256_unpacklo_epi8(rows[at], rows[at + ROWS / 2]);
        interleaved[2 * at + 1] = _mm256_unpackhi_epi8(rows[at], rows[at + ROWS / 2]);
    }
    interleaved
}

/// Transposes in four stages of unpacking, in each quarter of the rows.
#[target_feature(enable = "avx2")]
fn transpose_quarters(tile: &mut Tile) {
    for half in 0..2 {
        let mut rows = tile.each_ref().map(|row| avx2::load::<u8, 32>(&chunks(&row.0)[half]));
        for _ in 0..TILE.ilog2() {
            rows = interleave(rows);
        }
        for (to, row) in tile.iter_mut().zip(rows) {
            avx2::store::<u8, 32>(&mut chunks_mut(&mut to.0)[half], row);
        }
    }
}
