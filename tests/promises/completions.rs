//! Promise: `count --place --block` counts the solutions with queens on given squares and none on others. README.md
//! makes this promise under "Use it". The numbers are compared with `list`, and with published totals divided by a
//! square.

use nqueens::{Solution, Solutions, Square};

use crate::common::{json, output, refused, size, stderr, stdout};

/// Returns the number that the command prints.
fn counted(args: &[&str]) -> u128 {
    let output = output(&[&["count", "-q"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output).trim().parse().expect("a number")
}

fn squares(n: u32) -> impl Iterator<Item = Square> {
    (0..n).flat_map(move |row| (0..n).map(move |column| Square { row, column }))
}

/// Whether a queen of the solution is on the square.
fn has_queen(solution: &Solution, square: Square) -> bool {
    solution.columns()[square.row as usize] == square.column
}

#[test]
fn each_square_divides_the_total() {
    for n in 1..=8 {
        let solutions: Vec<Solution> = Solutions::new(size(n)).collect();
        let total = solutions.len() as u128;
        for square in squares(n) {
            let name = square.to_string();
            let board = n.to_string();
            let with_queen = counted(&[&board, "--place", &name]);
            let listed = solutions.iter().filter(|solution| has_queen(solution, square)).count();
            assert_eq!(with_queen, listed as u128, "n = {n}, {name}");
            let without_queen = counted(&[&board, "--block", &name]);
            assert_eq!(with_queen + without_queen, total, "n = {n}, {name}");
        }
    }
}

#[test]
fn the_squares_of_a_row_divide_the_published_total() {
    for (n, total) in [(12, 14_200), (13, 73_712)] {
        for row in [1, n / 2, n] {
            let mut sum = 0;
            for column in 1..=n {
                sum += counted(&[&n.to_string(), "--place", &format!("{row}:{column}"), "-t", "2"]);
            }
            assert_eq!(sum, total, "n = {n}, row {row}");
        }
    }
}

/// Several queens and blocked squares, some of them off the rows that are divided among threads.
#[test]
fn queens_and_blocked_squares_are_as_in_the_list() {
    for (n, place, block) in [
        (10, "", "a1,b3,j10,e5"),
        (10, "c10,e9", ""),
        (10, "c10", "a1,5:5,g2"),
        (11, "e1,k2,a11", "c3,d4"),
        (9, "1:1,2:3,3:5", "4:2"),
        // All squares of a row.
        (6, "", "a3,b3,c3,d3,e3,f3"),
    ] {
        let read = |names: &str| -> Vec<Square> {
            let names = names.split(',').filter(|name| !name.is_empty());
            names.map(|name| name.parse().expect("a square")).collect()
        };
        let is_blocked =
            |solution: &Solution| read(block).iter().any(|square| has_queen(solution, *square));
        let listed = Solutions::with_queens(size(n), &read(place)).expect("no attack");
        let wanted = listed.filter(|solution| !is_blocked(solution)).count() as u128;
        let board = n.to_string();
        let mut args = vec![&*board];
        for (option, squares) in [("--place", place), ("--block", block)] {
            if !squares.is_empty() {
                args.extend([option, squares]);
            }
        }
        for threads in ["1", "2", "5"] {
            assert_eq!(counted(&[&args[..], &["-t", threads]].concat()), wanted, "{args:?}");
        }
    }
}

/// A part of the solutions is no total, and names its squares.
#[test]
fn a_part_is_never_called_a_total() {
    let answer = json(&output(&["count", "8", "--place", "a1", "--block", "b5,b6", "--json"]));
    assert!(answer["total"].is_null(), "{answer}");
    assert_eq!(answer["place"], serde_json::json!(["a1"]));
    assert_eq!(answer["block"], serde_json::json!(["b5", "b6"]));
    assert_eq!(answer["solutions"], "2");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for (args, words) in [
        (&["8", "--place", "a1,b2"][..], "the queen on a1 attacks it"),
        (&["8", "--place", "a1", "--block", "b3,a1"], "a queen is placed on it"),
        (&["8", "--block", "i1"], "not a square of the board"),
        (&["0", "--block", "a1"], "the board has no squares"),
        (&["8", "--place", "x"], "'x'"),
        (&["8", "--place", "a1", "--journal", "q8"], "cannot be used with"),
        (&["8", "--block", "a1", "--fundamental"], "cannot be used with"),
        (&["8", "--block", "a1", "--second"], "cannot be used with"),
        (&["8", "--place", "a1", "--engine", "colours"], "cannot be used with"),
        (&["8", "--place", "a1", "--split-rows", "2"], "cannot be used with"),
    ] {
        refused(&output(&[&["count"], args].concat()), 2, &[words]);
    }
}
