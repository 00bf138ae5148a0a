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
//! [`Layout`] says where the chunks stand. With AVX-512 a lookup takes 1.2 ns for five chunks and 0.2 ns
//! for each further chunk, which suggests a limit of two loads of 64 bytes per cycle; a block takes 140 ns
//! to make.

/// Defines the functions that are the same in all kernels, with the tables of their width.
macro_rules! common_loops {
    ($(#[$compiled:meta])* $width:ident) => {
        $(#[$compiled])*
        pub(super) fn split_groups(
            lists: [&mut [u64]; 2],
            groups: &mut Vec<Group>,
            range: Range<usize>,
            bit: u64,
            scratch: &mut [u64],
            with: &mut Vec<Group>,
        ) {
            let [north, south] = lists;
            for at in range {
                let group = groups[at];
                let words = &mut north[group.north as usize..][..group.north_len as usize];
                let northern = partition_in_place(words, bit, scratch);
                let words = &mut south[group.south as usize..][..group.south_len as usize];
                let southern = partition_in_place(words, bit, scratch);
                group.push_parts(northern, southern, groups, with);
            }
        }

        $(#[$compiled])*
        pub(super) fn count_bit_sliced(
            build: &[u64],
            probe: &[u64],
            bits: u32,
            tables: &mut Tables,
        ) -> u64 {
            let Tables::$width(tables) = tables else {
                unreachable!("tables are made for their kernel");
            };
            match bits.div_ceil(CHUNK_DISTANCE) {
                ..=2 => count_blocks::<2>(build, probe, tables),
                3 => count_blocks::<3>(build, probe, tables),
                4 => count_blocks::<4>(build, probe, tables),
                5 => count_blocks::<5>(build, probe, tables),
                6 => count_blocks::<6>(build, probe, tables),
                7 => count_blocks::<7>(build, probe, tables),
                8 => count_blocks::<8>(build, probe, tables),
                _ => count_blocks::<MOST_CHUNKS>(build, probe, tables),
            }
        }

        $(#[$compiled])*
        fn count_blocks<const CHUNKS: usize>(
            build: &[u64],
            probe: &[u64],
            tables: &mut LeafTables,
        ) -> u64 {
            let mut pairs = 0;
            for block in build.chunks(64 * WORDS) {
                fill_tables::<CHUNKS>(block, tables);
                pairs += count_probes::<CHUNKS>(probe, tables);
            }
            pairs
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod tables;
#[cfg(target_arch = "x86_64")]
mod vector;

use std::ops::Range;

use super::group::Group;
use crate::engine::simd::Kernel;
pub(crate) use tables::{BitMove, BitOrder, CHUNK_BITS, Layout, STAY, Tables};

/// The operations of the join.
impl Kernel {
    /// The number of build words in a block.
    pub(crate) fn block(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 512,
            _ => 256,
        }
    }

    /// Where the bits of half-boards stand.
    pub(crate) fn layout(self) -> Layout {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Layout::Bytes,
            _ => Layout::Dense,
        }
    }

    /// Working memory for [`count_bit_sliced`](Self::count_bit_sliced).
    pub(crate) fn tables(self) -> Tables {
        Tables::new(self.layout(), self.block())
    }

    dispatch! {
        /// Writes the words without `bit` to `out`, and returns how many there are. `out` must have room
        /// for all words and [`SLACK`](super::word_list::SLACK) more.
        pub(crate) fn select(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize;

        /// For every list and the diagonals of the square given with it, takes the words that share no bit
        /// with these diagonals or with `avoid`, adds the diagonals, and writes the bits that `moves` names
        /// to `out`, at their new places. Returns how many words there are. `out` must have room for all
        /// words and [`SLACK`](super::word_list::SLACK) more.
        pub(crate) fn add_squares(
            self, lists: &[(&[u64], u64)], avoid: u64, moves: &[BitMove; 2], out: &mut [u64],
        ) -> usize;

        /// Writes `a | b` to `out` for every pair of a northern and a southern word of a group that share
        /// no bit, and returns how many there are. `out` must have room for all pairs and
        /// [`SLACK`](super::word_list::SLACK) more.
        pub(crate) fn multiply(
            self, lists: [&[u64]; 2], groups: &[Group], out: &mut [u64],
        ) -> usize;

        /// Splits the groups `range` on a bit. The words without it come first in their lists. Groups of
        /// half-boards without it are appended to `groups`, those with it to `with`. `scratch` must have
        /// room for the longest list and [`SLACK`](super::word_list::SLACK) more.
        pub(crate) fn split_groups(
            self, lists: [&mut [u64]; 2], groups: &mut Vec<Group>, range: Range<usize>, bit: u64, scratch: &mut [u64], with: &mut Vec<Group>,
        );

        /// Brings the words into the order of the join.
        pub(crate) fn permute_bits(self, words: &mut [u64], order: &BitOrder);

        /// Counts, for every bit, the words of `sample` (at most 255) that have it.
        pub(crate) fn positional_popcount(self, sample: &[u64]) -> [u8; 64];

        /// Writes the words without `bit` to the front of `out`, the others to its end, and returns how
        /// many go to the front. `out` must be at least as long as `words`; what lies between the two
        /// parts is overwritten.
        pub(crate) fn partition(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize;

        /// Counts the disjoint pairs by comparing every build word with every probe word.
        pub(crate) fn nested_loop(self, build: &[u64], probe: &[u64]) -> u64;

        /// Counts the disjoint pairs with bit-sliced tables. No pair may clash above the lowest `bits` bits,
        /// and the spare bits of the [`Layout`] must be clear.
        pub(crate) fn count_bit_sliced(
            self, build: &[u64], probe: &[u64], bits: u32, tables: &mut Tables,
        ) -> u64;
    }
}

/// Partitions words one by one; returns the free range of `out` that is left.
fn partition_rest(words: &[u64], bit: u64, out: &mut [u64]) -> (usize, usize) {
    let (mut front, mut back) = (0, out.len());
    for &word in words {
        // The word is written to both ends; the wrong copy is overwritten later.
        out[front] = word;
        out[back - 1] = word;
        let has = usize::from(word & bit != 0);
        front += 1 - has;
        back -= has;
    }
    (front, back)
}
