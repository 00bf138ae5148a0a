//! Engine `subtrees`: prefixes of the first rows, all eight symmetries, many nodes at a time.
//!
//! **Counts** the solutions of one subtree: those that begin with a given prefix, the queens
//! of the first one to four rows, within one [case](cases) of the symmetry reduction.
//!
//! **Idea.** The first rows cut the search into independent subtrees of very different sizes,
//! which rayon's threads steal from each other. Inside a subtree a backtracker with the three
//! words of `bitmask` fills the board row by row.
//!
//! ```text
//!   row 0  . Q . . . . . .  \  prefix: one unit of work for each
//!   row 1  . . . . Q . . .  /  legal pair of squares
//!   row 2  x x . x x . x .  \
//!   row 3  . x x . x . . x   \  subtree: the nodes of a row are kept in one
//!    ...                     /  buffer and taken 1, 8 or 16 at a time
//!   row 7  . . . . . . . .  /
//! ```
//!
//! **Compared with `bitmask`.**
//! * *Eight symmetries instead of none*: see [`cases`]; 3.8 times fewer nodes at n = 16 (not 8
//!   times: a border queen too near a corner is often found late).
//! * *No branch on data.* The textbook loop mispredicts at nearly every node, since the number of
//!   free squares in the next row cannot be guessed; that costs more than all the arithmetic. Here
//!   each row has a [buffer of nodes](level). A pass takes the lowest free square of each node in
//!   the buffer, writes the child to the next row's buffer and keeps the node if it has more
//!   squares. Both are unconditional writes that advance a length by 0 or 1.
//! * *Vectors.* Such a pass is the same instruction sequence for all nodes, so AVX2 takes 8 and
//!   AVX-512 takes 16 of them at a time, and one permutation packs the survivors.
//! * *Look-ahead.* A child is dropped unless each of the three rows below it has a free square:
//!   30 % fewer nodes than testing the next row alone.
//! * *The last three rows* are closed by arithmetic: with two columns left there are only two
//!   ways to fill the last two rows, and three comparisons tell which of them are legal.
//!
//! **Time.** At n = 16, 14 children are made for each solution and 8 of them are kept; **memory**
//! 4 KiB for each row and thread.
//!
//! **Invariants.** A buffered node has at least one free square in its row and queens in all rows
//! above; only rows before the last two have buffers.
//!
//! **Sources.** The reduction to one image in eight goes back to Takaken's N-Queens page (corner
//! queen and border tests). Database engines know passes over buffers with branch-free packing as
//! selection vectors.

pub(crate) mod cases;
mod kernel;
mod level;
mod levels;

use super::simd::Kernel;
use super::unit::{Counter, Interrupt, RowDomains, Units, WhichCount};
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Node;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use cases::Case;
use levels::Levels;

/// Boards of fewer rows have no room for a prefix above the last three rows.
pub(crate) const SMALLEST: usize = 4;

/// The most rows that prefixes fill: with more, the list of units itself becomes long.
pub(crate) const MOST_SPLIT_ROWS: usize = 4;

/// The subtrees of a board, in the order of their cases, then of their prefixes' columns.
pub(crate) struct Subtrees {
    size: BoardSize,
    /// The row at which every subtree begins.
    first_row: usize,
    cases: Vec<Case>,
    subtrees: Vec<Subtree>,
}

/// One unit: the state below a prefix.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    case: usize,
    /// The queens of the first rows, as bits; 0 from row `first_row` on.
    prefix: [u32; MOST_SPLIT_ROWS],
    root: Node,
}

impl Subtrees {
    /// The subtrees of a board on which these queens are given.
    pub(crate) fn new(size: BoardSize, queens: &FixedQueens, split_rows: usize) -> Self {
        let (first_row, cases) = (first_row(size, split_rows), cases_of(size, queens));
        let subtrees = subtrees_of(&cases, first_row).collect();
        Self { size, first_row, cases, subtrees }
    }
}

/// The row at which every subtree begins.
fn first_row(size: BoardSize, split_rows: usize) -> usize {
    debug_assert!(size.rows() >= SMALLEST, "smaller boards are counted whole");
    split_rows.min(size.rows() - 3)
}

/// The subtrees of all cases, in order. Only those of shorter prefixes are in memory.
fn subtrees_of(cases: &[Case], first_row: usize) -> impl Iterator<Item = Subtree> {
    let whole = |(case, Case { first_queen, .. }): (usize, &Case)| {
        let root = Node::top(*first_queen);
        Subtree { case, prefix: [0; MOST_SPLIT_ROWS], root }
    };
    let parts = |row| move |subtree: Subtree| subtree.parts(row, &cases[subtree.case]);
    let mut shorter: Vec<Subtree> = cases.iter().enumerate().map(whole).collect();
    for row in 0..first_row - 1 {
        shorter = shorter.into_iter().flat_map(parts(row)).collect();
    }
    let subtrees = shorter.into_iter().flat_map(parts(first_row - 1));
    subtrees.filter(|subtree| subtree.root.free != 0)
}

impl Subtree {
    /// The subtrees whose prefixes have one more queen, in `row`.
    fn parts(self, row: usize, case: &Case) -> impl Iterator<Item = Self> + use<> {
        let queens = (0..BoardSize::MAX).map(|column| 1 << column);
        let blocked = case.blocked[row + 1];
        queens.filter(move |queen| self.root.free & queen != 0).map(move |queen| {
            let mut longer = self;
            longer.prefix[row] = queen;
            longer.root = self.root.with_queen(queen, blocked);
            longer
        })
    }
}

/// Given queens break the symmetry: then each allowed square of the first row is a case of weight 1.
fn cases_of(size: BoardSize, queens: &FixedQueens) -> Vec<Case> {
    if queens.is_empty() {
        return cases::all(size);
    }
    let allowed = queens.allowed(size);
    let first_queens = (0..size.get()).map(|column| 1 << column);
    first_queens
        .filter(|first_queen| allowed[0] & first_queen != 0)
        .map(|first_queen| Case { first_queen, blocked: allowed.map(|row| !row), weight: 1 })
        .collect()
}

/// The fewest split rows that give each thread at least 30 units, so that the last ones to finish cost
/// little, and that keep units down to seconds up to n = 24, so that progress shows.
pub(crate) fn suited_split_rows(size: BoardSize, threads: usize) -> usize {
    let units = |rows| Subtrees::new(size, &FixedQueens::default(), rows).len();
    let enough = (30 * threads).max(1 << size.get().saturating_sub(10));
    let is_enough = |rows: &usize| size.rows() < SMALLEST || units(*rows) >= enough;
    (1..MOST_SPLIT_ROWS).find(is_enough).unwrap_or(MOST_SPLIT_ROWS)
}

impl Units for Subtrees {
    fn len(&self) -> usize {
        self.subtrees.len()
    }

    fn weight(&self, unit: usize) -> u64 {
        self.cases[self.subtrees[unit].case].weight
    }

    fn domains(&self, unit: usize) -> RowDomains {
        let Subtree { case, prefix, .. } = &self.subtrees[unit];
        let mut domains = RowDomains::whole_board(self.size);
        for (allowed, blocked) in domains.allowed.iter_mut().zip(self.cases[*case].blocked) {
            *allowed &= !blocked;
        }
        domains.allowed[..self.first_row].copy_from_slice(&prefix[..self.first_row]);
        domains
    }

    fn counter(&self, which: WhichCount, kernel: Kernel) -> Box<dyn Counter + '_> {
        Box::new(SubtreesCounter { units: self, which, kernel, levels: Levels::new(self.size) })
    }
}

/// One thread's buffers.
struct SubtreesCounter<'a> {
    units: &'a Subtrees,
    which: WhichCount,
    kernel: Kernel,
    levels: Levels,
}

impl Counter for SubtreesCounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let Subtree { case, root, .. } = self.units.subtrees[unit];
        let blocked = self.units.cases[case].blocked;
        // The second count takes the free squares of every row in the other order.
        let (root, blocked) = match self.which {
            WhichCount::First => (root, blocked),
            WhichCount::Second => mirrored(self.units.size, root, blocked),
        };
        self.levels.count(self.kernel, &blocked, self.units.first_row, root, cancel)
    }
}

/// A node and the forbidden squares of all rows, with the columns in the other order.
fn mirrored(size: BoardSize, root: Node, blocked: Squares) -> (Node, Squares) {
    let mirror = |squares: u32| (squares & size.columns()).reverse_bits() >> (32 - size.get());
    let root = Node {
        columns: mirror(root.columns),
        falling: mirror(root.rising),
        rising: mirror(root.falling),
        free: mirror(root.free),
    };
    (root, blocked.map(|row| mirror(row) | !size.columns()))
}
