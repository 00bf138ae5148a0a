//! 64 lanes in four vectors, with population counts of bytes. One instruction picks bytes from four vectors.

use std::arch::aarch64::*;

use super::MAX_LANES;
use super::portable::{index_of_labels, index_of_lanes, join_eight, transpose_quarters};
use crate::engine::vectors::neon;

type Vector = [uint8x16_t; 4];
type Sums = uint32x4_t;
type Index = [Bytes; 1];

const LANES: usize = MAX_LANES;
const SKIPS_GROUPS: bool = true;

loops! {
    #[target_feature(enable = "neon")]
}

#[target_feature(enable = "neon")]
fn load(bytes: &[u8; LANES]) -> Vector {
    let quarters: &[[u8; 16]] = chunks(bytes);
    std::array::from_fn(|at| neon::load(&quarters[at]))
}

#[target_feature(enable = "neon")]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    let quarters: &mut [[u8; 16]] = chunks_mut(bytes);
    for (to, quarter) in quarters.iter_mut().zip(vector) {
        neon::store(to, quarter);
    }
}

#[target_feature(enable = "neon")]
fn and(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| vandq_u8(a[at], b[at]))
}

#[target_feature(enable = "neon")]
fn or(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| vorrq_u8(a[at], b[at]))
}

#[target_feature(enable = "neon")]
fn is_zero([a, b, c, d]: Vector) -> bool {
    vmaxvq_u8(vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d))) == 0
}

#[target_feature(enable = "neon")]
fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| vaddq_u8(a[at], b[at]))
}

#[target_feature(enable = "neon")]
fn open_of(words: Vector, sum: Vector, difference: Vector) -> Vector {
    std::array::from_fn(|at| vbicq_u8(words[at], vorrq_u8(sum[at], difference[at])))
}

#[target_feature(enable = "neon")]
fn bit_counts(a: Vector) -> Vector {
    a.map(|quarter| vcntq_u8(quarter))
}

/// Returns the byte in each place of the index, or 0 if the place is 64 or more.
#[target_feature(enable = "neon")]
fn pick([a, b, c, d]: Vector, [places]: &Index) -> Vector {
    load(&places.0).map(|places| vqtbl4q_u8(uint8x16x4_t(a, b, c, d), places))
}

#[target_feature(enable = "neon")]
fn add_hits(entries: &mut Numbers, hits: Vector, lane_maps: &[Index], _labels: &[u8; LANES]) {
    for lane_map in lane_maps {
        let picked = pick(hits, lane_map);
        let more = picked.map(|more| [vmovl_u8(vget_low_u8(more)), vmovl_high_u8(more)]);
        for (eighth, more) in chunks_mut(&mut entries.0).iter_mut().zip(more.as_flattened()) {
            let sum = vqaddq_u16(vreinterpretq_u16_u8(neon::load::<u16, 8>(eighth)), *more);
            neon::store(eighth, vreinterpretq_u8_u16(sum));
        }
    }
}

#[target_feature(enable = "neon")]
fn zero() -> Sums {
    vdupq_n_u32(0)
}

#[target_feature(enable = "neon")]
fn add_hits_in_order(entries: &mut [u16; LANES], hits: Vector) {
    let more = hits.map(|more| [vmovl_u8(vget_low_u8(more)), vmovl_high_u8(more)]);
    for (eighth, more) in chunks_mut(entries).iter_mut().zip(more.as_flattened()) {
        let sum = vqaddq_u16(vreinterpretq_u16_u8(neon::load::<u16, 8>(eighth)), *more);
        neon::store(eighth, vreinterpretq_u8_u16(sum));
    }
}

#[target_feature(enable = "neon")]
fn add_products(sums: Sums, hits: Vector, coefficients: &Bytes, labels: &Index) -> Sums {
    add_products_of_lanes(sums, hits, pick(load(&coefficients.0), labels))
}

#[target_feature(enable = "neon")]
fn add_products_in_order(sums: Sums, hits: Vector, coefficients: &[u8; LANES]) -> Sums {
    add_products_of_lanes(sums, hits, load(coefficients))
}

#[inline]
#[target_feature(enable = "neon")]
fn add_products_of_lanes(sums: Sums, hits: Vector, coefficients: Vector) -> Sums {
    const { assert!(4 * 8 * MAX_GROUP * 255 < 1 << 16) };
    let low = products_of_two(coefficients[0], coefficients[1], hits[0], hits[1]);
    let high = products_of_two(coefficients[2], coefficients[3], hits[2], hits[3]);
    vpadalq_u16(vpadalq_u16(sums, low), high)
}

/// Returns the products of the coefficients and hits of two quarters, four to a sum.
#[inline]
#[target_feature(enable = "neon")]
fn products_of_two(
    one_coefficients: uint8x16_t,
    other_coefficients: uint8x16_t,
    one_hits: uint8x16_t,
    other_hits: uint8x16_t,
) -> uint16x8_t {
    let mut sum = vmull_u8(vget_low_u8(one_coefficients), vget_low_u8(one_hits));
    sum = vmlal_high_u8(sum, one_coefficients, one_hits);
    sum = vmlal_u8(sum, vget_low_u8(other_coefficients), vget_low_u8(other_hits));
    vmlal_high_u8(sum, other_coefficients, other_hits)
}

#[target_feature(enable = "neon")]
fn widen(sums: Sums, totals: &mut [u64; 8]) {
    totals[0] += vaddlvq_u32(sums);
}

/// Transposes each quarter of the lanes in three steps. First the bytes of lane l and lane l + 8 alternate, so that a
/// vector has one word of each. Then eight words by eight bits are transposed at a time. Last the bytes of all lanes
/// alternate.
#[target_feature(enable = "neon")]
fn transpose_words(words: Words<'_>, starts: &[u32; LANES], planes: &mut [[u8; LANES]; PLANES]) {
    let starts: &[[u32; TILE]] = chunks(starts);
    for (quarter, starts) in starts.iter().enumerate() {
        let rows: [_; 8] = std::array::from_fn(|lane| {
            let slots = interleave(std::array::from_fn(|at| {
                let start = starts[lane + at / 4 * 8] as usize + 2 * (at % 4);
                neon::load::<u64, 2>(words.padded[start..].first_chunk().expect("slack"))
            }));
            swap::<4>(swap::<2>(swap::<1>(slots, 0x55), 0x33), 0x0f)
        });
        for bit in 0..8 {
            let mut bytes = std::array::from_fn(|lane| rows[lane][bit]);
            for _ in 0..3 {
                bytes = interleave(bytes);
            }
            for (byte, lanes) in bytes.into_iter().enumerate() {
                let plane: &mut [[u8; TILE]] = chunks_mut(&mut planes[8 * byte + bit]);
                neon::store(&mut plane[quarter], lanes);
            }
        }
    }
}

/// Makes a stage of the transposition of bits: of two rows at this distance, the high bits of the first one and the
/// low bits of the second one change places.
#[target_feature(enable = "neon")]
fn swap<const DISTANCE: i32>(rows: [uint8x16_t; 8], low: u8) -> [uint8x16_t; 8] {
    let low = vdupq_n_u8(low);
    let distance = DISTANCE as usize;
    std::array::from_fn(|at| {
        let a = rows[at & !distance];
        let b = rows[at | distance];
        if at & distance == 0 {
            vbslq_u8(low, a, vshlq_n_u8::<DISTANCE>(b))
        } else {
            vbslq_u8(low, vshrq_n_u8::<DISTANCE>(a), b)
        }
    })
}

/// Makes a stage of the transposition of bytes: the bytes of the upper rows alternate with the bytes of the lower
/// rows.
#[target_feature(enable = "neon")]
fn interleave(rows: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    std::array::from_fn(|at| {
        let a = rows[at / 2];
        let b = rows[at / 2 + 4];
        if at % 2 == 0 { vzip1q_u8(a, b) } else { vzip2q_u8(a, b) }
    })
}
