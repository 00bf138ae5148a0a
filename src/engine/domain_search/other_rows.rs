//! Fills the other rows by backtracking, and passes their placements on in blocks.
//!
//! The first of these rows are the *prefix*. After each of its rows, only the fillings that its queens
//! do not attack are kept. All placements of a block begin with the same prefix, so a block is
//! compared with a part of the list only.

use super::block::{Block, Placement};
use super::fillings::{Fillings, Kept, NorthernColumns};
use super::rows::{FreeColumns, Row, Taken, bits, northern_rows};
use crate::cancel::Cancel;
use crate::engine::domains::RowDomains;
use crate::engine::unit::Interrupt;
use crate::size::BoardSize;

/// The number of other rows in the prefix. The rows that remain are usually enough to fill a block.
/// One row more or less takes a tenth more time at n = 22; at n = 20, one row more takes a third more.
fn prefix_rows(size: BoardSize) -> usize {
    (size.rows() / 2).saturating_sub(9 + size.rows() % 2).max(1)
}

pub(super) struct OtherRows<'a> {
    rows: &'a [Row],
    west: &'a [Row],
    domains: &'a RowDomains,
    block: &'a mut Block,
    cancel: &'a Cancel,
    northern_rows: usize,
    northern: NorthernColumns,
    /// For each row and column, what a queen there leaves of the domains.
    leaves: Vec<[FreeColumns; 32]>,
    prefix: usize,
    fillings: Fillings,
    /// The fillings that are left after each row of the prefix.
    left: Vec<Kept>,
    solutions: u64,
}

impl<'a> OtherRows<'a> {
    pub(super) fn new(
        rows: &'a [Row],
        west: &'a [Row],
        domains: &'a RowDomains,
        block: &'a mut Block,
        cancel: &'a Cancel,
    ) -> Self {
        let leaves = rows.iter().map(|row| {
            let mut by_column = [[u16::MAX; 16]; 32];
            for (column, free) in (0..domains.size.get()).zip(&mut by_column) {
                let queen = Taken::default().with(row.number, column);
                for (row, domain) in west.iter().zip(free) {
                    *domain = queen.free(*row) as u16;
                }
            }
            by_column
        });
        Self {
            rows,
            west,
            domains,
            cancel,
            northern_rows: northern_rows(rows, domains),
            northern: NorthernColumns::default(),
            leaves: leaves.collect(),
            prefix: prefix_rows(domains.size).min(rows.len()),
            fillings: Fillings::default(),
            left: Vec::new(),
            block,
            solutions: 0,
        }
    }

    /// The weighted number of placements of the other rows and fillings that fit each other.
    pub(super) fn count(&mut self, fillings: Fillings) -> Result<u64, Interrupt> {
        self.left = vec![Kept::default(); self.prefix];
        let mut free = [u16::MAX; 16];
        for (row, domain) in self.west.iter().zip(&mut free) {
            *domain = row.allowed as u16;
        }
        self.block.clear();
        self.fillings = fillings;
        self.fill(0, Taken::default(), 0, &free)?;
        Ok(self.solutions)
    }

    /// Fills the rows from `depth` on.
    fn fill(
        &mut self,
        depth: usize,
        taken: Taken,
        northern: u16,
        free: &FreeColumns,
    ) -> Result<(), Interrupt> {
        let northern = if depth == self.northern_rows {
            if self.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            self.northern.number(taken.columns)
        } else {
            northern
        };
        if depth > 0 && depth <= self.prefix {
            let (longer, kept) = self.left.split_at_mut(depth - 1);
            let list = longer.last().map_or(&self.fillings.list[..], Kept::list);
            self.fillings.keep_within(free, list, &mut kept[0]);
            if kept[0].list().is_empty() {
                return Ok(());
            }
        }
        if let Some(row) = self.rows.get(depth).copied() {
            for column in bits(taken.free(row)) {
                let leaves = &self.leaves[depth][column as usize];
                let mut left = *free;
                let mut is_empty = false;
                for (domain, kept) in left.iter_mut().zip(leaves) {
                    *domain &= kept;
                    is_empty |= *domain == 0;
                }
                if !is_empty {
                    self.fill(depth + 1, taken.with(row.number, column), northern, &left)?;
                }
            }
        } else if self.block.push(Placement { free: *free, northern }) {
            self.flush()?;
        }
        if depth == self.prefix { self.flush() } else { Ok(()) }
    }

    /// Counts the block with the fillings that its prefix leaves.
    fn flush(&mut self) -> Result<(), Interrupt> {
        if self.cancel.is_cancelled() {
            return Err(Interrupt::Cancelled);
        }
        let left = self.left.last().map_or(&self.fillings.list[..], Kept::list);
        let found = self.block.count(left, &self.fillings, self.domains, &self.northern);
        self.solutions = self.solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
        Ok(())
    }
}
