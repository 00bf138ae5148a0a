//! The lists are those of a plain search, and sizes are bounded.

use super::pieces::{Pieces, half_bytes, most_words};
use super::*;
use crate::engine::tests::{kernels, random};

fn quadrants(kernel: Kernel, size: u32, with_table: bool) -> QuadrantLists {
    QuadrantLists::new(kernel, HalvedBoard::new(size), 1000, with_table, &Cancel::new())
}

/// The bits of the diagonals of these squares of the board, by row and distance from the middle line,
/// as the header of `half_board` defines them.
fn word(board: HalvedBoard, half: Half, squares: &[(i32, i32)]) -> u64 {
    let (field, shift) = (board.field() as i32, 1 + board.gap as i32);
    let mut word = 0;
    for &(row, distance) in squares {
        let (rising, falling) = (row - distance - shift, row + distance);
        let fields = match half {
            Half::East => [rising, falling],
            Half::West => [falling, rising],
        };
        for (bit, start) in fields.into_iter().zip([0, field]) {
            if (0..field).contains(&bit) {
                word |= 1 << (start + bit);
            }
        }
    }
    word
}

/// Appends the word of every arrangement of queens in these rows, given with their open columns, and
/// its column set. The queen of the middle column, at distance -1, attacks but does not count.
fn search(
    board: HalvedBoard,
    half: Half,
    rows: &[(i32, i32)],
    squares: &mut Vec<(i32, i32)>,
    found: &mut Vec<(u32, u64)>,
) {
    let Some((&(row, columns), rest)) = rows.split_first() else {
        let queens: Vec<_> = squares.iter().copied().filter(|(_, column)| *column >= 0).collect();
        let set = queens.iter().fold(0, |set, (_, column)| set | 1 << column);
        found.push((set, word(board, half, &queens)));
        return;
    };
    for column in 0..columns {
        let attacks = |&(r, c): &(i32, i32)| c == column || (r - row).abs() == (c - column).abs();
        if !squares.iter().any(attacks) {
            squares.push((row, column));
            search(board, half, rest, squares, found);
            squares.pop();
        }
    }
}

/// The words of both quadrants with their column sets, sorted, as a plain search finds them.
fn searched(board: HalvedBoard, wanted: HalfRows) -> [Vec<(u32, u64)>; 2] {
    let (half, gap) = (board.half as i32, board.gap as i32);
    let HalfRows { half: side, rows, middle_queen, middle_columns, .. } = wanted;
    let middle_row = (middle_columns > 0).then_some((half, middle_columns as i32));
    [(0, 0, None), (half, gap, middle_row)].map(|(first, shift, middle_row)| {
        let outer = (first..first + half).filter(|row| rows >> row & 1 == 1);
        let rows: Vec<_> =
            middle_row.into_iter().chain(outer.map(|row| (row + shift, half))).collect();
        let mut squares: Vec<_> = middle_queen.iter().map(|row| (*row as i32, -1)).collect();
        let mut found = Vec::new();
        search(board, side, &rows, &mut squares, &mut found);
        found.sort_unstable();
        found
    })
}

/// The same, as the engine finds them.
fn listed(
    quadrants: &QuadrantLists,
    wanted: HalfRows,
    cache: &mut HalfCache,
) -> [Vec<(u32, u64)>; 2] {
    let HalfRows { rows, middle_columns, .. } = wanted;
    let north = (rows & ((1 << quadrants.board.half) - 1)).count_ones();
    let south = rows.count_ones() - north + u32::from(middle_columns > 0);
    let cancel = Cancel::new();
    let left = WordsLeft::unlimited();
    let lists = quadrants.of_half(wanted, |_| true, cache, &left, &cancel);
    [(lists[0], north), (lists[1], south)].map(|(lists, size)| {
        let sets = quadrants.columns.of_size(size).iter();
        let mut words: Vec<_> =
            sets.flat_map(|&set| lists.of(set).iter().map(move |&word| (set, word))).collect();
        words.sort_unstable();
        words
    })
}

#[test]
fn lists_hold_what_a_plain_search_finds() {
    let mut random = random();
    for (size, kernel) in (8..12).flat_map(|size| kernels().into_iter().map(move |k| (size, k))) {
        let both = [true, false].map(|with_table| quadrants(kernel, size, with_table));
        let mut caches = [HalfCache::default(), HalfCache::default()];
        let board = both[0].board;
        for _ in 0..200 {
            let rows = random.u32(..1 << (2 * board.half));
            let half = if random.bool() { Half::East } else { Half::West };
            let below = random.u32(0..=board.half);
            let has_place = (rows >> board.half).count_ones() < board.half;
            let queen = if random.bool() { board.half + below } else { board.half - below };
            let (middle_queen, middle_columns) = match board.gap {
                1 if has_place => (Some(queen), random.u32(..below.max(1))),
                1 => (Some(queen), 0),
                _ => (None, 0),
            };
            let (deciding_rows, piece) = (rows >> board.half, Piece::WHOLE);
            let wanted = HalfRows {
                half,
                rows,
                deciding_rows,
                middle_queen,
                middle_columns,
                piece,
                returning: None,
            };
            let expected = searched(board, wanted);
            for (quadrants, cache) in both.iter().zip(&mut caches) {
                assert_eq!(listed(quadrants, wanted, cache), expected, "n = {size}, {wanted:?}");
            }
            let northern = (rows & ((1 << board.half) - 1)).count_ones();
            let southern = (rows >> board.half).count_ones() + u32::from(middle_columns > 0);
            let mut pieces = Pieces::whole(board.half);
            for _ in 0..random.u32(0..2 * board.half) {
                pieces = pieces.finer(northern.max(southern)).unwrap_or(pieces);
            }
            let pairs_of = |[north, south]: &[Vec<(u32, u64)>; 2]| {
                let pairs = north.iter().flat_map(|n| south.iter().map(|s| (*n, *s)));
                pairs.collect::<Vec<_>>()
            };
            let mut pairs = Vec::new();
            for piece in pieces.each() {
                let wanted = HalfRows { piece, ..wanted };
                pairs.extend(pairs_of(&listed(&both[1], wanted, &mut caches[1])));
            }
            pairs.sort_unstable();
            let mut all = pairs_of(&expected);
            all.sort_unstable();
            assert!(pairs == all, "n = {size}, {pieces:?}, {wanted:?}");
        }
    }
}

#[test]
fn sizes_are_those_of_the_largest_lists() {
    for half in 8..=9 {
        let quadrants = quadrants(Kernel::detect(), 2 * half, true);
        let table = quadrants.table.as_ref().expect("a table");
        let mut most = vec![0; half as usize + 1];
        for (rows, set) in table.row_sets.iter().enumerate() {
            let most = &mut most[rows.count_ones() as usize];
            *most = (*most).max(set.words.len() as u64);
        }
        let known: Vec<_> = (0..=half).map(|rows| most_words(half, rows)).collect();
        assert_eq!(most, known, "h = {half}");
        let shorter = most[..half as usize].iter().sum::<u64>();
        let words = shorter + most[half as usize] + 1;
        let bytes = half_bytes(half, Pieces::whole(half));
        assert_eq!(bytes, 8 * words + (8 << half), "h = {half}");
    }
}

#[test]
#[should_panic(expected = "quadrant lists of 4294967296 words are too long")]
fn a_list_that_is_too_long_stops() {
    lists::start(1 << 32);
}
