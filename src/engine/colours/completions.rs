//! The completions of a leaf: the ways to fill its last rows.
//!
//! A completion consists of two halves, each of which fills half of these rows. A half has no queen, one queen (a
//! square) or several (a **combination** of a square with a smaller half). Completions are found without a search: each
//! way to fill one half of the rows is tried with all ways to fill the other half.

use std::ops::Range;

use super::code::{Code, Group, Groups, MAX_GROUP, OFFSET_SCALE, pack};
use super::squares::{Queens, SubBoard, bits};
use super::tree::DROPPED;

/// The number of halves that are tried at once, because a word has a bit for each.
const AT_ONCE: usize = u64::BITS as usize;

/// The squares, combinations and halves of a leaf. The number of a half is the number of its plane: 0 is the half
/// without queens, then come the squares, then the combinations.
#[derive(Default)]
pub(super) struct Leaf {
    pub(super) squares: Vec<u32>,
    pub(super) combinations: Vec<u32>,
    /// The queens of each half.
    pub(super) halves: Vec<Queens>,
    /// Some of the last rows as bits, and the halves that fill them.
    filling: Vec<(u32, Range<usize>)>,
    completions: Completions,
    /// The labels and the packed halves of the completions that were found.
    found: Vec<(u32, u32)>,
}

impl Leaf {
    /// Makes room for the labels of another tree, of which there are this many.
    pub(super) fn begin(&mut self, labels: usize) {
        self.completions.begin(labels);
    }

    /// Removes the contents of the last leaf.
    pub(super) fn clear(&mut self) {
        self.squares.clear();
        self.combinations.clear();
        self.halves.clear();
        self.halves.push(Queens::default());
        self.filling.clear();
        self.filling.push((0, 0..1));
    }

    /// Adds the free squares of a row.
    pub(super) fn add_squares(&mut self, board: &SubBoard, row: u32, queens: Queens) {
        let start = self.halves.len();
        for column in board.in_order(board.free(row, queens)) {
            // A square has up to two bits. A missing bit is number 64, `NO_BIT`.
            let word = board.word(row, column);
            let first_bit = word.trailing_zeros();
            let other_bit = (word & word.wrapping_sub(1)).trailing_zeros();
            self.squares.push(pack(first_bit, other_bit));
            self.halves.push(Queens::default().with(row, column));
        }
        self.filling.push((1 << row, start..self.halves.len()));
    }

    /// Returns the halves that fill these rows, adding them if they are new.
    pub(super) fn halves_filling(&mut self, rows: &[u32]) -> Range<usize> {
        let row_bits = rows.iter().fold(0, |bits, row| bits | 1 << row);
        if let Some((_, known)) = self.filling.iter().find(|(known, _)| *known == row_bits) {
            return known.clone();
        }
        assert!(rows.len() > 1, "the squares of each row were added");
        let squares = self.halves_filling(&rows[..1]);
        let of_other_rows = self.halves_filling(&rows[1..]);
        let start = self.halves.len();
        for square in squares {
            for other in of_other_rows.clone() {
                let square_queens = self.halves[square];
                let other_queens = self.halves[other];
                if !square_queens.conflicts_with(other_queens) {
                    self.halves.push(square_queens.union(other_queens));
                    self.combinations.push(pack(offset(square), offset(other)));
                }
            }
        }
        self.filling.push((row_bits, start..self.halves.len()));
        start..self.halves.len()
    }

    /// Finds the completions of a row set, and writes them as a section. A completion is one of the `ones`, the halves
    /// that fill some of the rows, with one of the `others`, which fill the other rows. Each of the `ones` is tried
    /// with up to 64 of the `others` at once. `labels` has the index of each label, by columns.
    pub(super) fn write_section(
        &mut self,
        labels: &[u32],
        set_number: u32,
        ones: Range<usize>,
        others: Range<usize>,
        queens: Queens,
        code: &mut Code,
    ) {
        let Self { halves, completions, found, .. } = self;
        found.resize(found.len().max(ones.len() * AT_ONCE), (0, 0));
        for start in others.clone().step_by(AT_ONCE) {
            let tried = &halves[start..others.end.min(start + AT_ONCE)];
            let all = u64::MAX >> (AT_ONCE - tried.len());
            let takers = takers_of_lines(tried);
            let mut found_len = 0;
            for one in ones.clone() {
                let columns = queens.columns | halves[one].columns;
                let fitting = halves[one].lines().fold(all, |left, line| left & !takers[line]);
                for at in bits(fitting) {
                    // There is no branch here, because it could not be predicted.
                    let label = labels[(columns | tried[at].columns) as usize];
                    found[found_len] = (label, pack(offset(one), offset(start + at)));
                    found_len += usize::from(label != DROPPED);
                }
            }
            for (label, completion) in &found[..found_len] {
                completions.add(*label, *completion);
            }
        }
        completions.write(set_number, code);
    }
}

/// Returns for each line which of up to 64 halves take it, with a bit for each of them. A half fits those that take
/// none of its own lines.
///
/// For example, let half 0 take the lines 3 and 5, and half 1 the lines 3 and 8. Then line 3 has the takers 0b11, line
/// 5 has 0b01, and line 8 has 0b10. A half with the lines 4 and 8 does not fit the taker of line 8, half 1. So it fits
/// half 0 only.
fn takers_of_lines(halves: &[Queens]) -> [u64; Queens::LINES] {
    let mut takers = [0; Queens::LINES];
    for (at, half) in halves.iter().enumerate() {
        half.lines().for_each(|line| takers[line] |= 1 << at);
    }
    takers
}

/// Returns the offset of the plane with this number.
#[expect(clippy::cast_possible_truncation, reason = "a leaf has at most MAX_PLANES planes")]
fn offset(half: usize) -> u32 {
    (OFFSET_SCALE * half) as u32
}

/// The completions of a section.
#[derive(Default)]
struct Completions {
    /// For each label, the group that is not full yet, and its number of completions.
    groups: Vec<(Group, usize)>,
    /// The labels that have completions: the first `labels_len` of these.
    labels: Vec<u32>,
    labels_len: usize,
    full: Groups,
}

impl Completions {
    /// Makes empty groups for this number of labels. Each section has left all groups empty.
    fn begin(&mut self, labels: usize) {
        let labels_end = u32::try_from(labels).expect("a label is a set of columns of 32 bits");
        self.groups.clear();
        self.groups.extend((0..labels_end).map(|label| ([label; _], 0)));
        self.labels.clear();
        self.labels.resize(labels + 1, 0);
        self.labels_len = 0;
    }

    /// Adds a completion, its packed halves, to the group of its label.
    fn add(&mut self, label: u32, completion: u32) {
        let (group, len) = &mut self.groups[label as usize];
        self.labels[self.labels_len] = label;
        self.labels_len += usize::from(*len == 0);
        if *len == MAX_GROUP {
            self.full.add(group, std::mem::take(len));
        }
        *len += 1;
        group[*len] = completion;
    }

    /// Moves the completions to a section of the code, if there are any.
    fn write(&mut self, set_number: u32, code: &mut Code) {
        if self.labels_len == 0 {
            return;
        }
        for label in &self.labels[..self.labels_len] {
            let (group, len) = &mut self.groups[*label as usize];
            self.full.add(group, std::mem::take(len));
        }
        self.labels_len = 0;
        code.section(set_number, &mut self.full);
    }
}
