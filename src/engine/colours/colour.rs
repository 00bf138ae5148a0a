//! A colour at work: its list, its tree, and the program of the tree.

use std::mem::swap;
use std::ops::Range;

use super::compile::Program;
use super::limits::Limits;
use super::list::{Block, List};
use super::squares::{Colour, sub_boards};
use super::tree::Tree;
use super::units::{Batch, UnitList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Interrupt, WhichCount};

/// A colour, its list, its tree, and the program of the tree.
pub(super) struct ColourState {
    pub(super) colour: Colour,
    pub(super) list: List,
    pub(super) tree: Tree,
    /// The units that have this tree.
    tree_units: Range<usize>,
    program: Program,
}

impl ColourState {
    /// Makes a colour with an empty list and an empty tree.
    pub(super) fn new(
        units: &UnitList,
        colour: Colour,
        which: WhichCount,
        limits: Limits,
        part_len: usize,
    ) -> Self {
        let [list_board, tree_board] = sub_boards(units.size, colour, which);
        Self {
            colour,
            list: List::new(list_board, limits.block_labels),
            tree: Tree::new(&tree_board, &[], std::iter::empty()),
            tree_units: 0..0,
            program: Program::new(part_len),
        }
    }

    /// Exchanges the programs of two colours that have exchanged their roles, because the memory of the longer program
    /// is for the heavy colour. The programs do not belong to the trees then, so both trees are built again.
    pub(super) fn swap_programs(&mut self, other: &mut Self) {
        swap(&mut self.program, &mut other.program);
        self.tree_units = 0..0;
        other.tree_units = 0..0;
    }

    /// Begins the list of the placements on the even rows of a batch, and makes the tree of the placements on the odd
    /// rows, unless the tree is already the one of the batch.
    pub(super) fn prepare(
        &mut self,
        units: &UnitList,
        batch: &Batch,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        let board = &self.tree.board;
        let white_even_rows = units.even_set(batch.a, batch.x);
        let even_rows = board.own_rows(white_even_rows, units.even.all());
        let list_labels = units.multiplicities(batch.a, batch.x).labels(self.colour);
        self.list.begin(even_rows, units.even.outer(), list_labels, cancel)?;
        if self.tree_units.contains(&batch.units.start) {
            return Ok(());
        }
        let mut row_sets = Vec::new();
        for y in batch.y_class.clone() {
            let white_odd_rows = units.odd_set(batch.a, y);
            row_sets.push(board.own_rows(white_odd_rows, units.odd.all()));
        }
        // The tree serves all x of the class. A label that is not left out for one of them is not left out for the
        // first one, because the first one is the smallest.
        let first_x = batch.x_class.start;
        let tree_labels = units.multiplicities(batch.a, first_x).labels(self.colour.other());
        self.tree = Tree::new(board, &row_sets, tree_labels);
        self.tree_units = units.class_pair_units(batch.units.start);
        self.program.clear();
        Ok(())
    }

    /// Visits each part of the program with each block of the list, section by section.
    pub(super) fn each_block(
        &mut self,
        limits: &Limits,
        kernel: Kernel,
        cancel: &Cancel,
        mut visit: impl FnMut(&[u32], Block<'_>, &Tree) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { list, tree, program, .. } = self;
        let mut next = 0;
        while next < list.to_list.len() {
            next = list.fill(next, limits.section_words, kernel, cancel)?;
            let mut blocks = list.blocks();
            let Some(sample) = blocks.nth(blocks.len() / 2) else {
                continue;
            };
            program.each_part(tree, sample.words, limits, kernel, cancel, |code| {
                list.blocks().try_for_each(|block| visit(code, block, tree))
            })?;
        }
        Ok(())
    }
}
