//! Counts the units of a batch at once.
//!
//! For each unit of a batch, the matrix of the colour with fewer queens (light; of as many, black) is filled: a
//! block of labels Ce or Co at a time, the rows of each block by the other label. Then the program of the other
//! colour (heavy) runs with what the light entries weigh: a block of its labels needs one column of the
//! light matrix for each lane, so tiles of entries are transposed.
//!
//! ```text
//!              white, light                          black, heavy
//!       block of 64 labels Ce in lanes          block of 64 labels Co in lanes
//!       row: a label Co                         row: a label Ce
//! ```

use std::mem::swap;
use std::ops::Range;

use super::compile::Program;
use super::kernel::{RowsOfSets, Scratch, Totals};
use super::limits::{LIGHT_PROGRAM_DIVISOR, Limits, MAX_SETS};
use super::list::{Block, List};
use super::matrix::Matrix;
use super::squares::{Colour, SubBoard, sub_boards};
use super::tree::Tree;
use super::units::{Batch, LabelWeights, UnitList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Counter, Interrupt, WhichCount};

pub(super) struct ColoursCounter<'a> {
    units: &'a UnitList,
    kernel: Kernel,
    limits: Limits,
    light: ColourState,
    heavy: ColourState,
    matrix: Matrix,
    scratch: Scratch,
}

/// A colour, its list, its tree, and the program of the tree.
pub(super) struct ColourState {
    pub(super) colour: Colour,
    pub(super) list: List,
    /// The sub-board with odd rows.
    board: SubBoard,
    pub(super) tree: Tree,
    /// The units that have this tree.
    tree_units: Range<usize>,
    program: Program,
}

impl<'a> ColoursCounter<'a> {
    pub(super) fn new(
        units: &'a UnitList,
        kernel: Kernel,
        which: WhichCount,
        limits: Limits,
    ) -> Self {
        let state = |colour, part_len| {
            let [list, board] = sub_boards(units.size, colour, which);
            ColourState {
                colour,
                list: List::new(list, limits.block_labels),
                tree: Tree::new(&board, &[], std::iter::empty()),
                board,
                tree_units: 0..0,
                program: Program::new(part_len),
            }
        };
        Self {
            units,
            kernel,
            limits,
            light: state(Colour::White, limits.part_len / LIGHT_PROGRAM_DIVISOR),
            heavy: state(Colour::Black, limits.part_len),
            matrix: Matrix::new(limits),
            scratch: Scratch::default(),
        }
    }

    /// Makes the colour with fewer queens the light one. Of as many, white has more hits, as measured.
    fn choose_light(&mut self, a: u32) {
        // Of white queens there are a in even rows and as many, or one less, in odd ones.
        let white_queens = a + self.units.odd_size(a);
        let is_white_light = 2 * white_queens < self.units.size.get();
        let Self { light, heavy, .. } = self;
        if (light.colour == Colour::White) != is_white_light {
            swap(light, heavy);
            // The memory of the longer program is for the heavy colour.
            swap(&mut light.program, &mut heavy.program);
            (light.tree_units, heavy.tree_units) = (0..0, 0..0);
        }
    }

    /// Fills the light matrix for these row sets of the class.
    fn fill(&mut self, sets: &[usize], cancel: &Cancel) -> Result<(), Interrupt> {
        let Self { kernel, limits, light, matrix, scratch, .. } = self;
        let labels = light.tree.labels_len;
        let rows = rows_of_sets(sets, labels);
        matrix.clear(light.list.blocks().len(), sets.len() * labels, cancel)?;
        light.each_block(limits, *kernel, cancel, |code, block, _| {
            let entries = matrix.block(block.number);
            kernel.execute(code, block.words, scratch, cancel, |leaf, words, scratch| {
                kernel.count_leaf(leaf, words, &rows, entries, scratch);
            })
        })
    }

    /// Returns the count of each unit: for each row set, the sum over all pairs of labels of the weighted light entry
    /// times the heavy entry. `odd_ranks` has the y of each set.
    fn sum(
        &mut self,
        sets: &[usize],
        odd_ranks: &[u32],
        columns: LabelWeights<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, limits, light, heavy, matrix, scratch, .. } = self;
        let rows = rows_of_sets(sets, heavy.tree.labels_len);
        let mut totals = [Totals::default(); MAX_SETS];
        heavy.each_block(limits, *kernel, cancel, |code, block, tree| {
            let weights = matrix.weigh(light, block.labels, tree, columns, odd_ranks, *kernel)?;
            kernel.execute(code, block.words, scratch, cancel, |leaf, words, scratch| {
                kernel.sum_leaf(leaf, words, &rows, weights, &mut totals, scratch);
            })
        })?;
        sets.iter().map(|set| matrix.total(&totals[*set])).collect()
    }
}

/// The rows of each set of the class: of these sets, one for each label.
fn rows_of_sets(sets: &[usize], labels: usize) -> RowsOfSets {
    let mut rows = [const { None }; MAX_SETS];
    for (place, set) in sets.iter().enumerate() {
        rows[*set] = Some(place * labels..(place + 1) * labels);
    }
    rows
}

impl Counter for ColoursCounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Ok(self.count_batch(unit..unit + 1, cancel)?[0])
    }

    fn count_batch(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        let batch = self.units.batch(units.start);
        self.choose_light(batch.a);
        self.light.prepare(self.units, &batch, cancel)?;
        self.heavy.prepare(self.units, &batch, cancel)?;
        let Self { light, kernel, limits, .. } = self;
        // All of it, for a matrix has all its labels.
        light.list.fill(0, usize::MAX, *kernel, cancel)?;
        let rows_of_set = light.list.blocks().len() * light.tree.labels_len;
        let sets_at_once = (limits.matrix_rows / rows_of_set.max(1)).max(1);
        let columns = self.units.columns(batch.a, batch.x);
        let odd_ranks: Vec<u32> = self.units.odd_ranks_of(&batch, units).collect();
        let mut counts = Vec::new();
        for odd_ranks in odd_ranks.chunks(sets_at_once) {
            let sets: Vec<_> =
                odd_ranks.iter().map(|y| (y - batch.y_class.start) as usize).collect();
            self.fill(&sets, cancel)?;
            counts.extend(self.sum(&sets, odd_ranks, columns, cancel)?);
        }
        Ok(counts)
    }
}

impl ColourState {
    /// Begins the list of the placements on the even rows of a batch, and the tree of those on the odd rows.
    fn prepare(
        &mut self,
        units: &UnitList,
        batch: &Batch,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        let Batch { a, x, ref x_class, ref y_class, .. } = *batch;
        let rows = self.board.own_rows(units.even.of_size(a)[x as usize], units.even.all());
        let labels = units.columns(a, x).labels(self.colour);
        self.list.begin(rows, units.even.outer(), labels, cancel)?;
        if !self.tree_units.contains(&batch.units.start) {
            let own_rows = |y| self.board.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // The labels that count with some x of the class count with its first.
            let labels = units.columns(a, x_class.start).labels(self.colour.other());
            self.tree = Tree::new(&self.board, &class, labels);
            self.tree_units = units.of_classes(batch.units.start);
            self.program.clear();
        }
        Ok(())
    }

    /// Visits each part of the program with each block of the list, section by section.
    fn each_block(
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
