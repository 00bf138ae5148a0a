//! One of the two colours: its list, its tree, and the program of the tree.

use std::ops::Range;

use super::kernel::{LABEL_SHIFT, Scratch, Words};
use super::limits::Limits;
use super::list::List;
use super::program::Tree;
use super::squares::{Colour, SubBoards};
use super::units::{Batch, UnitList};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Interrupt, WhichCount};

/// What belongs to a colour.
pub(super) struct ColourState {
    pub(super) colour: Colour,
    pub(super) boards: SubBoards,
    kernel: Kernel,
    pub(super) limits: Limits,
    pub(super) list: List,
    pub(super) tree: Tree,
    /// The units that have this tree.
    tree_units: Range<usize>,
    /// All of its program once it is compiled; empty before, and if it is too long.
    program: Vec<u32>,
}

/// A program, or a part of one, and a block to run it on.
pub(super) struct Step<'a> {
    pub(super) code: &'a [u32],
    pub(super) tree: &'a Tree,
    /// The number of the block in its list.
    pub(super) number: usize,
    /// Its labels, by lane.
    pub(super) labels: &'a [u32],
    /// Its words.
    pub(super) words: Words<'a>,
}

impl ColourState {
    pub(super) fn new(
        size: BoardSize,
        colour: Colour,
        which: WhichCount,
        kernel: Kernel,
        limits: Limits,
    ) -> Self {
        let boards = SubBoards::new(size, colour, which);
        assert!(boards.bits <= LABEL_SHIFT, "words have room for labels");
        let tree = Tree::new(&boards.tree, &[], std::iter::empty());
        Self {
            colour,
            boards,
            kernel,
            limits,
            list: List::default(),
            tree,
            tree_units: 0..0,
            program: Vec::new(),
        }
    }

    /// Begins the list of the placements on the even rows, and plants the tree of those on the odd rows.
    pub(super) fn prepare(
        &mut self,
        units: &UnitList,
        batch: &Batch,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        let Batch { a, x, ref x_class, ref y_class, .. } = *batch;
        let rows = self.boards.list.own_rows(units.even.of_size(a)[x as usize], units.even.all());
        let labels = units.columns(a, x).labels(self.colour);
        self.list.begin(&self.boards.list, rows, units.even.outer(), labels, cancel)?;
        if !self.tree_units.contains(&batch.units.start) {
            let own_rows = |y| self.boards.tree.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // The labels that count with some x of the class count with its first.
            let labels = units.columns(a, x_class.start).labels(self.colour.other());
            self.tree = Tree::new(&self.boards.tree, &class, labels);
            self.tree_units = units.of_classes(batch.units.start);
            self.program.clear();
        }
        Ok(())
    }

    /// Lists all placements, as many as they are.
    pub(super) fn fill_list(&mut self, cancel: &Cancel) -> Result<(), Interrupt> {
        let limits = Limits { section_words: usize::MAX, ..self.limits };
        self.list.fill(&self.boards.list, 0, &limits, self.kernel, cancel).map(drop)
    }

    /// Runs each part of the program, of this length at most, on each block of the list, section by section.
    pub(super) fn each_block(
        &mut self,
        part_len: usize,
        scratch: &mut Scratch,
        cancel: &Cancel,
        mut with: impl FnMut(&Step<'_>, &mut Scratch) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { kernel, limits, list, tree, program, boards, .. } = self;
        let limits = Limits { part_len, ..*limits };
        let mut next = 0;
        while next < list.to_list.len() {
            next = list.fill(&boards.list, next, &limits, *kernel, cancel)?;
            if list.blocks.is_empty() {
                continue;
            }
            scratch.reserve(list.longest_block());
            let mut visit = |code: &[u32]| {
                for (number, block) in list.blocks.iter().enumerate() {
                    let (words, labels) = (list.words(number), &block.labels);
                    with(&Step { code, words, number, labels, tree }, scratch)?;
                }
                Ok(())
            };
            if !program.is_empty() {
                visit(program)?;
                continue;
            }
            let memory = std::mem::take(program);
            *program = tree.compile(list, &limits, *kernel, memory, cancel, visit)?;
        }
        Ok(())
    }
}
