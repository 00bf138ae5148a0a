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
//!     leaf     2 depth + 1  end  where the squares begin
//!              sections: the number of a row set, end, groups
//!              for each square its two bits of a word, sum | difference << 8
//!     group    length | square << 8 | square << 16 | square << 24, and as many items
//!     item     square | square << 8 | label << 16
//! ```
//!
//! Squares have numbers from 1 in their leaf; 0 stands for none. A group's items share all squares but
//! the last two. Groups of one length are neighbours, so that the processor can foresee where their loops end.

use std::ops::Range;

use super::kernel::MOST_ITEMS;
use super::list::List;
use super::sub_board::{MOST_ROWS, Queens, SubBoard};

/// A leaf has at most this many rows: a group has room for three squares, and an item for two.
const MOST_LEAF_ROWS: usize = 5;
/// Longer groups are not ordered by their length.
const MOST_ORDERED: usize = 15;

/// A node with this many words of each label, or less, is a leaf.
const LEAF_WORDS: usize = 8;

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
    /// The index of each label among those that count, or [`DROPPED`], by columns.
    labels: Vec<u32>,
    /// The number of labels that count.
    pub(super) labels_len: usize,
    roots: Vec<Root>,
}

/// A queen in the first row of some sets.
#[derive(Clone, Debug)]
struct Root {
    sets: Range<usize>,
    row: u32,
    column: u32,
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
        let mut indices = vec![DROPPED; board.columns as usize + 1];
        let mut labels_len = 0;
        for label in labels {
            indices[board.label(label) as usize] = labels_len as u32;
            labels_len += 1;
        }
        let mut tree = Self {
            board: board.clone(),
            sets,
            numbers,
            labels: indices,
            labels_len,
            roots: Vec::new(),
        };
        if tree.rows() > 0 {
            tree.roots = tree.children(0..tree.sets.len(), 0, Queens::default()).collect();
        }
        tree
    }

    fn rows(&self) -> usize {
        self.sets[0].len()
    }

    /// Each queen in the row that comes next in these sets.
    fn children(
        &self,
        sets: Range<usize>,
        depth: usize,
        queens: Queens,
    ) -> impl Iterator<Item = Root> {
        let row = move |at: usize| self.sets[at][depth];
        let groups = std::iter::successors(Some(sets.start..sets.start), move |last| {
            let start = last.end;
            let end = (start..sets.end).find(|at| row(*at) != row(start)).unwrap_or(sets.end);
            (start < sets.end).then_some(start..end)
        });
        groups.skip(1).flat_map(move |sets| {
            let row = row(sets.start);
            let columns = self.board.each(self.board.free(row, queens));
            columns.map(move |column| Root { sets: sets.clone(), row, column })
        })
    }

    /// The index of a label among those that count.
    pub(super) fn label(&self, label: u32) -> Option<usize> {
        let index = self.labels[self.board.label(label) as usize];
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
    /// The groups of a section, by their length.
    groups: [Vec<u32>; MOST_ORDERED + 1],
    section_len: usize,
    /// The items of a group, and the squares that they share.
    items: Vec<u32>,
    shared: Vec<u32>,
    /// The number of each square of a leaf; 0 if it has none yet.
    numbers: [[u32; MOST_ROWS]; MOST_ROWS],
    /// The squares that have one.
    numbered: Vec<[u32; 2]>,
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
            groups: Default::default(),
            section_len: 0,
            items: Vec::new(),
            shared: Vec::new(),
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
        let tree = self.tree;
        let queens = queens.and(root.row, root.column);
        let word = tree.board.word(root.row, root.column);
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
            tree.children(root.sets.clone(), depth + 1, queens)
                .for_each(|root| self.child(&root, depth + 1, queens));
        }
        if self.code.len() == body {
            self.code.truncate(start);
        } else {
            self.code[start + 1] = self.code.len() as u32;
        }
    }

    fn leaf(&mut self, sets: Range<usize>, depth: usize, queens: Queens) {
        let (tree, start) = (self.tree, self.code.len());
        self.code.extend([2 * depth as u32 + 1, 0, 0]);
        let body = self.code.len();
        for set in sets {
            self.sections(tree.numbers[set], &tree.sets[set][depth..], queens);
        }
        if self.code.len() == body {
            self.code.truncate(start);
            return;
        }
        self.code[start + 2] = self.code.len() as u32;
        for [row, column] in self.numbered.drain(..) {
            self.numbers[row as usize][column as usize] = 0;
            let word = tree.board.word(row, column);
            let rest = word & word.wrapping_sub(1);
            self.code.push(word.trailing_zeros() | rest.trailing_zeros() << 8);
        }
        self.code[start + 1] = self.code.len() as u32;
    }

    /// Adds the completions of a row set, in one section or several.
    fn sections(&mut self, set: u32, rows: &[u32], queens: Queens) {
        let (shared, last) = rows.split_at(rows.len().saturating_sub(2));
        self.add_groups(set, shared, last, queens);
        self.end_section(set);
    }

    /// Adds the groups below these queens.
    fn add_groups(&mut self, set: u32, shared: &[u32], last: &[u32], queens: Queens) {
        let board = &self.tree.board;
        if let [row, below @ ..] = shared {
            for column in board.each(board.free(*row, queens)) {
                let number = self.number(*row, column);
                self.shared.push(number);
                self.add_groups(set, below, last, queens.and(*row, column));
                self.shared.pop();
            }
            return;
        }
        self.items.clear();
        match last {
            [] => self.add_item(0, queens.columns),
            [row] => {
                for column in board.each(board.free(*row, queens)) {
                    let number = self.number(*row, column);
                    self.add_item(number, queens.columns | 1 << column);
                }
            }
            [one, other, ..] => {
                for column in board.each(board.free(*one, queens)) {
                    let queens = queens.and(*one, column);
                    let first = self.number(*one, column);
                    for column in board.each(board.free(*other, queens)) {
                        let squares = first | self.number(*other, column) << 8;
                        self.add_item(squares, queens.columns | 1 << column);
                    }
                }
            }
        }
        if !self.items.is_empty() {
            let squares = self.shared.iter().fold(0, |group, number| group << 8 | number);
            let groups = &mut self.groups[self.items.len().min(MOST_ORDERED)];
            groups.push(squares << 8 | self.items.len() as u32);
            groups.extend(&self.items);
            self.section_len += 1 + self.items.len();
            if self.section_len > MOST_ITEMS - MOST_ROWS * MOST_ROWS {
                self.end_section(set);
            }
        }
    }

    fn add_item(&mut self, squares: u32, columns: u32) {
        let label = self.tree.labels[columns as usize];
        if label != DROPPED {
            self.items.push(squares | label << 16);
        }
    }

    /// Moves the groups to the code, if there are any.
    fn end_section(&mut self, set: u32) {
        if self.section_len > 0 {
            let end = self.code.len() + 2 + self.section_len;
            self.code.extend([set, end as u32]);
            self.groups.iter_mut().for_each(|groups| self.code.append(groups));
            self.section_len = 0;
        }
    }

    /// The number of a square in this leaf.
    fn number(&mut self, row: u32, column: u32) -> u32 {
        let number = &mut self.numbers[row as usize][column as usize];
        if *number == 0 {
            self.numbered.push([row, column]);
            *number = self.numbered.len() as u32;
            assert!(*number <= 255, "a leaf has fewer squares");
        }
        *number
    }
}
