//! Listed solutions: an independent check of order, legality and number; given queens; pictures.

use std::collections::BTreeSet;

use nqueens::{FixedQueens, Solution, Solutions, Square};

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
        &["8", "--place", "h1", "--fundamental"],
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
fn representatives_and_their_classes_sum_up() {
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
            let columns = line["columns"].as_array().expect("a list");
            let column = |column: &serde_json::Value| {
                u32::try_from(column.as_u64().expect("a number") - 1).expect("on the board")
            };
            let columns: Vec<u32> = columns.iter().map(column).collect();
            let solution = Solution::new(columns).expect("legal");
            assert!(images.insert(solution.clone()), "n = {n}");
            images.extend(solution.images());
        }
        assert_eq!(images.len() as u64, total);
    }
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

#[test]
fn a_signal_ends_a_list_quietly() {
    use std::io::{BufRead, BufReader, Read};

    let mut child = spawn(&mut nqueens(&["list", "17"]));
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut lines = String::new();
    out.read_line(&mut lines).expect("the first solution");
    send("INT", &child);
    // It may be waiting for room in the pipe.
    out.read_to_string(&mut lines).expect("whole lines");
    let output = finish(child);
    assert_eq!((output.status.code(), stderr(&output)), (Some(3), ""));
    assert!(lines.ends_with('\n'), "the last line is whole");
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
    let Ok(queens) = FixedQueens::new(size(n), squares) else {
        assert!(expected.is_empty(), "refused, but {squares:?} can stand together");
        return;
    };
    let listed: Vec<Solution> = Solutions::with_queens(size(n), &queens).collect();
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
fn queens_of_a_larger_board_have_no_solution() {
    let queens = FixedQueens::new(size(20), &[square(19, 19)]).expect("one queen");
    assert_eq!(Solutions::with_queens(size(8), &queens).count(), 0);
}

/// Every solution has one queen in each row.
#[test]
fn completions_for_the_squares_of_a_row_sum_to_the_total() {
    for n in [6, 10, 12] {
        for row in [0, 3, n - 1] {
            let sum: u128 = (0..n)
                .map(|column| {
                    let queens =
                        FixedQueens::new(size(n), &[square(row, column)]).expect("one queen");
                    Solutions::with_queens(size(n), &queens).count() as u128
                })
                .sum();
            assert_eq!(nqueens::count(n), Ok(sum), "n = {n}, row {row}");
        }
    }
}

#[test]
fn bad_lists_get_one_clear_line() {
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

#[test]
fn a_picture_of_nothing_is_one_too() {
    let drawn = output(&["list", "3", "--style", "svg", "--limit", "9"]);
    assert!(stdout(&drawn).contains("<title>3 queens: 0 solutions</title>"), "{drawn:?}");
    // Without a search, nothing is said of the number of solutions.
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "0"]);
    assert!(stdout(&drawn).contains("<title>8 queens</title>"), "{drawn:?}");
}

/// The namespace of the links that old readers of SVG follow.
const XLINK: &str = "http://www.w3.org/1999/xlink";

/// Inkscape 1.2 and Qt draw no symbols, and follow no links without the prefix `xlink`.
fn check_for_old_readers(name: &str, picture: &str) {
    let document = roxmltree::Document::parse(picture).expect("well-formed");
    assert!(!picture.contains(" href="), "{name} has a link without a prefix");
    let mut named = BTreeSet::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(!node.has_tag_name((SVG, "symbol")), "{name} has a symbol");
        // Qt does not raise a part of a text either.
        assert!(!node.has_tag_name((SVG, "tspan")), "{name} has a part of a text");
        named.extend(node.attribute("id"));
        if node.has_tag_name((SVG, "use")) {
            let link = node.attribute((XLINK, "href")).expect("a link");
            let target = link.strip_prefix('#').expect("within the picture");
            assert!(named.contains(target), "{name}: {link} is not defined above its use");
        }
    }
}

const SVG: &str = "http://www.w3.org/2000/svg";

#[test]
fn every_picture_keeps_to_what_old_readers_draw() {
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "12", "--fundamental"]);
    assert_eq!(stdout(&drawn).matches("xlink:href=\"#queen\"").count(), 8 * 12);
    // A queen is drawn in a box of 100 by 100, and a square has the length 1.
    assert!(stdout(&drawn).contains("<g id=\"queen\" transform=\"scale(0.01)\">"), "{drawn:?}");
    check_for_old_readers("list", stdout(&drawn));
    let file = crate::common::fresh("old-readers.svg");
    // Times, and a speed-up.
    for threads in ["1", "1,2"] {
        let compare = ["compare", "6", "--threads", threads, "--repeat", "1", "--svg"];
        let compared = output(&[&compare[..], &[crate::common::arg(&file)]].concat());
        assert_eq!(compared.status.code(), Some(0), "{compared:?}");
        check_for_old_readers("compare", &std::fs::read_to_string(&file).expect("a picture"));
    }
    for entry in std::fs::read_dir("docs/pictures").expect("the package has pictures") {
        let path = entry.expect("readable").path();
        check_for_old_readers(
            &path.display().to_string(),
            &std::fs::read_to_string(&path).expect("a picture"),
        );
    }
}

/// The first picture of the README is what `list` draws.
#[test]
fn the_board_of_the_readme_is_the_one_that_list_draws() {
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "1"]);
    let board = std::fs::read_to_string("docs/pictures/board.svg").expect("a picture");
    assert!(
        stdout(&drawn) == board,
        "nqueens list 8 --style svg --limit 1 > docs/pictures/board.svg"
    );
}

/// A picture is well-formed, each queen stands on its square, and boards do not overlap.
#[test]
fn pictures_are_well_formed_and_free_of_overlaps() {
    for (n, boards, classes) in
        [(1, 1, true), (8, 12, true), (8, 92, false), (20, 7, true), (32, 2, false)]
    {
        let (text, limit) = (n.to_string(), boards.to_string());
        let fundamental = if classes { &["--fundamental"][..] } else { &[] };
        let list = ["list", &text, "--style", "svg", "--limit", &limit];
        let drawn = output(&[&list, fundamental].concat());
        let picture = stdout(&drawn);
        assert_eq!(picture.matches(">class of ").count(), if classes { boards } else { 0 });
        let document = roxmltree::Document::parse(picture).expect("well-formed");
        let view: Vec<f64> = document
            .root_element()
            .attribute("viewBox")
            .expect("a view box")
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let mut corners = Vec::new();
        for group in document.descendants() {
            let transform = group.attribute("transform").unwrap_or_default();
            let Some(place) = transform.strip_prefix("translate(") else { continue };
            let place = place.trim_end_matches(')');
            let (x, y) = place.split_once(' ').expect("two numbers");
            let (x, y): (u32, u32) = (x.parse().expect("a number"), y.parse().expect("a number"));
            assert!(f64::from(x + n) <= view[2] && f64::from(y + n) <= view[3], "on the sheet");
            corners.push((x, y));
            let queens: BTreeSet<(&str, &str)> = group
                .children()
                .filter(|node| node.attribute((XLINK, "href")) == Some("#queen"))
                .map(|node| (node.attribute("x").expect("x"), node.attribute("y").expect("y")))
                .collect();
            assert_eq!(queens.len(), n as usize);
            // Of all boards, the first has its queens furthest to the left from row 1 on, which is drawn last.
            if corners.len() == 1 {
                let bottom = (n - 1).to_string();
                assert!(queens.contains(&("0", &bottom)), "{queens:?}");
            }
        }
        assert_eq!(corners.len(), boards);
        for (place, one) in corners.iter().enumerate() {
            for other in &corners[..place] {
                let apart = one.0.abs_diff(other.0) > n || one.1.abs_diff(other.1) > n;
                assert!(apart, "boards at {one:?} and {other:?}");
            }
        }
    }
}
