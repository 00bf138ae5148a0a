//! A part of a plan, for one of several machines.
//!
//! The plan is dealt out like cards: in every round each of k shards takes one *block* of
//! consecutive units. Neighbouring units cost about the same and the blocks of a shard are spread
//! over the whole plan, so shards cost about the same: within 1 to 3 % (one standard deviation)
//! for shards of a tenth of a second and more, engine `halves`, n = 17 to 19, 3 to 100 shards.
//! Within a block a worker profits from what neighbours share, and a journal needs one line for
//! many units.
//!
//! Each round begins with another shard. Without that, shard counts that fit the order of the units
//! cost up to 30 % more in some shards than in others.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::Error;

/// Blocks of each shard, if there are units enough: their number makes the costs of shards even.
const BLOCKS: usize = 256;

/// Shard `index` of `of`: all shards together are a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The most shards of a plan.
    pub const MOST: usize = 1_000_000;
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Shard `index`, counted from 0, of `of`.
    ///
    /// # Errors
    ///
    /// [`Error::ShardOutOfRange`] unless `index < of` and `of` is 1 to [`Shard::MOST`].
    pub fn new(index: usize, of: usize) -> Result<Self, Error> {
        if index < of && of <= Self::MOST {
            Ok(Self { index, of })
        } else {
            Err(Error::ShardOutOfRange { index, of, most: Self::MOST })
        }
    }

    /// Its number, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.index
    }

    /// How many shards the plan has.
    #[must_use]
    pub fn of(self) -> usize {
        self.of
    }

    /// The shard's units in a plan of so many, as ranges in increasing order.
    pub fn ranges(self, units: usize) -> impl Iterator<Item = Range<usize>> {
        let Self { index, of } = self;
        let length = (units / (of * BLOCKS)).max(1);
        let blocks = units.div_ceil(length);
        // The next round begins elsewhere: the golden section of the shards further on.
        let turn = of * 618 / 1000;
        (0..blocks.div_ceil(of))
            .map(move |round| round * of + (index + round * turn) % of)
            .filter(move |block| *block < blocks)
            .map(move |block| block * length..units.min((block + 1) * length))
    }
}

/// As `3/12`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse().unwrap_or(usize::MAX);
        let (index, of) = text.split_once('/').unwrap_or((text, ""));
        Self::new(number(index), number(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_disjoint_and_cover_the_plan() {
        for units in [0, 1, 2, 7, 100, 12_345] {
            for of in [1, 2, 3, 12, 100] {
                let shards = (0..of).map(|index| Shard::new(index, of).expect("in range"));
                let mut all: Vec<usize> =
                    shards.flat_map(|shard| shard.ranges(units)).flatten().collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..units), "{units} units, {of} shards");
            }
        }
    }

    #[test]
    fn shards_are_written_as_fractions() {
        let shard: Shard = "3/12".parse().expect("in range");
        assert_eq!((shard.index(), shard.of(), shard.to_string()), (3, 12, "3/12".to_owned()));
        for bad in ["", "3", "3/", "/3", "3/3", "0/0", "-1/3", "x/y", "0/1000001"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
