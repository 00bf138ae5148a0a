//! `nqueens list N`: solutions one by one, as text or as a picture.

use std::io::{self, Write};

use crate::{BoardSize, Solution, Solutions, Square};
use clap::{Args, ValueEnum};
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::print::format::many;
use crate::cli::print::stdout::print;
use crate::cli::stderr::message;

/// Print the solutions in lexicographic order
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens list 8 --fundamental --style unicode   the twelve boards
  nqueens list 8 --place a1,e2                   only with queens on a1 and e2")]
pub(crate) struct ListArgs {
    /// Size of the board, 0 to 32
    n: BoardSize,

    /// How a solution is written
    #[arg(long, value_name = "STYLE", default_value = "columns")]
    style: Style,

    /// Print one JSON object per line
    #[arg(long, conflicts_with = "style")]
    json: bool,

    /// Print at most K solutions; svg needs a limit
    #[arg(long, value_name = "K", required_if_eq("style", "svg"))]
    limit: Option<usize>,

    /// Print one solution of each class under rotation and reflection
    ///
    /// It is the smallest one that fits, and is printed with the size of the class (1, 2, 4 or 8).
    #[arg(long)]
    fundamental: bool,

    /// Print only the solutions with queens on these squares, such as a1,d5
    ///
    /// Squares are named as in chess, or as row:column (1:1 is a1, at the bottom left).
    #[arg(long, value_name = "SQUARES", value_delimiter = ',')]
    place: Vec<Square>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Style {
    /// One line: the column of the queen in each row, from 1
    Columns,
    /// A board of Q and #, with coordinates
    Board,
    /// A chequered board with chess queens, with coordinates
    Unicode,
    /// One picture of all boards, with coordinates
    Svg,
}

/// The margin between boards and around the sheet, in squares. It has room for the coordinates.
const GAP: usize = 1;
/// The points for each square of a sheet with one board.
const SQUARE: usize = 32;
/// The width that many boards share, in points.
const PAGE: usize = 1600;

/// A queen in a box of 100 by 100: a crown of five points on a base.
const QUEEN: &str = "M22 74 14 36 34 54 37 24 50 50 63 24 66 54 86 36 78 74ZM22 78H78V88H22Z";

impl ListArgs {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let size = self.n;
        let solutions = if self.fundamental {
            Solutions::fundamental_with_queens(size, &self.place)?
        } else {
            Solutions::with_queens(size, &self.place)?
        };
        let wanted = solutions.take(self.limit.unwrap_or(usize::MAX));
        let listed = match self.style {
            Style::Svg => {
                let drawn: Vec<Solution> = wanted.collect();
                print(|out| out.write_all(self.picture(&drawn).as_bytes()))?;
                drawn.len()
            }
            _ => self.write_all(wanted)?,
        };
        // With a limit of 0 nothing was looked for.
        if listed == 0 && self.limit != Some(0) {
            message!("nothing is listed: no solution with {size} queens fits these options");
        }
        Ok(Exit::Done)
    }

    /// Writes solutions, and returns how many. Standard output is buffered by lines, because the next solution may be
    /// found hours later.
    fn write_all(&self, solutions: impl Iterator<Item = Solution>) -> io::Result<usize> {
        let mut out = io::stdout().lock();
        let mut listed = 0;
        for solution in solutions {
            self.write(&solution, listed == 0, &mut out)?;
            listed += 1;
        }
        out.flush()?;
        Ok(listed)
    }

    /// Returns the size of a solution's class if only one solution of each class is listed.
    fn class(&self, solution: &Solution) -> Option<usize> {
        self.fundamental.then(|| solution.class_size())
    }

    /// Writes a solution as text or JSON.
    fn write(&self, solution: &Solution, is_first: bool, out: &mut impl Write) -> io::Result<()> {
        let class = self.class(solution);
        if self.json {
            let columns: Vec<u32> = solution.columns().iter().map(|column| column + 1).collect();
            return writeln!(out, "{}", json!({ "columns": columns, "class": class }));
        }
        if self.style == Style::Columns {
            return match class {
                Some(class) => writeln!(out, "{solution} ({class})"),
                None => writeln!(out, "{solution}"),
            };
        }
        if !is_first {
            writeln!(out)?;
        }
        if let Some(class) = class {
            writeln!(out, "class of {class}")?;
        }
        match self.style {
            Style::Unicode => writeln!(out, "{}", solution.to_unicode()),
            _ => writeln!(out, "{}", solution.to_ascii()),
        }
    }

    /// Draws the boards in a grid, as SVG. The picture is black on white with two greys, whatever the page
    /// around it.
    ///
    /// It uses only what old readers of SVG draw too: groups in place of symbols, and links with the prefix `xlink`,
    /// because Inkscape 1.2 and Qt leave out other links.
    fn picture(&self, solutions: &[Solution]) -> String {
        let n = self.n.get() as usize;
        // As many boards across as down, or one more.
        let mut across = 0;
        while across * across < solutions.len() {
            across += 1;
        }
        let down = solutions.len().div_ceil(across.max(1));
        let board_width = n + GAP;
        // A line of text below a board gives the size of its class.
        let board_height = n + GAP + usize::from(self.fundamental);
        let width = across * board_width + GAP;
        let height = down * board_height + GAP;
        let square = SQUARE.min((PAGE / width.max(1)).max(2));
        let title = match self.limit {
            // Nothing was searched, so nothing is said of the number of solutions.
            Some(0) => format!("{n} queens"),
            _ => format!("{n} queens: {}", many(solutions.len(), "solution")),
        };
        let picture = html! {
            svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox={ "0 0 " (width) " " (height) }
                width=(width * square) height=(height * square)
                font-family="sans-serif" font-size="0.5" fill="#202020" text-anchor="middle" {
                title { (title) }
                rect width=(width) height=(height) fill="#ffffff" {}
                defs {
                    g id="queen" transform="scale(0.01)" { path d=(QUEEN) {} }
                    g id="board" { (empty_board(n)) }
                }
                @for (place, solution) in solutions.iter().enumerate() {
                    @let x = place % across * board_width + GAP;
                    @let y = place / across * board_height + GAP;
                    g transform={ "translate(" (x) " " (y) ")" } {
                        use xlink:href="#board" {}
                        @for (row, column) in solution.columns().iter().enumerate() {
                            use xlink:href="#queen" x=(column) y=(n - 1 - row) {}
                        }
                        @if let Some(class) = self.class(solution) {
                            text x=(n as f64 / 2.0) y={ (n + 1) ".4" } { "class of " (class) }
                        }
                    }
                    (PreEscaped("\n"))
                }
            }
            (PreEscaped("\n"))
        };
        picture.into_string()
    }
}

/// Draws a board with its coordinates and without queens.
fn empty_board(n: usize) -> Markup {
    html! {
        rect width=(n) height=(n) fill="#f2f2f2" {}
        path fill="#b0b8c0" d=(dark_squares(n)) {}
        rect width=(n) height=(n) fill="none" stroke="#404040" stroke-width="0.06" {}
        @for row in 0..n { text x="-0.45" y={ (n - 1 - row) ".68" } { (row + 1) } }
        @for (column, letter) in (0..n).zip('a'..) {
            text x={ (column) ".5" } y={ (n) ".6" } {
                // There are not enough letters for all boards.
                @if n <= 26 { (letter) } @else { (column + 1) }
            }
        }
    }
}

/// Returns the path around all dark squares. Square a1 is dark.
fn dark_squares(n: usize) -> String {
    let mut path = String::new();
    for row in 0..n {
        for column in (row % 2..n).step_by(2) {
            path += &format!("M{column} {}h1v1h-1z", n - 1 - row);
        }
    }
    path
}
