//! Counts units: makes the half-boards of a unit and joins them.
//!
//! [`units`](super::units) and [`canonical`](super::canonical) explain what a unit counts, and why
//! groups of half-boards may be left out or counted twice. Each worker owns its lists and scratch
//! memory and reuses them, so threads share only what [`PreparedHalves`] holds.

mod paths;

use std::cmp::Ordering;

use super::canonical::CanonicalRows;
use super::grouped_half::GroupedHalf;
use super::half_board::Half;
use super::join::{Group, Join};
use super::off_centre::OffCentre;
use super::prepared::PreparedHalves;
use super::quadrants::{HalfRows, Piece};
use super::units::Unit;
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, UnitEstimate, Worker};

/// Counts units, with working memory of its own.
pub(crate) struct HalvesWorker<'p> {
    prepared: &'p PreparedHalves<'p>,
    pub(crate) join: Join,
    pub(crate) east: GroupedHalf,
    west: GroupedHalf,
    /// The groups that count with a tie group, twice and once.
    twice: Vec<usize>,
    once: Vec<usize>,
    /// What is joined for a tie group.
    tie: WordList,
    others: WordList,
    other_groups: Vec<Group>,
}

impl<'p> HalvesWorker<'p> {
    pub(crate) fn new(prepared: &'p PreparedHalves<'p>) -> Self {
        Self {
            prepared,
            join: Join::new(prepared.quadrants.kernel, prepared.cuts),
            east: GroupedHalf::default(),
            west: GroupedHalf::default(),
            twice: Vec::new(),
            once: Vec::new(),
            tie: WordList::default(),
            others: WordList::default(),
            other_groups: Vec::new(),
        }
    }

    /// The join of two lists counts at most the product of their lengths, which fits; the sums of
    /// joins are checked. `None` if they do not fit, or after a cancellation.
    fn count_canonical(&mut self, rows: u32, cancel: &Cancel) -> Option<u64> {
        let (canonical, north_east) = self.prepared.canonical(rows);
        let [east, west] = self.prepared.pieces.canonical[north_east];
        let mut pairs = 0u64;
        for east in east.each() {
            self.make_half(&canonical, Half::East, east, cancel);
            if self.east.groups.is_empty() {
                continue;
            }
            for west in west.each() {
                self.make_half(&canonical, Half::West, west, cancel);
                if cancel.is_cancelled() {
                    return None;
                }
                let is_small = self.multiply_if_small();
                pairs = pairs.checked_add(self.count_pieces(&canonical, is_small, cancel)?)?;
            }
        }
        Some(pairs)
    }

    /// Joins an east and a west piece of a canonical unit, whose half-boards are made if they are small.
    fn count_pieces(
        &mut self,
        canonical: &CanonicalRows,
        is_small: bool,
        cancel: &Cancel,
    ) -> Option<u64> {
        let mut pairs = 0u64;
        for (half, ties) in [(Half::East, self.east.ties), (Half::West, self.west.ties)] {
            for tie in 0..ties {
                let joined = self.count_tie(canonical, half, tie, is_small, cancel)?;
                pairs = pairs.checked_add(joined)?;
            }
        }
        self.count_strict(is_small, cancel).checked_mul(2)?.checked_add(pairs)
    }

    /// Makes all half-boards of a canonical unit, if they are few, and returns their number.
    pub(crate) fn make_half_boards(&mut self, rows: u32, cancel: &Cancel) -> usize {
        let canonical = CanonicalRows::new(self.prepared.units.board.half, rows);
        self.make_half(&canonical, Half::East, Piece::WHOLE, cancel);
        self.make_half(&canonical, Half::West, Piece::WHOLE, cancel);
        self.multiply_if_small();
        self.east.half_boards() + self.west.half_boards()
    }

    /// Makes all half-boards of two pieces if they are few, and says whether it did.
    fn multiply_if_small(&mut self) -> bool {
        let most_pairs = self.prepared.cuts.small.min(self.prepared.limits.most_pairs);
        let is_small = self.east.pairs() + self.west.pairs() <= most_pairs;
        if is_small {
            let has_ties = self.east.ties + self.west.ties > 0;
            self.east.multiply(self.prepared.quadrants.kernel, has_ties);
            self.west.multiply(self.prepared.quadrants.kernel, has_ties);
        }
        is_small
    }

    /// Joins the half-boards that do not tie.
    fn count_strict(&mut self, is_small: bool, cancel: &Cancel) -> u64 {
        let (bits, most_pairs) = self.prepared.join_limits();
        if is_small {
            let lists = [self.east.strict_half_boards(), self.west.strict_half_boards()];
            return self.join.count_lists(bits, lists, cancel);
        }
        self.join.count(bits, self.east.strict(), self.west.strict(), most_pairs, cancel)
    }

    /// Makes the half-boards of a piece that can count in a canonical unit.
    fn make_half(&mut self, canonical: &CanonicalRows, half: Half, piece: Piece, cancel: &Cancel) {
        let board = self.prepared.units.board;
        let middle_queen = (board.gap == 1).then_some(board.half);
        let made = if half == Half::East { &mut self.east } else { &mut self.west };
        let (rows, deciding_rows) = (canonical.rows_of(half), canonical.rows >> board.half);
        let compare = |columns| canonical.compare_group(half, columns);
        let wanted = HalfRows { half, rows, deciding_rows, middle_queen, middle_columns: 0, piece };
        made.make(&self.prepared.quadrants, wanted, compare, cancel);
    }

    /// Makes the half-boards of a piece of an off-centre unit.
    fn make_off_centre(&mut self, unit: &OffCentre, half: Half, piece: Piece, cancel: &Cancel) {
        let made = if half == Half::East { &mut self.east } else { &mut self.west };
        // Every group counts, whatever the rows.
        let every_group = |_| Ordering::Greater;
        made.make(&self.prepared.quadrants, unit.rows_of(half, piece), every_group, cancel);
    }

    /// Joins one tie group with the groups of the other half that make it count. Pairs of two tie
    /// groups are left to the east.
    fn count_tie(
        &mut self,
        canonical: &CanonicalRows,
        half: Half,
        tie: usize,
        is_small: bool,
        cancel: &Cancel,
    ) -> Option<u64> {
        self.choose_others(canonical, half, tie);
        if cancel.is_cancelled() {
            return None;
        }
        let (bits, most_pairs) = self.prepared.join_limits();
        let [own, other] = match half {
            Half::East => [&mut self.east, &mut self.west],
            Half::West => [&mut self.west, &mut self.east],
        };
        let mut pairs = 0u64;
        for (weight, others) in [(2, &self.twice), (1, &self.once)] {
            let joined = if is_small {
                self.tie.clear();
                self.tie.extend_from_slice(own.half_boards_of(tie));
                self.others.clear();
                for &group in others {
                    self.others.extend_from_slice(other.half_boards_of(group));
                }
                let lists = [self.tie.as_mut_slice(), self.others.as_mut_slice()];
                self.join.count_lists(bits, lists, cancel)
            } else {
                self.other_groups.clear();
                self.other_groups.extend(others.iter().map(|&group| other.groups[group]));
                let tie = [own.groups[tie]];
                let (tie, others) = (own.chosen(&tie), other.chosen(&self.other_groups));
                self.join.count(bits, tie, others, most_pairs, cancel)
            };
            pairs = pairs.checked_add(joined.checked_mul(weight)?)?;
        }
        Some(pairs)
    }

    /// Chooses the groups of the other half that count twice or once with a tie group.
    fn choose_others(&mut self, canonical: &CanonicalRows, half: Half, tie: usize) {
        let first_other = if half == Half::East { 0 } else { self.east.ties };
        let [own, other] = match half {
            Half::East => [&self.east, &self.west],
            Half::West => [&self.west, &self.east],
        };
        let south = own.south[tie];
        self.twice.clear();
        self.once.clear();
        for (group, &other_south) in other.south.iter().enumerate().skip(first_other) {
            let (south_east, south_west) = match half {
                Half::East => (south, other_south),
                Half::West => (other_south, south),
            };
            match canonical.transposed_weight(south_east, south_west) {
                2 => self.twice.push(group),
                1 => self.once.push(group),
                _ => {}
            }
        }
    }

    /// Frees all memory. Freeing gigabytes takes a tenth of a second, and a cancelled count should end
    /// quickly, so each thread frees its own.
    fn release(&mut self) {
        *self = Self::new(self.prepared);
    }

    /// `None` if the sum does not fit, or after a cancellation.
    fn count_off_centre(&mut self, below: u32, rows: u32, cancel: &Cancel) -> Option<u64> {
        let (unit, north_east) = self.prepared.off_centre(below, rows);
        let [east, west] = self.prepared.pieces.off_centre[north_east];
        let mut pairs = 0u64;
        for piece in east.each() {
            self.make_off_centre(&unit, Half::East, piece, cancel);
            if self.east.groups.is_empty() {
                continue;
            }
            for piece in west.each() {
                self.make_off_centre(&unit, Half::West, piece, cancel);
                if cancel.is_cancelled() {
                    return None;
                }
                let is_small = self.multiply_if_small();
                let joined = self.count_strict(is_small, cancel);
                pairs = pairs.checked_add(joined)?;
            }
        }
        Some(pairs)
    }
}

impl Worker for HalvesWorker<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let count = match self.prepared.units.unit(unit) {
            Unit::Canonical { rows } => self.count_canonical(rows, cancel),
            Unit::OffCentre { below, rows } => self.count_off_centre(below, rows, cancel),
        };
        if cancel.is_cancelled() {
            self.release();
            return Err(Interrupt::Cancelled);
        }
        count.ok_or(Interrupt::Overflow)
    }

    fn deepest(&self) -> usize {
        1
    }

    fn sample(
        &mut self,
        unit: usize,
        _depth: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Result<UnitEstimate, Interrupt> {
        let estimate = self.sample_paths(self.prepared.units.unit(unit), random, cancel);
        if cancel.is_cancelled() {
            self.release();
            return Err(Interrupt::Cancelled);
        }
        estimate.ok_or(Interrupt::Overflow)
    }
}
