//! The completions of a leaf: the ways to fill its last rows.
//!
//! A completion consists of two halves. Completions are found without a search: all pairs of halves are tried, and
//! each pair that fits becomes an item in the [code](super::code).

use std::ops::Range;

use super::code::{Code, Group, Groups, MAX_GROUP, OFFSET_SCALE, pack};
use super::squares::{Queens, SubBoard, bits};
use super::tree::DROPPED;

/// The number of halves that are tried at once, because a word has a bit for each.
const AT_ONCE: usize = u64::BITS as usize;

/// The squares, pairs and halves of a leaf. The number of a half is the number of its plane: 0 is the half without
/// queens, then come the squares, then the pairs.
#[derive(Default)]
pub(super) struct Leaf {
    pub(super) squares: Vec<u32>,
    pub(super) pairs: Vec<u32>,
    /// The columns and diagonals that each half takes.
    pub(super) halves: Vec<Queens>,
    /// Sets of rows, and the halves that fill each of them.
    halves_of: Vec<(u32, Range<usize>)>,
    items: Items,
    /// The items that were found, with their labels.
    found: Vec<(u32, u32)>,
}

impl Leaf {
    /// Makes an empty leaf with room for this number of labels.
    pub(super) fn new(labels: usize) -> Self {
        Self { items: Items::new(labels), ..Self::default() }
    }

    /// Removes the contents of the last leaf.
    pub(super) fn clear(&mut self) {
        self.squares.clear();
        self.pairs.clear();
        self.halves.clear();
        self.halves.push(Queens::default());
        self.halves_of.clear();
        self.halves_of.push((0, 0..1));
    }

    /// Adds the free squares of a row.
    pub(super) fn add_squares(&mut self, board: &SubBoard, row: u32, queens: Queens) {
        let first = self.halves.len();
        for column in board.in_order(board.free(row, queens)) {
            // A square has up to two bits. A missing bit is number 64, `NO_BIT`.
            let word = board.word(row, column);
            let first_bit = word.trailing_zeros();
            let other_bit = (word & word.wrapping_sub(1)).trailing_zeros();
            self.squares.push(pack(first_bit, other_bit));
            self.halves.push(Queens::default().with(row, column));
        }
        self.halves_of.push((1 << row, first..self.halves.len()));
    }

    /// Returns the halves that fill these rows, adding them if they are new.
    pub(super) fn halves(&mut self, rows: &[u32]) -> Range<usize> {
        let set = rows.iter().fold(0, |set, row| set | 1 << row);
        if let Some((_, known)) = self.halves_of.iter().find(|(known, _)| *known == set) {
            return known.clone();
        }
        let of_first_row = self.halves(&rows[..1]);
        let of_other_rows = self.halves(&rows[1..]);
        let first = self.halves.len();
        for one in of_first_row {
            for other in of_other_rows.clone() {
                let one_queens = self.halves[one];
                let other_queens = self.halves[other];
                if !one_queens.conflicts_with(other_queens) {
                    self.halves.push(one_queens.union(other_queens));
                    self.pairs.push(pack(offset(one), offset(other)));
                }
            }
        }
        self.halves_of.push((set, first..self.halves.len()));
        first..self.halves.len()
    }

    /// Writes the completions of a row set. The `first` halves fill its upper rows, and the `last` halves the others.
    /// `labels` has the index of each label, by columns.
    ///
    /// Up to 64 of the last halves are tried at once, one bit of a word for each. Each column and each diagonal has a
    /// word of the last halves that take it. So the last halves that fit a first half are the bits that are in none of
    /// the words of its columns and diagonals.
    pub(super) fn section(
        &mut self,
        labels: &[u32],
        set: u32,
        first: Range<usize>,
        last: Range<usize>,
        queens: Queens,
        code: &mut Code,
    ) {
        let Self { halves, items, found, .. } = self;
        found.resize(found.len().max(first.len() * AT_ONCE), (0, 0));
        for start in last.clone().step_by(AT_ONCE) {
            let tried = &halves[start..last.end.min(start + AT_ONCE)];
            let all = u64::MAX >> (AT_ONCE - tried.len());
            let mut conflicts = [0; Queens::TAKEN];
            for (at, half) in tried.iter().enumerate() {
                half.taken().for_each(|line| conflicts[line] |= 1 << at);
            }
            let mut found_len = 0;
            for one in first.clone() {
                let columns = queens.columns | halves[one].columns;
                let fitting = halves[one].taken().fold(all, |left, line| left & !conflicts[line]);
                for at in bits(fitting) {
                    // There is no branch here, because it could not be predicted.
                    let label = labels[(columns | tried[at].columns) as usize];
                    found[found_len] = (label, pack(offset(one), offset(start + at)));
                    found_len += usize::from(label != DROPPED);
                }
            }
            for (label, item) in &found[..found_len] {
                items.add(*label, *item);
            }
        }
        items.write(set, code);
    }
}

/// Returns the offset of the plane with this number.
#[expect(clippy::cast_possible_truncation, reason = "a leaf has at most MAX_PLANES planes")]
fn offset(half: usize) -> u32 {
    (OFFSET_SCALE * half) as u32
}

/// The items of a section.
#[derive(Default)]
struct Items {
    /// For each label, the group that is not full yet, and its number of items.
    groups: Vec<(Group, usize)>,
    /// The labels that have items: the first `labels_len` of these.
    labels: Vec<u32>,
    labels_len: usize,
    full: Groups,
}

impl Items {
    /// Makes empty groups for this number of labels.
    fn new(labels: usize) -> Self {
        let labels_end = u32::try_from(labels).expect("a label is a set of columns of 32 bits");
        let groups = (0..labels_end).map(|label| ([label; _], 0)).collect();
        Self { groups, labels: vec![0; labels + 1], ..Self::default() }
    }

    /// Adds an item to the group of its label.
    fn add(&mut self, label: u32, item: u32) {
        let (group, len) = &mut self.groups[label as usize];
        self.labels[self.labels_len] = label;
        self.labels_len += usize::from(*len == 0);
        if *len == MAX_GROUP {
            self.full.add(group, std::mem::take(len));
        }
        *len += 1;
        group[*len] = item;
    }

    /// Moves the items to the code, if there are any.
    fn write(&mut self, set: u32, code: &mut Code) {
        if self.labels_len == 0 {
            return;
        }
        for label in &self.labels[..self.labels_len] {
            let (group, len) = &mut self.groups[*label as usize];
            self.full.add(group, std::mem::take(len));
        }
        self.labels_len = 0;
        code.section(set, &mut self.full);
    }
}
