//! Runs programs on blocks of words.
//!
//! # The leaf
//!
//! A block has up to 64 labels, and at a leaf a few words of each label are left. They fill **lanes**: a lane holds
//! eight words, all of the same label. A label takes as many lanes as it needs. As many lanes as the kernel counts at
//! once, 64 or 32, are a **layer**. The words of a layer become bits: word s of a lane becomes bit s of a byte. A
//! **plane** has a bit for each word of a layer:
//!
//! ```text
//! for each bit b of a word:      plane b   = the words that have it            (a transposition)
//! for each square of the leaf:   open [sq] = words that have neither its sum nor its difference
//! for each combination:          open [co] = open [one] & open [other]
//! for each group of a label:     the number of bits of open [p] & open [q], byte by byte and summed over
//!                                the completions (p, q) of the group, is their number of hits with each
//!                                lane
//! ```
//!
//! A **hit** is a completion and a word that fit. For the light colour the hits of each lane are added to a row of the
//! matrix, under the lane's label. For the heavy colour the hits of each lane are multiplied by the coefficient of the
//! lane's label and summed at once. So the matrix of the heavy colour is never stored.
//!
//! # The kernels
//!
//! One function, `Kernel::execute`, runs a program. It calls the kernel for each filter and each leaf. The loops of all
//! kernels have one source, the macro in `loops.rs`. A kernel is a module with three types and a few operations on
//! them, from which the macro makes the loops. `portable.rs` is the reference, and documents each type and each
//! operation. The other kernels have them under the same names.
//!
//! In a layer **in order** the lanes and some labels have the same places, so nothing has to be picked. A leaf has as
//! many of them as it can have without a further layer.
//!
//! Where the heavy colour has many more queens than the light one, most groups have no hits with a layer. Then the
//! kernels whose bit counts take several instructions first find out whether a group has any.
//!
//! Two loops use vectors in another way. Words are joined eight at a time: AVX-512 and AVX2 pack the fitting ones, and
//! the other kernels write each word and then advance by 0 or 1. Coefficients are made from arrays of sixteen numbers,
//! which the compiler turns into vectors.

use std::ops::Range;

use super::code::{
    Instruction, LeafCode, MAX_GROUP, NO_BIT, OFFSET_SCALE, group_len, pieces, unpack,
};
use super::subsets::{MAX_ROWS, MAX_SETS};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;
pub(super) use lanes::{BLOCK_LABELS, Bytes, LABEL_SHIFT, SLACK, Words};
use lanes::{Lanes, Layer, MAX_LANES, SLOTS};

/// A number for each label of a block, in a row of the light matrix or of multiplicities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Numbers(pub(super) [u16; BLOCK_LABELS]);

/// The rows of a matrix that belong to each row set of the class: one for each label of the tree. `None` if the row set
/// is not counted.
pub(super) type MatrixRows = [Option<Range<usize>>; MAX_SETS];

/// The number of rows of a tile, and the number of bytes in a quarter of a row.
const TILE: usize = 16;
/// Rows of bytes. Each quarter of them is transposed by itself.
type Tile = [Bytes; TILE];

/// A block of the light matrix, and the multiplicities of its entries, for the labels of a block of the heavy list.
pub(super) struct LabelPairs<'a> {
    pub(super) entries: &'a [Numbers],
    /// The row of the entries that belongs to each heavy label.
    pub(super) rows: &'a [usize],
    /// The multiplicities of pairs of labels, in a row for each heavy label.
    pub(super) multiplicities: &'a [Numbers; BLOCK_LABELS],
}

/// The largest number of digits of a coefficient, because an entry of 16 bits may be counted four times.
pub(super) const DIGITS: usize = 3;

/// The coefficient of a hit with each label of the tree and each label of the block, digit by digit.
#[derive(Debug, Default)]
pub(super) struct Coefficients {
    /// The lowest digits of all coefficients, then the next ones, and so on. `upper_digits_len` says how many of the
    /// upper digits a row has. Other values there mean nothing.
    pub(super) digits: [Vec<Bytes>; DIGITS],
    /// The number of digits of each row after the first one. Few rows have any.
    pub(super) upper_digits_len: Vec<u8>,
    /// Whether most groups have no hits with a layer. Kernels give the same totals with any answer.
    pub(super) are_of_rare_hits: bool,
}

/// For each digit of the coefficients, eight sums of hits times digits. The sum of all eight is the total of the digit.
/// No sum wraps if the count of the unit fits 64 bits, because each sum is a part of it.
pub(super) type Totals = [[u64; 8]; DIGITS];

/// The working memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// The words at each depth except the first.
    kept: [Kept; MAX_ROWS],
    leaf: LeafScratch,
}

/// The words that a filter kept: the first `len`. There is room for more.
#[derive(Default)]
struct Kept {
    len: usize,
    words: Vec<u64>,
}

/// The working memory for a leaf.
pub(super) struct LeafScratch {
    lanes: Lanes,
    /// The lane of each label. Labels with several lanes need several of these maps.
    lane_maps: Vec<Bytes>,
    /// These maps, as indices of the kernel.
    indices: Vec<Bytes>,
    planes: Box<Planes>,
    open: Box<Open>,
}

/// The words of a layer: first all of them, then for each square and combination the words that it leaves. There is
/// room after every offset of 16 bits, so that no offset from the code needs a check.
///
/// Planes follow each other without gaps. An address may have an offset times four or eight, which costs no
/// instruction, but only if the compiler sees parts of four or eight bytes.
#[repr(C, align(64))]
struct Open([u8; (1 << 16) * (MAX_LANES / OFFSET_SCALE) + MAX_LANES]);

impl Open {
    #[inline(always)]
    fn at<const LANES: usize>(&self, offset: usize) -> &[u8; LANES] {
        let offset = offset % (1 << 16);
        match LANES / OFFSET_SCALE {
            4 => self.0.as_chunks::<4>().0[offset..].as_flattened().first_chunk().expect("room"),
            _ => self.0.as_chunks::<8>().0[offset..].as_flattened().first_chunk().expect("room"),
        }
    }

    #[inline(always)]
    fn at_mut<const LANES: usize>(&mut self, offset: usize) -> &mut [u8; LANES] {
        let offset = offset % (1 << 16);
        match LANES / OFFSET_SCALE {
            4 => self.0.as_chunks_mut::<4>().0[offset..]
                .as_flattened_mut()
                .first_chunk_mut()
                .expect("room"),
            _ => self.0.as_chunks_mut::<8>().0[offset..]
                .as_flattened_mut()
                .first_chunk_mut()
                .expect("room"),
        }
    }
}

/// The words of a layer as bits: for each bit the words that have it, and an empty plane.
#[repr(C, align(64))]
struct Planes([u8; PLANES * MAX_LANES]);

/// The number of planes of a layer.
const PLANES: usize = NO_BIT as usize + 1;

impl Planes {
    /// Returns the planes of a layer of this many lanes.
    #[inline(always)]
    fn of_layer<const LANES: usize>(&mut self) -> &mut [[u8; LANES]; PLANES] {
        self.0.as_chunks_mut().0.first_chunk_mut().expect("room")
    }
}

impl Default for LeafScratch {
    fn default() -> Self {
        Self {
            lanes: Lanes::default(),
            lane_maps: Vec::new(),
            indices: Vec::new(),
            planes: Box::new(Planes([0; _])),
            open: Box::new(Open([0; _])),
        }
    }
}

/// Cuts an array into arrays of one length. Nothing is left over.
fn chunks<T, const LEN: usize, const CHUNK: usize>(of: &[T; LEN]) -> &[[T; CHUNK]] {
    const { assert!(LEN.is_multiple_of(CHUNK), "whole chunks") };
    of.as_chunks().0
}

/// Cuts an array into arrays of one length that can be written to. Nothing is left over.
fn chunks_mut<T, const LEN: usize, const CHUNK: usize>(of: &mut [T; LEN]) -> &mut [[T; CHUNK]] {
    const { assert!(LEN.is_multiple_of(CHUNK), "whole chunks") };
    of.as_chunks_mut().0
}

impl Kernel {
    /// Runs code on a block: filters its words, and visits each leaf with the words that are left. These words are
    /// joined with the queens above the leaf. That does no harm, because the queens below share no diagonal with
    /// them.
    pub(super) fn execute(
        self,
        mut code: &[u32],
        block: Words<'_>,
        scratch: &mut Scratch,
        cancel: &Cancel,
        mut visit: impl FnMut(&LeafCode<'_>, Words<'_>, &mut LeafScratch),
    ) -> Result<(), Interrupt> {
        scratch.leaf.lanes.reserve(block.len);
        while let Some((depth, instruction, behind)) = Instruction::read(code) {
            let (above, below) = scratch.kept.split_at_mut(depth);
            let words = match above.last() {
                Some(kept) => Words { len: kept.len, padded: &kept.words },
                None => block,
            };
            code = behind;
            match instruction {
                Instruction::Filter { queen, subtree } => {
                    let kept = &mut below[0];
                    if kept.words.len() < words.len + SLACK {
                        // The memory grows by a quarter more than needed. Deep in a tree there are few words.
                        kept.words = vec![0; words.len + words.len / 4 + SLACK];
                    }
                    kept.len = self.join(&[queen], words, &mut kept.words);
                    if kept.len > 0 {
                        code = subtree;
                    }
                }
                Instruction::Leaf(leaf) => {
                    if cancel.is_cancelled() {
                        return Err(Interrupt::Cancelled);
                    }
                    visit(&leaf, words, &mut scratch.leaf);
                }
            }
        }
        Ok(())
    }

    dispatch! {
        /// Joins each word of `ones` with each of `words` that shares no diagonal with it, and returns the number of
        /// joined words. `joined` has room for each of `ones` with each of `words`, and [`SLACK`] more.
        pub(super) fn join(self, ones: &[u64], words: Words<'_>, joined: &mut [u64]) -> usize;

        /// Adds the hits of a leaf to the entries in the rows of each row set.
        pub(super) fn count_leaf(
            self, leaf: &LeafCode<'_>, words: Words<'_>, matrix_rows: &MatrixRows, entries: &mut [Numbers],
            scratch: &mut LeafScratch,
        );

        /// Adds the hits of a leaf, times their coefficients, to the totals of each row set.
        pub(super) fn sum_leaf(
            self, leaf: &LeafCode<'_>, words: Words<'_>, matrix_rows: &MatrixRows, coefficients: &Coefficients,
            totals: &mut [Totals], scratch: &mut LeafScratch,
        );

        /// Makes one digit of the coefficients: writes the products of entries and multiplicities, shifted right by
        /// `shift` bits and cut to a byte under the mask, into these rows, one for each label of the light block.
        /// Returns the largest entry.
        pub(super) fn make_digits(
            self, pairs: &LabelPairs<'_>, shift: u32, mask: u8, to: &mut [Bytes], to_rows: &[usize],
        ) -> u16;
    }
}

#[macro_use]
mod loops;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod tests;
