//! Arrays of numbers, for any CPU; the reference for the vector kernels.

use super::{LANES, Labels, Planes, Purpose, Row, Rows, Run, SLOTS, Scratch};
use crate::cancel::Cancel;

type Vector = [u16; LANES];
type Sums = u64;
type Eight = [u64; 8];

loops! {}

fn load(row: &Row) -> Vector {
    row.0
}

fn store(row: &mut Row, vector: Vector) {
    row.0 = vector;
}

/// Lane l is a quarter of word l / 4.
fn load_plane(plane: &[u64; 8]) -> Vector {
    std::array::from_fn(|lane| (plane[lane / 4] >> (lane % 4 * 16)) as u16)
}

fn and(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|lane| a[lane] & b[lane])
}

fn open_of(words: Vector, a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|lane| words[lane] & !(a[lane] | b[lane]))
}

fn bits(a: Vector) -> Vector {
    a.map(|lane| lane.count_ones() as u16)
}

fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|lane| a[lane].saturating_add(b[lane]))
}

fn zero() -> Sums {
    0
}

fn add_products(sums: Sums, a: Vector, b: Vector) -> Sums {
    let products = a.iter().zip(&b).map(|(a, b)| u32::from(*a) * u32::from(*b));
    sums + u64::from(products.sum::<u32>())
}

fn widen(sums: Sums, totals: &mut [u64; 8]) {
    totals[0] += sums;
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
