//! The completions of a leaf: the ways to fill its last rows.
//!
//! They are made of two halves, and found without a search: all pairs of halves are tried, and those that
//! fit each other have items in the [code](super::code).

use std::ops::Range;

use super::code::{Code, Groups, MOST_ITEMS, MOST_OPEN, MOST_TOGETHER, two};
use super::sub_board::{Queens, SubBoard};

/// The label of completions that do not count.
pub(super) const DROPPED: u32 = u32::MAX;

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
    /// The halves that fit one, and their columns or the label of both.
    fitting: Vec<(u32, u32)>,
}

/// A way to fill some rows of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    queens: Queens,
    /// The number of the square or pair; of pairs, 0 until an item has them.
    number: u32,
    /// The two halves of which a pair is made.
    parts: [u32; 2],
}

impl Leaf {
    /// Room for items with so many labels.
    pub(super) fn new(labels: usize) -> Self {
        let last = vec![NO_ITEM; labels];
        Self { items: Items { last, ..Items::default() }, ..Self::default() }
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
        for column in board.each(board.free(row, queens)) {
            let word = board.word(row, column);
            let rest = word & word.wrapping_sub(1);
            self.squares.push(two(word.trailing_zeros(), rest.trailing_zeros()));
            let number = self.squares.len() as u32;
            let queens = Queens::default().and(row, column);
            self.halves.push(Half { queens, number, ..Half::default() });
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
                self.halves[end] = Half { queens: a.or(b), parts, ..Half::default() };
                end += usize::from(!a.attack(b));
            }
        }
        self.halves.truncate(end);
        self.halves_of.push((set, first..end));
        first..end
    }

    /// The number of a square or pair, which gets one if it has none.
    #[inline]
    fn number(&mut self, half: usize) -> u32 {
        if half > 0 && self.halves[half].number == 0 {
            self.number_pair(half);
        }
        self.halves[half].number
    }

    #[inline(never)]
    fn number_pair(&mut self, pair: usize) {
        let [one, other] = self.halves[pair].parts.map(|part| self.number(part as usize));
        self.pairs.push(two(one, other));
        let number = self.squares.len() + self.pairs.len();
        assert!(number < MOST_OPEN, "a leaf with more halves has no room");
        self.halves[pair].number = number as u32;
    }

    /// How many squares, pairs and other halves it has, with none of them.
    pub(super) fn halves_len(&self) -> usize {
        self.halves.len()
    }

    /// Writes the completions of a row set, in one section or several. `labels` has the index of each label by
    /// columns.
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
        for one in first.clone() {
            if self.items.list.len() + last.len() > most_items {
                self.items.write(set, code);
            }
            let taken = self.halves[one].queens;
            // No branches here, for nobody could predict them.
            self.fitting.resize(last.len(), (0, 0));
            let mut len = 0;
            for (other, half) in (last.start as u32..).zip(&self.halves[last.clone()]) {
                self.fitting[len] = (other, half.queens.columns);
                len += usize::from(!taken.attack(half.queens));
            }
            let taken = queens.columns | taken.columns;
            let mut kept = 0;
            for at in 0..len {
                let (other, columns) = self.fitting[at];
                let label = labels[(taken | columns) as usize];
                self.fitting[kept] = (other, label);
                kept += usize::from(label != DROPPED);
            }
            if kept == 0 {
                continue;
            }
            let one = self.number(one);
            for at in 0..kept {
                let (other, label) = self.fitting[at];
                let item = two(one, self.number(other as usize));
                self.items.add(label, item);
            }
        }
        self.items.write(set, code);
    }
}

/// The items of a section, linked by label.
#[derive(Default)]
struct Items {
    /// Each one's two halves as in the code, and the number of the item before it with the same label.
    list: Vec<(u32, u32)>,
    /// By label.
    last: Vec<u32>,
    /// The labels with items.
    labels: Vec<u32>,
    groups: Groups,
}

const NO_ITEM: u32 = u32::MAX;

impl Items {
    fn add(&mut self, label: u32, item: u32) {
        let last = &mut self.last[label as usize];
        if *last == NO_ITEM {
            self.labels.push(label);
        }
        let before = std::mem::replace(last, self.list.len() as u32);
        self.list.push((item, before));
    }

    /// Moves the items to the code, if there are any.
    fn write(&mut self, set: u32, code: &mut Code) {
        if self.list.is_empty() {
            return;
        }
        assert!(self.list.len() <= MOST_ITEMS, "sums of 32 bits have no room for more");
        for label in self.labels.drain(..) {
            let mut next = std::mem::replace(&mut self.last[label as usize], NO_ITEM);
            while next != NO_ITEM {
                let (mut group, mut len) = ([0; MOST_TOGETHER], 0);
                while next != NO_ITEM && len < MOST_TOGETHER {
                    (group[len], next) = self.list[next as usize];
                    len += 1;
                }
                self.groups.add(label, &group[..len]);
            }
        }
        self.list.clear();
        code.section(set, &mut self.groups);
    }
}
