//! Counts units of other engines with the passes of `subtrees`, from row 0 on.
//!
//! **Idea.** Squares that the unit forbids count as attacked. Where solutions are weighed, the weight
//! is known as soon as the northern rows are filled. There each node moves to the levels of its weight,
//! and nodes of weight 0 are dropped. So the passes below are full, and each count is multiplied once.
//!
//! ```text
//!   above         rows whose queens decide the weight
//!   ------------- weighing.row: each node has its weight
//!   once | twice  passes whenever a batch is full, and over the rest at the end
//! ```
//!
//! **Time** for a unit of `halves`, CPU time with AVX2 on a busy EPYC, means of 24 to 300 random units:
//! 10 ms at n = 18, 4 ms at 19, 0.16 s at 20, 0.06 s at 21, 2.0 s at 22. That is 80 times as long as
//! `halves` takes at n = 18, 150 times at 20 and 200 times at 22. **Memory** 12 KiB for each row.
//!
//! **Invariant:** the rows that decide the weight are above the last three.

use super::levels::{BATCH, Levels};
use crate::board::size::{BoardSize, Squares};
use crate::board::solution::Node;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::single_unit::Restricted;
use crate::engine::unit::{CountDomains, Interrupt};
use crate::engine::unit::{RowDomains, Weighing};

/// On smaller boards the northern rows reach the last three, which a pass closes at once.
const SMALLEST: usize = 5;

/// Counts units by the domains of their rows, with buffers of its own.
#[derive(Debug)]
pub(crate) struct RestrictedSubtrees {
    kernel: Kernel,
    /// The rows before the weight is known, or all rows.
    above: Levels,
    /// The rows below, of solutions that count once.
    once: Levels,
    /// The rows below, of solutions that count twice.
    twice: Levels,
}

impl RestrictedSubtrees {
    pub(crate) fn new(size: BoardSize, kernel: Kernel) -> Self {
        let levels = Levels::new(size);
        Self { kernel, above: levels.clone(), once: levels.clone(), twice: levels }
    }

    /// The weighted number of solutions below the root.
    fn count_weighed(
        &mut self,
        blocked: &Squares,
        root: Node,
        weighing: &Weighing,
        cancel: &Cancel,
    ) -> Result<u64, Interrupt> {
        let Self { kernel, above, once, twice } = self;
        let (row, weight) = (&weighing.number_of_rows(), &weighing.weight);
        let mut solutions = 0u64;
        let mut count = |levels: &mut Levels, weight, enough| {
            let found = levels.count_waiting(*kernel, blocked, *row, enough, cancel)?;
            let weighed = found.checked_mul(weight).ok_or(Interrupt::Overflow)?;
            solutions = solutions.checked_add(weighed).ok_or(Interrupt::Overflow)?;
            Ok(())
        };
        for levels in [&mut *above, &mut *once, &mut *twice] {
            levels.clear();
        }
        above.of_row(0).push(root);
        above.walk(0..*row, 1, cancel, |above, at| {
            above.pass(*kernel, blocked, at);
            let known = above.of_row(*row);
            for node in (0..std::mem::take(&mut known.len)).map(|index| known.get(index)) {
                let weight = weight(node.columns);
                let levels = match weight {
                    0 => continue,
                    1 => &mut *once,
                    2 => &mut *twice,
                    _ => unreachable!("a transposition makes two of one"),
                };
                levels.of_row(*row).push(node);
                if levels.of_row(*row).len == BATCH {
                    count(levels, weight, BATCH)?;
                }
            }
            Ok(())
        })?;
        count(once, 1, 1)?;
        count(twice, 2, 1)?;
        Ok(solutions)
    }
}

impl CountDomains for RestrictedSubtrees {
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
        if domains.size.rows() < SMALLEST {
            return Restricted.count(domains, cancel);
        }
        let blocked = blocked_squares(domains);
        let root = Node::top(!blocked[0]);
        match &domains.weighing {
            // A node of a level has a free square.
            _ if root.free == 0 => Ok(0),
            Some(weighing) => self.count_weighed(&blocked, root, weighing, cancel),
            None => self.above.count(self.kernel, &blocked, 0, root, cancel),
        }
    }
}

/// The squares on which no queen can stand: those that the unit forbids, and those attacked by the
/// queen of a row that has only one square, as in the middle of odd boards.
fn blocked_squares(domains: &RowDomains) -> Squares {
    let mut blocked = domains.allowed.map(|columns| !columns);
    for row in 0..domains.size.rows() {
        let queen = domains.allowed[row];
        if queen.is_power_of_two() {
            for other in (0..domains.size.rows()).filter(|&other| other != row) {
                let distance = row.abs_diff(other);
                blocked[other] |= queen | queen << distance | queen >> distance;
            }
        }
    }
    blocked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::{kernels, random, size};

    /// Domains at random, weighed by the columns that the first rows take.
    fn weighed(n: u32, rows: usize, random: &mut fastrand::Rng, cancel: &Cancel) -> RowDomains {
        let mut domains = RowDomains::whole_board(size(n));
        for allowed in &mut domains.allowed[..n as usize] {
            *allowed &= random.u32(..) | random.u32(..);
        }
        let cancel = cancel.clone();
        let weight = move |columns: u32| {
            cancel.cancel();
            u64::from(columns % 7 % 3)
        };
        domains.weighing = Some(Weighing { rows: (1 << rows) - 1, weight: Box::new(weight) });
        domains
    }

    #[test]
    fn weighed_solutions_of_any_domains_are_those_of_the_plain_search() {
        let mut random = random();
        for kernel in kernels() {
            for n in 5..=12 {
                let mut counter = RestrictedSubtrees::new(size(n), kernel);
                for row in (1..=n as usize - 3).cycle().take(30) {
                    let domains = weighed(n, row, &mut random, &Cancel::new());
                    let expected = Restricted.count(&domains, &Cancel::new());
                    let what = format!("{kernel}, n = {n}, {domains:?}");
                    assert_eq!(counter.count(&domains, &Cancel::new()), expected, "{what}");
                }
            }
        }
    }

    /// The first node that is weighed raises the flag.
    #[test]
    fn a_cancelled_count_stops_and_leaves_nothing_to_the_next() {
        let (n, row) = (13, 6);
        let mut counter = RestrictedSubtrees::new(size(n), Kernel::detect());
        let cancel = Cancel::new();
        let domains = weighed(n, row, &mut random(), &cancel);
        assert_eq!(counter.count(&domains, &cancel), Err(Interrupt::Cancelled));
        let expected = Restricted.count(&domains, &Cancel::new());
        assert_eq!(counter.count(&domains, &Cancel::new()), expected);
    }
}
