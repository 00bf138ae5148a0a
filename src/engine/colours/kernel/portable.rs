//! Arrays of numbers, for any CPU; the reference for the vector kernels.

use super::{
    Bytes, Cancel, Counts, Interrupt, LANES, MOST_OPEN, MOST_TOGETHER, PLANES, Planes, Purpose,
    Rows, Run, SLOTS, Scratch, TILE, Tile, parts, parts_mut,
};

/// Byte l is a byte of word l / 8.
type Vector = [u64; 8];
type Sums = u64;
type Index = Bytes;
type Eight = [u64; 8];

loops! {}
swaps! {}

fn load(bytes: &Bytes) -> Vector {
    let words = parts(&bytes.0);
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

fn store(bytes: &mut Bytes, vector: Vector) {
    parts_mut(&mut bytes.0).iter_mut().zip(vector).for_each(|(to, word)| *to = word.to_le_bytes());
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

/// Visits the lanes with hits: most have none.
fn each_lane(hits: Vector, mut with: impl FnMut(usize, u8)) {
    for (first, mut word) in (0..).step_by(8).zip(hits) {
        while word != 0 {
            let byte = word.trailing_zeros() / 8;
            with(first + byte as usize, (word >> (8 * byte)) as u8);
            word &= !(0xff << (8 * byte));
        }
    }
}

fn count(counts: &mut Counts, hits: Vector, _turns: &[Index], labels: &Bytes) {
    each_lane(hits, |lane, hits| {
        let count = &mut counts.0[usize::from(labels.0[lane]) % LANES];
        *count = count.saturating_add(hits.into());
    });
}

fn zero() -> Sums {
    0
}

fn add_products(mut sums: Sums, hits: Vector, weights: &Bytes, labels: &Index) -> Sums {
    each_lane(hits, |lane, hits| {
        sums += u64::from(weights.0[usize::from(labels.0[lane]) % LANES]) * u64::from(hits);
    });
    sums
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
