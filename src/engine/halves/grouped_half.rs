//! The half-boards of one half that a unit counts, group by group.

use std::cmp::Ordering;

use super::group::{Group, all_pairs};
use super::join::Factored;
use super::quadrants::{HalfCache, HalfRows, QuadrantLists, WordsLeft};
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;

/// The half-boards of one half as factored lists, those that tie first.
#[derive(Default)]
pub(crate) struct GroupedHalf {
    pub(crate) groups: Vec<Group>,
    /// The southern columns of each group.
    pub(crate) south: Vec<u32>,
    /// The number of groups that tie.
    pub(crate) ties: usize,
    /// The quadrant lists of its last row set.
    cache: HalfCache,
    words_left: WordsLeft,
    /// The half-boards, if they were made, and where those of each group end.
    half_boards: WordList,
    ends: Vec<usize>,
}

impl GroupedHalf {
    /// Makes the quadrant lists of these rows, with at most this many words, and the groups of their
    /// half-boards. `compare` is given the southern columns of a group: the groups for which it returns
    /// `Equal` tie, and those for which it returns `Less` are left out.
    pub(crate) fn make(
        &mut self,
        quadrants: &QuadrantLists,
        wanted: HalfRows,
        most_words: u64,
        compare: impl Fn(u32) -> Ordering,
        cancel: &Cancel,
    ) {
        let half = quadrants.board.half;
        let all = (1 << half) - 1;
        let [northern, southern] = wanted.rows_of_quadrants(half);
        self.words_left.set(most_words, self.cache.words_in_use(northern.max(southern)));
        let is_wanted = |columns| compare(columns).is_ge();
        let [north, south] =
            quadrants.of_half(wanted, is_wanted, &mut self.cache, &self.words_left, cancel);
        let sets = quadrants.columns.of_size(southern);
        self.groups.resize(sets.len(), Group::default());
        self.south.resize(sets.len(), 0);
        self.ties = 0;
        // Each group is written and then kept or not, since a branch on it would often be mispredicted.
        let mut kept = 0;
        for &columns in sets {
            let comparison = compare(columns);
            let (northern, southern) = (north.range(all & !columns), south.range(columns));
            let group = Group {
                north: northern.start,
                north_len: northern.end - northern.start,
                south: southern.start,
                south_len: southern.end - southern.start,
            };
            self.groups[kept] = group;
            self.south[kept] = columns;
            let is_kept = comparison.is_ge() & (group.pairs() > 0);
            if is_kept & comparison.is_eq() {
                self.groups.swap(self.ties, kept);
                self.south.swap(self.ties, kept);
                self.ties += 1;
            }
            kept += usize::from(is_kept);
        }
        self.groups.truncate(kept);
        self.south.truncate(kept);
    }

    /// Whether the lists had too many words and were not finished.
    pub(crate) fn is_too_long(&self) -> bool {
        self.words_left.is_overdrawn()
    }

    /// The pairs of words of all groups.
    pub(crate) fn pairs(&self) -> u64 {
        all_pairs(&self.groups)
    }

    /// Makes the half-boards of all groups: of one group after the other if they are wanted by group,
    /// or else all at once, which is faster.
    pub(crate) fn multiply(&mut self, kernel: Kernel, by_group: bool) {
        let lists = self.cache.words().map(|words| &*words);
        self.half_boards.clear();
        self.ends.clear();
        if !by_group {
            let room = self.half_boards.room(all_pairs(&self.groups) as usize);
            let made = kernel.multiply(lists, &self.groups, room);
            self.half_boards.grow(made);
            return;
        }
        for group in &self.groups {
            let room = self.half_boards.room(group.pairs() as usize);
            let made = kernel.multiply(lists, std::slice::from_ref(group), room);
            self.half_boards.grow(made);
            self.ends.push(self.half_boards.len());
        }
    }

    /// The half-boards of a group, if they were made.
    pub(crate) fn half_boards_of(&self, group: usize) -> &[u64] {
        &self.half_boards.as_slice()[self.start_of(group)..self.ends[group]]
    }

    /// The half-boards that do not tie, if they were made.
    pub(crate) fn strict_half_boards(&mut self) -> &mut [u64] {
        let start = self.start_of(self.ties);
        &mut self.half_boards.as_mut_slice()[start..]
    }

    fn start_of(&self, group: usize) -> usize {
        group.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The half-boards that do not tie.
    pub(crate) fn strict(&mut self) -> Factored<'_> {
        Factored { lists: self.cache.words(), groups: &self.groups[self.ties..] }
    }

    /// The half-boards of some groups.
    pub(crate) fn chosen<'a>(&'a mut self, groups: &'a [Group]) -> Factored<'a> {
        Factored { lists: self.cache.words(), groups }
    }
}
