//! The raw lists that the lists of a row set are made from: those of the prefixes of its rows, which each
//! thread makes and keeps, or on small boards those of a [`Table`] that all threads share.

use super::super::kernel::STAY;
use super::lists::{Added, ColumnSets, Lists, Maker, RowSetLists};
use super::pieces::Piece;

/// The lists of the highest rows of a row set: entry k has those of k rows.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    levels: Vec<Level>,
}

#[derive(Debug, Default)]
struct Level {
    /// The rows of its lists, the diagonals that they avoid, and the piece.
    made_for: Option<(u32, u64, Piece)>,
    lists: Lists,
}

impl Prefixes {
    /// The lists of the arrangements on these rows that avoid these diagonals and belong to a piece.
    /// Some are missing after a cancellation.
    pub(super) fn lists<'a>(
        &'a mut self,
        maker: Maker<'a>,
        rows: u32,
        avoid: u64,
        piece: Piece,
    ) -> RowSetLists<'a> {
        let size = rows.count_ones() as usize;
        if self.levels.len() <= size {
            self.levels.resize_with(size + 1, Level::default);
        }
        make_last(&mut self.levels[..=size], maker, rows, avoid, piece);
        self.levels[size].lists.by_columns(maker.columns)
    }

    /// The words of the lists of less than this many rows.
    pub(super) fn words_below(&self, rows: u32) -> usize {
        self.levels.iter().take(rows as usize).map(|level| level.lists.words.len()).sum()
    }

    /// Frees large lists of this many rows and more.
    pub(super) fn release_from(&mut self, rows: u32) {
        for level in self.levels.iter_mut().skip(rows as usize) {
            if level.lists.words.is_large() {
                *level = Level::default();
            }
        }
    }
}

/// Makes the lists of the last level, and those before it that are missing. The longest common prefix
/// with the row set before was made already.
fn make_last(levels: &mut [Level], maker: Maker<'_>, rows: u32, avoid: u64, piece: Piece) {
    let Some((Level { made_for, lists }, shorter)) = levels.split_last_mut() else { return };
    if *made_for == Some((rows, avoid, piece)) {
        return;
    }
    *made_for = None;
    make_last(shorter, maker, rows & rows.wrapping_sub(1), avoid, piece);
    match shorter.last() {
        None => lists.make_empty_board(),
        Some(shorter) => {
            let columns = piece.open(rows.count_ones());
            let added = Added { row: rows.trailing_zeros(), columns, avoid };
            let shorter = shorter.lists.by_columns(maker.columns);
            lists.add_row(maker, shorter, rows.count_ones(), added, &STAY, |_| true);
        }
    }
    // If the maker is stopped, lists are missing, and another count must not use them.
    *made_for = (!maker.is_stopped()).then_some((rows, avoid, piece));
}

/// The most rows of a row set on boards for which all row sets would take too much memory. For h = 10
/// that is 60 MB, and with this limit 16 MB. Longer lists are made from these in one step.
const MOST_ROWS: u32 = 5;

/// The raw lists of the row sets of a small board, up to a number of rows, made once and shared by all
/// threads.
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

    /// The lists of these rows, numbered as in [`Wanted`](super::row_set::Wanted).
    pub(super) fn lists<'a>(&'a self, columns: &'a ColumnSets, rows: u32) -> RowSetLists<'a> {
        let RowSet { words, starts } = &self.row_sets[(rows >> 1) as usize];
        RowSetLists { words, starts, columns }
    }
}
