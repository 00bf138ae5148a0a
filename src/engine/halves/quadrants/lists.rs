//! Lists of the words of quadrants, by row set and column set.

use std::cell::Cell;
use std::ops::Range;

use super::super::half_board::HalvedBoard;
use super::super::kernel::BitMove;
use super::super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;

/// The most columns of a quadrant.
const MOST_COLUMNS: usize = 16;

/// The column sets of a quadrant, by size, and the rank of each among those of its size.
#[derive(Debug)]
pub(crate) struct ColumnSets {
    by_size: Vec<Vec<u32>>,
    rank: Vec<u32>,
}

impl ColumnSets {
    pub(super) fn new(half: u32) -> Self {
        let mut by_size = vec![Vec::new(); half as usize + 1];
        let mut rank = Vec::with_capacity(1 << half);
        for set in 0..1_u32 << half {
            let same_size = &mut by_size[set.count_ones() as usize];
            rank.push(same_size.len() as u32);
            same_size.push(set);
        }
        Self { by_size, rank }
    }

    /// All sets of `size` columns, in increasing order.
    pub(crate) fn of_size(&self, size: u32) -> &[u32] {
        &self.by_size[size as usize]
    }
}

/// The lists of one row set and all column sets of its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSetLists<'a> {
    pub(super) words: &'a [u64],
    pub(super) starts: &'a [u32],
    pub(super) columns: &'a ColumnSets,
}

impl<'a> RowSetLists<'a> {
    /// The words of the arrangements that use exactly these columns.
    pub(crate) fn of(&self, column_set: u32) -> &'a [u64] {
        let Range { start, end } = self.range(column_set);
        &self.words[start as usize..end as usize]
    }

    /// Where they are in the list.
    pub(crate) fn range(&self, column_set: u32) -> Range<u32> {
        let rank = self.columns.rank[column_set as usize] as usize;
        self.starts[rank]..self.starts[rank + 1]
    }
}

/// Everything that lists are made with.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub(super) kernel: Kernel,
    pub(super) board: HalvedBoard,
    pub(super) columns: &'a ColumnSets,
    /// Words that are moved at once; see [`Cuts`](super::super::cuts::Cuts).
    pub(super) batch: usize,
    pub(super) left: &'a WordsLeft,
    pub(super) cancel: &'a Cancel,
}

/// The words that lists may still have. The plan for them is partly extrapolated, so it is checked while
/// they are made.
#[derive(Debug, Default)]
pub(crate) struct WordsLeft(Cell<i64>);

impl WordsLeft {
    pub(super) fn unlimited() -> Self {
        Self(Cell::new(i64::MAX / 2))
    }

    /// Begins with this many words, of which some are in use.
    pub(crate) fn set(&self, most: u64, used: usize) {
        self.0.set(most.cast_signed() - used as i64);
    }

    /// Whether lists had more words than they may have, and were not finished.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.0.get() < 0
    }

    /// Once overdrawn, nothing that is freed helps: lists are missing.
    fn change(&self, freed: usize, used: usize) {
        if !self.is_overdrawn() {
            self.0.set(self.0.get() + freed as i64 - used as i64);
        }
    }
}

impl Maker<'_> {
    /// Whether no more words shall be made; then lists are missing.
    pub(super) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.left.is_overdrawn()
    }

    /// Appends the words of these lists, each with the square that is added to it.
    pub(super) fn add_squares(
        &self,
        lists: &[(&[u64], u64)],
        avoid: u64,
        moves: &[BitMove; 2],
        out: &mut WordList,
    ) {
        let most = lists.iter().map(|(list, _)| list.len()).sum();
        let count = self.kernel.add_squares(lists, avoid, moves, out.room(most));
        out.grow(count);
    }
}

/// The lists of one row set, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) words: WordList,
    pub(super) starts: Vec<u32>,
}

/// The row that a step adds.
#[derive(Clone, Copy)]
pub(super) struct Added {
    /// Its number in the quadrant; see [`HalvedBoard::raw`].
    pub(super) row: u32,
    /// Its queen stands in one of these columns.
    pub(super) columns: u32,
    /// The queens use none of these diagonals.
    pub(super) avoid: u64,
}

impl Lists {
    /// Makes the list of each set of `size` columns. Some are missing if the maker is stopped.
    pub(super) fn make(
        &mut self,
        maker: Maker<'_>,
        size: u32,
        append: impl Fn(u32, &mut WordList),
    ) {
        maker.left.change(self.words.len(), 0);
        self.words.clear();
        self.starts.clear();
        for &set in maker.columns.of_size(size) {
            let before = self.words.len();
            self.starts.push(start(before));
            if !maker.is_stopped() {
                append(set, &mut self.words);
                maker.left.change(0, self.words.len() - before);
            }
        }
        self.starts.push(start(self.words.len()));
        self.words.release_excess();
    }

    /// Makes the lists of no rows and no columns: one empty arrangement.
    pub(super) fn make_empty_board(&mut self) {
        self.words.clear();
        self.words.extend_from_slice(&[0]);
        self.starts.clear();
        self.starts.extend([0, 1]);
    }

    /// Makes the lists of `size` rows from those of all but one, empty ones for column sets that are not
    /// wanted. The bits that `moves` names go to other places, the others are dropped.
    pub(super) fn add_row(
        &mut self,
        maker: Maker<'_>,
        shorter: RowSetLists<'_>,
        size: u32,
        added: Added,
        moves: &[BitMove; 2],
        is_wanted: impl Fn(u32) -> bool,
    ) {
        let Added { row, columns, avoid } = added;
        let squares: [u64; MOST_COLUMNS] =
            std::array::from_fn(|column| maker.board.raw(row as i32, column as i32));
        let is_open = |column: &u32| squares[*column as usize] & avoid == 0;
        let open = (0..maker.board.half).filter(is_open).fold(0, |set, column| set | 1 << column);
        let open = open & columns;
        self.make(maker, size, |set, words| {
            if !is_wanted(set) {
                return;
            }
            let mut lists: [(&[u64], u64); MOST_COLUMNS] = [(&[], 0); MOST_COLUMNS];
            let mut count = 0;
            let mut rest: u32 = set & open;
            while rest != 0 {
                let column = rest.trailing_zeros();
                rest &= rest - 1;
                lists[count] = (shorter.of(set & !(1 << column)), squares[column as usize]);
                count += 1;
            }
            maker.add_squares(&lists[..count], avoid, moves, words);
        });
    }

    /// The lists, to be looked up by column set.
    pub(super) fn by_columns<'a>(&'a self, columns: &'a ColumnSets) -> RowSetLists<'a> {
        RowSetLists { words: self.words.as_slice(), starts: &self.starts, columns }
    }
}

/// The start of a list as 32 bits. A start cut to 32 bits would be that of another list and make the
/// count wrong, so one that does not fit stops the process.
pub(super) fn start(len: usize) -> u32 {
    u32::try_from(len).unwrap_or_else(|_| too_long(len))
}

#[cold]
#[inline(never)]
fn too_long(len: usize) -> ! {
    panic!("quadrant lists of {len} words are too long for this engine");
}
