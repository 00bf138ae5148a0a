//! The first and the second count of a board.

use std::fmt;

/// Whether the units of a plan are counted for the first or for the second time.
///
/// Nobody believes an unpublished count that was counted once. The second count has the same units,
/// with the same counts, but it finds them on other data: each unit on its image under a symmetry
/// of the board, so that a fault which depends on the data does not hit both counts alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Pass {
    /// The units as they are.
    #[default]
    First,
    /// Their images.
    Second,
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}
