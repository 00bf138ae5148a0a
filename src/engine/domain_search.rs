//! Counts the units of engine `halves` again, by a method that shares nothing with it.
//!
//! **Counts** the weighted solutions of [`RowDomains`]: the queen of each row stands in one of the
//! columns that the unit allows there. By far the fastest if about half of the rows are restricted to
//! the west half of the board and the others to the rest, but correct for any unit.
//!
//! **Idea.** The *west rows* are those restricted to the west half. All placements of their queens are
//! listed once, as *fillings*. The *other rows* are then filled by backtracking with forward
//! checking: the domain of a west row is the columns that no queen of the other rows attacks, and no
//! domain may become empty.
//!
//! ```text
//! list the fillings: all placements of the west rows by themselves
//! for each placement of the first few of the other rows:
//!     fillings' = those that none of these queens attacks
//!     for each block of 512 placements of all other rows:
//!         free[square] = the placements of the block that leave this square free, as 512 bits
//!         for each of fillings':  count the bits of the AND of free over its squares
//! ```
//!
//! A filling is looked up not square by square but by pairs of rows, whose ANDs are made once for each
//! block. Where solutions are weighed, the AND is taken with the placements of the block that count
//! once and with those that count twice; both depend on the filling only through the columns of its
//! northern rows.
//!
//! **Compared with `halves`**, which it checks: squares and rows instead of words of diagonals, no
//! quadrants, no groups left out by symmetry, and a weight for each pair of column sets. That weight,
//! which is part of what the unit counts, is all that both take from the same function.
//!
//! **Time** with AVX-512: CPU time of one thread on a shared machine whose speed varies by a third,
//! means of 80 random units (12 for n = 22 and 23), before the units' weights:
//!
//! | n | a recount | for each solution | times the count |
//! |---|---|---|---|
//! | 18 | 2.2 ms | 0.18 us | 34 |
//! | 19 | 1.3 ms | 0.39 us | 39 |
//! | 20 | 24 ms | 0.12 us | 21 |
//! | 21 | 9.4 ms | 0.23 us | 22 |
//! | 22 | 370 ms | 0.09 us | 28 |
//! | 23 | 190 ms | 0.22 us | 40 |
//!
//! **Memory:** 16 bytes for each filling, about 60 000 of them for the larger units at n = 20, and less
//! than that again for those kept; tables of 150 KiB.
//!
//! **Invariants:** weights are at most 3; a west row has at most 16 columns.
//!
//! **Tried and lost** (per unit of n = 20 and n = 22, on a loaded machine): a search through the west
//! rows for every block of 512 placements, 80 to 110 ms and 1.7 s; the same with 2048 placements in
//! a block, 70 ms and 1.4 s (unpredictable branches cost more than the vectors save). The passes of
//! `subtrees`, row by row from the north, take 205 ms and 3.4 s.

#![expect(
    clippy::cast_possible_truncation,
    reason = "columns and rows are below 32, domains have 16 bits, weights are checked"
)]

mod block;
mod fillings;
mod kernel;
mod other_rows;
mod rows;

use super::domains::RowDomains;
use super::kernel::Kernel;
use super::unit::{CountDomains, Interrupt};
use crate::cancel::Cancel;
use block::Block;
use fillings::Fillings;
use other_rows::OtherRows;
use rows::{Row, bits};

/// From this width of the west half on, the fillings are listed in parts, one for each column of the
/// first queen, so that the list stays short.
const LISTED_IN_PARTS: u32 = 13;

/// Counts units by the domains of their rows, with buffers of its own.
#[derive(Debug)]
pub(crate) struct DomainSearch {
    block: Block,
}

impl DomainSearch {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self { block: Block::new(kernel) }
    }
}

impl CountDomains for DomainSearch {
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
        let width = domains.size.get() / 2;
        let rows =
            (0..domains.size.rows()).map(|number| Row { number, allowed: domains.allowed[number] });
        let (mut west, others): (Vec<_>, Vec<_>) = rows.partition(|row| row.allowed >> width == 0);
        if west.len() > width as usize {
            return Ok(0);
        }
        let whole = west.first().map_or(0, |row| row.allowed);
        let parts: Vec<u32> = if width < LISTED_IN_PARTS || west.is_empty() {
            vec![whole]
        } else {
            bits(whole).map(|column| 1 << column).collect()
        };
        let mut solutions = 0u64;
        for part in parts {
            if let Some(row) = west.first_mut() {
                row.allowed = part;
            }
            let fillings = Fillings::list(&west, width, domains, cancel)?;
            let mut search = OtherRows::new(&others, &west, domains, &mut self.block, cancel);
            let found = search.count(fillings)?;
            solutions = solutions.checked_add(found).ok_or(Interrupt::Overflow)?;
        }
        Ok(solutions)
    }
}

#[cfg(test)]
mod tests;
