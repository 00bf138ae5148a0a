//! Counts units: makes the half-boards of a unit and joins them.
//!
//! What a unit counts, and why groups of half-boards may be left out or counted twice, is explained
//! in [`units`](super::units) and [`canonical`](super::canonical). A worker owns its lists and scratch and reuses them, so
//! that threads share nothing but the quadrant lists.

use std::cmp::Ordering::{Equal, Greater};

use super::budget::Keep;
use super::canonical::CanonicalRows;
use super::half_board::{Half, append_half_boards};
use super::join::Join;
use super::kernel::JoinKernel;
use super::quadrants::{QuadrantLists, RowSetCache};
use super::units::{Unit, UnitList};
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, MemoryUse, Prepared, Worker};
use crate::error::Error;

/// The units with the quadrant lists that all threads share.
pub(crate) struct PreparedHalves<'a> {
    units: &'a UnitList,
    kernel: JoinKernel,
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
        let quadrants = QuadrantLists::new(kernel, units.board(), keep == Keep::Whole, cancel);
        if cancel.is_cancelled() {
            return Err(Error::PreparationStopped);
        }
        Ok(Self { units, kernel, quadrants, memory })
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

/// A group of half-boards with the same southern columns, as a range of its list.
#[derive(Clone, Copy)]
struct Group {
    south: u32,
    start: usize,
    end: usize,
}

/// The half-boards of one half, those that tie first.
#[derive(Default)]
struct GroupedHalf {
    words: WordList,
    groups: Vec<Group>,
    /// How many groups tie.
    ties: usize,
    /// The northern and the southern quadrant lists of its last row set.
    caches: [RowSetCache; 2],
}

/// Counts units, with working memory of its own.
pub(crate) struct HalvesWorker<'p> {
    prepared: &'p PreparedHalves<'p>,
    kernel: JoinKernel,
    join: Join,
    east: GroupedHalf,
    west: GroupedHalf,
    tie: WordList,
    twice: WordList,
    once: WordList,
}

impl<'p> HalvesWorker<'p> {
    pub(crate) fn new(prepared: &'p PreparedHalves<'p>) -> Self {
        let kernel = prepared.kernel;
        Self {
            prepared,
            kernel,
            join: Join::new(kernel),
            east: GroupedHalf::default(),
            west: GroupedHalf::default(),
            tie: WordList::new(),
            twice: WordList::new(),
            once: WordList::new(),
        }
    }

    /// The join of two lists counts at most the product of their lengths, which fits; the sums of
    /// joins are checked. `None` if they do not fit, or after a cancellation.
    fn count_canonical(&mut self, rows: u32, cancel: &Cancel) -> Option<u64> {
        let board = self.prepared.units.board();
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

    /// Makes the half-boards of both halves that can count; returns how many there are.
    pub(crate) fn make_halves(&mut self, rows: u32, cancel: &Cancel) -> usize {
        let canonical = CanonicalRows::new(self.prepared.units.board().half, rows);
        self.make_half(&canonical, Half::East, cancel);
        self.make_half(&canonical, Half::West, cancel);
        self.east.words.len() + self.west.words.len()
    }

    /// Makes the half-boards of one half that can count, those that tie first.
    fn make_half(&mut self, canonical: &CanonicalRows, half: Half, cancel: &Cancel) {
        let board = self.prepared.units.board();
        let all = (1 << board.half) - 1;
        let rows = match half {
            Half::East => canonical.rows,
            Half::West => canonical.complement(canonical.rows),
        };
        let made = match half {
            Half::East => &mut self.east,
            Half::West => &mut self.west,
        };
        // A queen in the centre blocks the two main diagonals; even boards have none there.
        let centre = if board.gap == 1 { board.word(board.half + 1, board.half - 1) } else { 0 };
        let quadrants = &self.prepared.quadrants;
        let [north, south] = quadrants.of_half(rows, centre, 0, &mut made.caches, cancel);
        made.words.clear();
        made.groups.clear();
        made.ties = 0;
        for wanted in [Equal, Greater] {
            for &columns in quadrants.columns().of_size((rows >> board.half).count_ones()) {
                if canonical.compare_group(half, columns) != wanted {
                    continue;
                }
                let start = made.words.len();
                let (north, south) = (north.of(all & !columns), south.of(columns));
                append_half_boards(self.kernel, north, south, &mut made.words, cancel);
                made.groups.push(Group { south: columns, start, end: made.words.len() });
                if cancel.is_cancelled() {
                    return;
                }
            }
            if wanted.is_eq() {
                made.ties = made.groups.len();
            }
        }
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
        let tie = own.groups[tie];
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
            let words = &other.words.as_slice()[group.start..group.end];
            match canonical.transposed_weight(south_east, south_west) {
                2 => self.twice.extend_from_slice(words),
                1 => self.once.extend_from_slice(words),
                _ => {}
            }
        }
        let mut pairs = 0u64;
        for (weight, others) in [(2, &mut self.twice), (1, &mut self.once)] {
            self.tie.clear();
            self.tie.extend_from_slice(&own.words.as_slice()[tie.start..tie.end]);
            let (tie, others) = (self.tie.as_mut_slice(), others.as_mut_slice());
            let (east, west) = match half {
                Half::East => (tie, others),
                Half::West => (others, tie),
            };
            let joined = self.join.count(self.prepared.units.board().field(), east, west, cancel);
            pairs = pairs.checked_add(joined.checked_mul(weight)?)?;
        }
        Some(pairs)
    }

    /// Gives the memory of the lists back. Gigabytes take a tenth of a second, and after a
    /// cancellation somebody waits: each thread frees its own, instead of one thread all of it.
    fn release(&mut self) {
        self.join.release();
        self.east = GroupedHalf::default();
        self.west = GroupedHalf::default();
        for list in [&mut self.tie, &mut self.twice, &mut self.once] {
            *list = WordList::new();
        }
    }

    fn count_off_centre(&mut self, below: u32, rows: u32, cancel: &Cancel) -> u64 {
        let board = self.prepared.units.board();
        let half = board.half;
        let all = (1 << half) - 1;
        let queen = half + below;
        let blocked = board.word(queen + 1, queen - 1);
        let west_rows = !(rows | 1 << (queen - 1)) & (u32::MAX >> (32 - 2 * half));
        // The queen of the middle row stands nearer to the centre than that of the middle column.
        // It joins the southern rows, which stay the same for many units, in the east.
        let east = (&mut self.east, rows, below - 1);
        let west = (&mut self.west, west_rows, 0);
        for (made, rows, middle_columns) in [east, west] {
            let quadrants = &self.prepared.quadrants;
            let caches = &mut made.caches;
            let [north, south] = quadrants.of_half(rows, blocked, middle_columns, caches, cancel);
            made.words.clear();
            let southern = (rows >> half).count_ones() + u32::from(middle_columns > 0);
            for &columns in quadrants.columns().of_size(southern) {
                let (north, south) = (north.of(all & !columns), south.of(columns));
                append_half_boards(self.kernel, north, south, &mut made.words, cancel);
                if cancel.is_cancelled() {
                    return 0;
                }
            }
        }
        let (east, west) = (self.east.words.as_mut_slice(), self.west.words.as_mut_slice());
        self.join.count(board.field(), east, west, cancel)
    }
}

impl GroupedHalf {
    /// The half-boards that do not tie.
    fn strict(&mut self) -> &mut [u64] {
        let start = self.groups.get(self.ties).map_or(self.words.len(), |group| group.start);
        &mut self.words.as_mut_slice()[start..]
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
