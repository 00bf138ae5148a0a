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
        let [list, board] = sub_boards(units.size, colour, which);
        let (list, program) = (List::new(list, limits.block_labels), Program::new(part_len));
        let tree = Tree::new(&board, &[], std::iter::empty());
        Self { colour, list, tree, tree_units: 0..0, program }
    }

    /// Exchanges the programs of two colours that have exchanged their roles: the memory of the longer program is
    /// for the heavy colour. Both trees are built anew.
    pub(super) fn swap_programs(&mut self, other: &mut Self) {
        swap(&mut self.program, &mut other.program);
        (self.tree_units, other.tree_units) = (0..0, 0..0);
    }

    /// Begins the list of the placements on the even rows of a batch, and the tree of the placements on the odd rows.
    pub(super) fn prepare(
        &mut self,
        units: &UnitList,
        batch: &Batch,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        let Batch { a, x, ref x_class, ref y_class, .. } = *batch;
        let board = &self.tree.board;
        let rows = board.own_rows(units.even.of_size(a)[x as usize], units.even.all());
        let labels = units.label_weights(a, x).labels(self.colour);
        self.list.begin(rows, units.even.outer(), labels, cancel)?;
        if !self.tree_units.contains(&batch.units.start) {
            let own_rows = |y| board.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // A label that counts with any x of the class counts with the first one.
            let labels = units.label_weights(a, x_class.start).labels(self.colour.other());
            self.tree = Tree::new(board, &class, labels);
            self.tree_units = units.class_pair_units(batch.units.start);
            self.program.clear();
        }
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
            let Some(sample) = blocks.nth(blocks.len() / 2) else { continue };
            program.each_part(tree, sample.words, limits, kernel, cancel, |code| {
                list.blocks().try_for_each(|block| visit(code, block, tree))
            })?;
        }
        Ok(())
    }
}
