//! Counts the units of the textbook engines with the passes of `subtrees`, from row 0 on.

use super::level::Node;
use super::levels::Levels;
use crate::cancel::Cancel;
use crate::engine::bitmask::Restricted;
use crate::engine::domains::RowDomains;
use crate::engine::kernel::Kernel;
use crate::engine::unit::{CountDomains, Interrupt};
use crate::size::BoardSize;

/// Smaller boards have no row above the last three.
const SMALLEST: usize = 4;

/// Counts units by the domains of their rows, with buffers of its own.
#[derive(Debug)]
pub(crate) struct RestrictedSubtrees {
    kernel: Kernel,
    levels: Levels,
}

impl RestrictedSubtrees {
    pub(crate) fn new(size: BoardSize, kernel: Kernel) -> Self {
        Self { kernel, levels: Levels::new(size) }
    }
}

impl CountDomains for RestrictedSubtrees {
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
        // The passes know no weights, which the units of textbook engines do not have.
        if domains.size.rows() < SMALLEST || domains.weighing.is_some() {
            return Restricted.count(domains, cancel);
        }
        debug_assert!(domains.allowed[0] != 0, "a node of a level has a free square");
        let blocked = domains.allowed.map(|columns| !columns);
        let root = Node { columns: 0, falling: 0, rising: 0, free: domains.allowed[0] };
        self.levels.count(self.kernel, &blocked, 0, root, cancel)
    }
}
