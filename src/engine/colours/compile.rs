//! Compiles a tree to a program that runs on each block of a list.
//!
//! A node of the tree keeps the words of a block that fit its queens, and its subtrees continue with these words:
//!
//! ```text
//!     filter d, queen      keep the words at depth d that share no diagonal with this queen, for depth
//!                          d + 1; if no word is left, go on behind the subtree
//!     leaf d               count the words at depth d that fit each completion of the node
//! ```
//!
//! A leaf takes the last rows, at most five, at once. That pays as soon as few words are left: see
//! [`kernel`](super::kernel). The number of words left differs little from block to block, so the words of one block
//! decide for all. A program depends on the classes of the even and the odd rows, not on the even rows themselves. So
//! one program serves up to 20 batches. A completion whose label is left out in every batch is not in the program.
//!
//! A program that would be too long is compiled in **parts**. A part ends between two children of a node, and the next
//! part begins with the queens of this node.

use super::code::Code;
use super::completions::Leaf;
use super::kernel::{SLACK, Words};
use super::limits::Limits;
use super::squares::Queens;
use super::subsets::MAX_ROWS;
use super::tree::{Child, RowSet, Tree};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// A tree and its program.
pub(super) struct Program {
    pub(super) tree: Tree,
    code: Code,
    /// Whether the code is the whole program. If not, it is a part of it or nothing.
    is_whole: bool,
    /// The length at which a part of the code ends. A part may be longer by what is below one node.
    part_len: usize,
    /// The words of the sample that the queen at each depth leaves. This and the leaf are memory that is kept, because
    /// fresh memory would cost time with each program.
    kept: [Vec<u64>; MAX_ROWS],
    leaf: Leaf,
}

impl Program {
    pub(super) fn new(tree: Tree, part_len: usize) -> Self {
        Self {
            tree,
            code: Code::default(),
            is_whole: false,
            part_len,
            kept: Default::default(),
            leaf: Leaf::default(),
        }
    }

    /// Returns the tree, to be made another one in the same memory. Nothing of its program is compiled yet.
    pub(super) fn begin(&mut self) -> &mut Tree {
        self.is_whole = false;
        &mut self.tree
    }

    /// Visits the program part by part, and its tree with each part. If the code is not the whole program, each part is
    /// compiled first. The sample, a block of medium length, stands for all blocks.
    pub(super) fn each_part(
        &mut self,
        sample: Words<'_>,
        limits: &Limits,
        kernel: Kernel,
        cancel: &Cancel,
        mut visit: impl FnMut(&[u32], &Tree) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { tree, code, is_whole, part_len, kept, leaf } = self;
        if *is_whole {
            return visit(&code.0, tree);
        }
        leaf.begin(tree.labels_len);
        let mut compiler = Compiler {
            tree,
            limits,
            kernel,
            part_len: *part_len,
            kept,
            next_children: Vec::new(),
            code,
            leaf,
            cancel,
        };
        for part in 0.. {
            compiler.code.0.clear();
            compiler.code.0.reserve_exact(*part_len + *part_len / 8);
            compiler.node(&tree.sets, 0, Queens::default(), sample);
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            visit(&compiler.code.0, tree)?;
            if compiler.next_children.is_empty() {
                *is_whole = part == 0;
                break;
            }
        }
        Ok(())
    }
}

/// A compiler of a tree, part by part.
struct Compiler<'a> {
    tree: &'a Tree,
    limits: &'a Limits,
    kernel: Kernel,
    part_len: usize,
    /// The words of the sample that the queen at each depth leaves.
    kept: &'a mut [Vec<u64>; MAX_ROWS],
    /// Where the next part begins: the number of the child with which the node at each depth goes on, the root's number
    /// last. It is empty before the first part and after the last one.
    ///
    /// For example, let a part end before child 2 of a node that is itself child 3 of the root:
    ///
    /// ```text
    ///     the part ends          the node pushes 2, and then the root pushes 3: [2, 3]
    ///     the next part begins   the root pops 3 and visits its child 3 again. This is the node, which pops 2 and goes
    ///                            on with its child 2
    /// ```
    next_children: Vec<usize>,
    code: &'a mut Code,
    leaf: &'a mut Leaf,
    cancel: &'a Cancel,
}

impl<'a> Compiler<'a> {
    /// Compiles what is below some queens: a leaf if few words of the sample are left, otherwise more queens. If the
    /// part ends at this node or below it, returns early, with the next child of the node in `next_children`.
    fn node(&mut self, sets: &'a [RowSet], depth: usize, queens: Queens, words: Words<'_>) {
        let rows_left = sets[0].rows.len() - depth;
        if self.has_few_words(rows_left, words.len) && self.leaf(sets, depth, queens) {
            return;
        }
        let may_end = rows_left >= self.limits.leaf_words.len();
        let first_child = self.next_children.pop().unwrap_or(0);
        let children = self.tree.children(sets, depth, queens).enumerate().skip(first_child);
        for (number, child) in children {
            // A part has at least one of the children, or there would be no end of parts.
            if may_end && number > first_child && self.code.0.len() >= self.part_len {
                self.next_children.push(number);
                return;
            }
            self.child(child, depth, queens, words);
            if !self.next_children.is_empty() {
                // The part ended below this child, with which the next part goes on.
                self.next_children.push(number);
                return;
            }
        }
    }

    /// Returns whether a node with this number of rows left and of words is a leaf.
    fn has_few_words(&self, rows_left: usize, words: usize) -> bool {
        match self.limits.leaf_words.get(rows_left) {
            Some(most_words) => words <= *most_words,
            None => false,
        }
    }

    /// Compiles a queen and what is below it.
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
        self.node(sets, depth + 1, queens.with(row, column), Words { len, padded: &kept });
        self.kept[depth] = kept;
        self.code.end_subtree(start);
    }

    /// Compiles a leaf. Returns whether it has room for all squares, combinations and completions. Without room, or
    /// without completions, there is no code.
    fn leaf(&mut self, sets: &[RowSet], depth: usize, queens: Queens) -> bool {
        let Self { tree, limits, code, leaf, .. } = self;
        let start = code.leaf(depth);
        leaf.clear();
        let mut rows_of_any = 0_u32;
        for set in sets {
            for row in &set.rows[depth..] {
                rows_of_any |= 1 << row;
            }
        }
        for row in 0..u32::BITS {
            if rows_of_any >> row & 1 == 1 {
                leaf.add_squares(&tree.board, row, queens);
            }
        }
        for set in sets {
            let rows_left = &set.rows[depth..];
            let (one_half, other_half) = rows_left.split_at(rows_left.len() / 2);
            let ones = leaf.halves_filling(one_half);
            let others = leaf.halves_filling(other_half);
            let most_completions = ones.len() * others.len();
            let has_room = leaf.halves.len() <= limits.leaf_planes
                && most_completions <= limits.section_completions;
            if !has_room {
                code.0.truncate(start);
                return false;
            }
            leaf.write_section(&tree.labels, set.number, ones, others, queens, code);
        }
        code.end_leaf(start, &leaf.squares, &leaf.combinations);
        true
    }
}
