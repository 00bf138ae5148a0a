//! Arrays of numbers, for any CPU. This kernel is the reference for the vector kernels.

use super::{SLOTS, Tile};

/// Byte l of the lanes is in word l / 8.
type Vector = [u64; 8];
type Sums = u64;
type Index = [Bytes; 1];

loops! {}

#[inline(always)]
fn load(bytes: &[u8; LANES]) -> Vector {
    let words = chunks(bytes);
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

#[inline(always)]
fn store(bytes: &mut [u8; LANES], vector: Vector) {
    chunks_mut(bytes).iter_mut().zip(vector).for_each(|(to, word)| *to = word.to_le_bytes());
}

fn and(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| a[at] & b[at])
}

fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| a[at] + b[at])
}

fn open_of(words: Vector, a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|at| words[at] & !(a[at] | b[at]))
}

fn bits(a: Vector) -> Vector {
    a.map(|word| {
        let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
        let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f
    })
}

pub(super) fn index(places: &Bytes) -> Index {
    [*places]
}

/// Visits only the lanes with hits, because most lanes have none.
fn each_lane(hits: Vector, mut with: impl FnMut(usize, u8)) {
    for (first, mut word) in (0..).step_by(8).zip(hits) {
        while word != 0 {
            let byte = word.trailing_zeros() / 8;
            with(first + byte as usize, (word >> (8 * byte)) as u8);
            word &= !(0xff << (8 * byte));
        }
    }
}

fn count(entries: &mut Entries, hits: Vector, _turns: &[Index], labels: &Bytes) {
    each_lane(hits, |lane, hits| {
        let entry = &mut entries.0[usize::from(labels.0[lane]) % LANES];
        *entry = entry.saturating_add(hits.into());
    });
}

fn zero() -> Sums {
    0
}

fn add_products(mut sums: Sums, hits: Vector, weights: &Bytes, [labels]: &Index) -> Sums {
    each_lane(hits, |lane, hits| {
        sums += u64::from(weights.0[usize::from(labels.0[lane]) % LANES]) * u64::from(hits);
    });
    sums
}

fn widen(sums: [Sums; 4], totals: &mut [u64; 8]) {
    totals[0] += sums.iter().sum::<u64>();
}

#[inline(always)]
pub(super) fn join_eight(one: u64, words: &[u64; 8], some: u8, joined: &mut [u64; 8]) -> usize {
    let mut len = 0;
    for word in &words[..some.count_ones() as usize] {
        joined[len] = one | word;
        len += usize::from(one & word == 0);
    }
    len
}

/// Transposes in six stages of swaps. In each stage, blocks of bits that are half as long change places.
#[inline(always)]
pub(super) fn transpose_words(words: Words<'_>, starts: &[u32; LANES], planes: &mut Planes) {
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
            let plane: &mut [[u8; 8]] = chunks_mut(&mut planes[lane % 8 * SLOTS + slot].0);
            plane[lane / 8] = word.to_le_bytes();
        }
    }
    for (stage, mask) in LOW_HALVES.into_iter().enumerate() {
        let distance = 32 >> stage;
        for pair in 0..32 {
            let one = pair & (distance - 1) | (pair & !(distance - 1)) << 1;
            let [mut a, mut b] = [one, one + distance].map(|at| load(&planes[at].0));
            for (a, b) in a.iter_mut().zip(&mut b) {
                let differing = (*a >> distance ^ *b) & mask;
                *a ^= differing << distance;
                *b ^= differing;
            }
            store(&mut planes[one].0, a);
            store(&mut planes[one + distance].0, b);
        }
    }
}

/// Transposes in four stages. In each stage, the bytes of the upper rows alternate with the bytes of the lower rows.
#[inline(always)]
pub(super) fn transpose_quarters(tile: &mut Tile) {
    for _ in 0..TILE.ilog2() {
        let rows = *tile;
        let (upper, lower) = rows.split_at(TILE / 2);
        for ((pair, a), b) in chunks_mut(tile).iter_mut().zip(upper).zip(lower) {
            let pair: &mut [Bytes; 2] = pair;
            for (eighth, (a, b)) in chunks(&a.0).iter().zip(chunks(&b.0)).enumerate() {
                let [a, b]: [&[u8; TILE / 2]; 2] = [a, b];
                let to: &mut [[u8; TILE]] = chunks_mut(&mut pair[eighth % 2].0);
                to[eighth / 2] = std::array::from_fn(|at| [a, b][at % 2][at / 2]);
            }
        }
    }
}
