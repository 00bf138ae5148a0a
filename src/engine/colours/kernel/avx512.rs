//! 64 labels in a vector, with population counts of bytes and sums of products.

use std::arch::x86_64::*;
use std::ops::Range;

use super::{
    Bytes, DIGITS, Ending, Entries, LANES, Layer, LeafCode, LeafScratch, MOST_OPEN, MOST_ROWS,
    MOST_TOGETHER, OpenRow, Opening, Pairs, Planes, RowsOfSets, STATE_ROWS, States, TILE,
    TURNS_IN_A_BYTE, Tile, Totals, Unattacked, Weights, Words, both, chunks, chunks_mut, pieces,
};
use crate::engine::x86::avx512;

type Vector = __m512i;
type Sums = __m512i;
type Index = [Bytes; 1];

loops! {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bitalg,avx512vbmi,avx512vnni,gfni,bmi1,bmi2,popcnt")]
}

#[target_feature(enable = "avx512f")]
fn load(bytes: &Bytes) -> Vector {
    avx512::load::<u8, LANES>(&bytes.0)
}

#[target_feature(enable = "avx512f")]
fn store(bytes: &mut Bytes, vector: Vector) {
    avx512::store::<u8, LANES>(&mut bytes.0, vector);
}

#[target_feature(enable = "avx512f")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

#[target_feature(enable = "avx512bw")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi8(a, b)
}

#[target_feature(enable = "avx512f")]
fn open_of(words: Vector, a: Vector, b: Vector) -> Vector {
    _mm512_ternarylogic_epi64::<{ 0xf0 & !(0xcc | 0xaa) }>(words, a, b)
}

#[target_feature(enable = "avx512bitalg")]
fn bits(a: Vector) -> Vector {
    _mm512_popcnt_epi8(a)
}

#[target_feature(enable = "avx512f")]
fn index(places: &Bytes) -> Index {
    [*places]
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
fn pick(bytes: Vector, [places]: &Index) -> Vector {
    let places = load(places);
    _mm512_maskz_permutexvar_epi8(!_mm512_movepi8_mask(places), places, bytes)
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
fn count(entries: &mut Entries, hits: Vector, turns: &[Index], _labels: &Bytes) {
    let [low, high] = chunks_mut(&mut entries.0) else { unreachable!("two halves") };
    let mut sums = [avx512::load::<u16, 32>(low), avx512::load::<u16, 32>(high)];
    const { assert!(TURNS_IN_A_BYTE == 3) };
    for turns in turns.chunks(TURNS_IN_A_BYTE) {
        let picked = match turns {
            [a, b, c] => add(add(pick(hits, a), pick(hits, b)), pick(hits, c)),
            [a, b] => add(pick(hits, a), pick(hits, b)),
            [a] => pick(hits, a),
            _ => unreachable!("up to three"),
        };
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

/// The weights are the unsigned bytes, the hits the signed ones.
#[target_feature(enable = "avx512vbmi,avx512vnni")]
fn add_products(sums: Sums, hits: Vector, weights: &Bytes, [labels]: &Index) -> Sums {
    const { assert!(8 * MOST_TOGETHER < 1 << 7) };
    _mm512_dpbusd_epi32(sums, _mm512_permutexvar_epi8(load(labels), load(weights)), hits)
}

#[target_feature(enable = "avx512f")]
fn widen([a, b, c, d]: [Sums; 4], totals: &mut [u64; 8]) {
    let sums = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
    let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
    let total = avx512::load::<u64, 8>(totals);
    avx512::store::<u64, 8>(totals, _mm512_add_epi64(total, _mm512_add_epi64(low, high)));
}

/// The packed vector goes through a register and a full store: the form of `vpcompressq` that writes to
/// memory is many times slower on some CPUs.
#[target_feature(enable = "avx512f,popcnt")]
fn join_eight(one: u64, words: &[u64; 8], len: usize, joined: &mut [u64; 8]) -> usize {
    let (words, one) = (avx512::load::<u64, 8>(words), _mm512_set1_epi64(one.cast_signed()));
    let fitting = _mm512_testn_epi64_mask(words, one) & ((1 << len) - 1) as u8;
    let words = _mm512_maskz_compress_epi64(fitting, _mm512_or_si512(words, one));
    avx512::store::<u64, 8>(joined, words);
    fitting.count_ones() as usize
}

/// Eight numbers from a place on.
#[target_feature(enable = "avx512f")]
fn eight(numbers: &[u64], at: usize) -> __m512i {
    avx512::load::<u64, 8>(numbers[at..].first_chunk().expect("whole vectors, and slack"))
}

/// Writes some numbers of a vector, one after the other, and whatever behind them.
#[target_feature(enable = "avx512f")]
fn compress(numbers: __m512i, which: u8, to: &mut [u64]) {
    let to = to.first_chunk_mut().expect("room for all and a vector more");
    avx512::store::<u64, 8>(to, _mm512_maskz_compress_epi64(which, numbers));
}

#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn open_rows(words: Words<'_>, opening: &Opening, endings: &mut [Ending]) {
    let count = |by: u32| _mm_cvtsi32_si128(by.cast_signed());
    let all = |number: u64| _mm512_set1_epi64(number.cast_signed());
    let Opening { width, taken, rows } = opening;
    let (taken, tag_at) = (all(*taken), count(words.tag_at));
    let fields: [_; STATE_ROWS] = std::array::from_fn(|at| count(width * at as u32));
    let mut constants = [(0, [count(0); 2], all(0)); MOST_ROWS];
    for (constants, OpenRow { row, starts, free }) in constants.iter_mut().zip(rows) {
        *constants = (*row as usize % MOST_ROWS, starts.map(count), all(*free));
    }
    for at in (0..words.len).step_by(8) {
        let there = !(u64::MAX << (words.len - at).min(8)) as u8;
        let words = eight(words.and_more, at);
        let label = _mm512_slli_epi64::<16>(_mm512_srl_epi64(words, tag_at));
        let label = _mm512_or_si512(label, taken);
        let (mut open, mut some) = ([all(0); MOST_ROWS], [0; MOST_ROWS]);
        for (row, starts, free) in &constants[..rows.len()] {
            let [sums, differences] = starts.map(|by| _mm512_srl_epi64(words, by));
            open[*row] = open_of(*free, sums, differences);
            some[*row] = _mm512_test_epi64_mask(open[*row], open[*row]);
        }
        for Ending { rows, states, .. } in endings.iter_mut().filter(|ending| ending.is_wanted) {
            let rows = rows.map(|row| row as usize % MOST_ROWS);
            let fitting = rows.iter().fold(there, |fitting, row| fitting & some[*row]);
            let [a, b, c, d] =
                std::array::from_fn(|at| _mm512_sll_epi64(open[rows[at]], fields[at]));
            let squares = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));
            compress(squares, fitting, &mut states.squares[states.len..]);
            compress(label, fitting, &mut states.labels[states.len..]);
            states.len += fitting.count_ones() as usize;
        }
    }
}

#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
pub(super) fn place(
    from: &States,
    some: Range<usize>,
    row: usize,
    left: &Unattacked,
    placed: &mut States,
) {
    match row {
        0 => place_in::<0>(from, some, left, placed),
        1 => place_in::<1>(from, some, left, placed),
        2 => place_in::<2>(from, some, left, placed),
        _ => place_in::<3>(from, some, left, placed),
    }
}

/// The lowest open squares of eight states, then the next ones, and so on.
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn place_in<const ROW: usize>(
    from: &States,
    some: Range<usize>,
    left: &Unattacked,
    placed: &mut States,
) {
    let all = |number: u64| _mm512_set1_epi64(number.cast_signed());
    let width = left.width;
    let fields: [_; STATE_ROWS] =
        std::array::from_fn(|at| all(((1 << width) - 1) << (width * at as u32)));
    let (one, before) = (all(1), all((width * ROW as u32).into()));
    let [first, last] = chunks(&left.by[ROW]) else { unreachable!("two halves") };
    let [first, last] = [first, last].map(|half| avx512::load::<u64, 8>(half));
    let mut len = 0;
    for at in some.clone().step_by(8) {
        let there = !(u64::MAX << (some.end - at).min(8)) as u8;
        let [squares, labels] = [&from.squares, &from.labels].map(|numbers| eight(numbers, at));
        let mut open = _mm512_maskz_and_epi64(there, squares, fields[ROW]);
        loop {
            let mut fitting = _mm512_test_epi64_mask(open, open);
            if fitting == 0 {
                break;
            }
            let less = _mm512_sub_epi64(open, one);
            let below = _mm512_popcnt_epi64(_mm512_andnot_si512(open, less));
            let column = _mm512_sub_epi64(below, before);
            open = _mm512_and_si512(open, less);
            let left = _mm512_permutex2var_epi64(first, column, last);
            let left = _mm512_and_si512(squares, left);
            for field in fields.iter().skip(ROW + 1) {
                fitting &= _mm512_test_epi64_mask(left, *field);
            }
            compress(left, fitting, &mut placed.squares[len..]);
            compress(labels, fitting, &mut placed.labels[len..]);
            len += fitting.count_ones() as usize;
        }
    }
    placed.len = len;
}

/// The eight words of a lane become a row of bytes, one for each bit of a word: the bytes of a word go to
/// eight vectors of eight, and each vector of eight by eight bits is transposed at once. Then sixteen rows by
/// sixteen bytes are transposed by four stages of unpacking, in each quarter of the lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_words(words: Words<'_>, starts: &[u32; LANES], planes: &mut Planes) {
    // Byte 8 j + 7 - s comes from byte j of word s: matrices begin with their last row.
    let by_byte = load(&Bytes(std::array::from_fn(|at| ((7 - at % 8) * 8 + at / 8) as u8)));
    // Unit vectors: the product with a matrix is its columns.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    let mut rows = [[_mm512_setzero_si512(); TILE]; 4];
    for lane in 0..TILE {
        let [a, b, c, d] = [0, 16, 32, 48].map(|first| {
            let start = starts[first + lane] as usize;
            let words = words.and_more[start..].first_chunk().expect("eight words and more");
            let bytes = _mm512_permutexvar_epi8(by_byte, avx512::load::<u64, 8>(words));
            _mm512_gf2p8affine_epi64_epi8::<0>(units, bytes)
        });
        // Quarters of the bytes change places with the quarters of the lanes.
        let (ab, cd) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        rows[0][lane] = _mm512_shuffle_i64x2::<0x88>(ab, cd);
        rows[1][lane] = _mm512_shuffle_i64x2::<0xdd>(ab, cd);
        let (ab, cd) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
        rows[2][lane] = _mm512_shuffle_i64x2::<0x88>(ab, cd);
        rows[3][lane] = _mm512_shuffle_i64x2::<0xdd>(ab, cd);
    }
    let needed = words.tag_at.div_ceil(16) as usize;
    let (planes, _no_bit) = planes.as_chunks_mut::<TILE>();
    for (rows, planes) in rows[..needed].iter().zip(planes) {
        transpose_rows(*rows, planes);
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn transpose_quarters(tile: &mut Tile) {
    transpose_rows(tile.each_ref().map(|row| load(row)), tile);
}

/// By four stages of unpacking, in each quarter of the rows.
#[target_feature(enable = "avx512f,avx512bw")]
fn transpose_rows(mut rows: [Vector; TILE], to: &mut Tile) {
    for _ in 0..TILE.ilog2() {
        let last = rows;
        for at in 0..TILE / 2 {
            rows[2 * at] = _mm512_unpacklo_epi8(last[at], last[at + TILE / 2]);
            rows[2 * at + 1] = _mm512_unpackhi_epi8(last[at], last[at + TILE / 2]);
        }
    }
    for (to, row) in to.iter_mut().zip(rows) {
        store(to, row);
    }
}
