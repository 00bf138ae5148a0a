//! The table of symmetries in docs/COLOURS.md holds for every solution of small boards.

#![expect(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use super::super::subsets::Subsets;
use crate::board::solution::Solution;
use crate::board::solutions::Solutions;
use crate::engine::tests::size;

/// A row of the table: where the symmetry takes a row and a column, given the last one of a board, and the numbers of
/// the image on even and on odd boards.
struct Symmetry<'a> {
    name: &'a str,
    square: fn(last: u32, row: u32, column: u32) -> (u32, u32),
    on_even: &'a str,
    on_odd: &'a str,
}

/// Reads the table. The first cell of each row names a symmetry.
fn table(page: &str) -> Vec<Symmetry<'_>> {
    let mut symmetries = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, on_even, on_odd, ""] = cells[..] else { continue };
        let square: fn(u32, u32, u32) -> (u32, u32) = match name {
            "none" => |_, row, column| (row, column),
            "flip of the rows" => |last, row, column| (last - row, column),
            "flip of the columns" => |last, row, column| (row, last - column),
            "half-turn" => |last, row, column| (last - row, last - column),
            "transposition" => |_, row, column| (column, row),
            _ => continue,
        };
        symmetries.push(Symmetry { name, square, on_even, on_odd });
    }
    symmetries
}

/// The numbers of a solution: a, then the ranks x, y, u and v.
type Numbers = [u32; 5];

/// The sets of even and of odd numbers of a board, by rank.
struct Sets {
    n: u32,
    even: Subsets,
    odd: Subsets,
}

impl Sets {
    /// Returns the numbers of queens on these squares.
    fn numbers(&self, queens: &[(u32, u32)]) -> Numbers {
        let mut white = queens.to_vec();
        white.retain(|(row, column)| row % 2 == column % 2);
        let set = |parity: u32, number: fn(&(u32, u32)) -> u32| {
            let numbers = white.iter().map(number).filter(|number| number % 2 == parity);
            numbers.fold(0_u32, |set, number| set | 1 << (number / 2))
        };
        let even_rank = |set: u32| self.even.rank(set);
        // On even boards the odd sets are reversed before they are ranked.
        let odd_rank = |set: u32| {
            if self.n.is_multiple_of(2) {
                self.odd.rank_of_reversed(set)
            } else {
                self.odd.rank(set)
            }
        };
        let row = |queen: &(u32, u32)| queen.0;
        let column = |queen: &(u32, u32)| queen.1;
        [
            set(0, row).count_ones(),
            even_rank(set(0, row)),
            odd_rank(set(1, row)),
            even_rank(set(0, column)),
            odd_rank(set(1, column)),
        ]
    }

    /// Returns what a cell of the table, such as `N - a; M-1-y, M-1-x; u, v`, makes of the numbers of a solution.
    fn evaluate(&self, cell: &str, of: Numbers) -> Numbers {
        let terms: Vec<&str> = cell.split([';', ',']).map(str::trim).collect();
        let terms: [&str; 5] = terms.try_into().expect("five numbers");
        terms.map(|term| self.term(term, of))
    }

    fn term(&self, term: &str, of: Numbers) -> u32 {
        let [a, x, y, u, v] = of;
        let rank = |name: &str| match name {
            "x" => x,
            "y" => y,
            "u" => u,
            "v" => v,
            _ => panic!("no rank {name}"),
        };
        if let Some(name) = term.strip_prefix("M-1-") {
            // Only even boards have this term. There the sets of both parities are equally many.
            return self.even.of_size(a).len() as u32 - 1 - rank(name);
        }
        if let Some(name) = term.strip_prefix("r(").and_then(|rest| rest.strip_suffix(')')) {
            // Only odd boards have this term. There the odd sets have a - 1 members.
            let (sets, members) =
                if ["x", "u"].contains(&name) { (&self.even, a) } else { (&self.odd, a - 1) };
            return sets.rank_of_reversed(sets.of_size(members)[rank(name) as usize]);
        }
        match term {
            "a" => a,
            "N - a" => self.n / 2 - a,
            name => rank(name),
        }
    }
}

fn queens(solution: &Solution) -> Vec<(u32, u32)> {
    (0..).zip(solution.columns().iter().copied()).collect()
}

#[test]
fn the_table_of_symmetries_holds_for_every_solution() {
    let symmetries = table(include_str!("../../../../docs/COLOURS.md"));
    assert_eq!(symmetries.len(), 5, "the table of docs/COLOURS.md has five symmetries");
    for n in 4..=10 {
        let sets = Sets { n, even: Subsets::new(n.div_ceil(2)), odd: Subsets::new(n / 2) };
        for solution in Solutions::new(size(n)) {
            let numbers = sets.numbers(&queens(&solution));
            for Symmetry { name, square, on_even, on_odd } in &symmetries {
                let mut image = queens(&solution);
                for (row, column) in &mut image {
                    (*row, *column) = square(n - 1, *row, *column);
                }
                let cell = if n.is_multiple_of(2) { on_even } else { on_odd };
                assert_eq!(
                    sets.numbers(&image),
                    sets.evaluate(cell, numbers),
                    "n = {n}, {name}, {solution:?}"
                );
            }
        }
    }
}
