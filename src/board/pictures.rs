//! Pictures of solutions in text, with the coordinates of chess: row 1 is at the bottom, column a on the left, and
//! the square a1 is dark.

use crate::board::solution::Solution;

impl Solution {
    /// Draws the board with `Q` for a queen, `#` for an empty square, and the coordinates of chess. The last line has
    /// no line break.
    pub(crate) fn to_ascii(&self) -> String {
        picture(self.columns(), 1, |queen, _| if queen { "Q" } else { "#" })
    }

    /// Draws a chequered board with a chess queen in each row, and the coordinates of chess. Each square is two
    /// characters wide. The last line has no line break.
    ///
    /// ```
    /// let solution = nqueens::Solution::new([1, 3, 0, 2])?;
    /// let lines = [
    ///     "4   ░░♛ ░░",
    ///     "3 ♛░  ░░  ",
    ///     "2   ░░  ♛░",
    ///     "1 ░░♛ ░░  ",
    ///     "  a b c d",
    /// ];
    /// assert_eq!(solution.to_unicode(), lines.join("\n"));
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn to_unicode(&self) -> String {
        picture(self.columns(), 2, |queen, dark| match (queen, dark) {
            (true, true) => "♛░",
            (true, false) => "♛ ",
            (false, true) => "░░",
            (false, false) => "  ",
        })
    }
}

/// Draws a board of squares that are `width` characters wide. `square` returns the characters of a square, given
/// whether it holds a queen and whether it is dark.
fn picture(
    columns: &[u32],
    width: usize,
    square: fn(queen: bool, dark: bool) -> &'static str,
) -> String {
    let n = columns.len();
    let margin = n.to_string().len();
    let mut lines = Vec::new();
    for (row, queen) in columns.iter().enumerate().rev() {
        let mut line = format!("{:>margin$} ", row + 1);
        for column in 0..n {
            let has_queen = column == *queen as usize;
            let is_dark = (row + column).is_multiple_of(2);
            line.push_str(square(has_queen, is_dark));
        }
        lines.push(line);
    }
    for names in column_names(n) {
        let mut line = format!("{:margin$} ", "");
        for name in names {
            line.push_str(&format!("{name:<width$}"));
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Returns the lines below a board of n columns, with a character for each column. Columns are named by letters. If
/// there are too few letters, they are named by numbers, printed upright, with one line for each digit.
fn column_names(n: usize) -> Vec<Vec<char>> {
    match n {
        0 => Vec::new(),
        1..=26 => vec![('a'..='z').take(n).collect()],
        _ => {
            let mut tens = Vec::new();
            let mut ones = Vec::new();
            for column in 1..=n {
                let digits = format!("{column:>2}");
                tens.extend(digits.chars().next());
                ones.extend(digits.chars().nth(1));
            }
            vec![tens, ones]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoardSize, Solutions};

    #[test]
    fn boards_show_each_queen_and_a1_at_the_bottom_left() {
        let solution = Solution::new([1, 3, 0, 2]).expect("legal");
        assert_eq!(solution.to_ascii(), "4 ##Q#\n3 Q###\n2 ###Q\n1 #Q##\n  abcd");
        let unicode = "4   ░░♛ ░░\n3 ♛░  ░░  \n2   ░░  ♛░\n1 ░░♛ ░░  \n  a b c d";
        assert_eq!(solution.to_unicode(), unicode);
    }

    #[test]
    fn columns_beyond_z_have_numbers() {
        let size = BoardSize::new(27).expect("in range");
        let text = Solutions::new(size).next().expect("a solution").to_ascii();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 29);
        assert!(lines[0].starts_with("27 ") && lines[26].starts_with(" 1 "), "{text}");
        assert_eq!(lines[27], "            111111111122222222");
        assert_eq!(lines[28], "   123456789012345678901234567");
    }
}
