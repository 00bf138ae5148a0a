//! The half-boards of one half that a unit counts, group by group.

use std::cmp::Ordering::{self, Equal, Greater};
use std::ops::Range;

use super::half_board::append_half_boards;
use super::quadrants::{QuadrantLists, RowSetCache};
use super::word_list::WordList;
use crate::cancel::Cancel;

/// The half-boards with the same southern columns, as a range of their list.
pub(crate) struct Group {
    pub(crate) south: u32,
    words: Range<usize>,
}

/// The half-boards of one half, those that tie first.
#[derive(Default)]
pub(crate) struct GroupedHalf {
    pub(crate) words: WordList,
    pub(crate) groups: Vec<Group>,
    /// The number of groups that tie.
    pub(crate) ties: usize,
    /// The northern and the southern quadrant lists of its last row set.
    caches: [RowSetCache; 2],
}

impl GroupedHalf {
    /// Makes the half-boards with these outer rows; see [`QuadrantLists::of_half`] for `avoid` and
    /// `middle_columns`. `compare` is given the southern columns of a group: the groups for which it
    /// returns `Equal` tie, and those for which it returns `Less` are not made.
    pub(crate) fn make(
        &mut self,
        quadrants: &QuadrantLists,
        rows: u32,
        avoid: u64,
        middle_columns: u32,
        compare: impl Fn(u32) -> Ordering,
        cancel: &Cancel,
    ) {
        let half = quadrants.board.half;
        let all = (1 << half) - 1;
        let southern = (rows >> half).count_ones() + u32::from(middle_columns > 0);
        let [north, south] =
            quadrants.of_half(rows, avoid, middle_columns, &mut self.caches, cancel);
        self.words.clear();
        self.groups.clear();
        self.ties = 0;
        for wanted in [Equal, Greater] {
            for &columns in quadrants.columns.of_size(southern) {
                if compare(columns) != wanted {
                    continue;
                }
                let start = self.words.len();
                let (north, south) = (north.of(all & !columns), south.of(columns));
                append_half_boards(quadrants.kernel, north, south, &mut self.words, cancel);
                self.groups.push(Group { south: columns, words: start..self.words.len() });
                if cancel.is_cancelled() {
                    return;
                }
            }
            if wanted.is_eq() {
                self.ties = self.groups.len();
            }
        }
    }

    pub(crate) fn words_of(&self, group: &Group) -> &[u64] {
        &self.words.as_slice()[group.words.clone()]
    }

    /// The half-boards that do not tie.
    pub(crate) fn strict(&mut self) -> &mut [u64] {
        let start = self.groups.get(self.ties).map_or(self.words.len(), |group| group.words.start);
        &mut self.words.as_mut_slice()[start..]
    }
}
