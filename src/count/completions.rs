//! Counts the solutions with queens on given squares and none on others.
//!
//! A placement of queens in the first rows is a part, and threads take part after part. Below it the search of engine
//! [`subtrees`](crate::engine::subtrees) counts, with the allowed columns of each row. Every solution is found one by
//! one, because fixed queens leave no symmetry to use.
//!
//! **Time** about 45 ns a solution on one CPU with AVX-512, so half a minute at n = 18. **Memory** 170 bytes for each
//! of some thousand parts.

use rayon::prelude::*;

use crate::board::size::{BoardSize, Squares};
use crate::board::solutions::Node;
use crate::board::square::{Square, squares_left_by};
use crate::cancel::Cancel;
use crate::engine::Kernel;
use crate::engine::subtrees::count_in_domains;
use crate::engine::unit::{Interrupt, RowDomains};
use crate::error::Error;

/// The number of parts from which no further row is divided. It is enough for all CPUs to have work until the end.
const MIN_PARTS: usize = 1000;

/// The solutions of a board with queens on some squares and none on others, divided into parts.
#[derive(Debug)]
pub(crate) struct Completions {
    parts: Vec<Part>,
}

/// The solutions that begin with a placement of queens in the first rows.
#[derive(Debug)]
struct Part {
    /// The columns in which queens may stand: one in each of the first rows.
    domains: RowDomains,
    /// The search below these rows.
    node: Node,
}

impl Completions {
    /// Divides the search for solutions that have queens on the squares of `place` and none on the squares of `block`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] for a square that is off the board, for a queen that another one attacks, and for a
    /// square that is to have a queen and to be blocked.
    pub(crate) fn new(size: BoardSize, place: &[Square], block: &[Square]) -> Result<Self, Error> {
        let allowed = without_blocked(squares_left_by(place, size)?, size, place, block)?;
        let node = Node::top(allowed[0]);
        let domains = RowDomains { size, allowed, multiplicity: None };
        let mut parts = vec![Part { domains, node }];
        for row in 0..size.rows() {
            if parts.len() >= MIN_PARTS {
                break;
            }
            parts = parts.iter().flat_map(|part| part.divided(row)).collect();
        }
        Ok(Self { parts })
    }

    /// Returns the number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Counts the solutions on the current rayon pool. The counting threads call `counted` after each part.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] after a cancellation.
    pub(crate) fn count(
        &self,
        kernel: Kernel,
        counted: &(dyn Fn() + Sync),
        cancel: &Cancel,
    ) -> Result<u128, Error> {
        let count_part = |part: &Part| -> Result<u128, Interrupt> {
            let solutions = count_in_domains(&part.domains, kernel, cancel)?;
            counted();
            Ok(u128::from(solutions))
        };
        let solutions: Result<u128, Interrupt> =
            self.parts.par_iter().with_max_len(1).map(count_part).sum();
        cancel.check()?;
        Ok(solutions.expect("more than 2^64 solutions in a part would take centuries"))
    }
}

/// Returns these squares without the blocked ones.
///
/// # Errors
///
/// [`Error::InvalidValue`] for a blocked square that is off the board or is to have a queen.
fn without_blocked(
    mut squares: Squares,
    size: BoardSize,
    place: &[Square],
    block: &[Square],
) -> Result<Squares, Error> {
    for square in block {
        square.check(size)?;
        if place.contains(square) {
            return Err(Error::invalid("a square to block", square, "a queen is placed on it"));
        }
        squares[square.row as usize] &= !(1 << square.column);
    }
    Ok(squares)
}

impl Part {
    /// Returns the parts for each free square of the first row that has no queen yet.
    fn divided(&self, row: usize) -> Vec<Self> {
        // Below the last row of the largest board there are no columns.
        let allowed_below = self.domains.allowed.get(row + 1).copied().unwrap_or(0);
        let mut parts = Vec::new();
        let mut free = self.node.free;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            let mut allowed = self.domains.allowed;
            allowed[row] = queen;
            let domains = RowDomains { allowed, multiplicity: None, ..self.domains };
            parts.push(Self { domains, node: self.node.with_queen(queen, allowed_below) });
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Solutions;

    /// Squares that are chosen at random, and the numbers by the iterator over all solutions.
    #[test]
    fn every_kernel_counts_the_solutions_that_are_listed() {
        let mut random = fastrand::Rng::with_seed(7);
        for n in 0..=9 {
            let size = BoardSize::new(n).expect("in range");
            let solutions: Vec<_> = Solutions::new(size).collect();
            for _ in 0..20 {
                let mut place = Vec::new();
                let mut block = Vec::new();
                for row in 0..n {
                    for column in 0..n {
                        let square = Square { row, column };
                        match random.u32(0..12) {
                            0 => block.push(square),
                            1 if squares_left_by(&[&place[..], &[square]].concat(), size)
                                .is_ok() =>
                            {
                                place.push(square);
                            }
                            _ => {}
                        }
                    }
                }
                place.truncate(random.usize(0..3));
                let wanted = solutions.iter().filter(|solution| {
                    let has_queen =
                        |square: &Square| solution.columns()[square.row as usize] == square.column;
                    place.iter().all(has_queen) && !block.iter().any(has_queen)
                });
                let wanted = wanted.count() as u128;
                let completions = Completions::new(size, &place, &block).expect("they fit");
                for kernel in Kernel::available() {
                    let counted = completions.count(kernel, &|| (), &Cancel::new());
                    assert_eq!(counted, Ok(wanted), "n = {n}, {kernel}, {place:?}, {block:?}");
                }
            }
        }
    }
}
