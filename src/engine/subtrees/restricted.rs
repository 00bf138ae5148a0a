//! Counts the units of any engine with the passes of `subtrees`.
//!
//! The search begins at row 0 with the squares that the unit's [`RowDomains`] allows. Where placements
//! are weighed by the columns of their northern rows, the nodes of the row at which the weight is
//! known are sifted: those of the most frequent weight, 2, go on at once, those of weight 1 are
//! put aside and searched at the end, those of weight 0 are dropped.

use super::level::Node;
use super::levels::{Levels, Sieve};
use crate::cancel::Cancel;
use crate::engine::domains::{CountDomains, RowDomains};
use crate::engine::{Interrupt, Kernel, bitmask};
use crate::size::BoardSize;

/// On smaller boards the sieve's row has no level; they are left to `bitmask`.
const SMALLEST: usize = 6;

/// Counts units by the domains of their rows, with buffers of its own.
#[derive(Debug)]
pub(crate) struct RestrictedSubtrees {
    kernel: Kernel,
    levels: Levels,
    once: Vec<Node>,
}

impl RestrictedSubtrees {
    pub(crate) fn new(size: BoardSize, kernel: Kernel) -> Self {
        Self { kernel, levels: Levels::new(size), once: Vec::new() }
    }
}

impl CountDomains for RestrictedSubtrees {
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
        if domains.size.rows() < SMALLEST {
            return bitmask::Restricted.count(domains, cancel);
        }
        let Self { kernel, levels, once } = self;
        let blocked = domains.allowed.map(|columns| !columns);
        let root = Node { columns: 0, falling: 0, rising: 0, free: domains.allowed[0] };
        if root.free == 0 {
            return Ok(0);
        }
        let Some(weighing) = &domains.weighing else {
            return levels.count(*kernel, &blocked, 0, root, cancel);
        };
        once.clear();
        let mut keep = |node: Node| match domains.weight_at(weighing.row, node.columns) {
            Some(1) => {
                once.push(node);
                false
            }
            weight => weight == Some(2),
        };
        let sieve = Some(Sieve { row: weighing.row, keep: &mut keep });
        let twice = levels.count_sifted(*kernel, &blocked, 0, &[root], sieve, cancel)?;
        let once = levels.count_sifted(*kernel, &blocked, weighing.row, once, None, cancel)?;
        twice.checked_mul(2).and_then(|twice| twice.checked_add(once)).ok_or(Interrupt::Overflow)
    }
}
