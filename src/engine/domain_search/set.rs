//! Sets of the placements of a block.

/// Words of a set.
pub(super) const WORDS: usize = 8;

/// Placements in a block.
pub(super) const LANES: usize = 64 * WORDS;

/// A set of the placements of a block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Set(pub(super) [u64; WORDS]);

pub(super) const EMPTY: Set = Set([0; WORDS]);

impl Set {
    /// What is in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}
