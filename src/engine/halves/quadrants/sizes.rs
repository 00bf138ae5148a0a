//! The sizes of quadrant lists, for plans of memory.

use super::pieces::Pieces;

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
pub(super) fn most_words(half: u32, rows: u32) -> u64 {
    let of_half = MOST_WORDS[half.saturating_sub(8) as usize];
    of_half.get(rows as usize).copied().unwrap_or(0)
}

/// The most bytes that the lists of a half take, if it is cut in this way and its larger quadrant has
/// this many rows: those of both quadrants, and those of 0, 1, ..., rows - 1 rows that they are made
/// from. The latter are kept, and both quadrants use the same memory for them.
pub(crate) fn half_bytes(rows: u32, pieces: Pieces) -> u64 {
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

/// How the east and the west of a unit are cut, so that their lists take at most this many bytes if
/// that is possible. Their larger quadrants have this many rows.
///
/// The west is cut first: its lists are made again for each piece of the east.
pub(crate) fn pieces(half: u32, [in_east, in_west]: [u32; 2], list_bytes: u64) -> [Pieces; 2] {
    let [mut east, mut west] = [Pieces::whole(half); 2];
    while half_bytes(in_east, east) + half_bytes(in_west, west) > list_bytes {
        let (to_cut, rows) = if west == east { (&mut west, in_west) } else { (&mut east, in_east) };
        match to_cut.finer(rows) {
            Some(finer) => *to_cut = finer,
            None => break,
        }
    }
    [east, west]
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
        let column_sets =
            (0..u64::from(rows)).fold(1, |sets, at| sets * (u64::from(half) - at) / (at + 1));
        most_words(half, rows) * most_words(half, half - rows) * 3 / column_sets
    };
    (half.div_ceil(2)..=half).map(of_unit).max().unwrap_or(0).max(10_000)
}
