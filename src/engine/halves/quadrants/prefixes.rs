//! The raw lists of the prefixes of a row set.

use super::super::kernel::STAY;
use super::lists::{Added, Lists, Maker, RowSetLists};
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
    // After a cancellation lists are missing, and another count must not use them.
    *made_for = (!maker.cancel.is_cancelled()).then_some((rows, avoid, piece));
}
