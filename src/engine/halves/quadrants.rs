//! The lists of quadrants that half-boards are made of.
//!
//! **Idea.** The lists grow by rows: the list of (R + row r, C) consists of the lists of (R, C - c)
//! for all c in C, each without the words that attack the square (r, c). The same step adds the
//! middle row of an odd board to the southern rows of its east half.
//!
//! **Time and memory:** about nine times as many words for each step of h: 0.8 M for h = 9, 7.5 M
//! for 10, 67 M for 11, in two coordinates of 8 bytes each; 4 to 8 ns a word. Above a limit only
//! the lists of the row sets of the current unit are made ([`RowSetCache`]). The units come in the
//! order of their southern rows, so two of the four row sets usually stay the same.
//!
//! **Invariants:** the lists of the north and of the south have the same starts, since both turn
//! the same arrangements into words.

mod lists;
mod row_set;
mod whole_table;

use super::half_board::HalvedBoard;
use super::kernel::JoinKernel;
use crate::cancel::Cancel;
use lists::{ColumnSets, Maker, Quadrant, RowSetLists, hash_words};
pub(crate) use row_set::RowSetCache;
use row_set::Wanted;
use whole_table::WholeTable;

/// What the units of a plan share: the column sets and, if they fit, all quadrant lists.
#[derive(Debug)]
pub(crate) struct QuadrantLists {
    pub(crate) kernel: JoinKernel,
    pub(crate) board: HalvedBoard,
    pub(crate) columns: ColumnSets,
    table: Option<WholeTable>,
    /// The CRC-32 of both when they were made.
    checksum: u32,
}

impl QuadrantLists {
    /// Makes the column sets and, if `whole`, all quadrant lists. After a cancellation they are
    /// unusable.
    pub(crate) fn new(
        kernel: JoinKernel,
        board: HalvedBoard,
        whole: bool,
        cancel: &Cancel,
    ) -> Self {
        let columns = ColumnSets::new(board.half);
        let maker = Maker { kernel, board, columns: &columns, cancel };
        let table = whole.then(|| WholeTable::new(maker));
        let mut quadrants = Self { kernel, board, columns, table, checksum: 0 };
        quadrants.checksum = quadrants.checksum_now(cancel);
        quadrants
    }

    /// Whether the lists that all threads read are still as they were made: a bit that changed in
    /// them would spoil every later unit.
    pub(crate) fn is_intact(&self) -> bool {
        self.checksum_now(&Cancel::new()) == self.checksum
    }

    /// The CRC-32 of the lists as they are now, or of some of them after a cancellation.
    fn checksum_now(&self, cancel: &Cancel) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        if let Some(table) = &self.table {
            table.hash(&mut hasher, cancel);
        }
        hash_words(&mut hasher, &self.columns.rank, u32::to_le_bytes);
        for sets in &self.columns.by_size {
            hash_words(&mut hasher, sets, u32::to_le_bytes);
        }
        hasher.finalize()
    }

    /// The lists of the northern and the southern quadrant of a half with these outer rows, without
    /// the words that use a diagonal of `avoid`. If `middle_columns` is not 0, the middle row of an
    /// odd board joins the south; see [`Wanted`]. Some lists are missing after a cancellation.
    pub(crate) fn of_half<'a>(
        &'a self,
        rows: u32,
        avoid: u64,
        middle_columns: u32,
        caches: &'a mut [RowSetCache; 2],
        cancel: &'a Cancel,
    ) -> [RowSetLists<'a>; 2] {
        let half = self.board.half;
        let (north, south) = (rows & ((1 << half) - 1), rows >> half);
        let wanted = [
            Wanted { quadrant: Quadrant::North, rows: north, avoid, middle_columns: 0 },
            Wanted { quadrant: Quadrant::South, rows: south, avoid, middle_columns },
        ];
        let [north, south] = caches;
        [self.lists(wanted[0], north, cancel), self.lists(wanted[1], south, cancel)]
    }

    /// The lists of one row set: from the table if it has them as they are, else from the cache.
    fn lists<'a>(
        &'a self,
        wanted: Wanted,
        cache: &'a mut RowSetCache,
        cancel: &'a Cancel,
    ) -> RowSetLists<'a> {
        if let (Some(table), 0, 0) = (&self.table, wanted.avoid, wanted.middle_columns) {
            return table.lists(&self.columns, wanted.quadrant, wanted.rows);
        }
        let Self { kernel, board, columns, table, .. } = self;
        let maker = Maker { kernel: *kernel, board: *board, columns, cancel };
        cache.lists(maker, table.as_ref(), wanted)
    }
}

#[cfg(test)]
mod tests;
