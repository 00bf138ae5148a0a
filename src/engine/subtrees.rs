//! Engine `subtrees`: prefixes of the first rows, all eight symmetries, many nodes at a time.
//!
//! **Counts** the solutions of one subtree: the solutions that begin with a given prefix, the queens of the first one
//! to four rows, within one [case](cases) of the symmetry reduction.
//!
//! **Idea.** The first rows cut the search into independent subtrees of very different sizes. Each subtree is a unit,
//! and threads take unit after unit. By default a prefix has about a sixth of the rows. Inside a subtree a backtracker
//! with the three words of `bitmask` fills the board row by row.
//!
//! ```text
//!   row 0  . Q . . . . . .  \  prefix: one unit for each
//!   row 1  . . . . Q . . .  /  legal pair of squares
//!   row 2  . x . x x x . .  \
//!   row 3  . x x . x . x .   \  subtree: the nodes of a row are kept in one
//!    ...                     /  buffer and taken 1, 4, 8 or 16 at a time
//!   row 7  . . . . . . . .  /
//! ```
//!
//! **Compared with `bitmask`.**
//! * *Eight symmetries instead of none.* The search keeps only solutions in which no queen on the border is nearer to a
//!   corner than the one in the first row. Each has a weight of 8, 4 or 2, and [`cases`] proves that the weights of the
//!   images that are kept add up to the number of all images. There are 3.8 times fewer nodes at n = 16. (They are not
//!   8 times fewer, because the search often finds late that a border queen is too near a corner.)
//! * *No branch on data.* The textbook loop mispredicts at nearly every node, because the number of free squares in
//!   the next row cannot be guessed. That costs more than all the arithmetic. Here each row has a [buffer of
//!   nodes](level). A pass takes the lowest free square of each node in the buffer, writes the child to the buffer of
//!   the next row, and keeps the node if it has more squares. Both are unconditional writes that advance a length by
//!   0 or 1.
//! * *Vectors.* A pass has one instruction sequence for all nodes. So NEON takes 4 nodes at a time, AVX2 takes 8 and
//!   AVX-512 takes 16, and one permutation packs the survivors.
//! * *Look-ahead.* A child is dropped unless each of the three rows below it has a free square. This leaves 30 %
//!   fewer nodes than testing the next row alone.
//! * *The last three rows* are closed by arithmetic. With two columns left there are only two ways to fill the last
//!   two rows, and three comparisons decide which of them are legal. Counts are 7 to 10 % faster than with passes
//!   over these rows.
//!
//! src/engine/NOTES.md lists the variants that were tried and lost.
//!
//! **Time.** At n = 16, 14 children are made for each solution and 8 of them are kept. **Memory** 4 KiB for each row
//! and thread, and 6 bytes for each unit.
//!
//! **Invariants.** A node in a buffer has at least one free square in its row and queens in all rows above. Only rows
//! before the last two have buffers.
//!
//! **Sources.** The reduction to one image in eight goes back to Takaken's N-Queens page (corner queen and border
//! tests). In database engines, passes over buffers with branch-free packing are known as selection vectors.

mod cases;
mod kernel;
mod level;
mod levels;

use std::ops::Range;

use super::plain::count_domains;
use super::simd::Kernel;
use super::unit::{Counter, Interrupt, Pass, RowDomains, Units};
use crate::board::size::BoardSize;
use crate::board::solutions::Node;
use crate::cancel::Cancel;
use cases::Case;
use levels::Levels;

/// The smallest board that is cut. Smaller boards have no room for a prefix above the last three rows. They are one
/// unit, which the plain backtracker counts. The empty board has one solution (A000170).
const SMALLEST: usize = 4;

/// The largest number of rows in a prefix. With more rows, the list of units itself becomes long.
pub(crate) const MAX_SPLIT_ROWS: usize = 4;

/// The subtrees of a board, ordered by case, then by the columns of the prefix.
pub(crate) struct Subtrees {
    size: BoardSize,
    cases: Vec<Case>,
    /// The number of rows in a prefix.
    split_rows: usize,
    units: Vec<Subtree>,
}

/// A unit. It is small, because there may be a million of them.
#[derive(Clone, Copy, Default)]
struct Subtree {
    /// The number of its case.
    case: u16,
    /// The column of the queen in each row of the prefix.
    prefix: [u8; MAX_SPLIT_ROWS],
}

impl Subtrees {
    /// Makes the subtrees of a board.
    pub(crate) fn new(size: BoardSize, split_rows: usize) -> Self {
        if size.rows() < SMALLEST {
            let whole = Case { allowed: size.squares(), weight: 1 };
            let units = vec![Subtree::default()];
            return Self { size, cases: vec![whole], split_rows: 0, units };
        }
        let cases = cases::all(size);
        let mut units = Vec::new();
        let split_rows = split_rows.min(size.rows() - 3);
        for (number, case) in (0..).zip(&cases) {
            let unit = Subtree { case: number, ..Subtree::default() };
            cut(case, Node::top(case.allowed[0]), 0..split_rows, unit, &mut units);
        }
        Self { size, cases, split_rows, units }
    }
}

/// Adds a unit for each way to place queens in these rows below a node, if it leaves a free square in the next row.
fn cut(case: &Case, node: Node, rows: Range<usize>, unit: Subtree, units: &mut Vec<Subtree>) {
    if rows.is_empty() {
        if node.free != 0 {
            units.push(unit);
        }
        return;
    }
    for column in (0..).take(BoardSize::MAX as usize) {
        if node.free >> column & 1 == 0 {
            continue;
        }
        let mut longer = unit;
        longer.prefix[rows.start] = column;
        let below = node.with_queen(1 << column, case.allowed[rows.start + 1]);
        cut(case, below, rows.start + 1..rows.end, longer, units);
    }
}

/// Returns the bytes that the list of subtrees takes at most. There are fewer prefixes than ways to choose a column in
/// each of their rows. While the list grows, there may be room for twice as many.
pub(crate) fn list_bytes(size: BoardSize, split_rows: usize) -> u64 {
    let prefixes: u64 = (0..split_rows).map(|_| u64::from(size.get())).product();
    2 * size_of::<Subtree>() as u64 * prefixes
}

/// Returns the number of rows in a prefix unless a count sets it.
///
/// For n = 12 to 17 the number is two, because smaller units would make the count slower. For larger boards there are
/// thousands of units, so that the last units to finish cost little. A unit takes some seconds at n = 22, and again
/// at n = 24.
pub(crate) fn default_split_rows(size: BoardSize) -> usize {
    (size.rows() / 6).clamp(1, MAX_SPLIT_ROWS)
}

/// Counts the solutions whose queens stand in the columns that these domains allow.
pub(crate) fn count_in_domains(
    domains: &RowDomains,
    kernel: Kernel,
    cancel: &Cancel,
) -> Result<u64, Interrupt> {
    if domains.size.rows() < SMALLEST {
        return count_domains(domains, cancel);
    }
    Levels::new(kernel, domains.size).count(&domains.allowed, cancel)
}

impl Units for Subtrees {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn weight(&self, unit: usize) -> u64 {
        self.cases[usize::from(self.units[unit].case)].weight
    }

    fn domains(&self, unit: usize, pass: Pass) -> RowDomains {
        let subtree = self.units[unit];
        let mut allowed = self.cases[usize::from(subtree.case)].allowed;
        for (row, column) in subtree.prefix[..self.split_rows].iter().enumerate() {
            allowed[row] = 1 << column;
        }
        let domains = RowDomains { size: self.size, allowed, multiplicity: None };
        match pass {
            Pass::First => domains,
            Pass::Second => domains.with_columns_flipped(),
        }
    }

    fn counter(&self, pass: Pass, kernel: Kernel) -> Box<dyn Counter + '_> {
        if self.size.rows() < SMALLEST {
            return Box::new(move |unit, cancel: &Cancel| {
                count_domains(&self.domains(unit, pass), cancel)
            });
        }
        Box::new(SubtreeCounter { subtrees: self, levels: Levels::new(kernel, self.size), pass })
    }
}

/// A counter of subtrees on one thread.
struct SubtreeCounter<'a> {
    subtrees: &'a Subtrees,
    levels: Levels,
    pass: Pass,
}

impl Counter for SubtreeCounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let domains = self.subtrees.domains(unit, self.pass);
        self.levels.count(&domains.allowed, cancel)
    }
}
