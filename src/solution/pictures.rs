//! Pictures of solutions in Unicode and SVG. The plain text is a solution's `Display`.

use std::fmt;

use super::Solution;

/// A chequered board with chess queens, from [`Solution::unicode`]. Each square is two characters
/// wide, and each row is a line.
#[derive(Clone, Copy, Debug)]
pub struct UnicodeBoard<'a>(pub(super) &'a Solution);

/// Boards in a grid, as one SVG picture.
#[derive(Clone, Copy, Debug)]
pub struct SvgSheet<'a>(pub &'a [Solution]);

impl fmt::Display for UnicodeBoard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.0.columns();
        for (row, queen) in columns.iter().enumerate() {
            for column in 0..columns.len() {
                let dark = (row + column) % 2 == 1;
                f.write_str(match (column == *queen as usize, dark) {
                    (true, true) => "♛░",
                    (true, false) => "♛ ",
                    (false, true) => "░░",
                    (false, false) => "  ",
                })?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// The margin between boards and around the sheet, in squares.
const GAP: usize = 1;
/// Points for each square of a sheet with one board. Many boards share the width of a page.
const SQUARE: usize = 32;
const PAGE: usize = 1600;

/// A queen in a box of 100 by 100: a crown of five points on a base.
const QUEEN: &str = "M22 74 14 36 34 54 37 24 50 50 63 24 66 54 86 36 78 74ZM22 78H78V88H22Z";

impl fmt::Display for SvgSheet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boards = self.0;
        let n = boards.first().map_or(0, |solution| solution.columns().len());
        let across = (1..=boards.len()).find(|across| across * across >= boards.len());
        let across = across.unwrap_or(0);
        let down = boards.len().div_ceil(across.max(1));
        let side = |boards: usize| boards * (n + GAP) + GAP;
        let (width, height) = (side(across), side(down));
        let point = SQUARE.min((PAGE / width.max(1)).max(2));
        let (page_width, page_height) = (width * point, height * point);
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}""#)?;
        writeln!(f, r#" width="{page_width}" height="{page_height}">"#)?;
        match boards.len() {
            0 => writeln!(f, "<title>no solutions</title>")?,
            1 => writeln!(f, "<title>{n} queens: 1 solution</title>")?,
            boards => writeln!(f, "<title>{n} queens: {boards} solutions</title>")?,
        }
        // Black on white, and two greys that differ in print. The colours do not depend on the
        // page.
        writeln!(f, r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##)?;
        writeln!(f, "<defs>")?;
        writeln!(f, r#"<symbol id="queen" viewBox="0 0 100 100"><path d="{QUEEN}"/></symbol>"#)?;
        write!(f, r##"<g id="board"><rect width="{n}" height="{n}" fill="#f2f2f2"/>"##)?;
        write!(f, r##"<path fill="#b0b8c0" d=""##)?;
        for row in 0..n {
            for column in (0..n).filter(|column| (row + column) % 2 == 1) {
                write!(f, "M{column} {row}h1v1h-1z")?;
            }
        }
        write!(f, r##""/><rect width="{n}" height="{n}" fill="none" stroke="#404040""##)?;
        writeln!(f, r#" stroke-width="0.06"/></g>"#)?;
        writeln!(f, "</defs>")?;
        for (place, solution) in boards.iter().enumerate() {
            let at = |place: usize| GAP + place * (n + GAP);
            let (x, y) = (at(place % across), at(place / across));
            write!(f, r##"<g transform="translate({x} {y})"><use href="#board"/>"##)?;
            for (y, x) in solution.columns().iter().enumerate() {
                write!(f, r##"<use href="#queen" x="{x}" y="{y}" width="1" height="1"/>"##)?;
            }
            writeln!(f, "</g>")?;
        }
        writeln!(f, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_show_each_queen() {
        let solution = Solution::new([1, 3, 0, 2]).expect("legal");
        assert_eq!(solution.to_string(), "#Q##\n###Q\nQ###\n##Q#");
        let unicode = "  ♛░  ░░\n░░  ░░♛ \n♛ ░░  ░░\n░░  ♛░  \n";
        assert_eq!(solution.unicode().to_string(), unicode);
    }

    #[test]
    fn an_empty_sheet_is_a_picture_too() {
        let text = SvgSheet(&[]).to_string();
        assert!(text.contains("no solutions") && text.ends_with("</svg>\n"), "{text}");
    }
}
