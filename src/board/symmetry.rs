//! Symmetric solutions, and from them the solutions up to rotation and reflection.
//!
//! No solution of more than one queen is its own mirror image: queens next to the axis or on it would
//! attack each other. So a solution has eight images, or four if a half-turn leaves it unchanged, or
//! two if a quarter-turn does. By Burnside's lemma, the number of fundamental solutions is the mean
//! number of solutions that each of the eight symmetries leaves unchanged: all of them for the
//! identity, the half-turn solutions for 180°, the quarter-turn solutions for 90° and 270°, and none
//! for the reflections.
//!
//! ```text
//! fundamental = (total + half-turn + 2 x quarter-turn) / 8        for n > 1
//! ```
//!
//! The two symmetric counts come from searches of their own, over half and a quarter of the queens. At
//! n = 20 these have about 10⁷ and 10³ nodes, where a search for the total has 10¹¹.

use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;

/// The number of solutions up to rotation and reflection, [A002562](https://oeis.org/A002562), from
/// the total. The empty board and the board with one square have one each.
///
/// # Errors
///
/// [`Error::Inconsistent`] if the sum is not a multiple of eight, so one of the three counts is wrong;
/// [`Error::SymmetryStopped`] after a cancellation.
///
/// ```
/// use nqueens::{BoardSize, Cancel, symmetry};
///
/// assert_eq!(symmetry::fundamental(BoardSize::new(8)?, 92, &Cancel::new())?, 12);
/// # Ok::<(), nqueens::Error>(())
/// ```
pub fn fundamental(size: BoardSize, total: u128, cancel: &Cancel) -> Result<u128, Error> {
    if size.get() <= 1 {
        return Ok(total);
    }
    let unchanged = total + half_turn(size, cancel)? + 2 * quarter_turn(size, cancel)?;
    if !unchanged.is_multiple_of(8) {
        return Err(Error::Inconsistent { n: size.get(), total });
    }
    Ok(unchanged / 8)
}

/// The number of solutions that a turn of 180° leaves unchanged,
/// [A032522](https://oeis.org/A032522).
///
/// Rows are filled in pairs from the middle outwards, with a queen in the upper row and its image in
/// the lower one. The state is that of engine `bitmask` for the upper row, which moves up:
///
/// ```text
///   . . . . . . Q .    upper row u, queen c
///   . . . Q . . . .    first pair: queen 3 in the upper row ...
///   . . . . Q . . .    ... and its image 4 in the lower
///   . Q . . . . . .    lower row n-1-u, image n-1-c
/// ```
///
/// Mirroring the board maps these solutions to each other, so the first queen is tried only in the
/// left half.
///
/// # Errors
///
/// [`Error::SymmetryStopped`] after a cancellation.
pub fn half_turn(size: BoardSize, cancel: &Cancel) -> Result<u128, Error> {
    let n = size.get();
    let half = n / 2;
    if half == 0 {
        return Ok(1);
    }
    let search = HalfTurn { n, board: u64::from(size.columns()), cancel };
    // On an odd board the middle queen is its own image: it stands in the centre.
    let centre = u64::from(n % 2) << half;
    let node = Pairs { columns: centre, rising: centre << 1, falling: centre >> 1 };
    let left = (1 << half) - 1;
    let found = search.fill_from(half - 1, left, node);
    if cancel.is_cancelled() { Err(Error::SymmetryStopped) } else { Ok(2 * u128::from(found)) }
}

struct HalfTurn<'a> {
    n: u32,
    board: u64,
    cancel: &'a Cancel,
}

/// Columns taken, and squares of the upper row that are attacked along diagonals.
#[derive(Clone, Copy)]
struct Pairs {
    columns: u64,
    rising: u64,
    falling: u64,
}

impl HalfTurn<'_> {
    /// The number of ways to fill the pairs of rows from `upper` outwards, with the first queen in
    /// `allowed`.
    fn fill_from(&self, upper: u32, allowed: u64, node: Pairs) -> u64 {
        if self.cancel.is_cancelled() {
            return 0;
        }
        // On the main diagonals, and in the middle column, a queen would attack its own image.
        let own_image = 1 << upper | 1 << (self.n - 1 - upper);
        let middle = u64::from(self.n % 2) << (self.n / 2);
        let taken = node.columns | node.rising | node.falling | own_image | middle;
        let mut free = self.board & allowed & !taken;
        if upper == 0 {
            return u64::from(free.count_ones());
        }
        // The distance from the lower row to the next upper one.
        let rows_between = self.n - 2 * upper;
        let mut solutions = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            let image = 1 << (self.n - 1 - queen.trailing_zeros());
            let next = Pairs {
                columns: node.columns | queen | image,
                rising: (node.rising | queen) << 1 | image << rows_between,
                falling: (node.falling | queen) >> 1 | image >> rows_between,
            };
            solutions += self.fill_from(upper - 1, self.board, next);
        }
        solutions
    }
}

/// The number of solutions that a turn of 90° leaves unchanged,
/// [A033148](https://oeis.org/A033148); 0 unless n is a multiple of four or one more.
///
/// Queens are placed four at a time: (r, c) with its images (c, n-1-r), (n-1-r, n-1-c) and
/// (n-1-c, r). They take the same four lines as rows and as columns.
///
/// # Errors
///
/// [`Error::SymmetryStopped`] after a cancellation.
pub fn quarter_turn(size: BoardSize, cancel: &Cancel) -> Result<u128, Error> {
    let n = size.get();
    if n % 4 > 1 {
        return Ok(0);
    }
    let empty = Quarters { n, lines: 0, rising: 0, falling: 0 };
    let start = if n % 4 == 1 { empty.with_queen(n / 2, n / 2) } else { Some(empty) };
    let found = start.map_or(0, |start| start.fill(cancel));
    if cancel.is_cancelled() { Err(Error::SymmetryStopped) } else { Ok(u128::from(found)) }
}

/// Lines (rows and columns) and diagonals taken.
#[derive(Clone, Copy)]
struct Quarters {
    n: u32,
    lines: u64,
    rising: u64,
    falling: u64,
}

impl Quarters {
    /// The number of ways to fill the lines that are not taken.
    fn fill(self, cancel: &Cancel) -> u64 {
        let row = self.lines.trailing_ones();
        if row >= self.n {
            return 1;
        }
        if cancel.is_cancelled() {
            return 0;
        }
        let turned = |column| {
            let (row_image, column_image) = (self.n - 1 - row, self.n - 1 - column);
            let lines = [row, column, row_image, column_image].map(|line| 1u64 << line);
            let four = lines.iter().fold(0, |all, line| all | line);
            if four & self.lines != 0 || four.count_ones() < 4 {
                return 0;
            }
            self.with_queen(row, column)
                .and_then(|one| one.with_queen(column, row_image))
                .and_then(|two| two.with_queen(row_image, column_image))
                .and_then(|three| three.with_queen(column_image, row))
                .map_or(0, |four| four.fill(cancel))
        };
        (0..self.n).map(turned).sum()
    }

    /// With one more queen, or `None` if one of its diagonals is taken.
    fn with_queen(self, row: u32, column: u32) -> Option<Self> {
        let rising = 1 << (row + column);
        let falling = 1 << (row + self.n - 1 - column);
        let safe = self.rising & rising == 0 && self.falling & falling == 0;
        safe.then_some(Self {
            n: self.n,
            lines: self.lines | 1 << row,
            rising: self.rising | rising,
            falling: self.falling | falling,
        })
    }
}
