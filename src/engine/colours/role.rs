//! The light or the heavy colour at work: its list, and the program of its tree.

use std::sync::Arc;

use super::compile::Program;
use super::limits::Limits;
use super::list::{Block, List, Zones};
use super::squares::{Colour, Parity, SubBoard, sub_boards};
use super::tree::Tree;
use super::units::{Batch, UnitList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Interrupt, Pass};

/// What a colour keeps for the whole count.
pub(super) struct ColourBoards {
    /// The parity of the columns of the list's labels.
    list_parity: Parity,
    /// The placements on the even rows, zone by zone.
    zones: Zones,
    /// The sub-board with the odd rows.
    tree: Arc<SubBoard>,
}

impl ColourBoards {
    pub(super) fn new(units: &UnitList, colour: Colour, pass: Pass) -> Self {
        let [list, tree] = sub_boards(units.size, colour, pass);
        Self { list_parity: colour.list_parity(), zones: Zones::new(list), tree: Arc::new(tree) }
    }
}

/// The light or the heavy role: a list, a program, and their memory, which is kept from batch to batch. White or black
/// takes the role for the batches of a pair of classes.
pub(super) struct Role {
    /// The parity of the columns of the list's labels.
    pub(super) list_parity: Parity,
    pub(super) list: List,
    pub(super) program: Program,
}

impl Role {
    /// Makes a role for batches that are still to come.
    pub(super) fn new(boards: &ColourBoards, limits: Limits, part_len: usize) -> Self {
        Self {
            list_parity: boards.list_parity,
            list: List::new(&boards.zones, limits.block_labels),
            program: Program::new(Tree::new(&boards.tree), part_len),
        }
    }

    /// Gives the role to a colour for the pair of classes of a batch, and begins the program of its tree: the
    /// placements on the odd rows of every unit with these classes.
    pub(super) fn begin_class_pair(
        &mut self,
        boards: &ColourBoards,
        units: &UnitList,
        batch: &Batch,
    ) {
        let mut row_sets = Vec::new();
        for y in batch.y_class.clone() {
            let white_odd_rows = units.odd_set(batch.a, y);
            row_sets.push(boards.tree.own_rows(white_odd_rows, units.odd.all()));
        }
        // The tree serves the batches of every x of the class, so it needs each label that one of them counts. Units
        // leave out the labels whose smallest rank is below x, so a larger x leaves out more of them. The smallest x,
        // the first of the class, leaves out the fewest: its labels are all that are needed.
        let smallest_x = batch.x_class.start;
        let labels = units.multiplicities(batch.a, smallest_x).labels(boards.list_parity.other());
        self.list_parity = boards.list_parity;
        self.program.begin().begin(&boards.tree, &row_sets, labels);
    }

    /// Begins the list of the placements on the even rows of a batch.
    pub(super) fn begin_batch(
        &mut self,
        boards: &mut ColourBoards,
        units: &UnitList,
        batch: &Batch,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        let white_even_rows = units.even_set(batch.a, batch.x);
        let rows = boards.tree.own_rows(white_even_rows, units.even.all());
        let labels = units.multiplicities(batch.a, batch.x).labels(boards.list_parity);
        self.list.begin(&mut boards.zones, rows, units.even.outer(), labels, cancel)
    }

    /// Visits each part of the program with each block of the list, stretch by stretch.
    pub(super) fn each_block(
        &mut self,
        limits: &Limits,
        kernel: Kernel,
        cancel: &Cancel,
        mut visit: impl FnMut(&[u32], Block<'_>, &Tree) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { list, program, .. } = self;
        let mut next = 0;
        while next < list.to_list.len() {
            next = list.ensure_listed(next, limits.stretch_words, kernel, cancel)?;
            let mut blocks = list.blocks();
            let Some(sample) = blocks.nth(blocks.len() / 2) else {
                continue;
            };
            program.each_part(sample.words, limits, kernel, cancel, |code, tree| {
                list.blocks().try_for_each(|block| visit(code, block, tree))
            })?;
        }
        Ok(())
    }
}
