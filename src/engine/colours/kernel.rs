//! Runs programs on blocks of words.
//!
//! # The leaf
//!
//! A block has 64 labels, and at a leaf a few words of each are left. Eight of them at a time become bits:
//! word s of label l is bit s of byte l.
//!
//! ```text
//! for each bit b of a word:        plane b   = the words that have it        (a transposition)
//! for each square of the leaf:     open [sq] = words that have neither its sum nor its difference
//! for each group (p, q, r):        G = open [p] & open [q] & open [r]
//!     for each item (s, t, label): the number of bits of G & open [s] & open [t], byte by byte, is the
//!                                  number of hits of this completion with each of the 64 labels
//! ```
//!
//! In the light colour these numbers are added to a row of the matrix; in the heavy one they are multiplied
//! with a row of weights and summed at once, so that no matrix of it is ever stored.
//!
//! The loops are the same in all kernels. A kernel has a type `Vector` of [`LANES`] bytes, a type `Sums` of
//! 32-bit sums, and these operations:
//!
//! | operation | result |
//! |---|---|
//! | `load(bytes)`, `store(bytes, vector)`, `load_plane(words)` | |
//! | `and(a, b)`, `open_of(words, a, b)` | `a & b`, `words & !(a \| b)` |
//! | `bits(a)` | the number of bits in each byte |
//! | `count(counts, bits)` | adds bytes to counts, which stop at 65535 |
//! | `zero()`, `add_products(sums, bits, weights)` | adds the products of the bytes, four or more to a sum |
//! | `widen(sums, totals)` | adds the sums to totals of 64 bits |
//! | `filter(words, bits, out)` | writes the words without any of the bits; returns how many |
//! | `load_8`, `store_8`, `swap(a, b, distance, mask)` | for the transposition, on eight words |

use super::program::Program;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;

/// Labels of a block.
pub(super) const LANES: usize = 64;
/// Words of a label that a leaf takes at once.
const SLOTS: usize = 8;
/// The bit of a word that none has.
pub(super) const NO_BIT: u32 = 64;
/// The length of a section, at most. A sum of 32 bits has room for the products of a weight and a number
/// of bits, eight to a sum: 8 * 255 * 8 * 65536 < 2^32.
pub(super) const MOST_ITEMS: usize = 1 << 16;
/// Filters write whole vectors, up to this many words after the last.
const SLACK: usize = 8;

/// A byte for each label of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Bytes(pub(super) [u8; LANES]);

/// A row of the light matrix: a number for each label of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Counts(pub(super) [u16; LANES]);

/// The side of the tiles in which matrices are transposed.
pub(super) const TILE: usize = 32;
pub(super) type Tile = [[u16; TILE]; TILE];

/// What the completions of a leaf are for.
pub(super) enum Purpose<'a> {
    /// Adds the hits to the rows.
    Count(&'a mut [Counts]),
    /// Sums the hits times the weights in the rows, by row sets.
    Sum(&'a [Bytes], &'a mut [[u64; 8]]),
}

/// A program and the words of a block.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) words: &'a [u64],
    /// The first bit of a word's label.
    pub(super) tag_at: u32,
}

/// Where the rows of a block are.
pub(super) struct Rows<'a> {
    /// Where those of each row set begin, if it is to be counted.
    pub(super) at: &'a [Option<usize>],
    /// How many a row set has.
    pub(super) labels: usize,
}

/// Working memory.
#[derive(Debug)]
pub(super) struct Scratch {
    /// The words at each depth but the first.
    words: Vec<Vec<u64>>,
    lens: [usize; super::sub_board::MOST_ROWS + 1],
    planes: Planes,
    open: Box<[Bytes; 256]>,
}

/// The words of a leaf as bits: `planes[bit][eighth]`, and a plane without bits.
#[derive(Debug)]
#[repr(C, align(64))]
struct Planes([[u64; 8]; NO_BIT as usize + 1]);

impl Default for Scratch {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            lens: [0; super::sub_board::MOST_ROWS + 1],
            planes: Planes([[0; 8]; NO_BIT as usize + 1]),
            open: Box::new([Bytes([0; LANES]); 256]),
        }
    }
}

impl Scratch {
    /// Makes room for blocks of this many words.
    pub(super) fn reserve(&mut self, words: usize) {
        self.words.resize_with(super::sub_board::MOST_ROWS, Vec::new);
        for depth in &mut self.words {
            if depth.len() < words + SLACK {
                depth.resize(words + SLACK, 0);
            }
        }
    }
}

/// The words of each label in a leaf.
struct Labels {
    /// Where they begin.
    starts: [usize; LANES],
    /// Where they end.
    ends: [usize; LANES],
}

impl Labels {
    fn new(words: &[u64], tag_at: u32) -> Self {
        let mut ends = [0; LANES];
        for (at, word) in (1..).zip(words) {
            ends[(word >> tag_at) as usize % LANES] = at;
        }
        let mut starts = [0; LANES];
        let mut last = 0;
        for (start, end) in starts.iter_mut().zip(&mut ends) {
            *start = last;
            *end = last.max(*end);
            last = *end;
        }
        Self { starts, ends }
    }

    fn longest(&self) -> usize {
        let lengths = self.starts.iter().zip(&self.ends).map(|(start, end)| end - start);
        lengths.max().unwrap_or(0)
    }

    /// Writes the words of a layer, the first eight of each label or the next ones, to the rows of the
    /// transposition, and returns which there are.
    fn place(&self, words: &[u64], layer: usize, planes: &mut Planes) -> Bytes {
        let mut present = Bytes([0; LANES]);
        for lane in 0..LANES {
            let start = (self.starts[lane] + layer * SLOTS).min(self.ends[lane]);
            let end = self.ends[lane].min(start + SLOTS);
            present.0[lane] = ((1_u32 << (end - start)) - 1) as u8;
            for (slot, word) in words[start..end].iter().enumerate() {
                planes.0[lane % 8 * SLOTS + slot][lane / 8] = *word;
            }
        }
        present
    }
}

/// Defines the loops of a kernel.
macro_rules! loops {
    ($(#[$compiled:meta])*) => {
        $(#[$compiled])*
        pub(super) fn run(
            run: &Run<'_>,
            rows: &Rows<'_>,
            purpose: &mut Purpose<'_>,
            scratch: &mut Scratch,
            cancel: &Cancel,
        ) -> bool {
            let code = &run.program.code[..];
            let Scratch { words, lens, planes, open } = scratch;
            let mut at = 0;
            while at < code.len() {
                let (depth, end) = (code[at] as usize / 2, code[at + 1] as usize);
                if code[at] % 2 == 0 {
                    let bits = u64::from(code[at + 2]) | u64::from(code[at + 3]) << 32;
                    let (above, below) = words.split_at_mut(depth);
                    let from = if depth == 0 { run.words } else { &above[depth - 1][..lens[depth]] };
                    let len = filter(from, bits, &mut below[0]);
                    lens[depth + 1] = len;
                    at = if len == 0 { end } else { at + 4 };
                    continue;
                }
                if cancel.is_cancelled() {
                    return false;
                }
                let left = if depth == 0 { run.words } else { &words[depth - 1][..lens[depth]] };
                let labels = Labels::new(left, run.tag_at);
                let squares_at = code[at + 2] as usize;
                let (sections, squares) = code[at + 3..end].split_at(squares_at - at - 3);
                for layer in 0..labels.longest().div_ceil(SLOTS) {
                    let present = labels.place(left, layer, planes);
                    open_squares(&present, squares, planes, open);
                    count_sections(rows, sections, at + 3, open, purpose);
                }
                at = end;
            }
            true
        }

        /// Transposes a tile by five perfect shuffles, each of which interleaves the upper rows with the lower.
        $(#[$compiled])*
        pub(super) fn transpose(tile: &mut Tile) -> u16 {
            for _ in 0..TILE.ilog2() {
                let rows = *tile;
                let (upper, lower) = rows.split_at(TILE / 2);
                for ((pair, a), b) in tile.as_chunks_mut::<2>().0.iter_mut().zip(upper).zip(lower) {
                    let interleaved = |from: usize| {
                        std::array::from_fn(|at| [a, b][at % 2][from + at / 2])
                    };
                    *pair = [interleaved(0), interleaved(TILE / 2)];
                }
            }
            tile.iter().flatten().copied().max().unwrap_or(0)
        }

        /// Transposes the words of a layer and opens the squares of a leaf.
        $(#[$compiled])*
        fn open_squares(
            present: &Bytes,
            squares: &[u32],
            planes: &mut Planes,
            open: &mut [Bytes; 256],
        ) {
            const LOW_HALVES: [u64; 6] = [
                0xffff_ffff, 0xffff_0000_ffff, 0xff00_ff00_ff00_ff, 0xf0f_0f0f_0f0f_0f0f,
                0x3333_3333_3333_3333, 0x5555_5555_5555_5555,
            ];
            let words = &mut planes.0[..64];
            for stage in 0..6 {
                let (distance, mask) = (32 >> stage, LOW_HALVES[stage]);
                for pair in 0..32 {
                    let one = pair & (distance - 1) | (pair & !(distance - 1)) << 1;
                    let (low, high) = words.split_at_mut(one + distance);
                    let (a, b) = swap(load_8(&low[one]), load_8(&high[0]), distance as u32, mask);
                    store_8(&mut low[one], a);
                    store_8(&mut high[0], b);
                }
            }
            open[0] = *present;
            let all = load(present);
            for (open, square) in open[1..].iter_mut().zip(squares) {
                let [a, b] = [square & 0xff, square >> 8].map(|bit| load_plane(&planes.0[bit as usize]));
                store(open, open_of(all, a, b));
            }
        }

        $(#[$compiled])*
        fn count_sections(
            rows: &Rows<'_>,
            sections: &[u32],
            sections_at: usize,
            open: &[Bytes; 256],
            purpose: &mut Purpose<'_>,
        ) {
            let mut at = 0;
            while at < sections.len() {
                let (number, end) = (sections[at] as usize, sections[at + 1] as usize - sections_at);
                let groups = &sections[at + 2..end];
                at = end;
                let Some(first) = rows.at[number] else { continue };
                let its_rows = first..first + rows.labels;
                match purpose {
                    Purpose::Count(rows) => {
                        let rows = &mut rows[its_rows];
                        each_item!(groups, open, |hits, label| {
                            count(&mut rows[label], hits);
                        });
                    }
                    Purpose::Sum(weights, totals) => {
                        let weights = &weights[its_rows];
                        // In turn, since each addition waits for the one before it.
                        let mut sums = [zero(); 4];
                        each_item!(groups, open, |hits, label| {
                            let [a, b, c, d] = sums;
                            sums = [b, c, d, add_products(a, hits, &weights[label])];
                        });
                        widen(sums, &mut totals[number]);
                    }
                }
            }
        }
    };
}

/// Visits the items of some groups: their hits and their labels.
macro_rules! each_item {
    ($groups:expr, $open:expr, |$hits:ident, $label:ident| $body:expr) => {
        let open = |number: u32| load(&$open[(number & 0xff) as usize]);
        let mut rest: &[u32] = $groups;
        while let [group, after @ ..] = rest {
            let (items, next) = after.split_at((group & 0xff) as usize);
            let shared = and(and(open(group >> 8), open(group >> 16)), open(group >> 24));
            for item in items {
                let $hits = bits(and(and(shared, open(*item)), open(item >> 8)));
                let $label = (item >> 16) as usize;
                $body
            }
            rest = next;
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

impl Kernel {
    dispatch! {
        /// Runs a program on a block; `false` if it was cancelled. The scratch memory has room for the block.
        pub(super) fn run(
            self, run: &Run<'_>, rows: &Rows<'_>, purpose: &mut Purpose<'_>, scratch: &mut Scratch, cancel: &Cancel,
        ) -> bool;

        /// Transposes a tile, and returns the largest number.
        pub(super) fn transpose(self, tile: &mut Tile) -> u16;
    }
}
