//! A shard is the share of a plan that one of several machines counts.
//!
//! The plan is given out in rounds: in each round every shard takes one *block* of consecutive units. Neighbouring
//! units cost about as much as each other, and the blocks of a shard are spread over the whole plan. So shards of
//! hundreds of units cost about as much as each other. Within a block a worker profits from the work that
//! neighbouring units share, and a journal needs one line for many units.
//!
//! Each round begins with another shard. Otherwise the rounds could keep step with the order of the units, and some
//! shards would cost up to 30 % more than others.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::Error;

/// The number of blocks of each shard, if the plan has enough units.
///
/// Many blocks even out the cost of the shards. At n = 24 the standard deviation of the cost is 2.6 % for 8 shards
/// and 5 % for 338 shards. With 256 blocks it is 3.2 % and 1.5 %. But with 256 blocks 256 shards took 1.8 times as
/// long with engine `colours`, because it compiles programs that serve some 400 neighbouring units.
const BLOCKS: usize = 32;

/// One of the shards that together make up a plan.
///
/// ```
/// use nqueens::Shard;
///
/// let shard: Shard = "3/12".parse()?;
/// assert_eq!((shard.index(), shard.count()), (3, 12));
/// assert_eq!(shard, Shard::new(3, 12)?);
/// assert_eq!(shard.to_string(), "3/12");
/// assert!(!shard.is_whole() && Shard::WHOLE.is_whole());
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    // Shards of equally many come in the order of their indices.
    shards: usize,
    index: usize,
}

/// Returns the whole plan.
impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Shard {
    /// The largest number of shards of a plan.
    pub(crate) const MAX_SHARDS: usize = 1_000_000;
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, shards: 1 };

    /// Makes shard number `index` of `shards`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] unless `shards` is 1 to 1,000,000 and `index` is less than `shards`.
    pub fn new(index: usize, shards: usize) -> Result<Self, Error> {
        if !(1..=Self::MAX_SHARDS).contains(&shards) {
            return Err(Error::out_of_range("a number of shards", shards, 1..=Self::MAX_SHARDS));
        }
        if index >= shards {
            return Err(Self::no_index(&index.to_string(), shards));
        }
        Ok(Self { index, shards })
    }

    /// Makes the error of an index that is not below the number of shards.
    fn no_index(index: &str, shards: usize) -> Error {
        let advice = match shards {
            1 => "choose 0/1".to_owned(),
            _ => format!("choose 0/{shards} to {}/{shards}", shards - 1),
        };
        Error::invalid("a shard", format!("{index}/{shards}"), advice)
    }

    /// Returns the number of the shard, counted from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the number of shards of the plan.
    pub fn count(self) -> usize {
        self.shards
    }

    /// Returns whether this is the whole plan.
    pub fn is_whole(self) -> bool {
        self == Self::WHOLE
    }

    /// Returns the units of the shard in a plan of `units` units, as ranges in increasing order that do not touch.
    ///
    /// ```
    /// use nqueens::Shard;
    ///
    /// let units = Shard::new(0, 3)?.ranges(7);
    /// assert!(units.eq([0..1, 4..5]));
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn ranges(self, units: usize) -> impl Iterator<Item = Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, block) in Self::blocks(units, self.shards) {
            if index != self.index {
                continue;
            }
            // Blocks that touch are one range: no cut between them may part units that share work.
            match ranges.last_mut() {
                Some(last) if last.end == block.start => last.end = block.end,
                _ => ranges.push(block),
            }
        }
        ranges.into_iter()
    }

    /// Returns the blocks of a plan of `units` units in increasing order, each with the index of the shard that has
    /// it.
    pub(crate) fn blocks(
        units: usize,
        shards: usize,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        let block_len = (units / (shards * BLOCKS)).max(1);
        let blocks = units.div_ceil(block_len);
        (0..blocks).map(move |block| {
            let start = block * block_len;
            let end = units.min(start.saturating_add(block_len));
            (index_of_block(block, shards), start..end)
        })
    }
}

/// Returns the index of the shard that has a block.
fn index_of_block(block: usize, shards: usize) -> usize {
    let round = block / shards;
    let place_in_round = block % shards;
    // Each round begins this many shards before the first one of the previous round: the golden section of the number
    // of shards.
    let step_back = shards * 618 / 1000;
    let steps_back = round * step_back % shards;
    let first_of_round = (shards - steps_back) % shards;
    (first_of_round + place_in_round) % shards
}

/// Writes shard 3 of 12 as `3/12`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.shards)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::invalid("a shard", text, "write INDEX/SHARDS, such as 3/12");
        let (index, shards) = text.split_once('/').ok_or_else(invalid)?;
        if !is_number(index) || !is_number(shards) {
            return Err(invalid());
        }
        // A number that is too large for its type is out of range as well.
        let Ok(shards) = shards.parse() else {
            return Err(Error::out_of_range("a number of shards", shards, 1..=Self::MAX_SHARDS));
        };
        // The number of shards is checked before the index, because it is the limit of the index.
        Self::new(0, shards)?;
        match index.parse() {
            Ok(index) => Self::new(index, shards),
            Err(_) => Err(Self::no_index(index, shards)),
        }
    }
}

/// Returns whether a text has digits, and nothing else.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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

    /// Units that share work may lie on both sides of the end of a block.
    #[test]
    fn blocks_that_touch_are_one_range() {
        for units in [1, 7, 12_345] {
            assert!(Shard::WHOLE.ranges(units).eq(std::iter::once(0..units)), "{units} units");
        }
        for index in 0..3 {
            let shard = Shard::new(index, 3).expect("in range");
            let ranges: Vec<_> = shard.ranges(12_345).collect();
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
        }
    }

    #[test]
    fn shards_are_written_as_fractions() {
        let shard: Shard = "3/12".parse().expect("in range");
        assert_eq!(shard.index(), 3);
        assert_eq!(shard.count(), 12);
        assert_eq!(shard.to_string(), "3/12");
        for bad in ["", "3", "3/", "/3", "3/3", "0/0", "-1/3", "x/y", "0/1000001"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        let huge = "99999999999999999999";
        for (bad, advice) in [
            ("3/3".to_owned(), "'3/3' is not a shard: choose 0/3 to 2/3".to_owned()),
            ("1/1".to_owned(), "'1/1' is not a shard: choose 0/1".to_owned()),
            (format!("{huge}/3"), format!("'{huge}/3' is not a shard: choose 0/3 to 2/3")),
            (
                format!("0/{huge}"),
                format!("'{huge}' is not a number of shards: choose 1 to 1000000"),
            ),
            (
                "+1/3".to_owned(),
                "'+1/3' is not a shard: write INDEX/SHARDS, such as 3/12".to_owned(),
            ),
        ] {
            let error = bad.parse::<Shard>().expect_err("out of range");
            assert_eq!(error.to_string(), advice);
        }
    }

    /// Journals of shards are resumed by later versions, so each shard keeps its units.
    #[test]
    fn shards_keep_their_units() {
        let shard = Shard::new(1, 5).expect("in range");
        let first: Vec<_> = shard.ranges(641).take(6).collect();
        assert_eq!(first, [4..8, 36..40, 48..52, 60..64, 92..96, 104..108]);
        assert_eq!(shard.ranges(641).flatten().count(), 128);
        assert!("0/1000000".parse::<Shard>().is_ok());
    }
}
