//! 64 labels in a vector, with population counts of bytes and sums of products.

use std::arch::x86_64::*;

use super::{
    Bytes, Cancel, Counts, Interrupt, LANES, MOST_OPEN, MOST_TOGETHER, NO_BIT, PLANES, Planes,
    Purpose, Rows, Run, Scratch, TILE, TURNS_IN_A_BYTE, Tile, parts_mut,
};
use crate::engine::x86::avx512;

type Vector = __m512i;
type Sums = __m512i;
/// The places, and which of them there are.
type Index = (__m512i, __mmask64);

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
fn load_plane(plane: &[u64; 8]) -> Vector {
    avx512::load::<u64, 8>(plane)
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

#[target_feature(enable = "avx512bw")]
fn index(places: &Bytes) -> Index {
    let places = load(places);
    (places, !_mm512_movepi8_mask(places))
}

#[target_feature(enable = "avx512vbmi")]
fn pick(bytes: Vector, (places, which): &Index) -> Vector {
    _mm512_maskz_permutexvar_epi8(*which, *places, bytes)
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
fn count(counts: &mut Counts, hits: Vector, turns: &[Index], _labels: &Bytes) {
    let [low, high] = parts_mut(&mut counts.0) else { unreachable!("two halves") };
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
fn add_products(sums: Sums, hits: Vector, weights: &Bytes, (labels, _): &Index) -> Sums {
    const { assert!(8 * MOST_TOGETHER < 1 << 7) };
    _mm512_dpbusd_epi32(sums, _mm512_permutexvar_epi8(*labels, load(weights)), hits)
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
fn filter(words: &[u64], bits: u64, out: &mut [u64]) -> usize {
    let bits = _mm512_set1_epi64(bits.cast_signed());
    let (vectors, rest) = words.as_chunks::<8>();
    let mut len = 0;
    for words in vectors {
        let words = avx512::load::<u64, 8>(words);
        let kept = _mm512_testn_epi64_mask(words, bits);
        let out = out[len..].first_chunk_mut::<8>().expect("room for all words and a vector more");
        avx512::store::<u64, 8>(out, _mm512_maskz_compress_epi64(kept, words));
        len += kept.count_ones() as usize;
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = avx512::load::<u64, 8>(&last);
    let kept = _mm512_testn_epi64_mask(words, bits) & ((1 << rest.len()) - 1) as u8;
    let out = out[len..].first_chunk_mut::<8>().expect("room for all words and a vector more");
    avx512::store::<u64, 8>(out, _mm512_maskz_compress_epi64(kept, words));
    len + kept.count_ones() as usize
}

/// The eight words of a lane become a row of bytes, one for each bit of a word: the bytes of a word go to
/// eight vectors of eight, and each vector of eight by eight bits is transposed at once. Then sixteen rows by
/// sixteen bytes are transposed by four stages of unpacking, in each quarter of the lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_words(words: &[u64], starts: &[u32; LANES], bits: u32, planes: &mut Planes) {
    // Byte 8 j + 7 - s comes from byte j of word s: matrices begin with their last row.
    const BYTES: Bytes = {
        let mut bytes = [0; LANES];
        let mut at = 0;
        while at < LANES {
            bytes[at] = ((7 - at % 8) * 8 + at / 8) as u8;
            at += 1;
        }
        Bytes(bytes)
    };
    let by_byte = load(&BYTES);
    // Unit vectors: the product with a matrix is its columns.
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    let mut rows = [[_mm512_setzero_si512(); 16]; 4];
    for lane in 0..16 {
        let [a, b, c, d] = [0, 16, 32, 48].map(|first| {
            let start = starts[first + lane] as usize;
            let words = words[start..].first_chunk::<8>().expect("eight words and more");
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
    let needed = bits.div_ceil(16) as usize;
    for (rows, planes) in
        rows[..needed].iter_mut().zip(planes.0[..NO_BIT as usize].as_chunks_mut::<16>().0)
    {
        for _ in 0..4 {
            let last = *rows;
            for at in 0..8 {
                rows[2 * at] = _mm512_unpacklo_epi8(last[at], last[at + 8]);
                rows[2 * at + 1] = _mm512_unpackhi_epi8(last[at], last[at + 8]);
            }
        }
        for (plane, row) in planes.iter_mut().zip(rows) {
            avx512::store::<u64, 8>(plane, *row);
        }
    }
}
