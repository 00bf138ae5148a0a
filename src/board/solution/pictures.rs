//! Pictures of solutions in text, with the coordinates of chess: row 1 is at the bottom,
//! column a on the left, and the square a1 is dark.

use std::fmt;

use super::Solution;

/// `Q` for a queen and `#` for an empty square, with coordinates.
impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        draw(f, &self.columns, 1, |queen, _| if queen { "Q" } else { "#" })
    }
}

impl Solution {
    /// A chequered board with a chess queen in each row. Each square is two characters wide.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoardSize, Solutions};

    #[test]
    fn boards_show_each_queen_and_a1_at_the_bottom_left() {
        let solution = Solution::new([1, 3, 0, 2]).expect("legal");
        assert_eq!(solution.to_string(), "4 ##Q#\n3 Q###\n2 ###Q\n1 #Q##\n  abcd");
        let unicode = "4   ░░♛ ░░\n3 ♛░  ░░  \n2   ░░  ♛░\n1 ░░♛ ░░  \n  a b c d";
        assert_eq!(solution.unicode(), unicode);
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
}
