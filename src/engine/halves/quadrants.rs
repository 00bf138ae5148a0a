//! The lists of quadrants that half-boards are made of.
//!
//! **Idea.** The lists grow by rows, from the highest row down: the list of (R + row r, C) consists of
//! the lists of (R, C - c) for all c in C, each without the words that attack the square (r, c). The
//! lists of every prefix of the rows are kept, and the next row set uses those of the longest prefix
//! that it shares with the last one. The units come in the order of their southern rows, and their
//! northern row sets in increasing order (in the west in decreasing order). So the southern lists
//! usually stay the same, and of the northern ones only the last one or two steps are made again.
//!
//! These lists are *raw*: their words have the coordinates of the quadrant. The last step moves their
//! diagonals to the places that they have in the join. On odd boards the middle row is added as the
//! lowest of the southern rows, and no step keeps what the queen of the middle column attacks.
//!
//! **Time:** 2 to 4 ns a word, mostly for the starts of short lists. On small boards this is much of
//! the time of a unit, so the raw lists of all row sets, or of short ones, are made once, and all
//! threads read them ([`Table`]).
//!
//! **Memory:** about nine times as many words for each step of h, 8 bytes each; see [`pieces`].
//!
//! **Invariants:** only [`Table`] and the column sets are shared by threads.

mod lists;
pub(crate) mod pieces;
mod raw;
mod row_set;

use super::half_board::{Half, HalvedBoard, Quadrant};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
pub(crate) use lists::WordsLeft;
use lists::{ColumnSets, Maker, RowSetLists};
pub(crate) use pieces::Piece;
use raw::Table;
pub(crate) use row_set::HalfCache;
use row_set::Wanted;

/// What the units of a plan share: the column sets and, on small boards, the raw lists.
#[derive(Debug)]
pub(crate) struct QuadrantLists {
    pub(crate) kernel: Kernel,
    pub(crate) board: HalvedBoard,
    pub(crate) columns: ColumnSets,
    /// Words that are moved at once.
    batch: usize,
    table: Option<Table>,
}

/// The rows of a half, and the queens that it shares a board with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfRows {
    pub(crate) half: Half,
    /// Its outer rows.
    pub(crate) rows: u32,
    /// The rows on which it depends which groups count.
    pub(crate) deciding_rows: u32,
    /// The row of the middle column's queen, on odd boards: no queen stands on its diagonals.
    pub(crate) middle_queen: Option<u32>,
    /// If not 0, the middle row of an odd board joins the south. Its queen stands in one of this many
    /// columns next to the middle line, so the column sets of the south have one more column.
    pub(crate) middle_columns: u32,
    /// The half-boards that are wanted.
    pub(crate) piece: Piece,
    /// The quadrant whose row sets return after a [`TILE`](super::units::TILE) of units.
    pub(crate) returning: Option<Quadrant>,
}

impl HalfRows {
    /// The numbers of rows of the northern and of the southern quadrant.
    pub(crate) fn rows_of_quadrants(&self, half: u32) -> [u32; 2] {
        let southern = (self.rows >> half).count_ones() + u32::from(self.middle_columns > 0);
        [(self.rows & ((1 << half) - 1)).count_ones(), southern]
    }
}

impl QuadrantLists {
    /// Makes the column sets and, if `with_table`, the raw lists that threads share. After a
    /// cancellation they are unusable.
    pub(crate) fn new(
        kernel: Kernel,
        board: HalvedBoard,
        batch: usize,
        with_table: bool,
        cancel: &Cancel,
    ) -> Self {
        let columns = ColumnSets::new(board.half);
        let left = WordsLeft::unlimited();
        let maker = Maker { kernel, board, columns: &columns, batch, left: &left, cancel };
        let table = with_table.then(|| Table::new(maker));
        Self { kernel, board, columns, batch, table }
    }

    /// The lists of the northern and the southern quadrant of a half, for the column sets of the south
    /// that are wanted; others may be empty. Which ones are wanted must depend on the half and its
    /// deciding rows alone. Some are missing after a cancellation, or if no words are left.
    pub(crate) fn of_half<'a>(
        &'a self,
        wanted: HalfRows,
        is_wanted: impl Fn(u32) -> bool,
        cache: &'a mut HalfCache,
        left: &'a WordsLeft,
        cancel: &'a Cancel,
    ) -> [RowSetLists<'a>; 2] {
        let Self { kernel, board, columns, batch, table } = self;
        let maker = Maker { kernel: *kernel, board: *board, columns, batch: *batch, left, cancel };
        let HalfRows { half, rows, deciding_rows, middle_queen, middle_columns, piece, returning } =
            wanted;
        let avoid = |quadrant| match middle_queen {
            Some(row) => board.raw_middle_column(quadrant, row),
            None => 0,
        };
        let all = (1 << board.half) - 1;
        let northern = (rows & all) << 1;
        let southern = (rows >> board.half) << 1 | u32::from(middle_columns > 0);
        let is_north_larger = northern.count_ones() >= southern.count_ones();
        let of_quadrant = |quadrant, rows, middle_columns, is_larger| Wanted {
            quadrant,
            half,
            rows,
            avoid: avoid(quadrant),
            deciding_rows,
            middle_columns,
            piece: if is_larger { piece } else { Piece::WHOLE },
            returns: returning == Some(quadrant),
        };
        let north = of_quadrant(Quadrant::North, northern, 0, is_north_larger);
        let south = of_quadrant(Quadrant::South, southern, middle_columns, !is_north_larger);
        let is_wanted = |quadrant, columns: u32| match quadrant {
            Quadrant::North => is_wanted(all & !columns),
            Quadrant::South => is_wanted(columns),
        };
        cache.lists(maker, table.as_ref(), [north, south], is_wanted)
    }
}

#[cfg(test)]
mod tests;
