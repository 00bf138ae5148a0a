//! The sizes of quadrant lists, and pieces of a half for counts with little memory.
//!
//! A *piece* of a half has the half-boards in which the queens of the highest two rows of its larger
//! quadrant stand in given columns. The lists of this quadrant, and those of all prefixes of its rows,
//! start with these two rows. So they shrink with the number of pieces, and with them nearly all the
//! memory of a half.
//!
//! Every half-board belongs to exactly one piece, so a unit is the sum over all pairs of an east and a
//! west piece. The price is time: the lists of the west are made again for each piece of the east, and
//! several small joins take longer than one large one.

use crate::engine::halves::units::subsets;

/// Which half-boards of a half are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The open columns of the highest row of the larger quadrant, and of the next row.
    open: [u32; 2],
}

impl Piece {
    /// All half-boards.
    pub(crate) const WHOLE: Self = Self { open: [u32::MAX; 2] };

    /// The open columns of a row; the highest row has number 1.
    pub(super) fn open(self, row: u32) -> u32 {
        self.open.get(row as usize - 1).copied().unwrap_or(u32::MAX)
    }
}

/// How a half is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Columns of a quadrant.
    pub(super) half: u32,
    /// The number of neighbouring columns that each piece has of the highest row, and of the next row.
    widths: [u32; 2],
}

impl Pieces {
    /// One piece.
    pub(crate) fn whole(half: u32) -> Self {
        Self { half, widths: [half; 2] }
    }

    /// The next smaller pieces, if there are any for a quadrant with this many rows. The second row is
    /// cut when a piece has only one column of the highest row.
    pub(super) fn finer(self, rows: u32) -> Option<Self> {
        let widths = match self.widths {
            [first, second] if first > 1 && rows > 0 => [first - 1, second],
            [first, second] if second > 1 && rows > 1 => [first, second - 1],
            _ => return None,
        };
        Some(Self { widths, ..self })
    }

    /// The smallest pieces of a quadrant with this many rows.
    pub(super) fn finest(half: u32, rows: u32) -> Self {
        Self { half, widths: [1, if rows > 1 { 1 } else { half }] }
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Piece> {
        let [first, second] = self.widths.map(|width| {
            let all = u32::MAX >> (32 - self.half);
            let starts = (0..self.half).step_by(width as usize);
            // The only part of a row has no limit, as in `Piece::WHOLE`.
            let part = move |start| {
                if width == self.half { u32::MAX } else { !(u32::MAX << width) << start & all }
            };
            starts.map(part)
        });
        first.flat_map(move |first| {
            second.clone().map(move |second| Piece { open: [first, second] })
        })
    }

    /// The most words of a piece of lists with at most this many words.
    ///
    /// The columns of the highest row do not have equal shares: near the worst numbers of rows the
    /// largest share is up to 1.2 times the mean (1.3 with nearly all rows), and that of a pair of
    /// columns up to 2.5 times, because many pairs have none. Counted for h = 8, 10 and 11.
    pub(super) fn share(self, words: u64) -> u64 {
        let half = u64::from(self.half);
        let [first, second] = self.widths.map(u64::from);
        let of_first = (words * first * 5).div_ceil(half * 4);
        let of_both = (words * first * second * 5).div_ceil(half * half * 2);
        match () {
            () if first == half => words,
            () if second == half => of_first.min(words),
            () => of_both.min(of_first).min(words),
        }
    }
}

/// The most words of the lists of a quadrant with h columns and k rows, over all sets of k rows: entry
/// k of row h - 8. These are the ways to place k queens on such rows. Counted for h up to 14, and for
/// the rows that are the worst on those boards (about k/2 at the top and at the bottom, and one
/// between them) for h = 15. For h = 16 the row between is left out, and 5 % are added.
///
/// The mean over all sets of k rows is two thirds of it. The middle row's queen of an odd board counts
/// as a row: then, as on all odd boards, blocked diagonals leave fewer words.
#[rustfmt::skip]
const MOST_WORDS: [&[u64]; 9] = [
    &[1, 8, 54, 228, 692, 1_174, 1_152, 458, 92],
    &[1, 9, 70, 362, 1_436, 3_534, 5_366, 4_580, 1_888, 352],
    &[1, 10, 88, 542, 2_660, 8_622, 19_194, 26_548, 19_996, 7_064, 724],
    &[1, 11, 108, 770, 4_532, 18_664, 55_550, 110_292, 143_140, 99_300, 30_802, 2_680],
    &[1, 12, 130, 1_056, 7_244, 36_018, 137_038, 365_414, 688_306, 788_698, 502_834, 146_356, 14_200],
    &[1, 13, 154, 1_402, 11_012, 64_976, 301_272, 1_025_588, 2_605_054, 4_343_806, 4_684_690, 2_769_490, 783_484, 73_712],
    &[1, 14, 180, 1_818, 16_076, 109_290, 605_230, 2_530_666, 8_253_450, 18_629_568, 29_555_392, 29_153_964, 16_508_988, 4_383_076, 365_596],
    &[1, 15, 208, 2_306, 22_700, 175_914, 1_130_616, 5_644_630, 22_743_200, 66_120_586, 142_598_032, 207_033_114, 195_775_228, 102_736_664, 26_467_160, 2_279_184],
    &[1, 16, 238, 3_010, 32_800, 281_000, 2_100_000, 12_200_000, 59_000_000, 212_000_000, 591_000_000, 1_180_000_000, 1_630_000_000, 1_430_000_000, 724_000_000, 179_000_000, 14_772_512],
];

/// The most words of the lists of a quadrant with this many rows; about 5 % too many for 16 columns,
/// and more for less than 8.
pub(crate) fn most_words(half: u32, rows: u32) -> u64 {
    let of_half = MOST_WORDS[half.saturating_sub(8) as usize];
    of_half.get(rows as usize).copied().unwrap_or(0)
}

/// The most bytes that the lists of a half take, if it is cut in this way and its larger quadrant has
/// this many rows: those of both quadrants, and those of 0, 1, ..., rows - 1 rows that they are made
/// from. The latter are kept, and both quadrants use the same memory for them.
pub(super) fn half_bytes(rows: u32, pieces: Pieces) -> u64 {
    let (half, others) = (pieces.half, pieces.half - rows);
    let larger = |rows| pieces.share(most_words(half, rows));
    let shorter = (0..rows).map(|level| match level < others {
        true => most_words(half, level),
        false => larger(level),
    });
    let words = shorter.sum::<u64>() + larger(rows) + most_words(half, others);
    // The starts of the lists, with 4 bytes for each column set.
    8 * words + (8 << half)
}

/// The same for the east and the west.
pub(crate) fn bytes(rows: [u32; 2], [east, west]: [Pieces; 2]) -> [u64; 2] {
    [half_bytes(rows[0], east), half_bytes(rows[1], west)]
}

/// How the east and the west of a unit are cut, so that their lists take at most this many bytes if
/// that is possible. Their larger quadrants have this many rows.
///
/// The west is cut first: its lists are made again for each piece of the east.
pub(crate) fn cut(half: u32, rows: [u32; 2], list_bytes: u64) -> [Pieces; 2] {
    let [mut east, mut west] = [Pieces::whole(half); 2];
    while bytes(rows, [east, west]).iter().sum::<u64>() > list_bytes {
        let (to_cut, rows) = if west == east { (&mut west, rows[1]) } else { (&mut east, rows[0]) };
        match to_cut.finer(rows) {
            Some(finer) => *to_cut = finer,
            None => break,
        }
    }
    [east, west]
}

/// Pieces whose lists take half as many bytes or less, if they can be cut any finer.
pub(crate) fn cut_finer(rows: [u32; 2], pieces: [Pieces; 2]) -> Option<[Pieces; 2]> {
    let half_of_it = bytes(rows, pieces).iter().sum::<u64>() / 2;
    Some(cut(pieces[0].half, rows, half_of_it)).filter(|finer| *finer != pieces)
}

/// The most bytes of the lists of any unit, if they are cut as finely as possible or not at all.
pub(crate) fn list_bytes(half: u32, is_cut: bool) -> u64 {
    let of_unit = |rows| {
        let pieces = if is_cut { Pieces::finest(half, rows) } else { Pieces::whole(half) };
        2 * half_bytes(rows, pieces)
    };
    (half.div_ceil(2)..=half).map(of_unit).max().unwrap_or(0)
}

/// About the most pairs of words of the two halves of a unit together: half as many again as if all
/// column sets had lists of the same length. At least 10 000.
pub(crate) fn most_pairs(half: u32) -> u64 {
    let of_unit = |rows| {
        most_words(half, rows) * most_words(half, half - rows) * 3 / subsets(half, rows) as u64
    };
    (half.div_ceil(2)..=half).map(of_unit).max().unwrap_or(0).max(10_000)
}
