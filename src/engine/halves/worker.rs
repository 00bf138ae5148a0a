//! Counts units: makes the half-boards of a unit and joins them.
//!
//! [`units`](super::units) and [`canonical`](super::canonical) explain what a unit counts, and why
//! groups of half-boards may be left out or counted twice. Each worker owns its lists and scratch
//! memory and reuses them, so threads share only the quadrant lists.

use std::cmp::Ordering;

use super::budget::Keep;
use super::canonical::CanonicalRows;
use super::grouped_half::GroupedHalf;
use super::half_board::Half;
use super::join::Join;
use super::kernel::JoinKernel;
use super::quadrants::QuadrantLists;
use super::units::{Unit, UnitList};
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, MemoryUse, Prepared, Worker};
use crate::error::Error;

/// The units with the quadrant lists that all threads share.
pub(crate) struct PreparedHalves<'a> {
    units: &'a UnitList,
    quadrants: QuadrantLists,
    memory: MemoryUse,
}

impl<'a> PreparedHalves<'a> {
    pub(crate) fn new(
        units: &'a UnitList,
        kernel: JoinKernel,
        (keep, memory): (Keep, MemoryUse),
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let quadrants = QuadrantLists::new(kernel, units.board, keep == Keep::Whole, cancel);
        if cancel.is_cancelled() {
            return Err(Error::PreparationStopped);
        }
        Ok(Self { units, quadrants, memory })
    }
}

impl Prepared for PreparedHalves<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(HalvesWorker::new(self))
    }

    fn memory(&self) -> Option<MemoryUse> {
        Some(self.memory)
    }

    fn shared_is_intact(&self) -> bool {
        self.quadrants.is_intact()
    }
}

/// Counts units, with working memory of its own.
pub(crate) struct HalvesWorker<'p> {
    prepared: &'p PreparedHalves<'p>,
    join: Join,
    east: GroupedHalf,
    west: GroupedHalf,
    tie: WordList,
    twice: WordList,
    once: WordList,
}

impl<'p> HalvesWorker<'p> {
    pub(crate) fn new(prepared: &'p PreparedHalves<'p>) -> Self {
        Self {
            prepared,
            join: Join::new(prepared.quadrants.kernel),
            east: GroupedHalf::default(),
            west: GroupedHalf::default(),
            tie: WordList::default(),
            twice: WordList::default(),
            once: WordList::default(),
        }
    }

    /// The join of two lists counts at most the product of their lengths, which fits; the sums of
    /// joins are checked. `None` if they do not fit, or after a cancellation.
    fn count_canonical(&mut self, rows: u32, cancel: &Cancel) -> Option<u64> {
        let board = self.prepared.units.board;
        let canonical = CanonicalRows::new(board.half, rows);
        self.make_halves(rows, cancel);
        if cancel.is_cancelled() {
            return None;
        }
        let mut pairs = 0u64;
        for tie in 0..self.east.ties {
            pairs = pairs.checked_add(self.count_tie(&canonical, Half::East, tie, cancel)?)?;
        }
        for tie in 0..self.west.ties {
            pairs = pairs.checked_add(self.count_tie(&canonical, Half::West, tie, cancel)?)?;
        }
        let (east, west) = (self.east.strict(), self.west.strict());
        let strict = self.join.count(board.field(), east, west, cancel);
        strict.checked_mul(2)?.checked_add(pairs)
    }

    /// Makes the half-boards of both halves that can count in a canonical unit, and returns their
    /// number.
    pub(crate) fn make_halves(&mut self, rows: u32, cancel: &Cancel) -> usize {
        let board = self.prepared.units.board;
        let canonical = CanonicalRows::new(board.half, rows);
        // A queen in the centre blocks the two main diagonals; even boards have none there.
        let centre = if board.gap == 1 { board.word(board.half + 1, board.half - 1) } else { 0 };
        let east = (&mut self.east, Half::East, rows);
        let west = (&mut self.west, Half::West, canonical.complement(rows));
        for (made, half, rows) in [east, west] {
            let compare = |columns| canonical.compare_group(half, columns);
            made.make(&self.prepared.quadrants, rows, centre, 0, compare, cancel);
        }
        self.east.words.len() + self.west.words.len()
    }

    /// Joins one tie group with the groups of the other half that make it count. Pairs of two tie
    /// groups are left to the east.
    fn count_tie(
        &mut self,
        canonical: &CanonicalRows,
        half: Half,
        tie: usize,
        cancel: &Cancel,
    ) -> Option<u64> {
        let (own, other, first_other) = match half {
            Half::East => (&self.east, &self.west, 0),
            Half::West => (&self.west, &self.east, self.east.ties),
        };
        let tie = &own.groups[tie];
        self.twice.clear();
        self.once.clear();
        for group in &other.groups[first_other..] {
            let (south_east, south_west) = match half {
                Half::East => (tie.south, group.south),
                Half::West => (group.south, tie.south),
            };
            if cancel.is_cancelled() {
                return None;
            }
            match canonical.transposed_weight(south_east, south_west) {
                2 => self.twice.extend_from_slice(other.words_of(group)),
                1 => self.once.extend_from_slice(other.words_of(group)),
                _ => {}
            }
        }
        let mut pairs = 0u64;
        for (weight, others) in [(2, &mut self.twice), (1, &mut self.once)] {
            self.tie.clear();
            self.tie.extend_from_slice(own.words_of(tie));
            let (tie, others) = (self.tie.as_mut_slice(), others.as_mut_slice());
            let (east, west) = match half {
                Half::East => (tie, others),
                Half::West => (others, tie),
            };
            let joined = self.join.count(self.prepared.units.board.field(), east, west, cancel);
            pairs = pairs.checked_add(joined.checked_mul(weight)?)?;
        }
        Some(pairs)
    }

    /// Frees the memory of the lists. Freeing gigabytes takes a tenth of a second, and a cancelled count
    /// should end quickly, so each thread frees its own lists.
    fn release(&mut self) {
        self.join.release();
        self.east = GroupedHalf::default();
        self.west = GroupedHalf::default();
        for list in [&mut self.tie, &mut self.twice, &mut self.once] {
            *list = WordList::default();
        }
    }

    fn count_off_centre(&mut self, below: u32, rows: u32, cancel: &Cancel) -> u64 {
        let board = self.prepared.units.board;
        let half = board.half;
        let queen = half + below;
        let blocked = board.word(queen + 1, queen - 1);
        let west_rows = !(rows | 1 << (queen - 1)) & (u32::MAX >> (32 - 2 * half));
        // The queen of the middle row stands nearer to the centre than that of the middle column.
        // It joins the southern rows, which stay the same for many units, in the east.
        let east = (&mut self.east, rows, below - 1);
        let west = (&mut self.west, west_rows, 0);
        for (made, rows, middle_columns) in [east, west] {
            let every_group = |_| Ordering::Greater;
            let quadrants = &self.prepared.quadrants;
            made.make(quadrants, rows, blocked, middle_columns, every_group, cancel);
        }
        if cancel.is_cancelled() {
            return 0;
        }
        self.join.count(board.field(), self.east.strict(), self.west.strict(), cancel)
    }
}

impl Worker for HalvesWorker<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let count = match self.prepared.units.unit(unit) {
            Unit::Canonical { rows } => self.count_canonical(rows, cancel),
            Unit::OffCentre { below, rows } => Some(self.count_off_centre(below, rows, cancel)),
        };
        if cancel.is_cancelled() {
            self.release();
            return Err(Interrupt::Cancelled);
        }
        count.ok_or(Interrupt::Overflow)
    }
}
