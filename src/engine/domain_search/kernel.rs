//! The inner loop of a block, with a version for each [`Kernel`], and the sets that it works on.
//!
//! ```text
//! for each filling:
//!     fits = AND, over its pairs of rows, of the placements that leave both squares free
//!     ones += bits of fits AND once;  twos += bits of fits AND twice
//! ```
//!
//! Nothing in it branches on the fillings.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::fillings::Filling;
use crate::engine::kernel::{Kernel, dispatch};

pub(super) const WORDS: usize = 8;

pub(super) const LANES: usize = 64 * WORDS;

/// A set of the placements of a block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Set(pub(super) [u64; WORDS]);

pub(super) const EMPTY: Set = Set([0; WORDS]);

impl Set {
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}

/// The number of pairs of a filling and a placement of the block that fit: of the placements that
/// count once, and of those that count twice.
pub(super) fn count(
    kernel: Kernel,
    pairs: &[[Set; 256]],
    counting: &[[Set; 2]],
    list: &[Filling],
) -> [u64; 2] {
    dispatch!(kernel, count(pairs, counting, list))
}
