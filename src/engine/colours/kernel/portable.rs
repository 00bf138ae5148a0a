//! Arrays of numbers, for any CPU. This kernel is the reference for the vector kernels, which have the types and
//! functions of this module under the same names.

use super::{BLOCK_LABELS, MAX_LANES, SLOTS, Tile};

/// A byte for each lane, as the CPU computes with them. Here byte l is in word l / 8.
type Vector = [u64; 8];
/// Sums of products of hits and coefficients, one or more of at least 32 bits. Each lane belongs to one of them.
type Sums = u64;
/// The place of a byte for each byte of a vector, as the kernel needs it.
type Index = [Bytes; 1];

/// The number of lanes of a layer.
const LANES: usize = MAX_LANES;
/// Whether it saves time to find out first that a group has no hits, where most groups have none.
const SKIPS_GROUPS: bool = true;

loops! {}

/// Loads a byte for each lane.
#[inline(always)]
fn load(bytes: &[u8; LANES]) -> Vector {
    let words = chunks(bytes);
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// Stores a byte for each lane.
#[inline(always)]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    for (to, word) in chunks_mut(bytes).iter_mut().zip(vector) {
        *to = word.to_le_bytes();
    }
}

/// Returns the bits that both vectors have.
fn and(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| a[at] & b[at])
}

/// Returns the bits that one of the vectors or both have.
fn or(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| a[at] | b[at])
}

/// Returns whether no bit is set.
fn is_zero(a: Vector) -> bool {
    a == [0; 8]
}

/// Adds byte by byte. No sum exceeds a byte, because a group has at most eight completions with up to eight hits each.
fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| a[at] + b[at])
}

/// Returns the words of a layer that take neither the sum nor the difference of a square.
fn open_of(words: Vector, sum: Vector, difference: Vector) -> Vector {
    std::array::from_fn(|at| words[at] & !(sum[at] | difference[at]))
}

/// Returns the number of bits in each byte.
fn bit_counts(a: Vector) -> Vector {
    a.map(|word| {
        let twos = word - (word >> 1 & 0x5555_5555_5555_5555);
        let nibbles = (twos & 0x3333_3333_3333_3333) + (twos >> 2 & 0x3333_3333_3333_3333);
        (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f
    })
}

/// Makes the index of the lane of each label.
pub(super) fn index_of_lanes(places: &Bytes) -> Index {
    [*places]
}

/// Makes the index of the label of each lane.
pub(super) fn index_of_labels(labels: &[u8; LANES]) -> Index {
    [Bytes(*labels)]
}

/// Visits the lanes that have hits, because most lanes have none.
#[expect(clippy::cast_possible_truncation, reason = "the lowest byte")]
fn each_lane(hits: Vector, mut with: impl FnMut(usize, u8)) {
    for (first, mut word) in (0..).step_by(8).zip(hits) {
        while word != 0 {
            let byte = word.trailing_zeros() / 8;
            with(first + byte as usize, (word >> (8 * byte)) as u8);
            word &= !(0xff << (8 * byte));
        }
    }
}

/// Adds the hits of each lane to the entry of the lane's label. Numbers stop at 65535.
///
/// `labels` has the label of each lane. `lane_maps` has the same information for kernels that add many entries at once:
/// lanes by label.
fn add_hits(entries: &mut Numbers, hits: Vector, _lane_maps: &[Index], labels: &[u8; LANES]) {
    each_lane(hits, |lane, hits| {
        let entry = &mut entries.0[usize::from(labels[lane]) % BLOCK_LABELS];
        *entry = entry.saturating_add(hits.into());
    });
}

/// Adds the hits of each lane to the entry in the place of the lane.
fn add_hits_in_order(entries: &mut [u16; LANES], hits: Vector) {
    each_lane(hits, |lane, hits| entries[lane] = entries[lane].saturating_add(hits.into()));
}

/// Returns sums of 0.
fn zero() -> Sums {
    0
}

/// Adds the hits of each lane times the coefficient of the lane's label to the sums.
fn add_products(mut sums: Sums, hits: Vector, coefficients: &Bytes, [labels]: &Index) -> Sums {
    each_lane(hits, |lane, hits| {
        let label = usize::from(labels.0[lane]) % BLOCK_LABELS;
        sums += u64::from(coefficients.0[label]) * u64::from(hits);
    });
    sums
}

/// Adds the hits of each lane times the coefficient in the place of the lane to the sums.
fn add_products_in_order(mut sums: Sums, hits: Vector, coefficients: &[u8; LANES]) -> Sums {
    each_lane(hits, |lane, hits| sums += u64::from(coefficients[lane]) * u64::from(hits));
    sums
}

/// Adds sums to totals of 64 bits, and so makes room for more products.
fn widen(sums: Sums, totals: &mut [u64; 8]) {
    totals[0] += sums;
}

/// Joins a word with each of the words under the mask that shares no bit with it, and returns the number of joined
/// words. The mask has the first words. After the joined words anything may be written.
#[inline(always)]
pub(super) fn join_eight(one: u64, words: &[u64; 8], mask: u8, joined: &mut [u64; 8]) -> usize {
    let mut len = 0;
    for word in &words[..mask.count_ones() as usize] {
        joined[len] = one | word;
        len += usize::from(one & word == 0);
    }
    len
}

/// Writes the planes of a layer whose lanes begin at `starts`: bit s of byte l of plane b is bit b of word s of lane l.
///
/// This is a transposition in six stages of swaps. In each stage, blocks of bits that are half as long change places.
#[inline(always)]
pub(super) fn transpose_words(
    words: Words<'_>,
    starts: &[u32; LANES],
    planes: &mut [[u8; LANES]; PLANES],
) {
    const LOW_HALVES: [u64; 6] = [
        0x0000_0000_ffff_ffff,
        0x0000_ffff_0000_ffff,
        0x00ff_00ff_00ff_00ff,
        0x0f0f_0f0f_0f0f_0f0f,
        0x3333_3333_3333_3333,
        0x5555_5555_5555_5555,
    ];
    for (lane, start) in starts.iter().enumerate() {
        let words = &words.padded[*start as usize..][..SLOTS];
        for (slot, word) in words.iter().enumerate() {
            let plane: &mut [[u8; 8]] = chunks_mut(&mut planes[lane % 8 * SLOTS + slot]);
            plane[lane / 8] = word.to_le_bytes();
        }
    }
    for (stage, mask) in LOW_HALVES.into_iter().enumerate() {
        let distance = 32 >> stage;
        for swap in 0..32 {
            let one = swap & (distance - 1) | (swap & !(distance - 1)) << 1;
            let mut a = load(&planes[one]);
            let mut b = load(&planes[one + distance]);
            for (a, b) in a.iter_mut().zip(&mut b) {
                let differing = (*a >> distance ^ *b) & mask;
                *a ^= differing << distance;
                *b ^= differing;
            }
            store(&mut planes[one], a);
            store(&mut planes[one + distance], b);
        }
    }
}

/// Transposes sixteen rows by sixteen bytes in each quarter of the lanes.
///
/// There are four stages. In each stage, the bytes of the upper rows alternate with the bytes of the lower rows.
#[inline(always)]
pub(super) fn transpose_quarters(tile: &mut Tile) {
    for _ in 0..TILE.ilog2() {
        let rows = *tile;
        let (upper, lower) = rows.split_at(TILE / 2);
        for ((two_rows, a), b) in chunks_mut(tile).iter_mut().zip(upper).zip(lower) {
            let two_rows: &mut [Bytes; 2] = two_rows;
            for (eighth, (a, b)) in chunks(&a.0).iter().zip(chunks(&b.0)).enumerate() {
                let [a, b]: [&[u8; TILE / 2]; 2] = [a, b];
                let to: &mut [[u8; TILE]] = chunks_mut(&mut two_rows[eighth % 2].0);
                to[eighth / 2] = std::array::from_fn(|at| [a, b][at % 2][at / 2]);
            }
        }
    }
}
