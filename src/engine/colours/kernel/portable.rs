//! Arrays of numbers, for any CPU; the reference for the vector kernels.

use super::{
    Bytes, Counts, LANES, MOST_OPEN, PLANES, Planes, Purpose, Rows, Run, SLOTS, Scratch, TILE, Tile,
};
use crate::cancel::Cancel;

/// Byte l is a byte of word l / 8.
type Vector = [u64; 8];
type Sums = u64;
type Index = Bytes;
type Eight = [u64; 8];

loops! {}
swaps! {}

fn load(bytes: &Bytes) -> Vector {
    let (words, _) = bytes.0.as_chunks();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

fn store(bytes: &mut Bytes, vector: Vector) {
    let (words, _) = bytes.0.as_chunks_mut();
    words.iter_mut().zip(vector).for_each(|(to, word)| *to = word.to_le_bytes());
}

fn load_plane(plane: &[u64; 8]) -> Vector {
    *plane
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

fn index(places: &Bytes) -> Index {
    *places
}

fn pick(bytes: &Bytes, index: &Index) -> Bytes {
    Bytes(index.0.map(|place| bytes.0.get(usize::from(place)).map_or(0, |byte| *byte)))
}

fn count(counts: &mut Counts, hits: Vector, indices: &[Index]) {
    let mut bytes = Bytes([0; LANES]);
    store(&mut bytes, hits);
    for index in indices {
        for (count, more) in counts.0.iter_mut().zip(pick(&bytes, index).0) {
            *count = count.saturating_add(more.into());
        }
    }
}

fn zero() -> Sums {
    0
}

fn add_products(sums: Sums, hits: Vector, weights: &Bytes, index: &Index) -> Sums {
    let mut bytes = Bytes([0; LANES]);
    store(&mut bytes, hits);
    let weights = pick(weights, index);
    let products = bytes.0.iter().zip(&weights.0).map(|(a, b)| i32::from(*a) * i32::from(*b));
    sums + products.sum::<i32>() as u64
}

fn widen(sums: [Sums; 4], totals: &mut [u64; 8]) {
    totals[0] += sums.iter().sum::<u64>();
}

fn filter(words: &[u64], bits: u64, out: &mut [u64]) -> usize {
    let mut len = 0;
    for word in words {
        out[len] = *word;
        len += usize::from(word & bits == 0);
    }
    len
}

fn load_8(words: &[u64; 8]) -> Eight {
    *words
}

fn store_8(words: &mut [u64; 8], eight: Eight) {
    *words = eight;
}

/// Exchanges the upper bits of `a` with the lower ones of `b`.
fn swap(mut a: Eight, mut b: Eight, distance: u32, mask: u64) -> (Eight, Eight) {
    for (a, b) in a.iter_mut().zip(&mut b) {
        let differing = (*a >> distance ^ *b) & mask;
        *a ^= differing << distance;
        *b ^= differing;
    }
    (a, b)
}
