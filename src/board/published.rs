//! The published counts. One data file holds them and names their sources.

use std::fmt;

use crate::board::size::BoardSize;

/// The data file: a line for each board size, after lines that name the sources.
const TABLE: &str = include_str!("known-counts.csv");

/// The published counts of one board size, as [`BoardSize::published`] returns them. An unpublished count is `None`.
///
/// | field | number of solutions | sequence |
/// |---|---|---|
/// | `total` | all | [A000170](https://oeis.org/A000170) |
/// | `fundamental` | up to rotation and reflection | [A002562](https://oeis.org/A002562) |
/// | `half_turn` | unchanged by a turn of 180° | [A032522](https://oeis.org/A032522) |
/// | `quarter_turn` | unchanged by a turn of 90° | [A033148](https://oeis.org/A033148) |
///
/// ```
/// use nqueens::BoardSize;
///
/// let published = BoardSize::new(5)?.published();
/// assert_eq!((published.total, published.fundamental), (Some(10), Some(2)));
/// assert_eq!((published.half_turn, published.quarter_turn), (Some(2), Some(2)));
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedCounts {
    /// The number of all solutions, Q(n).
    pub total: Option<u128>,
    /// The number of solutions up to rotation and reflection.
    pub fundamental: Option<u128>,
    /// The number of solutions that a half-turn leaves unchanged.
    pub half_turn: Option<u128>,
    /// The number of solutions that a quarter-turn leaves unchanged.
    pub quarter_turn: Option<u128>,
    /// The number of solutions up to rotation and reflection that no symmetry leaves unchanged,
    /// [A260320](https://oeis.org/A260320).
    pub(crate) asymmetric: Option<u128>,
}

impl BoardSize {
    /// Returns the published counts for boards of this size. Every field is `None` for boards without published counts.
    ///
    /// ```
    /// use nqueens::BoardSize;
    ///
    /// assert_eq!(BoardSize::new(8)?.published().total, Some(92));
    /// assert_eq!(BoardSize::new(8)?.published().fundamental, Some(12));
    /// assert_eq!(BoardSize::new(28)?.published().total, None);
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn published(self) -> PublishedCounts {
        for (n, counts) in lines() {
            if n == self.get() {
                return counts;
            }
        }
        PublishedCounts::default()
    }
}

/// Returns the size and the counts of each line of the data file that begins with a size.
fn lines() -> impl Iterator<Item = (u32, PublishedCounts)> {
    TABLE.lines().filter_map(read_line)
}

/// Reads the size and the counts of a line. Returns `None` for a line that does not begin with a size, because such
/// lines name the sources. An empty field is an unpublished count.
fn read_line(line: &str) -> Option<(u32, PublishedCounts)> {
    let mut fields = line.split(',');
    let n = fields.next()?.parse().ok()?;
    let mut next_count = || fields.next()?.parse().ok();
    let counts = PublishedCounts {
        total: next_count(),
        fundamental: next_count(),
        half_turn: next_count(),
        quarter_turn: next_count(),
        asymmetric: next_count(),
    };
    Some((n, counts))
}

/// How a computed count compares with the published one.
///
/// ```
/// use nqueens::{Agreement, BoardSize, Count};
///
/// let outcome = Count::new(BoardSize::new(8)?).run()?;
/// match outcome.agreement {
///     Agreement::Agrees => println!("the published count"),
///     Agreement::Differs { expected } => panic!("{expected} is published"),
///     _ => println!("no count is published"),
/// }
/// # Ok::<(), nqueens::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agreement {
    /// The two counts are equal.
    Agrees,
    /// The two counts differ, so one of them is wrong.
    Differs {
        /// The published count.
        expected: u128,
    },
    /// No count is published, or there is no total to compare with it.
    Unknown,
}

impl Agreement {
    /// Compares a computed count with a published one.
    pub(crate) fn compare(computed: u128, published: Option<u128>) -> Self {
        match published {
            None => Self::Unknown,
            Some(expected) if expected == computed => Self::Agrees,
            Some(expected) => Self::Differs { expected },
        }
    }
}

/// Writes `agrees`, `differs` or `unknown`, as the program prints it.
impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Agrees => "agrees",
            Self::Differs { .. } => "differs",
            // The program's output is promised to keep this word.
            Self::Unknown => "unknown",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_complete_and_satisfies_burnside() {
        let lines: Vec<_> = lines().collect();
        let sizes: Vec<u32> = lines.iter().map(|(n, _)| *n).collect();
        assert_eq!(sizes, (0..=27).collect::<Vec<_>>(), "a line was not read");
        assert_eq!(lines[0].1, PublishedCounts { total: Some(1), ..PublishedCounts::default() });
        for (n, counts) in &lines[2..] {
            let sum = counts.total.expect("total")
                + counts.half_turn.expect("half-turn")
                + 2 * counts.quarter_turn.expect("quarter-turn");
            assert_eq!(sum, 8 * counts.fundamental.expect("fundamental"), "n = {n}");
            let images = counts.total.zip(counts.half_turn).map(|(total, half)| total - half);
            // A260320 ends at n = 26.
            let expected = images.map(|images| images / 8).filter(|_| *n <= 26);
            assert_eq!(counts.asymmetric, expected, "n = {n}");
        }
    }

    #[test]
    fn beyond_the_table_nothing_is_published() {
        let size = BoardSize::new(28).expect("in range");
        assert_eq!(size.published(), PublishedCounts::default());
        assert_eq!(Agreement::compare(1, size.published().total), Agreement::Unknown);
    }

    /// The words are promised: programs read them as JSON and CSV.
    #[test]
    fn an_agreement_is_one_word() {
        for (published, word) in [(Some(92), "agrees"), (Some(93), "differs"), (None, "unknown")] {
            assert_eq!(Agreement::compare(92, published).to_string(), word);
        }
    }
}
