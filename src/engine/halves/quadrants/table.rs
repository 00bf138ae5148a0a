//! The raw lists of the row sets of a small board, up to a number of rows.

use super::super::kernel::STAY;
use super::lists::{Added, ColumnSets, Lists, Maker, RowSetLists};

/// The most rows of a row set on boards for which all row sets would take too much memory. For h = 10
/// that is 60 MB, and with this limit 16 MB. Longer lists are made from these in one step.
const MOST_ROWS: u32 = 5;

/// The raw lists of row sets, made once and shared by all threads.
#[derive(Debug)]
pub(super) struct Table {
    most_rows: u32,
    /// By row set, without the middle row. Those with too many rows are empty.
    pub(super) row_sets: Vec<RowSet>,
}

/// The lists of one row set, as in [`RowSetLists`].
#[derive(Debug)]
pub(super) struct RowSet {
    pub(super) words: Vec<u64>,
    pub(super) starts: Vec<u32>,
}

impl Table {
    /// Makes the lists. Some are missing after a cancellation.
    pub(super) fn new(maker: Maker<'_>) -> Self {
        let columns = maker.board.half;
        let most_rows = if columns <= 9 { columns } else { MOST_ROWS };
        let mut table = Self { most_rows, row_sets: Vec::with_capacity(1 << columns) };
        let mut lists = Lists::default();
        lists.make_empty_board();
        table.push(&lists);
        for rows in 1_u32..1 << columns {
            if rows.count_ones() > most_rows {
                table.row_sets.push(RowSet { words: Vec::new(), starts: Vec::new() });
                continue;
            }
            let shorter = table.lists(maker.columns, (rows & (rows - 1)) << 1);
            let added = Added { row: 1 + rows.trailing_zeros(), columns: u32::MAX, avoid: 0 };
            lists.add_row(maker, shorter, rows.count_ones(), added, &STAY, |_| true);
            table.push(&lists);
        }
        table
    }

    /// Keeps a copy without spare memory.
    fn push(&mut self, lists: &Lists) {
        let (words, starts) = (lists.words.as_slice().to_vec(), lists.starts.clone());
        self.row_sets.push(RowSet { words, starts });
    }

    /// Whether it has the lists of these rows.
    pub(super) fn has(&self, rows: u32) -> bool {
        (rows >> 1).count_ones() <= self.most_rows
    }

    /// The lists of these rows, numbered as in [`Wanted`](super::Wanted).
    pub(super) fn lists<'a>(&'a self, columns: &'a ColumnSets, rows: u32) -> RowSetLists<'a> {
        let RowSet { words, starts } = &self.row_sets[(rows >> 1) as usize];
        RowSetLists { words, starts, columns }
    }
}
