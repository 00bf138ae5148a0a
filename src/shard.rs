//! The share of a plan for one of several machines.
//!
//! The plan is dealt out like cards: in each round every shard takes one *block* of consecutive
//! units. Neighbouring units cost about the same, and the blocks of a shard are spread over the
//! whole plan, so shards cost about the same: within 1 to 3 % (one standard deviation) for shards
//! that take at least a tenth of a second, with engine `halves`, n = 17 to 19 and 3 to 100 shards.
//! Within a block a worker profits from what neighbours share, and a journal needs one line for
//! many units.
//!
//! Each round begins with a different shard. Otherwise, some numbers of shards match the order of
//! the units, and some shards then cost up to 30 % more than others.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::Error;

/// Blocks of each shard, if there are enough units. Many blocks even out the cost of the shards.
const BLOCKS: usize = 256;

/// One of the shards that together make up a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shard {
    index: usize,
    shards: usize,
}

impl Shard {
    /// The most shards of a plan.
    pub const MOST: usize = 1_000_000;
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, shards: 1 };

    /// Shard number `index`, counted from 0, of `shards`.
    ///
    /// # Errors
    ///
    /// [`Error::ShardOutOfRange`] unless `index < shards` and `shards` is 1 to [`Shard::MOST`].
    pub fn new(index: usize, shards: usize) -> Result<Self, Error> {
        if index < shards && shards <= Self::MOST {
            Ok(Self { index, shards })
        } else {
            Err(Error::ShardOutOfRange { index, shards, most: Self::MOST })
        }
    }

    /// The number of the shard, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.index
    }

    /// How many shards the plan has.
    #[must_use]
    pub fn shards(self) -> usize {
        self.shards
    }

    /// The shard's units in a plan of `units` units, as ranges in increasing order.
    pub fn ranges(self, units: usize) -> impl Iterator<Item = Range<usize>> {
        let Self { index, shards } = self;
        let length = (units / (shards * BLOCKS)).max(1);
        let blocks = units.div_ceil(length);
        // Each round begins further on, by the golden section of the number of shards.
        let turn = shards * 618 / 1000;
        (0..blocks.div_ceil(shards))
            .map(move |round| round * shards + (index + round * turn) % shards)
            .filter(move |block| *block < blocks)
            .map(move |block| block * length..units.min((block + 1) * length))
    }
}

/// As `3/12`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.shards)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse().unwrap_or(usize::MAX);
        let (index, shards) = text.split_once('/').unwrap_or((text, ""));
        Self::new(number(index), number(shards))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_disjoint_and_cover_the_plan() {
        for units in [0, 1, 2, 7, 100, 12_345] {
            for shards in [1, 2, 3, 12, 100] {
                let each = (0..shards).map(|index| Shard::new(index, shards).expect("in range"));
                let mut all: Vec<usize> =
                    each.flat_map(|shard| shard.ranges(units)).flatten().collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..units), "{units} units, {shards} shards");
            }
        }
    }

    #[test]
    fn shards_are_written_as_fractions() {
        let shard: Shard = "3/12".parse().expect("in range");
        assert_eq!((shard.index(), shard.shards(), shard.to_string()), (3, 12, "3/12".to_owned()));
        for bad in ["", "3", "3/", "/3", "3/3", "0/0", "-1/3", "x/y", "0/1000001"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
