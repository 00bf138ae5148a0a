//! Four nodes at a time with NEON. A permutation from a table packs the survivors.

use std::arch::aarch64::{
    uint32x4_t as Vector, vaddq_u32 as add, vandq_u32 as and, veorq_u32 as xor, vminq_u32 as min,
    vorrq_u32 as or, vshlq_n_u32 as left, vshrq_n_u32 as right, *,
};

use super::super::level::Level;
use crate::board::solutions::Node;
use crate::engine::vectors::{LANES_TO_FRONT, neon};

const LANES: usize = 4;
type Lanes = u8;

vector_passes!("neon");

#[target_feature(enable = "neon")]
fn load(words: &[u32; LANES]) -> Vector {
    vreinterpretq_u32_u8(neon::load(words))
}

#[target_feature(enable = "neon")]
fn store(words: &mut [u32; LANES], vector: Vector) {
    neon::store(words, vreinterpretq_u8_u32(vector));
}

#[target_feature(enable = "neon")]
fn splat(word: i32) -> Vector {
    vreinterpretq_u32_s32(vdupq_n_s32(word))
}

#[target_feature(enable = "neon")]
fn and_not(a: Vector, b: Vector) -> Vector {
    vbicq_u32(b, a)
}

#[target_feature(enable = "neon")]
fn nonzero(lanes: Lanes, words: Vector) -> Lanes {
    let bits = vreinterpretq_u8_u32(and(vtstq_u32(words, words), load(&[1, 2, 4, 8])));
    lanes & vaddvq_u8(bits)
}

/// Moves these lanes to the front. The four byte numbers of each lane make the order of the bytes.
#[target_feature(enable = "neon")]
fn to_front(lanes: Lanes, vector: Vector) -> Vector {
    let order = vmovl_u8(vcreate_u8(LANES_TO_FRONT[usize::from(lanes)]));
    let order = vmlaq_n_u32(splat(0x0302_0100), vmovl_u16(vget_low_u16(order)), 0x0404_0404);
    vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(vector), vreinterpretq_u8_u32(order)))
}
