//! The lists of one row set in the coordinates of the join, made when a unit needs them.

use super::super::half_board::{Half, Quadrant};
use super::super::kernel::BitMove;
use super::super::units::TILE;
use super::super::word_list::WordList;
use super::lists::{Added, Lists, Maker, RowSetLists};
use super::pieces::Piece;
use super::raw::{Prefixes, Table};

/// Which lists of a row set are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) quadrant: Quadrant,
    pub(super) half: Half,
    /// Its rows, numbered as in [`HalvedBoard::raw`](super::super::half_board::HalvedBoard::raw).
    pub(super) rows: u32,
    /// Only arrangements that use none of these diagonals of the quadrant.
    pub(super) avoid: u64,
    /// The rows on which it depends which lists are wanted.
    pub(super) deciding_rows: u32,
    /// The middle row's queen stands in one of this many columns next to the middle line.
    pub(super) middle_columns: u32,
    pub(super) piece: Piece,
    /// Whether a row set returns soon.
    pub(super) returns: bool,
}

/// The lists of the last row sets of one half, and those that they were made from.
#[derive(Debug, Default)]
pub(crate) struct HalfCache {
    quadrants: [QuadrantCache; 2],
    prefixes: Prefixes,
}

/// The lists of the last row sets of one quadrant. One is in use.
#[derive(Debug, Default)]
struct QuadrantCache {
    row_sets: Vec<RowSetCache>,
    in_use: usize,
}

/// The lists of one row set, made again when others are wanted.
#[derive(Debug, Default)]
struct RowSetCache {
    made_for: Option<Wanted>,
    lists: Lists,
}

impl HalfCache {
    /// The lists that are wanted. Some are missing after a cancellation.
    pub(super) fn lists<'a>(
        &'a mut self,
        maker: Maker<'a>,
        table: Option<&Table>,
        wanted: [Wanted; 2],
        is_wanted: impl Fn(Quadrant, u32) -> bool,
    ) -> [RowSetLists<'a>; 2] {
        let Self { quadrants, prefixes } = self;
        for (cache, wanted) in quadrants.iter_mut().zip(wanted) {
            let kept = if wanted.returns && table.is_some() { TILE } else { 1 };
            let cache = cache.choose(&wanted, kept);
            if cache.made_for != Some(wanted) {
                cache.made_for = None;
                let is_wanted = |columns| is_wanted(wanted.quadrant, columns);
                cache.lists.make_wanted(maker, table, prefixes, wanted, is_wanted);
                // If the maker is stopped, lists are missing, and another count must not use them.
                cache.made_for = (!maker.is_stopped()).then_some(wanted);
            }
        }
        let most_rows = wanted.map(|wanted| wanted.rows.count_ones());
        prefixes.release_from(most_rows[0].max(most_rows[1]));
        quadrants.each_ref().map(|cache| cache.lists().by_columns(maker.columns))
    }

    /// The words of all lists that halves with at most this many rows in a quadrant are made from.
    pub(crate) fn words_in_use(&self, most_rows: u32) -> usize {
        let row_sets = self.quadrants.iter().flat_map(|cache| &cache.row_sets);
        let words = row_sets.map(|cache| cache.lists.words.len());
        words.sum::<usize>() + self.prefixes.words_below(most_rows)
    }

    /// The northern and the southern words of the lists. A join may change their order within each
    /// list: they are sets.
    pub(crate) fn words(&mut self) -> [&mut [u64]; 2] {
        self.quadrants.each_mut().map(|cache| match cache.row_sets.get_mut(cache.in_use) {
            Some(row_set) => row_set.lists.words.as_mut_slice(),
            None => &mut [],
        })
    }
}

impl QuadrantCache {
    /// The place of the lists that are wanted: where they are, or where the oldest ones of `kept` are.
    fn choose(&mut self, wanted: &Wanted, kept: usize) -> &mut RowSetCache {
        self.row_sets.resize_with(kept, RowSetCache::default);
        let made = self.row_sets.iter().position(|lists| lists.made_for.as_ref() == Some(wanted));
        self.in_use = made.unwrap_or((self.in_use + 1) % kept);
        &mut self.row_sets[self.in_use]
    }

    fn lists(&self) -> &Lists {
        &self.row_sets[self.in_use].lists
    }
}

impl Lists {
    /// Makes the lists of a row set from raw lists: those of the table, or those of all but its lowest
    /// row.
    fn make_wanted(
        &mut self,
        maker: Maker<'_>,
        table: Option<&Table>,
        prefixes: &mut Prefixes,
        wanted: Wanted,
        is_wanted: impl Fn(u32) -> bool,
    ) {
        let Wanted { quadrant, half, rows, avoid, middle_columns, piece, .. } = wanted;
        let without_lowest = rows & rows.wrapping_sub(1);
        // The table has no pieces.
        let table = table.filter(|table| piece == Piece::WHOLE && table.has(without_lowest));
        let (raw, is_whole) = match table {
            Some(table) if table.has(rows) => {
                (table.lists(maker.columns, rows & !1), rows & 1 == 0)
            }
            Some(table) => (table.lists(maker.columns, without_lowest), false),
            None => (prefixes.lists(maker, without_lowest, avoid, piece), rows == 0),
        };
        let moves = maker.board.moves(quadrant, half);
        if is_whole {
            self.move_all(maker, raw, rows.count_ones(), avoid, &moves);
        } else {
            let row = rows.trailing_zeros();
            let columns = if row == 0 { !(u32::MAX << middle_columns) } else { u32::MAX };
            let columns = columns & piece.open(rows.count_ones());
            let added = Added { row, columns, avoid };
            self.add_row(maker, raw, rows.count_ones(), added, &moves, is_wanted);
        }
    }

    /// Makes the lists of `size` rows from raw lists of the same rows.
    fn move_all(
        &mut self,
        maker: Maker<'_>,
        raw: RowSetLists<'_>,
        size: u32,
        avoid: u64,
        moves: &[BitMove; 2],
    ) {
        let move_list = |list: &[u64], words: &mut WordList| {
            maker.add_squares(&[(list, 0)], avoid, moves, words);
        };
        if avoid != 0 {
            self.make(maker, size, |set, words| move_list(raw.of(set), words));
            return;
        }
        // All words are kept, so all lists are moved at once and start where they started.
        self.words.clear();
        raw.words.chunks(maker.batch).for_each(|batch| move_list(batch, &mut self.words));
        self.starts.clear();
        self.starts.extend_from_slice(raw.starts);
    }
}
