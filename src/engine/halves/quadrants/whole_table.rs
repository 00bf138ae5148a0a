//! The lists of all row sets, made once and shared by all threads.

use super::lists::{ColumnSets, Lists, Maker, Quadrant, RowSetLists, hash_words, start};
use crate::cancel::Cancel;
use crate::engine::halves::word_list::PIECE;

/// The lists of all row sets and all column sets.
#[derive(Debug)]
pub(super) struct WholeTable {
    pub(super) north: Vec<u64>,
    pub(super) south: Vec<u64>,
    pub(super) starts: Vec<u32>,
    /// The index of the first start of each row set.
    first: Vec<u32>,
}

impl WholeTable {
    /// Makes all lists. Some are missing after a cancellation.
    pub(super) fn new(maker: Maker<'_>) -> Self {
        let half = maker.board.half;
        let (north, south, starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut table = Self { north, south, starts, first: vec![0; 1 << half] };
        let mut levels: Vec<Lists> = (0..=half).map(|_| Lists::default()).collect();
        levels[0].make_empty_board();
        table.add(maker, &mut levels, 0);
        if !maker.cancel.is_cancelled() {
            table.north.shrink_to_fit();
            table.south.shrink_to_fit();
        }
        table
    }

    /// Feeds all lists to a hasher, or some of them after a cancellation. Two at a time, because a
    /// count that is stopped waits for it.
    pub(super) fn hash(&self, hasher: &mut crc32fast::Hasher, cancel: &Cancel) {
        let hash = |words: &[u64]| {
            let mut hasher = crc32fast::Hasher::new();
            for piece in words.chunks(PIECE).take_while(|_| !cancel.is_cancelled()) {
                hash_words(&mut hasher, piece, u64::to_le_bytes);
            }
            hasher
        };
        let (north, south) = rayon::join(|| hash(&self.north), || hash(&self.south));
        hasher.combine(&north);
        hasher.combine(&south);
        hash_words(hasher, &self.starts, u32::to_le_bytes);
        hash_words(hasher, &self.first, u32::to_le_bytes);
    }

    pub(super) fn lists<'a>(
        &'a self,
        columns: &'a ColumnSets,
        quadrant: Quadrant,
        rows: u32,
    ) -> RowSetLists<'a> {
        let words = match quadrant {
            Quadrant::North => &self.north,
            Quadrant::South => &self.south,
        };
        let starts = &self.starts[self.first[rows as usize] as usize..];
        RowSetLists { words, starts, columns }
    }

    /// Stores the lists of `rows`, which are at the front of `levels`, and those of all row sets that
    /// add later rows.
    fn add(&mut self, maker: Maker<'_>, levels: &mut [Lists], rows: u32) {
        let Some((lists, longer)) = levels.split_first_mut() else { return };
        if maker.cancel.is_cancelled() {
            return;
        }
        let board = maker.board;
        self.first[rows as usize] = start(self.starts.len());
        let base = self.north.len();
        self.starts.extend(lists.starts.iter().map(|list| start(base + *list as usize)));
        self.north.extend(lists.words.as_slice().iter().map(|&raw| board.north(raw)));
        self.south.extend(lists.words.as_slice().iter().map(|&raw| board.south(raw)));
        for row in u32::BITS - rows.leading_zeros()..board.half {
            longer[0].make_longer(maker, lists, rows.count_ones() + 1, row);
            // The children need the level of their parent, so it is passed on with the rest.
            self.add(maker, longer, rows | 1 << row);
        }
    }
}
