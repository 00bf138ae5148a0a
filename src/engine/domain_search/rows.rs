//! Rows, and the squares that queens leave free in them.

use crate::engine::domains::RowDomains;

/// The free columns of up to sixteen rows; unused ones have all bits set.
pub(super) type FreeColumns = [u16; 16];

/// A row and the columns in which its queen may stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) number: usize,
    pub(super) allowed: u32,
}

/// Columns and diagonals that queens take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) columns: u32,
    rising: u64,
    falling: u64,
}

impl Taken {
    pub(super) fn with(self, row: usize, column: u32) -> Self {
        let [rising, falling] = diagonals(row, column);
        Self {
            columns: self.columns | 1 << column,
            rising: self.rising | rising,
            falling: self.falling | falling,
        }
    }

    /// The columns of a row that are attacked.
    fn attacked(self, row: usize) -> u32 {
        let row_bits = |diagonals: u64, shift: usize| (diagonals >> shift) as u32;
        self.columns | row_bits(self.rising, row) | row_bits(self.falling, 31 - row)
    }

    /// The squares of a row on which a queen may still stand.
    pub(super) fn free(self, row: Row) -> u32 {
        row.allowed & !self.attacked(row.number)
    }
}

/// The number of northern rows among these, which come in the order of the board. The weight depends
/// on the columns of northern rows.
pub(super) fn northern_rows(rows: &[Row], domains: &RowDomains) -> usize {
    let first_southern = domains.weighing.as_ref().map_or(0, |weighing| weighing.row);
    rows.iter().take_while(|row| row.number < first_southern).count()
}

/// The two diagonals of a square, each as a bit of its family.
fn diagonals(row: usize, column: u32) -> [u64; 2] {
    [1 << (row + column as usize), 1 << (column as usize + 31 - row)]
}

/// The bits of a set, lowest first.
pub(super) fn bits(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(lowest)
    })
}
