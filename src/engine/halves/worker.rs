//! Counts units: makes the half-boards of a unit and joins them.
//!
//! The meaning of a unit, and why the groups of half-boards may be left out or counted twice, is
//! told in [`units`](super::units). A worker owns its lists and scratch and reuses them, so
//! that threads share nothing but the quadrant lists.

use std::cmp::Ordering::{Equal, Greater};

use super::HalvesFor;
use super::fold::Fold;
use super::half_board::append_half_boards;
use super::join::Join;
use super::kernel::Lanes;
use super::quadrants::{RowSetCache, Side, Wanted};
use super::units::Unit;
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::{Interrupt, Worker};

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
}

/// Counts units, with working memory of its own.
pub(crate) struct HalvesWorker<'p, K: Lanes> {
    prepared: &'p HalvesFor<'p, K>,
    kernel: K,
    join: Join<K>,
    east: GroupedHalf,
    west: GroupedHalf,
    tie: WordList,
    twice: WordList,
    once: WordList,
    caches: [RowSetCache; 4],
}

impl<'p, K: Lanes> HalvesWorker<'p, K> {
    pub(crate) fn new(prepared: &'p HalvesFor<'p, K>) -> Self {
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
            caches: Default::default(),
        }
    }

    /// The join of two lists counts at most the product of their lengths, which fits; the sums of
    /// joins are checked. `None` if they do not fit, or after a cancellation.
    fn count_folded(&mut self, rows: u32, cancel: &Cancel) -> Option<u64> {
        let board = self.prepared.units.board();
        let fold = Fold::new(board.half, rows);
        self.make_halves(rows, cancel);
        if cancel.is_cancelled() {
            return None;
        }
        let mut pairs = 0u64;
        for tie in 0..self.east.ties {
            pairs = pairs.checked_add(self.count_tie(&fold, true, tie, cancel)?)?;
        }
        for tie in 0..self.west.ties {
            pairs = pairs.checked_add(self.count_tie(&fold, false, tie, cancel)?)?;
        }
        let (east, west) = (self.east.strict(), self.west.strict());
        let strict = self.join.count(board.field(), east, west, cancel);
        strict.checked_mul(2)?.checked_add(pairs)
    }

    /// Makes the half-boards of both halves that can count; returns how many there are.
    pub(crate) fn make_halves(&mut self, rows: u32, cancel: &Cancel) -> usize {
        let fold = Fold::new(self.prepared.units.board().half, rows);
        self.make_half(&fold, true, cancel);
        self.make_half(&fold, false, cancel);
        self.east.words.len() + self.west.words.len()
    }

    /// Makes the half-boards of one half that can count, those that tie first.
    fn make_half(&mut self, fold: &Fold, is_east: bool, cancel: &Cancel) {
        let board = self.prepared.units.board();
        let all = (1 << board.half) - 1;
        let rows = if is_east { fold.rows } else { fold.complement(fold.rows) };
        let (north_rows, south_rows) = (rows & all, rows >> board.half);
        let half = if is_east { &mut self.east } else { &mut self.west };
        let quadrants = &self.prepared.quadrants;
        let [a, b, c, d] = &mut self.caches;
        let (north_cache, south_cache) = if is_east { (a, b) } else { (c, d) };
        // A queen in the centre blocks the two main diagonals; even boards have none there.
        let centre = if board.gap == 1 { board.word(board.half + 1, board.half - 1) } else { 0 };
        let wanted = |side, rows| Wanted { side, rows, avoid: centre, middle_columns: 0 };
        let north = wanted(Side::North, north_rows);
        let north = quadrants.lists(self.kernel, north, north_cache, cancel);
        let south = wanted(Side::South, south_rows);
        let south = quadrants.lists(self.kernel, south, south_cache, cancel);
        half.words.clear();
        half.groups.clear();
        half.ties = 0;
        for wanted in [Equal, Greater] {
            for &columns in quadrants.columns().of_size(south_rows.count_ones()) {
                if fold.compare_group(is_east, columns) != wanted {
                    continue;
                }
                let start = half.words.len();
                let (north, south) = (north.of(all & !columns), south.of(columns));
                append_half_boards(self.kernel, north, south, &mut half.words, cancel);
                half.groups.push(Group { south: columns, start, end: half.words.len() });
                if cancel.is_cancelled() {
                    return;
                }
            }
            if wanted.is_eq() {
                half.ties = half.groups.len();
            }
        }
    }

    /// Joins one tie group with the groups of the other half that make it count. Pairs of two tie
    /// groups are left to the east.
    fn count_tie(
        &mut self,
        fold: &Fold,
        is_east: bool,
        tie: usize,
        cancel: &Cancel,
    ) -> Option<u64> {
        let (own, other) =
            if is_east { (&self.east, &self.west) } else { (&self.west, &self.east) };
        let tie = own.groups[tie];
        let first_other = if is_east { 0 } else { other.ties };
        self.twice.clear();
        self.once.clear();
        for group in &other.groups[first_other..] {
            let (south_east, south_west) =
                if is_east { (tie.south, group.south) } else { (group.south, tie.south) };
            if cancel.is_cancelled() {
                return None;
            }
            let words = &other.words.as_slice()[group.start..group.end];
            match fold.transposed_weight(south_east, south_west) {
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
            let (east, west) = if is_east { (tie, others) } else { (others, tie) };
            let joined = self.join.count(self.prepared.units.board().field(), east, west, cancel);
            pairs = pairs.checked_add(joined.checked_mul(weight)?)?;
        }
        Some(pairs)
    }

    /// Gives the memory of the lists back. Gigabytes take a tenth of a second, and after a
    /// cancellation somebody waits: every thread frees its own, instead of the last one all.
    fn release(&mut self) {
        self.join.release();
        self.east = GroupedHalf::default();
        self.west = GroupedHalf::default();
        for list in [&mut self.tie, &mut self.twice, &mut self.once] {
            *list = WordList::new();
        }
        self.caches = Default::default();
    }

    fn count_corner(&mut self, below: u32, rows: u32, cancel: &Cancel) -> u64 {
        let board = self.prepared.units.board();
        let half = board.half;
        let all = (1 << half) - 1;
        let queen = half + below;
        let blocked = board.word(queen + 1, queen - 1);
        let west_rows = !(rows | 1 << (queen - 1)) & (u32::MAX >> (32 - 2 * half));
        // The queen of the middle row stands nearer to the centre than that of the middle column.
        // It joins the southern rows, which stay the same for many units, in the east.
        let east_side = (&mut self.east.words, rows, below - 1);
        let west_side = (&mut self.west.words, west_rows, 0);
        let caches = self.caches.as_chunks_mut::<2>().0;
        for ((words, rows, middle_columns), caches) in
            [east_side, west_side].into_iter().zip(caches)
        {
            let [north_cache, south_cache] = caches;
            let quadrants = &self.prepared.quadrants;
            let (side, rows, south_rows) = (Side::North, rows & all, rows >> half);
            let north = Wanted { side, rows, avoid: blocked, middle_columns: 0 };
            let north = quadrants.lists(self.kernel, north, north_cache, cancel);
            let (side, rows) = (Side::South, south_rows);
            let south = Wanted { side, rows, avoid: blocked, middle_columns };
            let south = quadrants.lists(self.kernel, south, south_cache, cancel);
            words.clear();
            let southern = south_rows.count_ones() + u32::from(middle_columns > 0);
            for &columns in quadrants.columns().of_size(southern) {
                let (north, south) = (north.of(all & !columns), south.of(columns));
                append_half_boards(self.kernel, north, south, words, cancel);
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

impl<K: Lanes> Worker for HalvesWorker<'_, K> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let count = match self.prepared.units.unit(unit) {
            Unit::Folded { rows } => self.count_folded(rows, cancel),
            Unit::Corner { below, rows } => Some(self.count_corner(below, rows, cancel)),
        };
        if cancel.is_cancelled() {
            self.release();
            return Err(Interrupt::Cancelled);
        }
        count.ok_or(Interrupt::Overflow)
    }
}
