//! The fillings: all placements of the west rows by themselves, listed once for each unit.

use std::collections::HashMap;

use super::rows::{FreeColumns, Row, Taken, bits, northern_rows};
use crate::cancel::Cancel;
use crate::engine::domains::RowDomains;
use crate::engine::unit::Interrupt;

/// Pairs of west rows.
pub(super) const PAIRS: usize = 8;

/// One placement of the west rows.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Filling {
    /// For each pair of rows, the index of their two columns in a table.
    pub(super) pairs: [u8; PAIRS],
    /// The number of its set of northern columns.
    pub(super) northern: u16,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fillings {
    /// In the order in which backtracking finds them.
    pub(super) list: Vec<Filling>,
    /// The distinct sets of columns that northern west rows take.
    pub(super) northern: NorthernColumns,
    pub(super) rows: usize,
    /// The number of columns of the west half.
    pub(super) width: u32,
}

/// Numbers the sets of columns that northern rows take.
#[derive(Clone, Debug, Default)]
pub(super) struct NorthernColumns {
    pub(super) sets: Vec<u32>,
    numbers: HashMap<u32, u16>,
}

impl NorthernColumns {
    /// The number of a set, or the next number if the set is new. There are fewer than 2^16 even on
    /// boards of 32 columns.
    pub(super) fn number(&mut self, set: u32) -> u16 {
        let next = self.sets.len() as u16;
        let number = *self.numbers.entry(set).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }
}

impl Fillings {
    pub(super) fn list(
        rows: &[Row],
        width: u32,
        domains: &RowDomains,
        cancel: &Cancel,
    ) -> Result<Self, Interrupt> {
        let mut fillings = Self { rows: rows.len(), width, ..Self::default() };
        let northern = northern_rows(rows, domains);
        let mut lister = Lister { rows, northern, cancel, fillings: &mut fillings };
        lister.fill(0, Taken::default(), Filling::default())?;
        Ok(fillings)
    }

    /// Keeps the fillings of `list` that lie within these domains.
    pub(super) fn keep_within(&self, free: &FreeColumns, list: &[Filling], kept: &mut Kept) {
        let pairs = self.rows.div_ceil(2);
        let mut fits = [[true; 256]; PAIRS];
        let width = self.width as usize;
        for (rows, fits) in free.chunks(2).zip(&mut fits).take(pairs) {
            for (place, fits) in fits.iter_mut().enumerate().take(width * width) {
                *fits = rows[0] >> (place / width) & rows[1] >> (place % width) & 1 == 1;
            }
        }
        if kept.room.len() < list.len() {
            kept.room.resize(list.len(), Filling::default());
        }
        kept.len = 0;
        for filling in list {
            // Always written, but counted only if it fits: there is no branch to mispredict.
            kept.room[kept.len] = *filling;
            let places = filling.pairs.iter().zip(&fits).take(pairs);
            let fits = places.fold(true, |all, (pair, fits)| all & fits[usize::from(*pair)]);
            kept.len += usize::from(fits);
        }
    }
}

/// Some of the fillings, in memory that is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    room: Vec<Filling>,
    len: usize,
}

impl Kept {
    pub(super) fn list(&self) -> &[Filling] {
        &self.room[..self.len]
    }
}

struct Lister<'a> {
    rows: &'a [Row],
    northern: usize,
    cancel: &'a Cancel,
    fillings: &'a mut Fillings,
}

impl Lister<'_> {
    /// Fills the rows from `depth` on.
    fn fill(&mut self, depth: usize, taken: Taken, mut filling: Filling) -> Result<(), Interrupt> {
        if depth == self.northern {
            if self.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            filling.northern = self.fillings.northern.number(taken.columns);
        }
        let Some(row) = self.rows.get(depth) else {
            self.fillings.list.push(filling);
            return Ok(());
        };
        for column in bits(taken.free(*row)) {
            let mut longer = filling;
            let step = if depth.is_multiple_of(2) { self.fillings.width } else { 1 };
            longer.pairs[depth / 2] += (column * step) as u8;
            self.fill(depth + 1, taken.with(row.number, column), longer)?;
        }
        Ok(())
    }
}
