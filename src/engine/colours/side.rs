//! One of the two colours: its list, its tree, and the program of the tree.

use std::ops::Range;

use super::kernel::{Run, Scratch};
use super::limits::Limits;
use super::list::{List, Slice};
use super::program::{Compiler, Tree};
use super::sub_board::{Colour, SubBoards};
use super::units::{Batch, LabelWeight, UnitList};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, WhichCount};

/// What belongs to a colour.
pub(super) struct Side {
    pub(super) colour: Colour,
    boards: SubBoards,
    which: WhichCount,
    limits: Limits,
    pub(super) list: List,
    planted: Option<Planted>,
    /// Memory for the next program.
    spare: Vec<u32>,
}

/// A tree, and all of its program once it is compiled, unless it is too long.
struct Planted {
    key: TreeKey,
    tree: Tree,
    program: Option<Vec<u32>>,
}

/// What a tree depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeKey {
    a: u32,
    x_class: Range<u32>,
    y_class: Range<u32>,
}

/// A part of a program on a block.
pub(super) struct Step<'a> {
    pub(super) run: Run<'a>,
    /// The block's number, and its labels.
    pub(super) number: usize,
    pub(super) labels: &'a [u32],
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
        Self {
            colour,
            boards,
            which,
            limits,
            list: List::default(),
            planted: None,
            spare: Vec::new(),
        }
    }

    /// Begins the list of the placements on the even rows, and plants the tree of those on the odd rows.
    pub(super) fn prepare(&mut self, units: &UnitList, batch: &Batch) {
        let Batch { a, x, ref x_class, ref y_class, .. } = *batch;
        let columns = units.columns(a, x);
        let even = units.even.of_size(a).iter().copied();
        let odd = units.odd.of_size(units.odd_size(a)).iter().copied();
        let rows = self.boards.list.own_rows(units.even.of_size(a)[x as usize], units.even.all());
        let outer = units.even.outer();
        let evens = even.clone().filter(|label| columns.even_label(*label) != LabelWeight::Dropped);
        let odds = odd.clone().filter(|label| columns.odd_label(*label) != LabelWeight::Dropped);
        match self.colour {
            Colour::White => self.list.begin(&self.boards.list, rows, outer, evens),
            Colour::Black => self.list.begin(&self.boards.list, rows, outer, odds),
        }

        let key = TreeKey { a, x_class: x_class.clone(), y_class: y_class.clone() };
        if self.planted.as_ref().is_none_or(|planted| planted.key != key) {
            let own_rows = |y| self.boards.tree.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // The labels that count with some x of the class count with its first.
            let columns = units.columns(a, x_class.start);
            let evens = even.filter(|label| columns.even_label(*label) != LabelWeight::Dropped);
            let odds = odd.filter(|label| columns.odd_label(*label) != LabelWeight::Dropped);
            let tree = match self.colour {
                Colour::White => Tree::new(&self.boards.tree, &class, odds),
                Colour::Black => Tree::new(&self.boards.tree, &class, evens),
            };
            let last = self.planted.replace(Planted { key, tree, program: None });
            self.spare =
                last.and_then(|last| last.program).unwrap_or(std::mem::take(&mut self.spare));
        }
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.planted.as_ref().expect("planted before it is used").tree
    }

    /// Lists all placements, as many as they are.
    pub(super) fn fill_list(&mut self, cancel: &Cancel) -> Result<(), Interrupt> {
        let limits = Limits { section_words: usize::MAX, ..self.limits };
        self.list.fill(&self.boards.list, 0, &limits, self.which, cancel).map(drop)
    }

    /// Runs each part of the program on this slice of each block of the list, section by section.
    pub(super) fn each_block(
        &mut self,
        slice: Slice,
        scratch: &mut Scratch,
        cancel: &Cancel,
        mut with: impl FnMut(&Step<'_>, &mut Scratch) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let mut next = 0;
        while let Some(end) =
            self.list.fill(&self.boards.list, next, &self.limits, self.which, cancel)?
        {
            next = end;
            if !self.list.blocks.is_empty() {
                self.each_block_of_section(slice, scratch, cancel, &mut with)?;
            }
        }
        Ok(())
    }

    fn each_block_of_section(
        &mut self,
        slice: Slice,
        scratch: &mut Scratch,
        cancel: &Cancel,
        with: &mut impl FnMut(&Step<'_>, &mut Scratch) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let Self { limits, list, planted, spare, .. } = self;
        let Planted { tree, program, .. } = planted.as_mut().expect("planted before it is used");
        scratch.reserve(list.longest_block());
        let mut run = |code: &[u32], is_first: bool| {
            for (number, block) in list.blocks.iter().enumerate() {
                let (len, words) = list.slice(number, slice);
                let run = Run { code, len, words, tag_at: limits.tag_at() };
                let labels = &block.labels;
                with(&Step { run, number, labels, tree, is_first }, scratch)?;
            }
            Ok(())
        };
        if let Some(code) = program {
            return run(code, true);
        }
        let mut compiler = Compiler::new(tree, list, limits, std::mem::take(spare), cancel);
        let mut is_first = true;
        loop {
            let (part, is_last) = compiler.next_part()?;
            run(part, is_first)?;
            if is_last {
                break;
            }
            is_first = false;
        }
        if is_first {
            *program = Some(compiler.into_code());
        } else {
            *spare = compiler.into_code();
        }
        Ok(())
    }
}
