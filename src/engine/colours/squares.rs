//! The four sub-boards, and the diagonals that the two sub-boards of one colour share.
//!
//! ```text
//!       0 1 2 3 4 5          W  white, row and column have the same parity
//!     0 W b W b W b          b  black
//!     1 b W b W b W
//!     2 W b W b W b          EE  even rows, even columns  white   list   labels Ce
//!     3 b W b W b W          OO  odd rows, odd columns    white   tree   labels Co
//!     4 W b W b W b          EO  even rows, odd columns   black   list   labels Co
//!     5 b W b W b W          OE  odd rows, even columns   black   tree   labels Ce
//! ```
//!
//! Each colour has a sub-board with even rows and a sub-board with odd rows. The placements on the first one form a
//! list, with the rows Re for white or ~Re for black. The placements on the second one form a tree, with the rows Ro
//! or ~Ro. The label of a white placement is the set of its columns. The label of a black placement is the complement
//! of its columns: the columns whose queen is white.
//!
//! A **word** is the set of a placement's diagonals that squares of both sub-boards touch, sums first, as the bits of a
//! number: 57 bits at n = 30. At n = 31 there are 60, which leave no room for the number of the label, so the engine
//! ends at n = 30. Two placements fit if the AND of their words is 0.
//!
//! **The second pass** uses the image of the board under the flip of its rows. Sums and differences change places,
//! so every word is different, and squares are tried in the reverse order.

use super::kernel::LABEL_SHIFT;
use super::subsets::MAX_ROWS;
use crate::board::size::BoardSize;
use crate::engine::unit::Pass;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    White,
    Black,
}

impl Colour {
    /// Returns the parity of the columns of the list's labels: Ce for white, Co for black. The labels of the tree have
    /// the other parity.
    pub(super) fn list_parity(self) -> Parity {
        match self {
            Self::White => Parity::Even,
            Self::Black => Parity::Odd,
        }
    }
}

/// The parity of the columns of a label: even for a Ce, odd for a Co.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parity {
    Even,
    Odd,
}

impl Parity {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }
}

/// The squares with rows of one parity and columns of one parity. The rows and columns of a sub-board are numbered 0,
/// 1, 2 and so on. Two of its squares share a diagonal if they are equally many rows and columns apart, which is the
/// rule of the whole board.
#[derive(Clone, Debug)]
pub(super) struct SubBoard {
    /// All columns of the sub-board.
    pub(super) columns: u32,
    /// All columns if labels are complements, otherwise none.
    complement: u32,
    /// The word of each square.
    words: [[u64; MAX_ROWS]; MAX_ROWS],
    /// The rows from the middle of the board outwards.
    pub(super) rows_from_middle: Vec<u32>,
    pub(super) pass: Pass,
}

/// Some queens of a sub-board, as the **lines** that they take: columns and diagonals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queens {
    pub(super) columns: u32,
    /// Bit row + column for each sum, and bit 32 + column - row + 15 for each difference.
    diagonals: u64,
}

impl Queens {
    /// Returns these queens with one more, on a square of the sub-board.
    pub(super) fn with(self, row: u32, column: u32) -> Self {
        let diagonals = 1 << (row + column) | 1 << (32 + column + 15 - row);
        self.union(Self { columns: 1 << column, diagonals })
    }

    /// The number of lines that there can be: the bits of `diagonals`, then the columns.
    pub(super) const LINES: usize = 64 + MAX_ROWS;

    /// Returns the number of each line that the queens take.
    pub(super) fn lines(self) -> impl Iterator<Item = usize> {
        bits(self.diagonals).chain(bits(self.columns.into()).map(|column| 64 + column))
    }

    /// Returns whether these queens and the others take a line in common.
    pub(super) fn conflicts_with(self, others: Self) -> bool {
        u64::from(self.columns & others.columns) | self.diagonals & others.diagonals != 0
    }

    /// Returns these queens and the others together.
    pub(super) fn union(self, others: Self) -> Self {
        Self {
            columns: self.columns | others.columns,
            diagonals: self.diagonals | others.diagonals,
        }
    }
}

/// Returns the places of the bits that are set, the lowest first.
pub(super) fn bits(mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize);
        left &= left.wrapping_sub(1);
        bit
    })
}

impl SubBoard {
    /// Returns the columns that are free in a row.
    pub(super) fn free(&self, row: u32, queens: Queens) -> u32 {
        // Column c is attacked along the sum row + c, which is bit c after a shift by the row, and along the difference
        // c - row + 15.
        #[expect(clippy::cast_possible_truncation, reason = "sums are in the lower half")]
        let sums = queens.diagonals as u32;
        let differences = (queens.diagonals >> 32) as u32;
        let attacked = sums >> row | differences >> (15 - row);
        self.columns & !(queens.columns | attacked)
    }

    /// Returns columns in the order in which they are tried, which is reversed in the second pass.
    pub(super) fn in_order(&self, mut columns: u32) -> impl Iterator<Item = u32> + use<> {
        let pass = self.pass;
        std::iter::from_fn(move || {
            if columns == 0 {
                return None;
            }
            let column = match pass {
                Pass::First => columns.trailing_zeros(),
                Pass::Second => columns.ilog2(),
            };
            columns ^= 1 << column;
            Some(column)
        })
    }

    /// Returns the word of a square.
    pub(super) fn word(&self, row: u32, column: u32) -> u64 {
        self.words[row as usize][column as usize]
    }

    /// Returns the columns of the placements that have this label.
    pub(super) fn columns_of(&self, label: u32) -> u32 {
        label ^ self.complement
    }

    /// Returns the bits of all diagonals.
    fn diagonals(&self) -> u64 {
        self.words.iter().flatten().fold(0, |all, word| all | word)
    }

    /// Removes the diagonals that are not among these, and moves the others to the lowest bits.
    fn keep_diagonals(&mut self, kept: u64) {
        for word in self.words.iter_mut().flatten() {
            let mut moved = 0;
            for (to, from) in bits(kept).enumerate() {
                moved |= (*word >> from & 1) << to;
            }
            *word = moved;
        }
    }

    /// Returns the rows of this colour, given the white rows and all rows.
    pub(super) fn own_rows(&self, rows: u32, all: u32) -> u32 {
        if self.complement == 0 { rows } else { all & !rows }
    }
}

/// Returns the two sub-boards of a colour: first the one with even rows, whose placements are listed, then the one
/// with odd rows, whose placements form a tree.
pub(super) fn sub_boards(size: BoardSize, colour: Colour, pass: Pass) -> [SubBoard; 2] {
    let mut list = sub_board(size, 0, colour, pass);
    let mut tree = sub_board(size, 1, colour, pass);
    let shared = list.diagonals() & tree.diagonals();
    assert!(shared.count_ones() <= LABEL_SHIFT, "a word has room for the number of a label");
    list.keep_diagonals(shared);
    tree.keep_diagonals(shared);
    [list, tree]
}

/// Returns the sub-board with rows of this parity.
fn sub_board(size: BoardSize, row_parity: usize, colour: Colour, pass: Pass) -> SubBoard {
    let n = size.rows();
    let column_parity = if colour == Colour::White { row_parity } else { 1 - row_parity };
    let rows_len = (n + 1 - row_parity) / 2;
    let columns_len = (n + 1 - column_parity) / 2;
    let mut words = [[0; MAX_ROWS]; MAX_ROWS];
    for (i, words) in words.iter_mut().enumerate().take(rows_len) {
        for (j, word) in words.iter_mut().enumerate().take(columns_len) {
            let mut row = 2 * i + row_parity;
            let column = 2 * j + column_parity;
            if pass == Pass::Second {
                row = n - 1 - row;
            }
            // All sums on a colour have the same parity, and so have all differences, so 32 bits are enough for each.
            // Diagonals that only one sub-board touches are removed later.
            let sum = (row + column) / 2;
            let difference = (column + 31 - row) / 2;
            *word = 1 << sum | 1 << (32 + difference);
        }
    }
    let rows_end = u32::try_from(rows_len).expect("a board has at most 32 rows");
    let mut rows_from_middle: Vec<u32> = (0..rows_end).collect();
    // Row i of the sub-board is row r = 2 i + parity of the board. Twice its distance from the middle is |2 r + 1 - n|.
    rows_from_middle.sort_by_key(|i| (4 * *i as usize + 2 * row_parity + 1).abs_diff(n));
    let columns = (1 << columns_len) - 1;
    let complement = if colour == Colour::Black { columns } else { 0 };
    SubBoard { columns, complement, words, rows_from_middle, pass }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::colours::LARGEST;

    #[test]
    fn words_leave_room_for_labels() {
        for n in 4..=LARGEST {
            let size = BoardSize::new(n).expect("in range");
            for colour in [Colour::White, Colour::Black] {
                for pass in [Pass::First, Pass::Second] {
                    sub_boards(size, colour, pass);
                }
            }
        }
    }
}
