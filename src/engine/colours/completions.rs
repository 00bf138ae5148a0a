//! The completions of a leaf: the ways to fill its last rows.
//!
//! They are made of two halves, and found without a search: all pairs of halves are tried, and those that
//! fit each other have items in the [code](super::code).

use std::ops::Range;

use super::code::{
    Code, Group, Groups, MAX_GROUP, MAX_ITEMS, MAX_PLANES, OFFSET_SCALE, pack, unpack,
};
use super::squares::{Queens, SubBoard, bits};

/// The label of completions that do not count.
pub(super) const DROPPED: u32 = u32::MAX;

/// Halves that are tried at once: a word has a bit for each.
const AT_ONCE: usize = u64::BITS as usize;

/// What a leaf is made of.
#[derive(Default)]
pub(super) struct Leaf {
    pub(super) squares: Vec<u32>,
    pub(super) pairs: Vec<u32>,
    /// Ways to fill some rows.
    halves: Vec<Half>,
    /// Where those of a set of rows are.
    halves_of: Vec<(u32, Range<usize>)>,
    items: Items,
    /// Two halves that fit each other, the second one by its place in a word, and the label of both.
    fitting: Vec<(u32, u32)>,
}

/// A way to fill some rows of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    queens: Queens,
    /// The offset of the square or pair; of pairs, 0 until an item has them.
    offset: u32,
    /// The two halves of which a pair is made.
    parts: [u32; 2],
}

impl Leaf {
    /// Room for items with so many labels.
    pub(super) fn new(labels: usize) -> Self {
        Self { items: Items::new(labels), ..Self::default() }
    }

    /// Forgets the last leaf.
    pub(super) fn clear(&mut self) {
        self.squares.clear();
        self.pairs.clear();
        self.halves.clear();
        self.halves.push(Half::default());
        self.halves_of.clear();
        self.halves_of.push((0, 0..1));
    }

    /// Adds the free squares of a row.
    pub(super) fn add_squares(&mut self, board: &SubBoard, row: u32, queens: Queens) {
        let first = self.halves.len();
        for column in board.in_order(board.free(row, queens)) {
            let word = board.word(row, column);
            let rest = word & word.wrapping_sub(1);
            self.squares.push(pack(word.trailing_zeros(), rest.trailing_zeros()));
            let offset = (OFFSET_SCALE * self.squares.len()) as u32;
            let queens = Queens::default().with(row, column);
            self.halves.push(Half { queens, offset, ..Half::default() });
        }
        self.halves_of.push((1 << row, first..self.halves.len()));
    }

    /// The ways to fill these rows.
    pub(super) fn halves(&mut self, rows: &[u32]) -> Range<usize> {
        let set = rows.iter().fold(0, |set, row| set | 1 << row);
        if let Some((_, known)) = self.halves_of.iter().find(|(known, _)| *known == set) {
            return known.clone();
        }
        let [one, rest] = [&rows[..1], &rows[1..]].map(|rows| self.halves(rows));
        let first = self.halves.len();
        self.halves.resize(first + one.len() * rest.len(), Half::default());
        let mut end = first;
        for one in one {
            for other in rest.clone() {
                let [a, b] = [one, other].map(|half| self.halves[half].queens);
                let parts = [one as u32, other as u32];
                self.halves[end] = Half { queens: a.union(b), parts, ..Half::default() };
                end += usize::from(!a.attack(b));
            }
        }
        self.halves.truncate(end);
        self.halves_of.push((set, first..end));
        first..end
    }

    /// The offset of a square or pair, which gets one if it has none.
    #[inline]
    fn offset(&mut self, half: usize) -> u32 {
        if half > 0 && self.halves[half].offset == 0 {
            self.add_pair(half);
        }
        self.halves[half].offset
    }

    #[inline(never)]
    fn add_pair(&mut self, pair: usize) {
        let [one, other] = self.halves[pair].parts.map(|part| self.offset(part as usize));
        self.pairs.push(pack(one, other));
        let number = self.squares.len() + self.pairs.len();
        assert!(number < MAX_PLANES, "a leaf with more halves has no room");
        self.halves[pair].offset = (OFFSET_SCALE * number) as u32;
    }

    /// How many squares, pairs and other halves it has, with none of them.
    pub(super) fn halves_len(&self) -> usize {
        self.halves.len()
    }

    /// Writes the completions of a row set, in one section or several. `labels` has the index of each label by
    /// columns.
    ///
    /// As many of the last halves as a word has bits are tried at once: for each column and each diagonal there
    /// is a word of those that take it, so those that fit another half are what the words of its columns and
    /// diagonals leave.
    pub(super) fn sections(
        &mut self,
        labels: &[u32],
        set: u32,
        halves: &[Range<usize>; 2],
        queens: Queens,
        most_items: usize,
        code: &mut Code,
    ) {
        let [first, last] = halves;
        let mut fitting = std::mem::take(&mut self.fitting);
        fitting.resize(fitting.len().max(first.len() * AT_ONCE), (0, 0));
        let (mut columns, mut offsets) = ([0; AT_ONCE], [0; AT_ONCE]);
        for start in last.clone().step_by(AT_ONCE) {
            let last = &self.halves[start..last.end.min(start + AT_ONCE)];
            let all = u64::MAX >> (AT_ONCE - last.len());
            let mut conflicts = [0; Queens::TAKEN];
            for (at, half) in last.iter().enumerate() {
                columns[at] = half.queens.columns;
                half.queens.taken().for_each(|taken| conflicts[taken] |= 1 << at);
            }
            let mut len = 0;
            for one in first.clone() {
                let (taken, before) = (self.halves[one].queens, len);
                let left = taken.taken().fold(all, |left, taken| left & !conflicts[taken]);
                for at in bits(left) {
                    // No branch here, for nobody could predict it.
                    let label = labels[(queens.columns | taken.columns | columns[at]) as usize];
                    fitting[len] = (pack(one as u32, at as u32), label);
                    len += usize::from(label != DROPPED);
                }
                if len > before {
                    self.offset(one);
                }
            }
            let fitting = &fitting[..len];
            let needed = fitting.iter().fold(0, |all, (halves, _)| all | 1 << unpack(*halves)[1]);
            bits(needed).for_each(|at| offsets[at] = self.offset(start + at));
            for fitting in fitting.chunks(most_items) {
                if self.items.len + fitting.len() > most_items {
                    self.items.write(set, code);
                }
                self.items.len += fitting.len();
                for (halves, label) in fitting {
                    let [one, at] = unpack(*halves);
                    let item = pack(self.halves[one].offset, offsets[at % AT_ONCE]);
                    self.items.add(*label, item);
                }
            }
        }
        self.fitting = fitting;
        self.items.write(set, code);
    }
}

/// The items of a section.
#[derive(Default)]
struct Items {
    /// How many there are.
    len: usize,
    /// For each label the group that is not full yet, and how many items it has.
    groups: Vec<(Group, usize)>,
    /// The labels with items, and how many there are.
    labels: Vec<u32>,
    labels_len: usize,
    full: Groups,
}

impl Items {
    fn new(labels: usize) -> Self {
        let groups = (0..labels as u32).map(|label| ([label; _], 0)).collect();
        Self { groups, labels: vec![0; labels + 1], ..Self::default() }
    }

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
        if self.len == 0 {
            return;
        }
        assert!(self.len <= MAX_ITEMS, "sums of 32 bits have no room for more");
        for label in &self.labels[..self.labels_len] {
            let (group, len) = &mut self.groups[*label as usize];
            self.full.add(group, std::mem::take(len));
        }
        (self.len, self.labels_len) = (0, 0);
        code.section(set, &mut self.full);
    }
}
