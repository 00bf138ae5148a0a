//! Pictures of solutions in text and SVG, with the coordinates of chess: row 1 is at the bottom,
//! column a on the left, and the square a1 is dark.

use std::fmt;

use super::Solution;

/// Boards in a grid, as one SVG picture.
#[derive(Clone, Copy, Debug)]
pub struct SvgSheet<'a> {
    boards: &'a [Solution],
    classes: bool,
}

/// `Q` for a queen and `#` for an empty square, with coordinates.
impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw(f, &self.columns, 1, |queen, _| if queen { "Q" } else { "#" })
    }
}

impl Solution {
    /// A chequered board with a chess queen in each row. Each square is two characters wide.
    #[must_use]
    pub fn unicode(&self) -> String {
        let mut text = String::new();
        let square = |queen, dark| match (queen, dark) {
            (true, true) => "♛░",
            (true, false) => "♛ ",
            (false, true) => "░░",
            (false, false) => "  ",
        };
        draw(&mut text, &self.columns, 2, square).expect("a string takes all text");
        text
    }
}

/// Draws a board from squares of this many characters, which depend on whether they hold a queen
/// and whether they are dark.
fn draw(
    f: &mut impl fmt::Write,
    columns: &[u32],
    width: usize,
    square: fn(queen: bool, dark: bool) -> &'static str,
) -> fmt::Result {
    let n = columns.len();
    let margin = n.to_string().len();
    for (row, queen) in columns.iter().enumerate().rev() {
        write!(f, "{:>margin$} ", row + 1)?;
        for column in 0..n {
            f.write_str(square(column == *queen as usize, is_dark(row, column)))?;
        }
        f.write_char('\n')?;
    }
    // Numbers stand upright: a line for each digit.
    let names: Vec<String> = (0..n).map(|column| column_name(n, column)).collect();
    let digits = names.iter().map(String::len).max().unwrap_or(0);
    for digit in 0..digits {
        let squares = names.iter().map(|name| match (name.len() + digit).checked_sub(digits) {
            Some(at) => format!("{:<width$}", &name[at..=at]),
            None => " ".repeat(width),
        });
        let end = if digit + 1 < digits { "\n" } else { "" };
        write!(f, "{:margin$} {}{end}", "", squares.collect::<String>().trim_end())?;
    }
    Ok(())
}

fn is_dark(row: usize, column: usize) -> bool {
    (row + column).is_multiple_of(2)
}

/// `a`, or `1` on boards that have more columns than there are letters.
fn column_name(n: usize, column: usize) -> String {
    match u8::try_from(column) {
        Ok(letter) if n <= 26 => char::from(b'a' + letter).to_string(),
        _ => (column + 1).to_string(),
    }
}

/// The margin between boards and around the sheet, in squares: room for the coordinates.
const GAP: usize = 1;
/// Points for each square of a sheet with one board. Many boards share the width of a page.
const SQUARE: usize = 32;
const PAGE: usize = 1600;

/// A queen in a box of 100 by 100: a crown of five points on a base.
const QUEEN: &str = "M22 74 14 36 34 54 37 24 50 50 63 24 66 54 86 36 78 74ZM22 78H78V88H22Z";

impl<'a> SvgSheet<'a> {
    /// Boards of one size, in this order.
    #[must_use]
    pub fn new(boards: &'a [Solution]) -> Self {
        Self { boards, classes: false }
    }

    /// Writes the size of its class below each board, for boards that are the smallest of theirs.
    #[must_use]
    pub fn with_classes(self) -> Self {
        Self { classes: true, ..self }
    }

    /// What the boards share: squares, coordinates and the queen.
    fn write_definitions(f: &mut fmt::Formatter<'_>, n: usize) -> fmt::Result {
        writeln!(f, "<defs>")?;
        writeln!(f, r#"<symbol id="queen" viewBox="0 0 100 100"><path d="{QUEEN}"/></symbol>"#)?;
        write!(f, r##"<g id="board"><rect width="{n}" height="{n}" fill="#f2f2f2"/>"##)?;
        write!(f, r##"<path fill="#b0b8c0" d=""##)?;
        for row in 0..n {
            for column in (0..n).filter(|column| is_dark(row, *column)) {
                write!(f, "M{column} {}h1v1h-1z", n - 1 - row)?;
            }
        }
        write!(f, r##""/><rect width="{n}" height="{n}" fill="none" stroke="#404040""##)?;
        writeln!(f, r#" stroke-width="0.06"/>"#)?;
        for row in 0..n {
            writeln!(f, r#"<text x="-0.45" y="{}.68">{}</text>"#, n - 1 - row, row + 1)?;
        }
        for column in 0..n {
            let name = column_name(n, column);
            writeln!(f, r#"<text x="{column}.5" y="{n}.6">{name}</text>"#)?;
        }
        writeln!(f, "</g>\n</defs>")
    }
}

impl fmt::Display for SvgSheet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boards = self.boards;
        let n = boards.first().map_or(0, |solution| solution.columns().len());
        let across = (1..=boards.len()).find(|across| across * across >= boards.len());
        let across = across.unwrap_or(0);
        let down = boards.len().div_ceil(across.max(1));
        let below = GAP + usize::from(self.classes);
        let (width, height) = (across * (n + GAP) + GAP, down * (n + below) + GAP);
        let point = SQUARE.min((PAGE / width.max(1)).max(2));
        let (page_width, page_height) = (width * point, height * point);
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}""#)?;
        write!(f, r#" width="{page_width}" height="{page_height}""#)?;
        write!(f, r##" font-family="sans-serif" font-size="0.5" fill="#202020""##)?;
        writeln!(f, r#" text-anchor="middle">"#)?;
        match boards.len() {
            0 => writeln!(f, "<title>no solutions</title>")?,
            1 => writeln!(f, "<title>{n} queens: 1 solution</title>")?,
            boards => writeln!(f, "<title>{n} queens: {boards} solutions</title>")?,
        }
        // Black on white, and two greys that differ in print. The colours do not depend on the
        // page.
        writeln!(f, r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##)?;
        Self::write_definitions(f, n)?;
        for (place, solution) in boards.iter().enumerate() {
            let (x, y) = (place % across * (n + GAP) + GAP, place / across * (n + below) + GAP);
            write!(f, r##"<g transform="translate({x} {y})"><use href="#board"/>"##)?;
            for (row, x) in solution.columns().iter().enumerate() {
                let y = n - 1 - row;
                write!(f, r##"<use href="#queen" x="{x}" y="{y}" width="1" height="1"/>"##)?;
            }
            if let Some(class) = solution.class_size().filter(|_| self.classes) {
                let (middle, y) = (n / 2, n + 1);
                let half = if n % 2 == 1 { ".5" } else { "" };
                write!(f, r#"<text x="{middle}{half}" y="{y}.4">class of {class}</text>"#)?;
            }
            writeln!(f, "</g>")?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoardSize, Solutions};

    #[test]
    fn pictures_show_each_queen_and_a1_at_the_bottom_left() {
        let solution = Solution::new([1, 3, 0, 2]).expect("legal");
        assert_eq!(solution.to_string(), "4 ##Q#\n3 Q###\n2 ###Q\n1 #Q##\n  abcd");
        let unicode = "4   ░░♛ ░░\n3 ♛░  ░░  \n2   ░░  ♛░\n1 ░░♛ ░░  \n  a b c d";
        assert_eq!(solution.unicode(), unicode);
        let svg = SvgSheet::new(&[solution]).to_string();
        assert!(svg.contains(r##"<use href="#queen" x="1" y="3""##), "row 1 is the last: {svg}");
        assert!(svg.contains("M0 3h1v1h-1z"), "a1 is dark: {svg}");
    }

    #[test]
    fn columns_beyond_z_have_numbers() {
        let size = BoardSize::new(27).expect("in range");
        let text = Solutions::new(size).next().expect("a solution").to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 29);
        assert!(lines[0].starts_with("27 ") && lines[26].starts_with(" 1 "), "{text}");
        assert_eq!(lines[27], "            111111111122222222");
        assert_eq!(lines[28], "   123456789012345678901234567");
    }

    #[test]
    fn an_empty_sheet_is_a_picture_too() {
        let text = SvgSheet::new(&[]).to_string();
        assert!(text.contains("no solutions") && text.ends_with("</svg>\n"), "{text}");
    }

    #[test]
    fn classes_stand_below_their_boards() {
        let [smallest, other] =
            [[1, 3, 0, 2], [2, 0, 3, 1]].map(|columns| Solution::new(columns).expect("legal"));
        let text = SvgSheet::new(&[smallest, other]).with_classes().to_string();
        assert_eq!(text.matches(">class of 2</text>").count(), 1, "{text}");
    }
}
