//! 64 labels in two vectors; population counts by a table of nibbles.

use std::arch::x86_64::*;

pub(super) use super::portable::place;
use super::portable::transpose_words;
use super::{
    Bytes, DIGITS, Ending, Entries, Layer, LeafCode, LeafScratch, MOST_OPEN, MOST_ROWS,
    MOST_TOGETHER, OpenRow, Opening, Pairs, Planes, RowsOfSets, STATE_ROWS, TILE, TURNS_IN_A_BYTE,
    Tile, Totals, Weights, Words, both, chunks, chunks_mut, pieces,
};
use crate::engine::x86::{LANES_TO_FRONT, avx2};

type Vector = [__m256i; 2];
type Sums = __m256i;
/// The places in each sixteenth of the bytes; bytes from 128 on elsewhere.
type Index = [Bytes; 4];

loops! {
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
}

#[target_feature(enable = "avx2")]
fn load(bytes: &Bytes) -> Vector {
    let halves = chunks(&bytes.0);
    [avx2::load::<u8, 32>(&halves[0]), avx2::load::<u8, 32>(&halves[1])]
}

#[target_feature(enable = "avx2")]
fn store(bytes: &mut Bytes, vector: Vector) {
    let halves = chunks_mut(&mut bytes.0);
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
fn open_of(words: Vector, a: Vector, b: Vector) -> Vector {
    let open = |at: usize| _mm256_andnot_si256(_mm256_or_si256(a[at], b[at]), words[at]);
    [open(0), open(1)]
}

#[target_feature(enable = "avx2")]
fn bits(a: Vector) -> Vector {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0xf);
    let bits = |of: __m256i| {
        let low = _mm256_shuffle_epi8(table, _mm256_and_si256(of, nibble));
        let high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(of), nibble));
        _mm256_add_epi8(low, high)
    };
    [bits(a[0]), bits(a[1])]
}

#[target_feature(enable = "avx2")]
fn index(places: &Bytes) -> Index {
    let places = load(places);
    std::array::from_fn(|quarter| {
        let first = _mm256_set1_epi8(16 * quarter as i8);
        // Places outside the quarter get their highest bit set, for which the shuffle gives 0.
        let within = |places: __m256i| {
            _mm256_adds_epu8(_mm256_sub_epi8(places, first), _mm256_set1_epi8(0x70))
        };
        let mut bytes = Bytes::ZERO;
        store(&mut bytes, [within(places[0]), within(places[1])]);
        bytes
    })
}

#[target_feature(enable = "avx2")]
fn pick(bytes: Vector, index: &Index) -> Vector {
    let quarters = [
        _mm256_permute4x64_epi64::<0b01_00_01_00>(bytes[0]),
        _mm256_permute4x64_epi64::<0b11_10_11_10>(bytes[0]),
        _mm256_permute4x64_epi64::<0b01_00_01_00>(bytes[1]),
        _mm256_permute4x64_epi64::<0b11_10_11_10>(bytes[1]),
    ];
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| {
        let [low, high] = load(&index[at]);
        [_mm256_shuffle_epi8(quarters[at], low), _mm256_shuffle_epi8(quarters[at], high)]
    });
    or(or(a, b), or(c, d))
}

#[target_feature(enable = "avx2")]
fn count(entries: &mut Entries, hits: Vector, turns: &[Index], _labels: &Bytes) {
    const { assert!(TURNS_IN_A_BYTE == 3) };
    for turns in turns.chunks(TURNS_IN_A_BYTE) {
        let picked = match turns {
            [a, b, c] => add(add(pick(hits, a), pick(hits, b)), pick(hits, c)),
            [a, b] => add(pick(hits, a), pick(hits, b)),
            [a] => pick(hits, a),
            _ => unreachable!("up to three"),
        };
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
fn add_products(sums: Sums, hits: Vector, weights: &Bytes, index: &Index) -> Sums {
    const { assert!(2 * 8 * MOST_TOGETHER * 255 < 1 << 15) };
    let weights = pick(load(weights), index);
    let ones = _mm256_set1_epi16(1);
    let products =
        |half: usize| _mm256_madd_epi16(_mm256_maddubs_epi16(weights[half], hits[half]), ones);
    _mm256_add_epi32(sums, _mm256_add_epi32(products(0), products(1)))
}

#[target_feature(enable = "avx2")]
fn widen([a, b, c, d]: [Sums; 4], totals: &mut [u64; 8]) {
    let sums = _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
    let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(sums));
    let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(sums));
    let halves = chunks_mut(totals);
    let sum = _mm256_add_epi64(low, high);
    let total = _mm256_add_epi64(avx2::load::<u64, 4>(&halves[0]), sum);
    avx2::store::<u64, 4>(&mut halves[0], total);
}

#[target_feature(enable = "avx2,popcnt")]
fn join_eight(one: u64, words: &[u64; 8], len: usize, joined: &mut [u64; 8]) -> usize {
    // Two lanes of 32 bits for each word.
    let (one, lanes) = (_mm256_set1_epi64x(one.cast_signed()), (1 << (2 * len)) - 1);
    let mut end = 0;
    for (words, lanes) in chunks(words).iter().zip([lanes & 0xff, lanes >> 8]) {
        let words = avx2::load::<u64, 4>(words);
        let free = _mm256_cmpeq_epi64(_mm256_and_si256(words, one), _mm256_setzero_si256());
        let lanes = _mm256_movemask_ps(_mm256_castsi256_ps(free)) as usize & lanes;
        compress(_mm256_or_si256(words, one), lanes, &mut joined[end..]);
        end += lanes.count_ones() as usize / 2;
    }
    end
}

/// Writes some words of a vector, which have two lanes each, one after the other, and whatever behind them.
#[target_feature(enable = "avx2")]
fn compress(words: __m256i, lanes: usize, to: &mut [u64]) {
    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(LANES_TO_FRONT[lanes].cast_signed()));
    let to = to.first_chunk_mut().expect("room for all and a vector more");
    avx2::store::<u64, 4>(to, _mm256_permutevar8x32_epi32(words, order));
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn open_rows(words: Words<'_>, opening: &Opening, endings: &mut [Ending]) {
    let count = |by: u32| _mm_cvtsi32_si128(by.cast_signed());
    let all = |number: u64| _mm256_set1_epi64x(number.cast_signed());
    let Opening { width, taken, rows } = opening;
    let (taken, tag_at) = (all(*taken), count(words.tag_at));
    let fields: [_; STATE_ROWS] = std::array::from_fn(|at| count(width * at as u32));
    for at in (0..words.len).step_by(4) {
        let there = (1 << (2 * (words.len - at).min(4))) - 1;
        let four = words.and_more[at..].first_chunk().expect("whole vectors, and slack");
        let four = avx2::load::<u64, 4>(four);
        let label = _mm256_slli_epi64::<16>(_mm256_srl_epi64(four, tag_at));
        let label = _mm256_or_si256(label, taken);
        let (mut open, mut closed) = ([all(0); MOST_ROWS], [0; MOST_ROWS]);
        for OpenRow { row, starts, free } in rows {
            let [sums, differences] = starts.map(|by| _mm256_srl_epi64(four, count(by)));
            let squares = _mm256_andnot_si256(_mm256_or_si256(sums, differences), all(*free));
            let none = _mm256_cmpeq_epi64(squares, all(0));
            let row = *row as usize % MOST_ROWS;
            (open[row], closed[row]) = (squares, _mm256_movemask_ps(_mm256_castsi256_ps(none)));
        }
        for Ending { rows, states, .. } in endings.iter_mut().filter(|ending| ending.is_wanted) {
            let rows = rows.map(|row| row as usize % MOST_ROWS);
            let fitting = rows.iter().fold(there, |fitting, row| fitting & !closed[*row]) as usize;
            let [a, b, c, d] =
                std::array::from_fn(|at| _mm256_sll_epi64(open[rows[at]], fields[at]));
            let squares = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
            compress(squares, fitting, &mut states.squares[states.len..]);
            compress(label, fitting, &mut states.labels[states.len..]);
            states.len += fitting.count_ones() as usize / 2;
        }
    }
}

/// By four stages of unpacking, in each quarter of the rows.
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
