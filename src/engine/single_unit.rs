//! The plain backtracker for units of any engine, and the single unit of boards that are too small to
//! cut.

use super::unit::{CountDomains, Interrupt, Pass, Prepared, Resources, RowDomains, Units, Worker};
use crate::board::size::BoardSize;
use crate::board::solution::Node;
use crate::board::square::FixedQueens;
use crate::cancel::Cancel;
use crate::error::Error;

/// A whole board with some queens given, counted by the plain backtracker. The empty board has one
/// solution (A000170).
#[derive(Clone, Debug)]
pub(crate) struct SingleUnit {
    size: BoardSize,
    queens: FixedQueens,
}

impl SingleUnit {
    pub(crate) fn new(size: BoardSize, queens: FixedQueens) -> Self {
        Self { size, queens }
    }
}

impl Units for SingleUnit {
    fn len(&self) -> usize {
        1
    }

    fn domains(&self, _unit: usize) -> RowDomains {
        RowDomains::with_queens(self.size, &self.queens)
    }

    fn prepare(&self, _: Pass, _: &Resources, _: &Cancel) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Worker for SingleUnit {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Restricted.count(&self.domains(unit), cancel)
    }
}

/// Counts the units of any engine as engine `bitmask` counts its own: squares that a unit forbids count
/// as taken.
/// It would need centuries to reach a count that overflows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restricted;

impl CountDomains for Restricted {
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
        let count = fill_allowed(domains, 0, Node::top(domains.allowed[0]), cancel);
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(count) }
    }
}

/// The weighted number of ways to fill the rows from `row` on.
fn fill_allowed(domains: &RowDomains, row: usize, node: Node, cancel: &Cancel) -> u64 {
    let weight = domains.weight_at(row, node.columns).unwrap_or(1);
    if row == domains.size.rows() {
        return weight;
    }
    if weight == 0 || cancel.is_cancelled() {
        return 0;
    }
    let mut solutions = 0;
    let allowed_below = domains.allowed.get(row + 1).copied().unwrap_or(0);
    let mut free = node.free;
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        let below = node.with_queen(queen, !allowed_below);
        solutions += fill_allowed(domains, row + 1, below, cancel);
    }
    weight * solutions
}
