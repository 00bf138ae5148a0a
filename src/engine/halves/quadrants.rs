//! The lists of quadrants that half-boards are made of.
//!
//! **Idea.** The lists grow by rows: a list of (R + row r, C) consists of the lists of (R, C - c),
//! for all c in C, each without the words that attack the square (r, c). The same step adds the
//! middle row of an odd board to the southern rows of its east half.
//!
//! **Time and memory:** about nine times as many words for each step of h: 0.8 M for h = 9, 7.5 M
//! for 10, 67 M for 11, in two coordinates of 8 bytes each; 4 to 8 ns a word. Above a limit only
//! the lists of the row sets of the current unit are made ([`RowSetCache`]): the units come in the
//! order of their southern rows, so that two of the four row sets mostly stay.
//!
//! **Invariants:** the lists of the north and of the south have the same starts, since both turn
//! the same placements into words.

mod row_set;
mod whole_table;

use super::half_board::HalvedBoard;
use super::kernel::JoinKernel;
use super::word_list::WordList;
use crate::cancel::Cancel;
pub(crate) use row_set::RowSetCache;
use whole_table::WholeTable;

/// The column sets of a quadrant, by size, and the place of each among those of its size.
#[derive(Debug)]
pub(crate) struct ColumnSets {
    by_size: Vec<Vec<u32>>,
    rank: Vec<u32>,
}

impl ColumnSets {
    fn new(half: u32) -> Self {
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
    words: &'a [u64],
    starts: &'a [u32],
    columns: &'a ColumnSets,
}

impl<'a> RowSetLists<'a> {
    /// The words of the placements that use exactly these columns.
    pub(crate) fn of(&self, column_set: u32) -> &'a [u64] {
        let rank = self.columns.rank[column_set as usize] as usize;
        &self.words[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// Lists in quadrant coordinates of one row set, on the way to longer ones.
#[derive(Debug, Default)]
struct RawLists {
    /// How many rows they have.
    rows: u32,
    words: WordList,
    starts: Vec<u32>,
}

impl RawLists {
    /// The lists of no rows and no columns: one empty placement.
    fn reset_to_empty_board(&mut self) {
        self.rows = 0;
        self.words.clear();
        self.words.push(0);
        self.starts.clear();
        self.starts.extend([0, 1]);
    }

    /// Makes the lists of the rows of `shorter` and the row above them all.
    fn extend(
        &mut self,
        kernel: JoinKernel,
        board: HalvedBoard,
        columns: &ColumnSets,
        shorter: &Self,
        row: u32,
        cancel: &Cancel,
    ) {
        self.rows = shorter.rows + 1;
        self.words.clear();
        self.starts.clear();
        let shorter =
            RowSetLists { words: shorter.words.as_slice(), starts: &shorter.starts, columns };
        for &set in columns.of_size(self.rows) {
            self.starts.push(start(self.words.len()));
            if cancel.is_cancelled() {
                continue;
            }
            for column in (0..board.half).filter(|column| set >> column & 1 == 1) {
                let square = board.raw_square(row, column);
                select(kernel, shorter.of(set & !(1 << column)), square, square, &mut self.words);
            }
        }
        self.starts.push(start(self.words.len()));
    }
}

/// The place of a list in its memory. Boards whose lists would not fit 32 bits have no place: a
/// start cut to 32 bits would be that of another list, and the count would be wrong.
fn start(len: usize) -> u32 {
    u32::try_from(len).unwrap_or_else(|_| too_long(len))
}

/// Stops the process.
#[cold]
#[inline(never)]
fn too_long(len: usize) -> ! {
    panic!("quadrant lists of {len} words are too long for this engine");
}

/// What the units of a plan share: the column sets and, if they fit, all quadrant lists.
#[derive(Debug)]
pub(crate) struct QuadrantLists {
    board: HalvedBoard,
    columns: ColumnSets,
    table: Option<WholeTable>,
    /// The CRC-32 of both when they were made.
    checksum: u32,
}

/// Which of the two quadrants of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quadrant {
    /// Rows 0..h.
    North,
    /// The last h rows.
    South,
}

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

impl QuadrantLists {
    /// Prepares the board; makes all quadrant lists if `whole`. What comes after a cancellation is
    /// unusable.
    pub(crate) fn new(
        kernel: JoinKernel,
        board: HalvedBoard,
        whole: bool,
        cancel: &Cancel,
    ) -> Self {
        let columns = ColumnSets::new(board.half);
        let table = whole.then(|| WholeTable::new(kernel, board, &columns, cancel));
        let mut quadrants = Self { board, columns, table, checksum: 0 };
        quadrants.checksum = quadrants.checksum_now(cancel);
        quadrants
    }

    /// Whether the lists that all threads read are still as they were made: a bit that changes in
    /// them would spoil every later unit.
    pub(crate) fn is_intact(&self) -> bool {
        self.checksum_now(&Cancel::new()) == self.checksum
    }

    /// The CRC-32 of the lists as they are now; of a part of them after a cancellation.
    fn checksum_now(&self, cancel: &Cancel) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        if let Some(table) = &self.table {
            table.hash(&mut hasher, cancel);
        }
        hash_words(&mut hasher, &self.columns.rank, u32::to_le_bytes);
        self.columns
            .by_size
            .iter()
            .for_each(|sets| hash_words(&mut hasher, sets, u32::to_le_bytes));
        hasher.finalize()
    }

    /// The column sets of a quadrant.
    pub(crate) fn columns(&self) -> &ColumnSets {
        &self.columns
    }

    /// The lists of one row set: from the table if there is nothing special about them, else from
    /// the cache. Some lists are missing after a cancellation.
    pub(crate) fn lists<'a>(
        &'a self,
        kernel: JoinKernel,
        wanted: Wanted,
        cache: &'a mut RowSetCache,
        cancel: &Cancel,
    ) -> RowSetLists<'a> {
        if let (Some(table), 0, 0) = (&self.table, wanted.avoid, wanted.middle_columns) {
            return table.lists(&self.columns, wanted.quadrant, wanted.rows);
        }
        if cache.made_for != Some(wanted) {
            cache.made_for = None;
            cache.fill(kernel, self, wanted, cancel);
            // After a cancellation lists are missing: another count must not meet them.
            cache.made_for = (!cancel.is_cancelled()).then_some(wanted);
        }
        RowSetLists { words: cache.words.as_slice(), starts: &cache.starts, columns: &self.columns }
    }
}

/// Appends `w | add` for every word `w` that shares no bit with `avoid`.
fn select(kernel: JoinKernel, words: &[u64], avoid: u64, add: u64, out: &mut WordList) {
    let count = kernel.select(words, avoid, add, out.room(words.len()));
    out.grow(count);
}

/// Feeds numbers to a hasher, by way of a buffer that stays in the first-level cache.
fn hash_words<T: Copy, const BYTES: usize>(
    hasher: &mut crc32fast::Hasher,
    words: &[T],
    to_bytes: fn(T) -> [u8; BYTES],
) {
    let mut bytes = [0; 4096];
    for words in words.chunks(bytes.len() / BYTES) {
        for (place, word) in bytes.as_chunks_mut::<BYTES>().0.iter_mut().zip(words) {
            *place = to_bytes(*word);
        }
        hasher.update(&bytes[..BYTES * words.len()]);
    }
}

#[cfg(test)]
mod tests;
