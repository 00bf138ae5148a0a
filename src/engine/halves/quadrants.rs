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

use super::half_board::Board;
use super::kernel::Lanes;
use super::word_list::WordList;
use crate::cancel::Cancel;

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

/// A place in a list, in the four bytes that are kept of it. A longer list ends the count.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or_else(|_| panic!("a list of {at} words is too long"))
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
    words: WordList,
    starts: Vec<u32>,
}

impl RawLists {
    /// The lists of no rows and no columns: one empty placement.
    fn reset_to_empty_board(&mut self) {
        self.words.clear();
        self.words.push(0);
        self.starts.clear();
        self.starts.extend([0, 1]);
    }

    /// Makes the lists of the rows of `shorter` and the row above them all.
    fn extend<K: Lanes>(
        &mut self,
        kernel: K,
        board: Board,
        columns: &ColumnSets,
        shorter: &Self,
        row: u32,
        size: u32,
    ) {
        self.words.clear();
        self.starts.clear();
        let shorter =
            RowSetLists { words: shorter.words.as_slice(), starts: &shorter.starts, columns };
        for &set in columns.of_size(size) {
            self.starts.push(place(self.words.len()));
            for column in (0..board.half).filter(|column| set >> column & 1 == 1) {
                let square = board.raw_square(row, column);
                select(kernel, shorter.of(set & !(1 << column)), square, square, &mut self.words);
            }
        }
        self.starts.push(place(self.words.len()));
    }
}

/// The lists of all row sets and all column sets.
#[derive(Debug)]
struct WholeTable {
    north: Vec<u64>,
    south: Vec<u64>,
    starts: Vec<u32>,
    /// Where the starts of a row set begin.
    first: Vec<u32>,
    /// Of all the others, when they were made.
    checksum: u32,
}

/// What the units of a plan share: the column sets and, if they fit, all quadrant lists.
#[derive(Debug)]
pub(crate) struct Quadrants {
    board: Board,
    columns: ColumnSets,
    table: Option<WholeTable>,
}

/// Which of the two quadrants of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Rows 0..h.
    North,
    /// The last h rows.
    South,
}

/// Which lists of a row set are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The quadrant.
    pub(crate) side: Side,
    /// Its rows.
    pub(crate) rows: u32,
    /// Only placements that use none of these diagonals.
    pub(crate) avoid: u64,
    /// If not 0, the middle row of an odd board is added, whose queen stands in one of this many
    /// columns next to the middle line; the column sets then have one more column.
    pub(crate) middle_columns: u32,
}

impl Quadrants {
    /// Prepares the board; makes all quadrant lists if `whole`. What comes after a cancellation is
    /// unusable.
    pub(crate) fn new<K: Lanes>(kernel: K, board: Board, whole: bool, cancel: &Cancel) -> Self {
        let columns = ColumnSets::new(board.half);
        let table = whole.then(|| WholeTable::new(kernel, board, &columns, cancel));
        Self { board, columns, table }
    }

    /// Whether the lists are as they were made.
    pub(crate) fn is_intact(&self) -> bool {
        self.table.as_ref().is_none_or(|table| table.checksum_now() == table.checksum)
    }

    /// The column sets of a quadrant.
    pub(crate) fn columns(&self) -> &ColumnSets {
        &self.columns
    }

    /// The lists of one row set: from the table if there is nothing special about them, else from
    /// the cache.
    pub(crate) fn lists<'a, K: Lanes>(
        &'a self,
        kernel: K,
        wanted: Wanted,
        cache: &'a mut RowSetCache,
    ) -> RowSetLists<'a> {
        if let (Some(table), 0, 0) = (&self.table, wanted.avoid, wanted.middle_columns) {
            return table.lists(&self.columns, wanted.side, wanted.rows);
        }
        if cache.made_for != Some(wanted) {
            cache.fill(kernel, self, wanted);
            cache.made_for = Some(wanted);
        }
        RowSetLists { words: cache.words.as_slice(), starts: &cache.starts, columns: &self.columns }
    }
}

impl WholeTable {
    fn new<K: Lanes>(kernel: K, board: Board, columns: &ColumnSets, cancel: &Cancel) -> Self {
        let mut table = Self {
            north: Vec::new(),
            south: Vec::new(),
            starts: Vec::new(),
            first: vec![0; 1 << board.half],
            checksum: 0,
        };
        let mut levels: Vec<RawLists> = Vec::new();
        levels.resize_with(board.half as usize + 1, RawLists::default);
        levels[0].reset_to_empty_board();
        table.add(kernel, board, columns, &mut levels, 0, cancel);
        table.north.shrink_to_fit();
        table.south.shrink_to_fit();
        table.checksum = table.checksum_now();
        table
    }

    /// The CRC-32 of all lists. One flipped bit in them would spoil every unit counted after it.
    fn checksum_now(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for words in [&self.north, &self.south] {
            hash_all(&mut hasher, words, |word| word.to_le_bytes());
        }
        for places in [&self.starts, &self.first] {
            hash_all(&mut hasher, places, |place| place.to_le_bytes());
        }
        hasher.finalize()
    }

    fn lists<'a>(&'a self, columns: &'a ColumnSets, side: Side, rows: u32) -> RowSetLists<'a> {
        let words = match side {
            Side::North => &self.north,
            Side::South => &self.south,
        };
        let starts = &self.starts[self.first[rows as usize] as usize..];
        RowSetLists { words, starts, columns }
    }

    /// Stores the lists of `rows`, which stand at the front of `levels`, and of all row sets that
    /// add later rows to it.
    fn add<K: Lanes>(
        &mut self,
        kernel: K,
        board: Board,
        columns: &ColumnSets,
        levels: &mut [RawLists],
        rows: u32,
        cancel: &Cancel,
    ) {
        let Some((lists, longer)) = levels.split_first_mut() else { return };
        if cancel.is_cancelled() {
            return;
        }
        self.first[rows as usize] = place(self.starts.len());
        let base = place(self.north.len());
        self.starts.extend(lists.starts.iter().map(|start| base + start));
        self.north.extend(lists.words.as_slice().iter().map(|&raw| board.north(raw)));
        self.south.extend(lists.words.as_slice().iter().map(|&raw| board.south(raw)));
        for row in u32::BITS - rows.leading_zeros()..board.half {
            longer[0].extend(kernel, board, columns, lists, row, rows.count_ones() + 1);
            // The children need this level again, so it is handed down together with the rest.
            let rows = rows | 1 << row;
            self.add(kernel, board, columns, longer, rows, cancel);
        }
    }
}

/// Hashes numbers some thousand bytes at a time: one by one they would take ten times as long.
fn hash_all<T: Copy, const BYTES: usize>(
    hasher: &mut crc32fast::Hasher,
    numbers: &[T],
    bytes_of: impl Fn(T) -> [u8; BYTES],
) {
    let mut buffer = [0; 4096];
    for chunk in numbers.chunks(buffer.len() / BYTES) {
        for (bytes, number) in buffer.as_chunks_mut().0.iter_mut().zip(chunk) {
            *bytes = bytes_of(*number);
        }
        hasher.update(&buffer[..chunk.len() * BYTES]);
    }
}

/// The lists of one row set, remade when other ones are asked for.
#[derive(Debug, Default)]
pub(crate) struct RowSetCache {
    made_for: Option<Wanted>,
    words: WordList,
    starts: Vec<u32>,
    raw: RawRowSet,
}

/// The lists of one row set on the way to the cache.
#[derive(Debug, Default)]
struct RawRowSet {
    lists: RawLists,
    shorter: RawLists,
}

impl RowSetCache {
    fn fill<K: Lanes>(&mut self, kernel: K, quadrants: &Quadrants, wanted: Wanted) {
        let Quadrants { board, columns, table } = quadrants;
        let Wanted { side, rows, avoid, middle_columns } = wanted;
        let lists = match table {
            Some(table) => table.lists(columns, side, rows),
            None => self.raw.make(kernel, quadrants, side, rows),
        };
        let (words, starts) = (&mut self.words, &mut self.starts);
        words.clear();
        starts.clear();
        let size = rows.count_ones();
        if middle_columns == 0 {
            for &set in columns.of_size(size) {
                starts.push(place(words.len()));
                select(kernel, lists.of(set), avoid, 0, words);
            }
        } else {
            for &set in columns.of_size(size + 1) {
                starts.push(place(words.len()));
                for column in (0..middle_columns).filter(|column| set >> column & 1 == 1) {
                    let square = board.word(board.half - column, board.half + column);
                    let others = lists.of(set & !(1 << column));
                    select(kernel, others, avoid | square, square, words);
                }
            }
        }
        starts.push(place(words.len()));
    }
}

impl RawRowSet {
    /// Makes the lists of one row set from those of its first rows.
    fn make<'a, K: Lanes>(
        &'a mut self,
        kernel: K,
        quadrants: &'a Quadrants,
        side: Side,
        rows: u32,
    ) -> RowSetLists<'a> {
        let Quadrants { board, columns, .. } = quadrants;
        self.lists.reset_to_empty_board();
        let chosen = (0..board.half).filter(|row| rows >> row & 1 == 1);
        for (size, row) in (1..).zip(chosen) {
            std::mem::swap(&mut self.lists, &mut self.shorter);
            self.lists.extend(kernel, *board, columns, &self.shorter, row, size);
        }
        for word in self.lists.words.as_mut_slice() {
            *word = match side {
                Side::North => board.north(*word),
                Side::South => board.south(*word),
            };
        }
        RowSetLists { words: self.lists.words.as_slice(), starts: &self.lists.starts, columns }
    }
}

/// Appends `w | add` for every word `w` that shares no bit with `avoid`.
fn select<K: Lanes>(kernel: K, words: &[u64], avoid: u64, add: u64, out: &mut WordList) {
    let count = kernel.select(words, avoid, add, out.room(words.len()));
    out.grow(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::halves::kernel::portable::Portable;

    #[test]
    fn any_flipped_bit_in_the_shared_lists_is_seen() {
        let mut quadrants = Quadrants::new(Portable, Board::new(12), true, &Cancel::new());
        assert!(quadrants.is_intact());
        let flips: [fn(&mut WholeTable); 4] = [
            |table| table.north[7] ^= 1 << 40,
            |table| *table.south.last_mut().expect("words") ^= 1,
            |table| table.starts[1] ^= 1 << 31,
            |table| table.first[5] ^= 1 << 3,
        ];
        for flip in flips {
            flip(quadrants.table.as_mut().expect("it was asked for"));
            assert!(!quadrants.is_intact());
            flip(quadrants.table.as_mut().expect("it was asked for"));
            assert!(quadrants.is_intact());
        }
    }

    #[test]
    #[should_panic(expected = "is too long")]
    fn places_beyond_four_bytes_end_the_count() {
        place(1 << 32);
    }
}
