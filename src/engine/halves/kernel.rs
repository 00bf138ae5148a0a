//! The operations of a kernel for the join.
//!
//! The operations are functions of the modules `portable`, `avx2` and `avx512`, under the same names:
//! on arrays of four words in blocks of 256, on vectors of four words in blocks of 256, and on vectors
//! of eight words in blocks of 512. `vector` has the loops of the last two.
//!
//! # The leaf
//!
//! ```text
//! for each block of 256 or 512 build words:
//!     slice b  = the inverted bits b of all build words           (a transposition)
//!     table k  = for each value x of chunk k: AND of the slices of the bits of x
//!     for each probe word: AND of table k [chunk k of the probe word] over all k
//!                          has a bit for each build word that fits: count them
//! ```
//!
//! [`Layout`] says where the chunks stand. With AVX-512 a lookup takes 1.2 ns for five chunks and 0.2 ns for each further chunk, which suggests
//! a limit of two loads of 64 bytes per cycle; a block takes 140 ns to make.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bit_order;
mod layout;
mod portable;
#[cfg(target_arch = "x86_64")]
mod room;
mod tables;
#[cfg(target_arch = "x86_64")]
mod vector;

use std::ops::Range;

use super::join::Group;
use crate::engine::kernel::{Kernel, dispatch};
pub(crate) use bit_order::{BitMove, BitOrder, STAY};
pub(crate) use layout::Layout;
pub(crate) use tables::{CHUNK_BITS, Tables};

/// The operations of the join, as a kernel does them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinKernel(pub(crate) Kernel);

impl JoinKernel {
    /// The number of build words in a block.
    pub(crate) fn block(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(_) => 512,
            _ => 256,
        }
    }

    /// Where the bits of half-boards stand.
    pub(crate) fn layout(self) -> Layout {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => Layout::Bytes,
            _ => Layout::Dense,
        }
    }

    /// Working memory for [`count_bit_sliced`](Self::count_bit_sliced).
    pub(crate) fn tables(self) -> Tables {
        Tables::new(self.layout(), self.block())
    }

    /// Writes the words without `bit` to `out`, and returns how many there are. `out` must have room
    /// for all words and [`SLACK`](super::word_list::SLACK) more.
    pub(crate) fn select(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize {
        dispatch!(self.0, select(words, bit, out))
    }

    /// For every list and the diagonals of the square given with it, takes the words that share no bit
    /// with these diagonals or with `avoid`, adds the diagonals, and writes the bits that `moves` names
    /// to `out`, at their new places. Returns how many words there are. `out` must have room for all
    /// words and [`SLACK`](super::word_list::SLACK) more.
    pub(crate) fn add_squares(
        self,
        lists: &[(&[u64], u64)],
        avoid: u64,
        moves: &[BitMove; 2],
        out: &mut [u64],
    ) -> usize {
        dispatch!(self.0, add_squares(lists, avoid, moves, out))
    }

    /// Writes `a | b` to `out` for every pair of a northern and a southern word of a group that share
    /// no bit, and returns how many there are. `out` must have room for all pairs and
    /// [`SLACK`](super::word_list::SLACK) more.
    pub(crate) fn multiply(self, lists: [&[u64]; 2], groups: &[Group], out: &mut [u64]) -> usize {
        dispatch!(self.0, multiply(lists, groups, out))
    }

    /// Copies the words of groups to `out`, one group after the other, and appends groups of the
    /// copies to `copies`. Returns the number of words. `out` must have room for all of them and
    /// [`SLACK`](super::word_list::SLACK) more.
    pub(crate) fn gather(
        self,
        lists: [&[u64]; 2],
        groups: &[Group],
        out: &mut [u64],
        copies: &mut Vec<Group>,
    ) -> usize {
        dispatch!(self.0, gather(lists, groups, out, copies))
    }

    /// Splits the groups `range` on a bit. The words without it come first in their lists. Groups of
    /// half-boards without it are appended to `groups`, those with it to `with`. `scratch` must have
    /// room for the longest list and [`SLACK`](super::word_list::SLACK) more.
    pub(crate) fn split_groups(
        self,
        lists: [&mut [u64]; 2],
        groups: &mut Vec<Group>,
        range: Range<usize>,
        bit: u64,
        scratch: &mut [u64],
        with: &mut Vec<Group>,
    ) {
        dispatch!(self.0, split_groups(lists, groups, range, bit, scratch, with));
    }

    /// Brings the words into the order of the join.
    pub(crate) fn permute_bits(self, words: &mut [u64], order: &BitOrder) {
        dispatch!(self.0, permute_bits(words, order));
    }

    /// Counts, for every bit, the words of `sample` (at most 255) that have it.
    pub(crate) fn positional_popcount(self, sample: &[u64]) -> [u8; 64] {
        dispatch!(self.0, positional_popcount(sample))
    }

    /// Writes the words without `bit` to the front of `out`, the others to its end, and returns how
    /// many go to the front. `out` must be at least as long as `words`; what lies between the two
    /// parts is overwritten.
    pub(crate) fn partition(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize {
        dispatch!(self.0, partition(words, bit, out))
    }

    /// Counts the disjoint pairs by comparing every build word with every probe word.
    pub(crate) fn nested_loop(self, build: &[u64], probe: &[u64]) -> u64 {
        dispatch!(self.0, nested_loop(build, probe))
    }

    /// Counts the disjoint pairs with bit-sliced tables. No pair may clash above the lowest `bits` bits,
    /// and the spare bits of the [`Layout`] must be clear.
    pub(crate) fn count_bit_sliced(
        self,
        build: &[u64],
        probe: &[u64],
        bits: u32,
        tables: &mut Tables,
    ) -> u64 {
        dispatch!(self.0, count_bit_sliced(build, probe, bits, tables))
    }
}
