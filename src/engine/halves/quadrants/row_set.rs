//! The lists of one row set, made when a unit needs them.

use super::lists::{Lists, Maker, Quadrant, RowSetLists};
use super::whole_table::WholeTable;
use crate::engine::halves::word_list::PIECE;

/// Which lists of a row set are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) quadrant: Quadrant,
    pub(crate) rows: u32,
    /// Only arrangements that use none of these diagonals.
    pub(crate) avoid: u64,
    /// If not 0, the middle row of an odd board is added. Its queen stands in one of this many columns
    /// next to the middle line, so the column sets have one more column.
    pub(crate) middle_columns: u32,
}

/// The lists of one row set, made again when others are wanted.
#[derive(Debug, Default)]
pub(crate) struct RowSetCache {
    made_for: Option<Wanted>,
    lists: Lists,
    raw: RawLists,
}

/// The lists of one row set on the way to the cache, and those of all but its last row.
#[derive(Debug, Default)]
struct RawLists {
    lists: Lists,
    shorter: Lists,
}

impl RowSetCache {
    /// The lists that are wanted. Some are missing after a cancellation.
    pub(super) fn lists<'a>(
        &'a mut self,
        maker: Maker<'a>,
        table: Option<&WholeTable>,
        wanted: Wanted,
    ) -> RowSetLists<'a> {
        if self.made_for != Some(wanted) {
            self.made_for = None;
            self.make(maker, table, wanted);
            // After a cancellation lists are missing, and another count must not use them.
            self.made_for = (!maker.cancel.is_cancelled()).then_some(wanted);
        }
        self.lists.by_columns(maker.columns)
    }

    fn make(&mut self, maker: Maker<'_>, table: Option<&WholeTable>, wanted: Wanted) {
        let Wanted { quadrant, rows, avoid, middle_columns } = wanted;
        let all = match table {
            Some(table) => table.lists(maker.columns, quadrant, rows),
            None => self.raw.make(maker, quadrant, rows),
        };
        let half = maker.board.half;
        let size = rows.count_ones() + u32::from(middle_columns > 0);
        self.lists.make(maker, size, |set, words| {
            if middle_columns == 0 {
                maker.select(all.of(set), avoid, 0, words);
            }
            for column in (0..middle_columns).filter(|column| set >> column & 1 == 1) {
                let square = maker.board.word(half - column, half + column);
                maker.select(all.of(set & !(1 << column)), avoid | square, square, words);
            }
        });
    }
}

impl RawLists {
    /// Makes the lists of one row set from those of its first rows.
    fn make<'a>(&'a mut self, maker: Maker<'a>, quadrant: Quadrant, rows: u32) -> RowSetLists<'a> {
        let board = maker.board;
        self.lists.make_empty_board();
        let chosen = (0..board.half).filter(|row| rows >> row & 1 == 1);
        for (size, row) in (1..).zip(chosen) {
            std::mem::swap(&mut self.lists, &mut self.shorter);
            self.lists.make_longer(maker, &self.shorter, size, row);
        }
        for piece in self.lists.words.as_mut_slice().chunks_mut(PIECE) {
            if maker.cancel.is_cancelled() {
                break;
            }
            for word in piece {
                *word = match quadrant {
                    Quadrant::North => board.north(*word),
                    Quadrant::South => board.south(*word),
                };
            }
        }
        self.lists.by_columns(maker.columns)
    }
}
