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
//! A leaf takes the last rows, five at most, at once. Its completions are made of two halves, the queens of the
//! first rows and those of the others, which are the leaf's pairs; each completion is an **item**. It pays as
//! soon as few words are left, see [`kernel`](super::kernel). How many there will be differs little from block
//! to block, so the words of one block decide for all. A program depends on the classes of the even and the odd
//! rows, not on the even rows themselves, so that one is compiled for up to 20 batches. Only completions whose
//! label counts for some of them are in it. One that would be too long is compiled part by part: a part ends
//! between two children of a node, and the next one begins with the queens of this node.

use super::code::Code;
use super::completions::{DROPPED, Leaf};
use super::kernel::{SLACK, Words};
use super::limits::Limits;
use super::list::List;
use super::squares::{MAX_ROWS, Queens, SubBoard};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// What a program is compiled for.
pub(super) struct Tree {
    pub(super) board: SubBoard,
    /// Ordered by their rows.
    pub(super) sets: Vec<RowSet>,
    /// The index of each label among those that count, or [`DROPPED`], by columns.
    pub(super) labels: Vec<u32>,
    /// The number of labels that count.
    pub(super) labels_len: usize,
}

/// The rows of a set, those that all share first, and its number in its class.
type RowSet = (Vec<u32>, u32);

/// A queen in the row that comes next in some sets.
struct Child<'a> {
    sets: &'a [RowSet],
    row: u32,
    column: u32,
}

impl Tree {
    pub(super) fn new(board: &SubBoard, class: &[u32], labels: impl Iterator<Item = u32>) -> Self {
        let common = class.iter().fold(u32::MAX, |all, rows| all & rows);
        let mut order = board.rows_from_middle.clone();
        order.sort_by_key(|row| common >> row & 1 == 0);
        let rows_of = |set: u32| order.iter().copied().filter(|row| set >> row & 1 == 1).collect();
        let mut sets: Vec<RowSet> =
            (0..).zip(class).map(|(number, set)| (rows_of(*set), number)).collect();
        sets.sort_unstable();
        let mut indices = vec![DROPPED; board.columns as usize + 1];
        let mut labels_len = 0;
        for label in labels {
            indices[board.label(label) as usize] = labels_len as u32;
            labels_len += 1;
        }
        Self { board: board.clone(), sets, labels: indices, labels_len }
    }

    /// Each queen in the row that comes next in these sets.
    fn children<'a>(
        &'a self,
        sets: &'a [RowSet],
        depth: usize,
        queens: Queens,
    ) -> impl Iterator<Item = Child<'a>> {
        let of_rows = sets.chunk_by(move |(one, _), (other, _)| one[depth] == other[depth]);
        of_rows.flat_map(move |sets| {
            let row = sets[0].0[depth];
            let columns = self.board.in_order(self.board.free(row, queens));
            columns.map(move |column| Child { sets, row, column })
        })
    }

    /// Compiles the program part by part in this memory, and visits each part. A block of the list, of middling
    /// length, stands for all. Returns the program if it is one part, or the empty memory of the parts.
    pub(super) fn compile(
        &self,
        list: &List,
        limits: &Limits,
        kernel: Kernel,
        memory: Vec<u32>,
        cancel: &Cancel,
        mut visit: impl FnMut(&[u32]) -> Result<(), Interrupt>,
    ) -> Result<Vec<u32>, Interrupt> {
        let sample = list.words(list.blocks.len() / 2);
        let mut compiler = Compiler {
            tree: self,
            limits,
            kernel,
            kept: Default::default(),
            path: Vec::new(),
            code: Code(memory),
            leaf: Leaf::new(self.labels_len),
            cancel,
        };
        compiler.code.0.reserve(limits.part_len + limits.part_len / 8);
        let mut parts = 0;
        while parts == 0 || !compiler.path.is_empty() {
            compiler.code.0.clear();
            compiler.node(&self.sets, 0, Queens::default(), sample);
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            visit(&compiler.code.0)?;
            parts += 1;
        }
        if parts > 1 {
            compiler.code.0.clear();
        }
        Ok(compiler.code.0)
    }

    /// The index of a label among those that count.
    pub(super) fn label(&self, label: u32) -> Option<usize> {
        let index = self.labels[self.board.label(label) as usize];
        (index != DROPPED).then_some(index as usize)
    }
}

/// Compiles a tree, part by part.
struct Compiler<'a> {
    tree: &'a Tree,
    limits: &'a Limits,
    kernel: Kernel,
    /// Of the sample, the words that each queen leaves.
    kept: [Vec<u64>; MAX_ROWS],
    /// Where the last part ended and the next one begins: the number of a child at each depth, the upper ones
    /// last; none at the beginning and at the end.
    path: Vec<usize>,
    code: Code,
    leaf: Leaf,
    cancel: &'a Cancel,
}

impl<'a> Compiler<'a> {
    /// The subtree below a queen. The words are those of a block that stands for all.
    fn child(&mut self, child: Child<'a>, depth: usize, queens: Queens, words: Words<'_>) {
        if self.cancel.is_cancelled() {
            return;
        }
        let Child { sets, row, column } = child;
        let word = self.tree.board.word(row, column);
        let start = self.code.filter(depth, word);
        let mut kept = std::mem::take(&mut self.kept[depth]);
        kept.resize(kept.len().max(words.len + SLACK), 0);
        let len = self.kernel.join(&[word], words, &mut kept);
        let words = Words { len, padded: &kept };
        self.node(sets, depth + 1, queens.with(row, column), words);
        self.kept[depth] = kept;
        self.code.end_subtree(start);
    }

    /// What is below some queens: a leaf where few words are left, else more queens.
    fn node(&mut self, sets: &'a [RowSet], depth: usize, queens: Queens, words: Words<'_>) {
        let (tree, left) = (self.tree, sets[0].0.len() - depth);
        let is_leaf = self.limits.leaf_words.get(left).is_some_and(|most| words.len <= *most);
        if is_leaf && self.leaf(sets, depth, queens) {
            return;
        }
        let may_end = left >= self.limits.leaf_words.len();
        let first = self.path.pop().unwrap_or(0);
        for (number, child) in tree.children(sets, depth, queens).enumerate().skip(first) {
            // A part has one of its children at least, or there would be no end of parts.
            let ends_here = may_end && number > first && self.code.0.len() >= self.limits.part_len;
            if !ends_here {
                self.child(child, depth, queens, words);
            }
            if ends_here || !self.path.is_empty() {
                self.path.push(number);
                return;
            }
        }
    }

    /// A leaf. Returns whether it has room for all squares and pairs; if it has none, or no completions, there is no
    /// code.
    fn leaf(&mut self, sets: &[RowSet], depth: usize, queens: Queens) -> bool {
        let Self { tree, limits, code, leaf, .. } = self;
        let (tree, start) = (*tree, code.leaf(depth));
        leaf.clear();
        let rows = sets.iter().flat_map(|(rows, _)| &rows[depth..]);
        let rows = rows.fold(0_u32, |all, row| all | 1 << row);
        for row in (0..MAX_ROWS as u32).filter(|row| rows >> row & 1 == 1) {
            leaf.add_squares(&tree.board, row, queens);
        }
        for (rows, number) in sets {
            let rows = &rows[depth..];
            let (first, last) = rows.split_at(rows.len() / 2);
            let halves = [first, last].map(|rows| leaf.halves(rows));
            if leaf.halves_len() > limits.leaf_halves {
                code.0.truncate(start);
                return false;
            }
            leaf.sections(&tree.labels, *number, &halves, queens, limits.section_items, code);
        }
        code.end_leaf(start, &leaf.squares, &leaf.pairs);
        true
    }
}
