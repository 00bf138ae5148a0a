//! Runs programs on blocks of words.
//!
//! # The leaf
//!
//! A block has up to 64 labels, and at a leaf a few words of each are left. They fill lanes, eight words to
//! a lane, all of one label: a label takes as many lanes as it needs, and 64 lanes are a layer. The words of
//! a layer become bits, word s of a lane bit s of a byte:
//!
//! ```text
//! for each bit b of a word:      plane b   = the words that have it            (a transposition)
//! for each square of the leaf:   open [sq] = words that have neither its sum nor its difference
//! for each pair:                 open [pr] = open [one] & open [other]
//! for each group of a label:     the number of bits of open [p] & open [q], byte by byte and summed over
//!                                the items (p, q) of the group, is the number of hits of the completions
//!                                with this label and each of the 64 lanes
//! ```
//!
//! In the light colour these numbers are added to a row of the matrix, lane by lane to the lane's label; in
//! the heavy one each is multiplied with the weight of its lane's label, and summed at once, so that no matrix
//! of it is ever stored.
//!
//! The loops are the same in all kernels. A kernel has a type `Vector` of [`LANES`] bytes, a type `Sums` of
//! 32-bit sums, a type `Index` of places, and these operations:
//!
//! | operation | result |
//! |---|---|
//! | `load(bytes)`, `store(bytes, vector)`, `load_plane(words)` | |
//! | `and(a, b)`, `open_of(words, a, b)`, `add(a, b)` | `a & b`, `words & !(a \| b)`, `a + b` |
//! | `bits(a)` | the number of bits in each byte |
//! | `index(places)`, `pick(a, index)` | the bytes of `a` in these places; 0 where there is none |
//! | `count(counts, hits, turns, labels)` | adds the hits of each lane to the count of its label, which stops at 65535; the turns are indices that pick the hits of labels, the labels those of lanes |
//! | `zero()`, `add_products(sums, hits, weights, index)` | adds the products with the weights picked, four or more to a sum |
//! | `widen(sums, totals)` | adds the sums to totals of 64 bits |
//! | `filter(words, bits, out)` | writes the words without any of the bits; returns how many |
//! | `transpose_words(words, starts, bits, planes)` | the planes of a layer |

use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;
pub(super) use lanes::{Bytes, LANES};
use lanes::{Lanes, SLOTS};

/// The bit of a word that none has.
pub(super) const NO_BIT: u32 = 64;
/// The squares and pairs of a leaf, at most, and the place of all words.
pub(super) const MOST_OPEN: usize = 4096;
/// The items of a group, at most: each has up to eight hits with a lane, and vectors add pairs of products of
/// them with weights in 16 bits with a sign: 2 * 8 * 8 * 255 < 2^15.
pub(super) const MOST_TOGETHER: usize = 8;
/// The hits of a group with so many lanes fit a byte.
#[cfg(target_arch = "x86_64")]
const TURNS_IN_A_BYTE: usize = 255 / (8 * MOST_TOGETHER);
/// The items of a section, at most. A sum of 32 bits has room for the products of a weight and a number
/// of bits, eight to a sum: 8 * 255 * 8 * 65536 < 2^32.
pub(super) const MOST_ITEMS: usize = 1 << 16;
/// Vectors are read and written whole, up to this many words after the last.
pub(super) const SLACK: usize = 8;

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
    /// Sums the hits times the weights in the rows, by row sets and planes.
    Sum(&'a Weights, &'a mut [[[u64; 8]; PLANES]]),
}

/// Bytes of a weight, at most: an entry of 16 bits may count four times.
pub(super) const PLANES: usize = 3;

/// What the hits with each label of the tree and of the block weigh, byte by byte.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// The lowest bytes, the next ones, and so on. Planes that no row has are empty.
    pub(super) planes: [Vec<Bytes>; PLANES],
    /// How many more planes than the first each row has. Few have any.
    pub(super) more: Vec<u8>,
}

/// A part of a program and the words of a block.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    /// Code in the format of [`program`](super::program).
    pub(super) code: &'a [u32],
    /// So many words, and [`SLACK`] more.
    pub(super) len: usize,
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
pub(super) struct Scratch {
    /// The words at each depth but the first.
    words: Vec<Vec<u64>>,
    lens: [usize; super::sub_board::MOST_ROWS + 1],
    lanes: Lanes,
    planes: Planes,
    open: Box<[Bytes; MOST_OPEN]>,
}

/// The words of a layer as bits: `planes[bit][eighth]`, and a plane without bits.
#[repr(C, align(64))]
struct Planes([[u64; 8]; NO_BIT as usize + 1]);

impl Default for Scratch {
    fn default() -> Self {
        let open = vec![Bytes([0; LANES]); MOST_OPEN].into_boxed_slice();
        Self {
            words: Vec::new(),
            lens: [0; super::sub_board::MOST_ROWS + 1],
            lanes: Lanes::default(),
            planes: Planes([[0; 8]; NO_BIT as usize + 1]),
            open: open.try_into().expect("as many"),
        }
    }
}

impl Scratch {
    /// Makes room for blocks of this many words.
    pub(super) fn reserve(&mut self, words: usize) {
        self.words.resize_with(super::sub_board::MOST_ROWS, Vec::new);
        // A label of few words fills a lane in part; a step writes two lanes.
        let lanes = words / SLOTS + 2 * LANES + 2;
        if self.lanes.starts.len() < lanes {
            self.lanes.starts.resize(lanes, 0);
            self.lanes.present.resize(lanes, 0);
            self.lanes.labels.resize(lanes, 0);
        }
    }
}

/// The parts of an array; nothing is left over.
fn parts<T, const LEN: usize, const PART: usize>(of: &[T; LEN]) -> &[[T; PART]] {
    const { assert!(LEN.is_multiple_of(PART), "whole parts") };
    of.as_chunks().0
}

/// As [`parts`], to be written to.
fn parts_mut<T, const LEN: usize, const PART: usize>(of: &mut [T; LEN]) -> &mut [[T; PART]] {
    const { assert!(LEN.is_multiple_of(PART), "whole parts") };
    of.as_chunks_mut().0
}

/// Makes room for the words of a depth, as many as above it. Deep in a tree they are few.
fn make_room(depth: &mut Vec<u64>, words: usize) {
    if depth.len() < words + SLACK {
        *depth = vec![0; words + words / 4 + SLACK];
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
        ) -> Result<(), Interrupt> {
            let code = run.code;
            let Scratch { words, lens, lanes, planes, open } = scratch;
            let (mut turns, mut indices) = (Vec::new(), Vec::new());
            let mut at = 0;
            while at < code.len() {
                let (depth, end) = (code[at] as usize / 2, code[at + 1] as usize);
                if code[at] % 2 == 0 {
                    let bits = u64::from(code[at + 2]) | u64::from(code[at + 3]) << 32;
                    let (above, below) = words.split_at_mut(depth);
                    let from = if depth == 0 { &run.words[..run.len] } else { &above[depth - 1][..lens[depth]] };
                    super::make_room(&mut below[0], from.len());
                    let len = filter(from, bits, &mut below[0]);
                    lens[depth + 1] = len;
                    at = if len == 0 { end } else { at + 4 };
                    continue;
                }
                let (left, len) = if depth == 0 { (run.words, run.len) } else { (&words[depth - 1][..], lens[depth]) };
                if len > code[at + 2] as usize {
                    at = end;
                    continue;
                }
                if cancel.is_cancelled() {
                    return Err(Interrupt::Cancelled);
                }
                let (first, squares_at, pairs_at) = (at + 6, code[at + 4] as usize, code[at + 5] as usize);
                let (sections, squares) = (&code[first..squares_at], &code[squares_at..pairs_at]);
                let pairs = &code[pairs_at..end];
                lanes.cut(&left[..len], run.tag_at);
                for layer in 0..lanes.len.div_ceil(LANES) {
                    let layer = lanes.layer(layer);
                    transpose_words(left, layer.starts, run.tag_at, planes);
                    open_squares(&layer.present, squares, pairs, planes, open);
                    match purpose {
                        Purpose::Count(counts) => {
                            layer.turns(&mut turns);
                            indices.clear();
                            indices.extend(turns.iter().map(|lanes| index(lanes)));
                            each_section!(rows, sections, first, |number, its_rows, groups| {
                                let rows = &mut counts[its_rows];
                                each_group!(groups, open, |hits, label| count(&mut rows[label], hits, &indices, &layer.labels));
                            });
                        }
                        Purpose::Sum(weights, totals) => {
                            let labels = index(&layer.labels);
                            each_section!(rows, sections, first, |number, its_rows, groups| {
                                let (lowest, more) = (&weights.planes[0][its_rows.clone()], &weights.more[its_rows.clone()]);
                                // In turn, since each addition waits for the one before it.
                                let mut sums = [zero(); 4];
                                let mut upper = [zero(); PLANES - 1];
                                each_group!(groups, open, |hits, label| {
                                    let [a, b, c, d] = sums;
                                    sums = [b, c, d, add_products(a, hits, &lowest[label], &labels)];
                                    for (sum, plane) in upper.iter_mut().zip(&weights.planes[1..]).take(more[label].into()) {
                                        *sum = add_products(*sum, hits, &plane[its_rows.start + label], &labels);
                                    }
                                });
                                let [lowest_totals, upper_totals @ ..] = &mut totals[number];
                                widen(sums, lowest_totals);
                                for (sum, totals) in upper.into_iter().zip(upper_totals) {
                                    widen([sum, zero(), zero(), zero()], totals);
                                }
                            });
                        }
                    }
                }
                at = code[at + 3] as usize;
            }
            Ok(())
        }

        /// Transposes a tile by five perfect shuffles, each of which interleaves the upper rows with the lower.
        $(#[$compiled])*
        pub(super) fn transpose(tile: &mut Tile) -> u16 {
            for _ in 0..TILE.ilog2() {
                let rows = *tile;
                let (upper, lower) = rows.split_at(TILE / 2);
                for ((pair, a), b) in super::parts_mut(tile).iter_mut().zip(upper).zip(lower) {
                    let interleaved = |from: usize| {
                        std::array::from_fn(|at| [a, b][at % 2][from + at / 2])
                    };
                    *pair = [interleaved(0), interleaved(TILE / 2)];
                }
            }
            tile.iter().flatten().copied().max().unwrap_or(0)
        }

        /// Opens the squares and the pairs of a leaf.
        $(#[$compiled])*
        fn open_squares(
            present: &Bytes,
            squares: &[u32],
            pairs: &[u32],
            planes: &Planes,
            open: &mut [Bytes; MOST_OPEN],
        ) {
            open[0] = *present;
            let all = load(present);
            for (open, square) in open[1..].iter_mut().zip(squares) {
                let [a, b] = [square & 0xff, square >> 8].map(|bit| load_plane(&planes.0[bit as usize]));
                store(open, open_of(all, a, b));
            }
            for (at, pair) in (1 + squares.len()..).zip(pairs) {
                let [a, b] = [pair & 0xffff, pair >> 16].map(|at| load(&open[at as usize % MOST_OPEN]));
                store(&mut open[at % MOST_OPEN], and(a, b));
            }
        }
    };
}

/// Visits the sections whose row set is to be counted: its number, its rows and its groups.
macro_rules! each_section {
    ($rows:expr, $sections:expr, $first:expr, |$number:ident, $its_rows:ident, $groups:ident| $body:expr) => {
        let mut at = 0;
        while at < $sections.len() {
            let ($number, end) = ($sections[at] as usize, $sections[at + 1] as usize - $first);
            let $groups = &$sections[at + 2..end];
            at = end;
            let Some(row) = $rows.at[$number] else { continue };
            let $its_rows = row..row + $rows.labels;
            $body
        }
    };
}

/// Visits some groups: their hits and their label.
macro_rules! each_group {
    ($groups:expr, $open:expr, |$hits:ident, $label:ident| $body:expr) => {
        let mut rest: &[u32] = $groups;
        while let [length, number, after @ ..] = rest {
            let (these, next) = after.split_at((*length as usize + 1) * *number as usize);
            groups_of!(*length, these, $open, |$hits, $label| $body, 1 2 3 4 5 6 7 8);
            rest = next;
        }
    };
}

/// Visits groups of one length, one of those named: a label and its items.
macro_rules! groups_of {
    ($length:expr, $groups:expr, $open:expr, |$hits:ident, $label:ident| $body:expr, $($each:literal)*) => {
        const { assert!([$($each),*].len() == MOST_TOGETHER, "an arm for each length") };
        match $length {
            $($each => {
                const { assert!($each <= MOST_TOGETHER, "its hits might not fit a byte") };
                let (groups, rest) = $groups.as_chunks::<{ 1 + $each }>();
                assert!(rest.is_empty(), "whole groups");
                for [label, first, items @ ..] in groups {
                    let hits = |item: u32| {
                        let [a, b] = [item & 0xffff, item >> 16];
                        // The compiler of programs asserts that they are less; this spares a branch.
                        let [a, b] = [a, b].map(|at| load(&$open[at as usize % MOST_OPEN]));
                        bits(and(a, b))
                    };
                    let mut $hits = hits(*first);
                    for item in items {
                        $hits = add($hits, hits(*item));
                    }
                    let $label = *label as usize;
                    $body
                }
            })*
            length => unreachable!("a group of {length} items"),
        }
    };
}

/// Defines `transpose_words` by six stages of swaps: in each, blocks of bits that are half as long change
/// places.
macro_rules! swaps {
    ($(#[$compiled:meta])*) => {
        $(#[$compiled])*
        fn transpose_words(words: &[u64], starts: &[u32; LANES], _bits: u32, planes: &mut Planes) {
            const LOW_HALVES: [u64; 6] = [
                0xffff_ffff, 0xffff_0000_ffff, 0xff00_ff00_ff00_ff, 0xf0f_0f0f_0f0f_0f0f,
                0x3333_3333_3333_3333, 0x5555_5555_5555_5555,
            ];
            let planes = &mut planes.0[..64];
            for (lane, start) in starts.iter().enumerate() {
                let words = &words[*start as usize..][..SLOTS];
                for (slot, word) in words.iter().enumerate() {
                    planes[lane % 8 * SLOTS + slot][lane / 8] = *word;
                }
            }
            for stage in 0..6 {
                let (distance, mask) = (32 >> stage, LOW_HALVES[stage]);
                for pair in 0..32 {
                    let one = pair & (distance - 1) | (pair & !(distance - 1)) << 1;
                    let (low, high) = planes.split_at_mut(one + distance);
                    let (a, b) = swap(load_8(&low[one]), load_8(&high[0]), distance as u32, mask);
                    store_8(&mut low[one], a);
                    store_8(&mut high[0], b);
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
mod portable;
#[cfg(test)]
mod tests;

impl Kernel {
    dispatch! {
        /// Runs a program on a block. The scratch memory has room for the block.
        pub(super) fn run(
            self, run: &Run<'_>, rows: &Rows<'_>, purpose: &mut Purpose<'_>, scratch: &mut Scratch, cancel: &Cancel,
        ) -> Result<(), Interrupt>;

        /// Transposes a tile, and returns the largest number.
        pub(super) fn transpose(self, tile: &mut Tile) -> u16;
    }
}
