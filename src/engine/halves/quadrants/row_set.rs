//! The lists of one row set, made when a unit needs them.

use super::lists::{ColumnSets, Quadrant, RawLists, RowSetLists, select, start};
use super::whole_table::WholeTable;
use crate::cancel::Cancel;
use crate::engine::halves::half_board::HalvedBoard;
use crate::engine::halves::kernel::JoinKernel;
use crate::engine::halves::word_list::{PIECE, WordList};

/// Which lists of a row set are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The quadrant.
    pub(crate) quadrant: Quadrant,
    /// Its rows.
    pub(crate) rows: u32,
    /// Only placements that use none of these diagonals.
    pub(crate) avoid: u64,
    /// If not 0, the middle row of an odd board is added, whose queen stands in one of this many
    /// columns next to the middle line; the column sets then have one more column.
    pub(crate) middle_columns: u32,
}

/// The lists of one row set, remade when other ones are asked for.
#[derive(Debug, Default)]
pub(crate) struct RowSetCache {
    pub(super) made_for: Option<Wanted>,
    pub(super) words: WordList,
    pub(super) starts: Vec<u32>,
    raw: RawRowSet,
}

/// The lists of one row set on the way to the cache.
#[derive(Debug, Default)]
struct RawRowSet {
    lists: RawLists,
    shorter: RawLists,
}

impl RowSetCache {
    /// Makes the lists that are wanted. Some are missing after a cancellation.
    pub(super) fn fill(
        &mut self,
        kernel: JoinKernel,
        board: HalvedBoard,
        columns: &ColumnSets,
        table: Option<&WholeTable>,
        wanted: Wanted,
        cancel: &Cancel,
    ) {
        let Wanted { quadrant, rows, avoid, middle_columns } = wanted;
        let lists = match table {
            Some(table) => table.lists(columns, quadrant, rows),
            None => self.raw.make(kernel, board, columns, quadrant, rows, cancel),
        };
        let (words, starts) = (&mut self.words, &mut self.starts);
        words.clear();
        starts.clear();
        let size = rows.count_ones();
        if middle_columns == 0 {
            for &set in columns.of_size(size) {
                starts.push(start(words.len()));
                if !cancel.is_cancelled() {
                    select(kernel, lists.of(set), avoid, 0, words);
                }
            }
        } else {
            for &set in columns.of_size(size + 1) {
                starts.push(start(words.len()));
                if cancel.is_cancelled() {
                    continue;
                }
                for column in (0..middle_columns).filter(|column| set >> column & 1 == 1) {
                    let square = board.word(board.half - column, board.half + column);
                    let others = lists.of(set & !(1 << column));
                    select(kernel, others, avoid | square, square, words);
                }
            }
        }
        starts.push(start(words.len()));
    }
}

impl RawRowSet {
    /// Makes the lists of one row set from those of its first rows.
    fn make<'a>(
        &'a mut self,
        kernel: JoinKernel,
        board: HalvedBoard,
        columns: &'a ColumnSets,
        quadrant: Quadrant,
        rows: u32,
        cancel: &Cancel,
    ) -> RowSetLists<'a> {
        self.lists.reset_to_empty_board();
        let chosen = (0..board.half).filter(|row| rows >> row & 1 == 1);
        for row in chosen {
            std::mem::swap(&mut self.lists, &mut self.shorter);
            self.lists.extend(kernel, board, columns, &self.shorter, row, cancel);
        }
        for piece in self.lists.words.as_mut_slice().chunks_mut(PIECE) {
            if cancel.is_cancelled() {
                break;
            }
            for word in piece {
                *word = match quadrant {
                    Quadrant::North => board.north(*word),
                    Quadrant::South => board.south(*word),
                };
            }
        }
        RowSetLists { words: self.lists.words.as_slice(), starts: &self.lists.starts, columns }
    }
}
