//! The half-boards of one half that a unit counts, group by group.

use std::cmp::Ordering::{self, Equal, Greater};

use super::join::{Factored, Group, all_pairs};
use super::kernel::JoinKernel;
use super::quadrants::{HalfCache, HalfRows, QuadrantLists};
use super::word_list::WordList;
use crate::cancel::Cancel;

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
    /// The half-boards, if they were made, and where those of each group end.
    half_boards: WordList,
    ends: Vec<usize>,
}

impl GroupedHalf {
    /// Makes the quadrant lists of these rows, and the groups of their half-boards. `compare` is given
    /// the southern columns of a group: the groups for which it returns `Equal` tie, and those for
    /// which it returns `Less` are left out.
    pub(crate) fn make(
        &mut self,
        quadrants: &QuadrantLists,
        wanted: HalfRows,
        compare: impl Fn(u32) -> Ordering,
        cancel: &Cancel,
    ) {
        let half = quadrants.board.half;
        let all = (1 << half) - 1;
        let HalfRows { rows, middle_columns, .. } = wanted;
        let southern = (rows >> half).count_ones() + u32::from(middle_columns > 0);
        let is_wanted = |columns| compare(columns).is_ge();
        let [north, south] = quadrants.of_half(wanted, is_wanted, &mut self.cache, cancel);
        self.groups.clear();
        self.south.clear();
        for wanted in [Equal, Greater] {
            for &columns in quadrants.columns.of_size(southern) {
                if compare(columns) != wanted {
                    continue;
                }
                let (northern, southern) = (north.range(all & !columns), south.range(columns));
                let group = Group {
                    north: northern.start,
                    north_len: northern.end - northern.start,
                    south: southern.start,
                    south_len: southern.end - southern.start,
                };
                if group.pairs() > 0 {
                    self.groups.push(group);
                    self.south.push(columns);
                }
            }
            if wanted.is_eq() {
                self.ties = self.groups.len();
            }
        }
    }

    /// The pairs of words of all groups.
    pub(crate) fn pairs(&self) -> u64 {
        all_pairs(&self.groups)
    }

    /// Makes the half-boards of all groups: of one group after the other if they are wanted by group,
    /// or else all at once, which is faster.
    pub(crate) fn multiply(&mut self, kernel: JoinKernel, by_group: bool) {
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

    /// The number of half-boards that were made.
    pub(crate) fn half_boards(&self) -> usize {
        self.half_boards.len()
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
