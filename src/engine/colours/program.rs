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
//!              sections: the number of a row set, end, four squares that all groups share, groups
//!              for each square its two bits of a word, sum | difference << 8
//!     group    length | square << 8 | square << 16 | square << 24, and as many items
//!     item     square | label << 8
//! ```
//!
//! Squares have numbers from 1 in their leaf; 0 stands for none. A group's items share all squares but
//! the last.

use std::ops::Range;

use super::kernel::MOST_ITEMS;
use super::list::List;
use super::sub_board::{MOST_ROWS, Queens, SubBoard};

/// The rows of a group and its items: a group has room for three squares.
const GROUP_ROWS: usize = 4;
/// A leaf has at most this many rows: a section has room for four squares more.
const MOST_LEAF_ROWS: usize = GROUP_ROWS + 4;

/// A node with this many words of each label, or less, is a leaf.
const LEAF_WORDS: usize = 5;

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
        let mut tree =
            Self { board: board.clone(), sets, numbers, labels: indices, labels_len, roots: Vec::new() };
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
    /// Where the last section begins.
    section: usize,
    /// The number of each square of a leaf; 0 if it has none yet.
    numbers: [u32; MOST_ROWS * MOST_ROWS],
    /// The squares that have one.
    numbered: Vec<u8>,
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
            section: 0,
            numbers: [0; MOST_ROWS * MOST_ROWS],
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
            self.sections(tree.numbers[set], &tree.sets[set][depth..], queens, 0);
        }
        if self.code.len() == body {
            self.code.truncate(start);
            return;
        }
        self.code[start + 2] = self.code.len() as u32;
        for square in self.numbered.drain(..) {
            self.numbers[usize::from(square)] = 0;
            let word = tree.board.word(u32::from(square) / 16, u32::from(square) % 16);
            let rest = word & word.wrapping_sub(1);
            self.code.push(word.trailing_zeros() | rest.trailing_zeros() << 8);
        }
        self.code[start + 1] = self.code.len() as u32;
    }

    /// Adds the completions in these rows. The squares of the rows before them in the leaf are `outer`, one
    /// in each byte.
    fn sections(&mut self, set: u32, rows: &[u32], queens: Queens, outer: u32) {
        if rows.len() > GROUP_ROWS {
            let row = rows[0];
            for column in self.tree.board.each(self.tree.board.free(row, queens)) {
                let outer = outer << 8 | self.number(square(row, column));
                self.sections(set, &rows[1..], queens.and(row, column), outer);
            }
            return;
        }
        self.begin_section(set, outer);
        self.completions(rows, queens, [0; GROUP_ROWS - 1], 0);
        self.end_section();
    }

    fn begin_section(&mut self, set: u32, outer: u32) {
        self.section = self.code.len();
        self.code.extend([set, 0, outer]);
    }

    /// Writes where the section ends, or drops it if it is empty.
    fn end_section(&mut self) {
        if self.code.len() == self.section + 3 {
            self.code.truncate(self.section);
        } else {
            self.code[self.section + 1] = self.code.len() as u32;
        }
    }

    /// Adds the groups of completions in these rows. The squares of the rows before them in the section are
    /// `shared`.
    fn completions(
        &mut self,
        rows: &[u32],
        queens: Queens,
        shared: [u8; GROUP_ROWS - 1],
        len: usize,
    ) {
        let tree = self.tree;
        let [row, below @ ..] = rows else {
            // There are no rows at all: one placement without a queen.
            if tree.labels[0] != DROPPED {
                self.code.extend([1, tree.labels[0] << 8]);
            }
            return;
        };
        let free = tree.board.free(*row, queens);
        if !below.is_empty() {
            for column in tree.board.each(free) {
                let mut shared = shared;
                shared[len] = square(*row, column);
                self.completions(below, queens.and(*row, column), shared, len + 1);
            }
            return;
        }
        let start = self.code.len();
        self.code.push(0);
        for column in tree.board.each(free) {
            let label = tree.labels[(queens.columns | 1 << column) as usize];
            if label != DROPPED {
                let number = self.number(square(*row, column));
                self.code.push(number | label << 8);
            }
        }
        let items = self.code.len() - start - 1;
        if items == 0 {
            self.code.truncate(start);
            return;
        }
        let squares = shared[..len].iter().rev();
        self.code[start] =
            squares.fold(0, |group, square| (group | self.number(*square)) << 8) | items as u32;
        if self.code.len() - self.section >= MOST_ITEMS - MOST_ROWS {
            let [set, _, outer] = [0, 1, 2].map(|at| self.code[self.section + at]);
            self.end_section();
            self.begin_section(set, outer);
        }
    }

    /// The number of a square in this leaf.
    fn number(&mut self, square: u8) -> u32 {
        let number = &mut self.numbers[usize::from(square)];
        if *number == 0 {
            self.numbered.push(square);
            *number = self.numbered.len() as u32;
            assert!(*number <= 255, "a leaf has fewer squares");
        }
        *number
    }
}

/// A square in a byte.
fn square(row: u32, column: u32) -> u8 {
    (row * MOST_ROWS as u32 + column) as u8
}
