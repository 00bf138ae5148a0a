//! One of the two colours: its list, its tree, and the program of the tree.

use std::ops::Range;

use super::kernel::{Input, Scratch};
use super::limits::Limits;
use super::list::{Block, List, Slice};
use super::program::{Compiler, Tree};
use super::sub_board::{Colour, SubBoards};
use super::units::{Batch, UnitList};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, WhichCount};

/// What belongs to a colour.
pub(super) struct Side {
    pub(super) colour: Colour,
    boards: SubBoards,
    pub(super) limits: Limits,
    pub(super) list: List,
    planted: Option<Planted>,
    /// Memory for the next program.
    spare: Vec<u32>,
}

/// A tree, and all of its program once it is compiled, unless it is too long.
struct Planted {
    /// The units that have it.
    units: Range<usize>,
    tree: Tree,
    program: Option<Vec<u32>>,
}

/// A program, or a part of one, and a block to run it on; of the block its number and labels.
pub(super) struct Step<'a> {
    pub(super) input: Input<'a>,
    pub(super) number: usize,
    pub(super) block: &'a Block,
    pub(super) tree: &'a Tree,
    /// Whether it is the first part.
    pub(super) is_first: bool,
}

impl Side {
    pub(super) fn new(size: BoardSize, colour: Colour, which: WhichCount, limits: Limits) -> Self {
        let boards = SubBoards::new(size, colour, which);
        assert!(
            limits.block_labels.ilog2() + boards.bits <= u64::BITS,
            "words have room for labels"
        );
        Self { colour, boards, limits, list: List::default(), planted: None, spare: Vec::new() }
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
        if self.planted.as_ref().is_none_or(|planted| !planted.units.contains(&batch.units.start)) {
            let own_rows = |y| self.boards.tree.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // The labels that count with some x of the class count with its first.
            let labels = units.columns(a, x_class.start).labels(self.colour.other());
            let tree = Tree::new(&self.boards.tree, &class, labels);
            let units = units.of_classes(batch.units.start);
            let last = self.planted.replace(Planted { units, tree, program: None });
            if let Some(code) = last.and_then(|last| last.program) {
                self.spare = code;
            }
        }
        Ok(())
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.planted.as_ref().expect("planted before it is used").tree
    }

    /// Lists all placements, as many as they are.
    pub(super) fn fill_list(&mut self, cancel: &Cancel) -> Result<(), Interrupt> {
        let limits = Limits { section_words: usize::MAX, ..self.limits };
        self.list.fill(&self.boards.list, 0, &limits, cancel).map(drop)
    }

    /// Runs each part of the program on this slice of each block of the list, section by section.
    pub(super) fn each_block(
        &mut self,
        slice: Slice,
        scratch: &mut Scratch,
        cancel: &Cancel,
        mut with: impl FnMut(&Step<'_>, &mut Scratch) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { limits, list, planted, spare, boards, .. } = self;
        let Planted { tree, program, .. } = planted.as_mut().expect("planted before it is used");
        let mut next = 0;
        while next < list.to_list.len() {
            next = list.fill(&boards.list, next, limits, cancel)?;
            if list.blocks.is_empty() {
                continue;
            }
            scratch.reserve(list.longest_block());
            let mut visit = |code: &[u32], is_first: bool| {
                for (number, block) in list.blocks.iter().enumerate() {
                    let input = Input { code, block: list.slice(number, slice) };
                    with(&Step { input, number, block, tree, is_first }, scratch)?;
                }
                Ok(())
            };
            if let Some(code) = program {
                visit(code, true)?;
                continue;
            }
            let mut compiler = Compiler::new(tree, list, limits, std::mem::take(spare), cancel);
            let (mut parts, mut is_last) = (0, false);
            while !is_last {
                let part;
                (part, is_last) = compiler.next_part()?;
                visit(part, parts == 0)?;
                parts += 1;
            }
            let code = compiler.into_code();
            if parts == 1 { *program = Some(code) } else { *spare = code }
        }
        Ok(())
    }
}
