//! The placements on the odd rows of one colour, as a program that runs on each block of a list.
//!
//! The placements of all row sets of a class form a tree: the rows in the centre, which all sets share,
//! come first. A node keeps of a block the words that fit its queens, and its subtrees go on with these:
//!
//! ```text
//!     filter d, queen      the words at depth d that do not share a diagonal with this queen, at depth
//!                          d + 1; if there are none, go on behind the subtree
//!     leaf d               count the words at depth d that fit each completion of the node
//! ```
//!
//! A leaf takes the last rows, four at most, at once: it is a list of completions. It pays as soon as few
//! words are left of each label, see [`kernel`](super::kernel). A program depends on the classes of the
//! even and the odd rows, not on the even rows themselves, so that one is compiled for up to 20 batches.
//! Only completions whose label counts for some of them are in it.
//!
//! **Code,** in words of 32 bits. `end` is where the subtree, leaf or section ends:
//!
//! ```text
//!     filter   2 depth      end  low and high half of the queen's word
//!     leaf     2 depth + 1  end  squares, for each its two bits of a word (sum, difference << 8)
//!              then for each row set a section: its number, end, groups
//!     group    length | square << 8 | square << 16 | square << 24, and as many items
//!     item     square | label << 8
//! ```
//!
//! Squares have numbers from 1 in their leaf; 0 stands for none. A group's items share all squares but
//! the last.

use super::kernel::{MOST_ITEMS, NO_BIT};
use super::list::List;
use super::sub_board::{MOST_ROWS, Square, SubBoard};

/// A leaf has at most this many rows: a group has room for three squares.
const MOST_LEAF_ROWS: usize = 4;

/// A node with this many words of each label, or less, is a leaf.
const LEAF_WORDS: usize = 10;

/// The label of completions that do not count.
const DROPPED: u32 = u32::MAX;

/// What a program is compiled for.
#[derive(Debug)]
pub(super) struct Tree {
    board: SubBoard,
    /// The rows of each set, those that all share first. The sets are ordered by these lists.
    sets: Vec<Vec<u32>>,
    /// The number of each set in its class.
    numbers: Vec<u32>,
    /// The index of each label among those that count, or [`DROPPED`].
    labels: Vec<u32>,
    /// The number of labels that count.
    pub(super) labels_len: usize,
    roots: Vec<Root>,
}

/// A queen in the first row of some sets.
#[derive(Clone, Debug)]
struct Root {
    sets: std::ops::Range<usize>,
    column: u32,
    square: Square,
}

impl Tree {
    pub(super) fn new(board: &SubBoard, class: &[u32], labels: impl Iterator<Item = u32>) -> Self {
        let common = class.iter().fold(u32::MAX, |all, rows| all & rows);
        let mut order = board.rows_from_middle.clone();
        order.sort_by_key(|row| common >> row & 1 == 0);
        let rows_of = |rows: u32| -> Vec<u32> {
            (0..).zip(&order).filter(|(_, row)| rows >> *row & 1 == 1).map(|(at, _)| at).collect()
        };
        let mut sets: Vec<(Vec<u32>, u32)> =
            (0..).zip(class).map(|(number, rows)| (rows_of(*rows), number)).collect();
        sets.sort_unstable();
        let (mut sets, numbers): (Vec<Vec<u32>>, Vec<u32>) = sets.into_iter().unzip();
        sets.iter_mut().flatten().for_each(|row| *row = order[*row as usize]);
        let mut indices = vec![DROPPED; 1 << MOST_ROWS];
        let mut labels_len = 0;
        for label in labels {
            indices[label as usize] = labels_len as u32;
            labels_len += 1;
        }
        let mut tree =
            Self { board: board.clone(), sets, numbers, labels: indices, labels_len, roots: Vec::new() };
        if tree.rows() > 0 {
            tree.roots = tree.children(0..tree.sets.len(), 0).collect();
        }
        tree
    }

    fn rows(&self) -> usize {
        self.sets[0].len()
    }

    /// Each square of the row that comes next in these sets.
    fn children(
        &self,
        sets: std::ops::Range<usize>,
        depth: usize,
    ) -> impl Iterator<Item = Root> {
        let row = move |at: usize| self.sets[at][depth];
        let groups = std::iter::successors(Some(sets.start..sets.start), move |last| {
            let start = last.end;
            let end = (start..sets.end).find(|at| row(*at) != row(start)).unwrap_or(sets.end);
            (start < sets.end).then_some(start..end)
        });
        groups.skip(1).flat_map(move |sets| {
            let squares = self.board.squares(row(sets.start));
            squares.map(move |(column, square)| Root { sets: sets.clone(), column, square })
        })
    }

    /// The index of a label among those that count.
    pub(super) fn label(&self, label: u32) -> Option<usize> {
        let index = self.labels[label as usize];
        (index != DROPPED).then_some(index as usize)
    }
}

/// A part of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) code: Vec<u32>,
}

/// Compiles a tree from one of its first queens to another.
pub(super) struct Compiler<'a> {
    tree: &'a Tree,
    /// The words of a block that stands for all: where few of them are left there is a leaf.
    sample: Vec<Vec<u64>>,
    /// The most words of a leaf.
    leaf_words: usize,
    next_root: usize,
    code: Vec<u32>,
    sections: Vec<u32>,
    squares: Vec<u32>,
    /// The number of each square of a leaf, by row and column; 0 if it has none yet.
    numbers: [[u8; MOST_ROWS]; MOST_ROWS],
    numbered: Vec<(u32, u32)>,
}

/// Queens of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Queens {
    columns: u32,
    diagonals: u64,
}

impl Queens {
    fn and(self, column: u32, square: Square) -> Option<Self> {
        let bit = 1 << column;
        let free = self.columns & bit == 0 && self.diagonals & square.diagonals == 0;
        free.then(|| Self {
            columns: self.columns | bit,
            diagonals: self.diagonals | square.diagonals,
        })
    }
}

impl<'a> Compiler<'a> {
    /// A block of this list, of middling length, stands for all.
    pub(super) fn new(tree: &'a Tree, list: &List) -> Self {
        let middle = list.blocks.len() / 2;
        let (sample, labels) = match list.blocks.get(middle) {
            Some(block) => (list.words(middle), block.labels.len()),
            None => (&[][..], 0),
        };
        Self {
            tree,
            sample: vec![sample.to_vec()],
            leaf_words: LEAF_WORDS * labels,
            next_root: 0,
            code: Vec::new(),
            sections: Vec::new(),
            squares: Vec::new(),
            numbers: [[0; MOST_ROWS]; MOST_ROWS],
            numbered: Vec::new(),
        }
    }

    /// The next part of the tree, which ends after the first queen with which it is this long, or at the
    /// end.
    pub(super) fn next_part(&mut self, length: usize) -> Program {
                let tree = self.tree;
        if self.is_leaf(0) {
            self.leaf(0..tree.sets.len(), 0, Queens::default());
            self.next_root = tree.roots.len();
        }
        while let Some(root) = tree.roots.get(self.next_root) {
            self.next_root += 1;
            self.child(root, 0, Queens::default());
            if self.code.len() >= length {
                break;
            }
        }
        Program { code: std::mem::take(&mut self.code) }
    }

    /// Whether there are no more parts.
    pub(super) fn has_ended(&self) -> bool {
        self.next_root >= self.tree.roots.len()
    }

    fn is_leaf(&self, depth: usize) -> bool {
        let left = self.tree.rows() - depth;
        left <= 1 || left <= MOST_LEAF_ROWS && self.sample[depth].len() <= self.leaf_words
    }

    /// The subtree below a queen.
    fn child(&mut self, root: &Root, depth: usize, queens: Queens) {
        let Some(queens) = queens.and(root.column, root.square) else { return };
        let word = root.square.word;
        let start = self.code.len();
        self.code.extend([2 * depth as u32, 0, word as u32, (word >> 32) as u32]);
        let body = self.code.len();
        if self.sample.len() == depth + 1 {
            self.sample.push(Vec::new());
        }
        let (above, below) = self.sample.split_at_mut(depth + 1);
        below[0].clear();
        below[0].extend(above[depth].iter().filter(|other| *other & word == 0));
        if self.is_leaf(depth + 1) {
            self.leaf(root.sets.clone(), depth + 1, queens);
        } else {
            let tree = self.tree;
            tree.children(root.sets.clone(), depth + 1)
                .for_each(|root| self.child(&root, depth + 1, queens));
        }
        if self.code.len() == body {
            self.code.truncate(start);
        } else {
            self.code[start + 1] = self.code.len() as u32;
        }
    }

    fn leaf(&mut self, sets: std::ops::Range<usize>, depth: usize, queens: Queens) {
        self.sections.clear();
        self.squares.clear();
        for set in sets {
            let start = self.sections.len();
            self.sections.extend([self.tree.numbers[set], 0]);
            let rows = &self.tree.sets[set][depth..];
            self.completions(rows, queens, &mut [(0, 0); MOST_LEAF_ROWS], 0);
            let length = self.sections.len() - start;
            assert!(length < MOST_ITEMS, "the sums of a section fit");
            if length == 2 {
                self.sections.truncate(start);
            } else {
                self.sections[start + 1] = length as u32;
            }
        }
        for (row, column) in self.numbered.drain(..) {
            self.numbers[row as usize][column as usize] = 0;
        }
        if !self.sections.is_empty() {
            let start = self.code.len();
            let squares = self.squares.len();
            let end = start + 3 + squares + self.sections.len();
            self.code.extend([2 * depth as u32 + 1, end as u32, squares as u32]);
            self.code.append(&mut self.squares);
            // Sections tell their ends, not their lengths.
            let mut at = 0;
            while at < self.sections.len() {
                let length = self.sections[at + 1] as usize;
                self.sections[at + 1] = (start + 3 + squares + at + length) as u32;
                at += length;
            }
            self.code.append(&mut self.sections);
        }
    }

    /// Adds the groups of completions in these rows.
    fn completions(
        &mut self,
        rows: &[u32],
        queens: Queens,
        chosen: &mut [(u32, u32); MOST_LEAF_ROWS],
        chosen_len: usize,
    ) {
        let tree = self.tree;
        let [row, below @ ..] = rows else {
            // There are no rows at all: one placement without a queen.
            if let Some(label) = tree.label(tree.board.label(0)) {
                self.sections.extend([1, (label as u32) << 8]);
            }
            return;
        };
        if !below.is_empty() {
            for (column, square) in tree.board.squares(*row) {
                if let Some(queens) = queens.and(column, square) {
                    chosen[chosen_len] = (*row, column);
                    self.completions(below, queens, chosen, chosen_len + 1);
                }
            }
            return;
        }
        let start = self.sections.len();
        for (column, square) in tree.board.squares(*row) {
            let Some(queens) = queens.and(column, square) else { continue };
            let label = tree.labels[tree.board.label(queens.columns) as usize];
            if label != DROPPED {
                if self.sections.len() == start {
                    self.sections.push(0);
                }
                let number = self.number(*row, column);
                self.sections.push(number | label << 8);
            }
        }
        let items = (self.sections.len() - start).saturating_sub(1);
        if items > 0 {
            let mut group = items as u32;
            for (at, (row, column)) in chosen[..chosen_len].iter().enumerate() {
                group |= self.number(*row, *column) << (8 * (at + 1));
            }
            self.sections[start] = group;
        }
    }

    /// The number of a square in this leaf.
    fn number(&mut self, row: u32, column: u32) -> u32 {
        let number = &mut self.numbers[row as usize][column as usize];
        if *number == 0 {
            let word = self.tree.board.square(row, column).word;
            let rest = word & word.wrapping_sub(1);
            let bit = |word: u64| if word == 0 { NO_BIT } else { word.trailing_zeros() };
            self.squares.push(bit(word) | bit(rest) << 8);
            *number = u8::try_from(self.squares.len()).expect("a leaf has fewer squares");
            self.numbered.push((row, column));
        }
        (*number).into()
    }
}
