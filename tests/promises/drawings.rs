//! Promise: the boards that README.md, docs/ and comments in the source draw are right. CONTRIBUTING.md makes this
//! promise.
//!
//! A drawing is some lines of text or of a comment, one below the other. Each line is a row of the board, with one of
//! these signs for each square, perhaps a label before them, and a remark behind them:
//!
//! * `Q` is a queen.
//! * `#` is a black square. In a drawing with `#`, `.` is a white one. `W` and `w` are white squares, and `b` is a
//!   black one.
//! * `x` is a square that a queen above attacks. In a row with `x` all other squares are free.
//! * `r` and `f` are squares on a rising or a falling diagonal of a queen above.
//!
//! Where all rows are drawn, the queens are a solution. Where a remark speaks of a half-turn, it leaves the queens
//! unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use nqueens::Solution;

use super::examples::pages;

/// A drawing, and the number of its first line.
struct Drawing {
    line: usize,
    rows: Vec<Vec<char>>,
    remark: String,
}

/// Returns the squares of a line, with the remark behind them, if it has at least four squares.
fn squares(line: &str) -> Option<(Vec<char>, &str)> {
    let line = line.trim_start();
    let comments = ["//!", "///", "//"];
    let mut text = comments.iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line).trim();
    // The label is a number, or `row` and one more word.
    let first_word = text.split(' ').next().unwrap_or_default();
    if first_word.parse::<u32>().is_ok() {
        text = text[first_word.len()..].trim_start();
    } else if let Some((_, rest)) = text.strip_prefix("row ").and_then(|text| text.split_once(' '))
    {
        text = rest.trim_start();
    }
    // There is one space between squares, and more before a remark.
    let (row, remark) = text.split_once("  ").unwrap_or((text, ""));
    let mut signs = Vec::new();
    for word in row.split(' ') {
        if word.len() != 1 {
            return None;
        }
        signs.extend(word.chars());
    }
    let are_squares = signs.iter().all(|sign| "Q.#Wwbxrf".contains(*sign));
    (signs.len() >= 4 && are_squares).then_some((signs, remark))
}

/// The drawings in a text.
fn drawings(text: &str) -> Vec<Drawing> {
    let mut drawings: Vec<Drawing> = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((row, remark)) = squares(line) else {
            is_inside = false;
            continue;
        };
        match drawings.last_mut() {
            Some(drawing) if is_inside && drawing.rows[0].len() == row.len() => {
                drawing.rows.push(row);
                drawing.remark += remark;
            }
            _ => {
                let remark = remark.to_owned();
                drawings.push(Drawing { line: number, rows: vec![row], remark });
            }
        }
        is_inside = true;
    }
    drawings
}

impl Drawing {
    /// The row and the column of each queen.
    fn queens(&self) -> Vec<(usize, usize)> {
        let mut queens = Vec::new();
        for (row, squares) in self.rows.iter().enumerate() {
            for (column, sign) in squares.iter().enumerate() {
                if *sign == 'Q' {
                    queens.push((row, column));
                }
            }
        }
        queens
    }

    /// Whether the drawing shows a whole board with queens.
    fn is_solution_expected(&self) -> bool {
        !self.queens().is_empty() && self.rows.len() == self.rows[0].len()
    }

    /// Returns what is wrong with the drawing.
    fn fault(&self) -> Option<String> {
        let queens = self.queens();
        let [height, width] = [self.rows.len(), self.rows[0].len()];
        if self.is_solution_expected() {
            let mut columns = Vec::new();
            for (_, column) in &queens {
                columns.push(u32::try_from(*column).expect("a small board"));
            }
            let rows_are_filled = queens.iter().map(|(row, _)| *row).eq(0..height);
            if !rows_are_filled || Solution::new(columns).is_err() {
                return Some("no solution".to_owned());
            }
        }
        if self.remark.contains("half-turn") {
            for (row, column) in &queens {
                if !queens.contains(&(height - 1 - row, width - 1 - column)) {
                    return Some("changed by a half-turn".to_owned());
                }
            }
        }
        let has_colours = self.rows.iter().flatten().any(|sign| *sign == '#');
        for (row, signs) in self.rows.iter().enumerate() {
            let marks_attacks = signs.contains(&'x');
            for (column, sign) in signs.iter().enumerate() {
                let is_white = (row + column).is_multiple_of(2);
                let above = || queens.iter().filter(|queen| queen.0 < row);
                let is_on_rising = || above().any(|queen| queen.0 + queen.1 == row + column);
                let is_on_falling = || above().any(|queen| queen.0 + column == row + queen.1);
                let is_attacked =
                    || is_on_rising() || is_on_falling() || above().any(|queen| queen.1 == column);
                let is_right = match sign {
                    'Q' => !is_attacked(),
                    'W' | 'w' => is_white,
                    '#' | 'b' => !is_white,
                    'x' => is_attacked(),
                    'r' => is_on_rising(),
                    'f' => is_on_falling(),
                    _ => (is_white || !has_colours) && !(marks_attacks && is_attacked()),
                };
                if !is_right {
                    return Some(format!("'{sign}' in row {row}, column {column}"));
                }
            }
        }
        None
    }
}

/// The pages, and the files of the source.
fn files() -> Vec<PathBuf> {
    let mut files = pages();
    let mut folders = vec![PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("rs".as_ref()) {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn boards_that_are_drawn_are_right() {
    let mut faults = Vec::new();
    let mut solutions = Vec::new();
    let mut others = 0;
    for path in files() {
        for drawing in drawings(&fs::read_to_string(&path).expect("text")) {
            if let Some(fault) = drawing.fault() {
                faults.push(format!("{}:{}: {fault}", path.display(), drawing.line));
            }
            if drawing.is_solution_expected() {
                solutions.push(path.clone());
            } else {
                others += 1;
            }
        }
    }
    assert!(faults.is_empty(), "wrong drawings:\n{}", faults.join("\n"));
    // The drawings are found where they are.
    for file in ["README.md", "src/engine/colours.rs"] {
        assert!(solutions.iter().any(|path| path == Path::new(file)), "{file}: {solutions:?}");
    }
    assert!(others >= 6, "{others} other drawings");
}

#[test]
fn a_wrong_drawing_is_noticed() {
    let fault = |text: &str| {
        let drawings = drawings(text);
        assert_eq!(drawings.len(), 1, "{text}");
        drawings[0].fault()
    };
    for right in [
        ". Q . .\n. . . Q\nQ . . .\n. . Q .",
        "//! row 0  . Q . #  remark\n//! row 1  # . # Q",
        "/// . Q . . .  a half-turn\n/// . . . Q .",
        "0 W b w b\n1 b W b W",
        ". Q . .\nx x x .",
        ". Q . .\nr . f .",
    ] {
        assert_eq!(fault(right), None, "{right}");
    }
    for wrong in [
        ". Q . .\n. . . Q\nQ . . .\n. . . Q",
        ". Q . .\n. . . Q\nQ . . .\n. . . .",
        ". Q . .\n. . Q .",
        "/// . Q . . .  a half-turn\n/// . . . . Q",
        ". # . #\n. # . #",
        "0 W b w b\n1 W b W b",
        ". Q . .\nx x . .",
        ". Q . .\nx x x x",
        ". Q . .\nf . . .",
    ] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}
