//! Lists of the words of quadrants, by row set and column set.

use super::super::half_board::HalvedBoard;
use super::super::kernel::JoinKernel;
use super::super::word_list::WordList;
use crate::cancel::Cancel;

/// One of the two quadrants of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quadrant {
    /// Rows 0..h.
    North,
    /// The last h rows.
    South,
}

/// The column sets of a quadrant, by size, and the rank of each among those of its size.
#[derive(Debug)]
pub(crate) struct ColumnSets {
    pub(super) by_size: Vec<Vec<u32>>,
    pub(super) rank: Vec<u32>,
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
        let rank = self.columns.rank[column_set as usize] as usize;
        &self.words[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// Everything that lists are made with.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub(super) kernel: JoinKernel,
    pub(super) board: HalvedBoard,
    pub(super) columns: &'a ColumnSets,
    pub(super) cancel: &'a Cancel,
}

impl Maker<'_> {
    /// Appends `w | add` for every word `w` that shares no bit with `avoid`.
    #[inline]
    pub(super) fn select(&self, words: &[u64], avoid: u64, add: u64, out: &mut WordList) {
        let count = self.kernel.select(words, avoid, add, out.room(words.len()));
        out.grow(count);
    }
}

/// The lists of one row set, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) words: WordList,
    pub(super) starts: Vec<u32>,
}

impl Lists {
    /// Makes the list of each set of `size` columns. Some are missing after a cancellation.
    pub(super) fn make(
        &mut self,
        maker: Maker<'_>,
        size: u32,
        append: impl Fn(u32, &mut WordList),
    ) {
        self.words.clear();
        self.starts.clear();
        for &set in maker.columns.of_size(size) {
            self.starts.push(start(self.words.len()));
            if !maker.cancel.is_cancelled() {
                append(set, &mut self.words);
            }
        }
        self.starts.push(start(self.words.len()));
    }

    /// Makes the lists of no rows and no columns: one empty arrangement.
    pub(super) fn make_empty_board(&mut self) {
        self.words.clear();
        self.words.extend_from_slice(&[0]);
        self.starts.clear();
        self.starts.extend([0, 1]);
    }

    /// Makes the lists of `size` rows, in quadrant coordinates, from those of all but the last `row`.
    pub(super) fn make_longer(&mut self, maker: Maker<'_>, shorter: &Self, size: u32, row: u32) {
        let shorter = shorter.by_columns(maker.columns);
        self.make(maker, size, |set, words| {
            for column in (0..maker.board.half).filter(|column| set >> column & 1 == 1) {
                let square = maker.board.raw_square(row, column);
                maker.select(shorter.of(set & !(1 << column)), square, square, words);
            }
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

/// Feeds numbers to a hasher, through a buffer that stays in the first-level cache.
pub(super) fn hash_words<T: Copy, const BYTES: usize>(
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
