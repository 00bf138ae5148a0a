//! Promise: `list` prints every solution once, in lexicographic order, also with queens on given squares. README.md
//! makes this promise under "Use it" (See the solutions themselves). The tests check legality by the definition.

use std::collections::BTreeSet;

use nqueens::{Error, Solution, Solutions, Square};

use crate::common::processes::send;
use crate::common::{
    finish, nqueens, output, refused, size, spawn, stderr, stdout, without_reader,
};

/// The lines of a list as columns counted from 1.
fn listed(args: &[&str]) -> Vec<Vec<usize>> {
    let output = output(&[&["list"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    let number = |field: &str| field.parse().expect("a number");
    stdout(&output)
        .lines()
        .map(|line| {
            line.split_whitespace().filter(|field| !field.starts_with('(')).map(number).collect()
        })
        .collect()
}

/// By the definition: one queen in each row and column, and none on a diagonal of another.
fn is_solution(columns: &[usize]) -> bool {
    let n = columns.len();
    let all: BTreeSet<usize> = columns.iter().copied().collect();
    let rising: BTreeSet<usize> =
        columns.iter().enumerate().map(|(row, column)| row + column).collect();
    let falling: BTreeSet<usize> =
        columns.iter().enumerate().map(|(row, column)| row + n - column).collect();
    all.iter().copied().eq(1..=n) && rising.len() == n && falling.len() == n
}

#[test]
fn lists_are_complete_legal_and_in_order() {
    for (n, total) in (1..).zip([1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14_200]) {
        let solutions = listed(&[&n.to_string()]);
        assert_eq!(solutions.len(), total, "n = {n}");
        assert!(
            solutions.iter().all(|columns| columns.len() == n && is_solution(columns)),
            "n = {n}"
        );
        assert!(solutions.windows(2).all(|pair| pair[0] < pair[1]), "n = {n}: order");
    }
}

#[test]
fn boards_without_solutions_are_explained() {
    for n in ["2", "3"] {
        let output = output(&["list", n]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""));
        assert!(stderr(&output).contains("no solution"), "{}", stderr(&output));
    }
    let empty = output(&["list", "0"]);
    assert_eq!((empty.status.code(), stdout(&empty)), (Some(0), "\n"), "the empty solution");
}

#[test]
fn nothing_is_silent() {
    for args in [
        &["2"][..],
        &["6", "--place", "a1"],
        &["6", "--place", "a1", "--fundamental"],
        &["6", "--place", "a1", "--json"],
        &["6", "--place", "a1", "--style", "svg", "--limit", "9"],
    ] {
        let output = output(&[&["list"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let message = format!(
            "nqueens: nothing is listed: no solution with {} queens fits these options\n",
            args[0]
        );
        assert_eq!(stderr(&output), message, "{args:?}");
    }
    // Nothing was looked for, so nothing is known.
    let none = output(&["list", "8", "--place", "a1", "--limit", "0"]);
    assert_eq!((none.status.code(), stderr(&none)), (Some(0), ""));
}

/// The first row is drawn at the bottom, and the squares of `--place` are those of the board.
#[test]
fn squares_are_those_of_chess() {
    for place in ["a1", "1:1"] {
        let output = output(&["list", "8", "--place", place, "--limit", "1", "--style", "board"]);
        let lines: Vec<&str> = stdout(&output).lines().collect();
        assert_eq!((lines[7], lines[8]), ("1 Q#######", "  abcdefgh"), "{place}");
        assert!(lines[0].starts_with("8 "), "{place}: {}", lines[0]);
    }
    assert_eq!(listed(&["8", "--place", "e2,a1", "--limit", "1"])[0][..2], [1, 5]);
}

#[test]
fn fundamental_solutions_and_their_classes_sum_up() {
    let published = [(1, 1), (4, 1), (5, 2), (6, 1), (7, 6), (8, 12), (9, 46), (10, 92), (11, 341)];
    for (n, classes) in published {
        let output = output(&["list", &n.to_string(), "--fundamental", "--json"]);
        let lines: Vec<serde_json::Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), classes, "n = {n}");
        let total: u64 = lines.iter().map(|line| line["class"].as_u64().expect("a number")).sum();
        assert_eq!(nqueens::count(n), Ok(total.into()), "n = {n}");
        // No two of them are images of each other.
        let mut images = BTreeSet::new();
        for line in &lines {
            let mut columns = Vec::new();
            for column in line["columns"].as_array().expect("a list") {
                let column = column.as_u64().expect("a number");
                columns.push(u32::try_from(column - 1).expect("on the board"));
            }
            let solution = Solution::new(columns).expect("legal");
            assert!(images.insert(solution.clone()), "n = {n}");
            images.extend(solution.images());
        }
        assert_eq!(images.len() as u64, total);
    }
}

/// The library lists them, and writes them as the program does.
#[test]
fn fundamental_solutions_are_the_smallest_of_their_classes() {
    for n in 0..=9 {
        let mut classes_seen = BTreeSet::new();
        let mut wanted = Vec::new();
        for solution in Solutions::new(size(n)) {
            let class: BTreeSet<Solution> = solution.images().into_iter().collect();
            // Solutions are listed in order, so the first one of a class is the smallest.
            let is_first = classes_seen.insert(class);
            assert_eq!(solution.is_fundamental(), is_first, "{solution}");
            if is_first {
                wanted.push(solution);
            }
        }
        let fundamental: Vec<Solution> = Solutions::fundamental(size(n)).collect();
        assert_eq!(fundamental, wanted, "n = {n}");
        let printed = output(&["list", &n.to_string(), "--fundamental"]);
        let lines = fundamental.iter().map(|one| format!("{one} ({})", one.class_size()));
        assert!(stdout(&printed).lines().eq(lines), "n = {n}: {printed:?}");
    }
}

#[test]
fn solutions_are_read_from_a_list() {
    for n in 0..=8 {
        let all = Solutions::new(size(n));
        let printed = output(&["list", &n.to_string()]);
        let read =
            stdout(&printed).lines().map(|line| line.parse::<Solution>().expect("a solution"));
        assert!(read.eq(all), "n = {n}");
    }
}

/// The classes with a solution that fits, and of each the smallest solution that fits.
#[test]
fn a_class_with_a_queen_on_the_given_squares_is_listed_once() {
    for n in [4, 5, 6, 7, 8] {
        let all: Vec<Solution> = Solutions::new(size(n)).collect();
        for row in 0..n {
            for column in 0..n {
                let place = square(row, column).to_string();
                let mut classes_seen = BTreeSet::new();
                let mut wanted = Vec::new();
                for solution in &all {
                    let fits = solution.columns()[row as usize] == column;
                    let class: BTreeSet<Solution> = solution.images().into_iter().collect();
                    if fits && classes_seen.insert(class) {
                        let columns = solution.columns().iter();
                        wanted.push(columns.map(|column| *column as usize + 1).collect::<Vec<_>>());
                    }
                }
                let listed = listed(&[&n.to_string(), "--fundamental", "--place", &place]);
                assert_eq!(listed, wanted, "n = {n}, {place}");
            }
        }
    }
    let two = listed(&["8", "--fundamental", "--place", "e2,a1"]);
    let all = listed(&["8", "--place", "a1,e2"]);
    assert!(!two.is_empty() && two.iter().all(|solution| all.contains(solution)), "{two:?}");
}

#[test]
fn a_list_can_be_limited() {
    let all = listed(&["8"]);
    let first = listed(&["8", "--limit", "30"]);
    assert_eq!(first, all[..30]);
    assert_eq!(listed(&["8", "--limit", "0"]).len(), 0);
}

#[test]
fn readers_may_leave() {
    for style in ["columns", "board", "unicode"] {
        let output = without_reader(&mut nqueens(&["list", "16", "--style", style]));
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{style}");
    }
}

/// As it ends other programs that write lists.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_list() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;

    use signal_hook::consts::SIGINT;

    let mut child = spawn(&mut nqueens(&["list", "17"]));
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the first solution");
    send("INT", &child);
    let output = finish(child);
    assert_eq!((output.status.signal(), stderr(&output)), (Some(SIGINT), ""));
}

fn square(row: u32, column: u32) -> Square {
    Square { row, column }
}

/// Compares listed completions with the whole list.
fn check_completions(n: u32, squares: &[Square], all: &[Solution]) {
    let holds = |solution: &&Solution| {
        squares.iter().all(|square| solution.columns()[square.row as usize] == square.column)
    };
    let expected: Vec<&Solution> = all.iter().filter(holds).collect();
    let Ok(listed) = Solutions::with_queens(size(n), squares) else {
        assert!(expected.is_empty(), "refused, but {squares:?} can stand together");
        return;
    };
    let listed: Vec<Solution> = listed.collect();
    assert!(listed.iter().eq(expected.iter().copied()), "n = {n}, {squares:?}");
}

#[test]
fn completions_agree_with_the_whole_list() {
    for n in [0, 1, 2, 3, 4, 5, 8, 9] {
        let all: Vec<Solution> = Solutions::new(size(n)).collect();
        let squares: Vec<Square> =
            (0..n).flat_map(|row| (0..n).map(move |column| square(row, column))).collect();
        for one in &squares {
            check_completions(n, &[*one], &all);
        }
        // Pairs and triples, drawn with a fixed rule.
        for turn in 0..if n < 8 { 0 } else { 60 } {
            let pick = |step: usize| squares[(turn * 37 + step * (turn + 11)) % squares.len()];
            check_completions(n, &[pick(1), pick(2)], &all);
            check_completions(n, &[pick(1), pick(2), pick(3)], &all);
        }
    }
}

#[test]
fn queens_that_no_solution_has_are_refused() {
    for (squares, reason) in [
        (&[square(8, 0)][..], "'a9' is not a square of the board"),
        (&[square(0, u32::MAX)], "is not a square of the board"),
        (&[square(0, 0), square(7, 7)], "the queen on a1 attacks it"),
    ] {
        let refused = Solutions::with_queens(size(8), squares).expect_err("no solution has them");
        assert!(matches!(refused, Error::InvalidValue { .. }), "{refused:?}");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

/// Every solution has one queen in each row.
#[test]
fn completions_for_the_squares_of_a_row_sum_to_the_total() {
    for n in [6, 10, 12] {
        for row in [0, 3, n - 1] {
            let mut sum = 0;
            for column in 0..n {
                let queen = square(row, column);
                let solutions = Solutions::with_queens(size(n), &[queen]).expect("one queen");
                sum += solutions.count() as u128;
            }
            assert_eq!(nqueens::count(n), Ok(sum), "n = {n}, row {row}");
        }
    }
}

#[test]
fn bad_lists_get_a_clear_message() {
    let bad: &[(&[&str], &str)] = &[
        (&["list", "8", "--place", "a1,h8"], "the queen on a1 attacks it"),
        (&["list", "8", "--place", "a9"], "'a9' is not a square of the board"),
        (&["list", "8", "--place", "x"], "'x'"),
        (&["list", "8", "--place", "a1,a2"], "attack"),
        (&["list", "33", "--limit", "1"], "0 to 32"),
        (&["list", "9", "--style", "svg"], "--limit"),
        (&["list", "8", "--style", "x"], "unicode"),
    ];
    for (args, reason) in bad {
        refused(&output(args), 2, &[reason]);
    }
}
