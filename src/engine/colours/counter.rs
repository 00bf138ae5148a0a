//! Counts the units of a batch together.
//!
//! The *light* colour is the one with fewer queens, or black if both have equally many. The other one is *heavy*. The
//! light matrices are filled for as many units at a time as `Limits::matrix_rows` allows, block by block. Each label of
//! a block of the list has a column, and each label of the tree has a row. Then the program of the heavy colour runs,
//! with coefficients that are made from the light entries. A block of heavy labels needs one row of the light matrix
//! for each of its columns, so tiles of entries are transposed.
//!
//! ```text
//!              white, light                          black, heavy
//!       columns: a block of 64 labels Ce        columns: a block of 64 labels Co
//!       row: a label Co                         row: a label Ce
//! ```
//!
//! **What is kept.** Neighbouring batches have the same pair of classes, so they share their trees and programs. Each
//! batch has its own lists, and the units that are counted at once have a matrix of their own. All of them begin anew
//! in the memory that the last ones had, because fresh memory would cost more time than a short batch takes to count.

use std::ops::Range;

use super::code::{MAX_ITEMS, MAX_PLANES};
use super::kernel::{BLOCK_LABELS, RowsOfSets, Scratch, Totals};
use super::limits::Limits;
use super::matrix::Matrix;
use super::role::{ColourBoards, Role};
use super::squares::Colour;
use super::subsets::MAX_SETS;
use super::units::{Batch, Multiplicities, UnitList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Counter, Interrupt, WhichCount};

/// A counter of units on one thread.
pub(super) struct ColoursCounter<'a> {
    units: &'a UnitList,
    kernel: Kernel,
    limits: Limits,
    white: ColourBoards,
    black: ColourBoards,
    /// The units whose classes the programs of both roles belong to.
    class_pair: Range<usize>,
    light: Role,
    heavy: Role,
    matrix: Matrix,
    scratch: Scratch,
}

impl<'a> ColoursCounter<'a> {
    pub(super) fn new(
        units: &'a UnitList,
        kernel: Kernel,
        which: WhichCount,
        limits: Limits,
    ) -> Self {
        // The loops of kernels have room for no more.
        assert!(limits.block_labels <= BLOCK_LABELS, "a row has room for each label of a block");
        assert!(limits.leaf_planes <= MAX_PLANES, "an offset has 16 bits");
        assert!(limits.section_items <= MAX_ITEMS, "sums of 32 bits have room");
        let white = ColourBoards::new(units, Colour::White, which);
        let black = ColourBoards::new(units, Colour::Black, which);
        Self {
            units,
            kernel,
            limits,
            class_pair: 0..0,
            light: Role::new(&white, limits, limits.light_part_len),
            heavy: Role::new(&black, limits, limits.part_len),
            white,
            black,
            matrix: Matrix::new(limits),
            scratch: Scratch::default(),
        }
    }

    /// Begins the lists of a batch, and its programs, unless they are those of the last batch.
    ///
    /// The colour with fewer queens is the light one. If both have equally many, black is light, because white has more
    /// hits, as measured.
    fn begin(&mut self, batch: &Batch, cancel: &Cancel) -> Result<(), Interrupt> {
        let Self { units, white, black, class_pair, light, heavy, .. } = self;
        // There are a white queens in even rows, and in odd rows equally many or one fewer.
        let white_queens = batch.a + units.white_in_odd_rows(batch.a);
        let is_white_light = 2 * white_queens < units.size.get();
        let (of_light, of_heavy) = if is_white_light { (white, black) } else { (black, white) };
        if !class_pair.contains(&batch.units.start) {
            light.begin_class_pair(of_light, units, batch);
            heavy.begin_class_pair(of_heavy, units, batch);
            *class_pair = units.class_pair_units(batch.units.start);
        }
        light.begin_batch(of_light, units, batch, cancel)?;
        heavy.begin_batch(of_heavy, units, batch, cancel)
    }

    /// Counts the units of a batch with these ranks of their odd rows, at once.
    fn count_sets(
        &mut self,
        batch: &Batch,
        odd_ranks: &[u32],
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Interrupt> {
        let multiplicities = self.units.multiplicities(batch.a, batch.x);
        let sets: Vec<usize> =
            odd_ranks.iter().map(|y| (y - batch.y_class.start) as usize).collect();
        self.fill(&sets, cancel)?;
        self.sum(&sets, odd_ranks, multiplicities, cancel)
    }

    /// Fills the light matrix for these row sets of the class.
    fn fill(&mut self, sets: &[usize], cancel: &Cancel) -> Result<(), Interrupt> {
        let Self { kernel, limits, light, matrix, scratch, .. } = self;
        let labels = light.program.tree.labels_len;
        let rows = rows_of_sets(sets, labels);
        matrix.clear(light.list.blocks().len(), sets.len() * labels, cancel)?;
        light.each_block(limits, *kernel, cancel, |code, block, _| {
            let entries = matrix.block(block.number);
            kernel.execute(code, block.words, scratch, cancel, |leaf, words, scratch| {
                kernel.count_leaf(leaf, words, &rows, entries, scratch);
            })
        })
    }

    /// Returns the count of each unit: for each row set, the sum over all pairs of labels of the multiplied light entry
    /// times the heavy entry. `odd_ranks` has the rank y of each set.
    fn sum(
        &mut self,
        sets: &[usize],
        odd_ranks: &[u32],
        multiplicities: Multiplicities<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, limits, light, heavy, matrix, scratch, .. } = self;
        let rows = rows_of_sets(sets, heavy.program.tree.labels_len);
        let mut totals = [Totals::default(); MAX_SETS];
        heavy.each_block(limits, *kernel, cancel, |code, block, tree| {
            let coefficients = matrix.make_coefficients(
                light,
                block.labels,
                tree,
                multiplicities,
                odd_ranks,
                *kernel,
            )?;
            kernel.execute(code, block.words, scratch, cancel, |leaf, words, scratch| {
                kernel.sum_leaf(leaf, words, &rows, coefficients, &mut totals, scratch);
            })
        })?;
        sets.iter().map(|set| matrix.total(&totals[*set])).collect()
    }
}

/// Assigns rows of a matrix to these sets of the class: one row for each label. The other sets have none.
fn rows_of_sets(sets: &[usize], labels: usize) -> RowsOfSets {
    let mut rows = [const { None }; MAX_SETS];
    for (place, set) in sets.iter().enumerate() {
        rows[*set] = Some(place * labels..(place + 1) * labels);
    }
    rows
}

impl Counter for ColoursCounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        let mut counts = Vec::new();
        self.count_batch(unit..unit + 1, cancel, &mut counts)?;
        Ok(counts[0])
    }

    fn count_batch(
        &mut self,
        units: Range<usize>,
        cancel: &Cancel,
        counts: &mut Vec<u64>,
    ) -> Result<(), Interrupt> {
        let batch = self.units.batch(units.start);
        self.begin(&batch, cancel)?;
        let Self { light, kernel, limits, .. } = self;
        // The list is filled whole, because a matrix has all its labels.
        let listed = light.list.fill(0, usize::MAX, *kernel, cancel)?;
        assert_eq!(listed, light.list.to_list.len(), "the light list is one section");
        let rows_of_set = light.list.blocks().len() * light.program.tree.labels_len;
        let sets_at_once = (limits.matrix_rows / rows_of_set.max(1)).max(1);
        let odd_ranks: Vec<u32> = self.units.odd_ranks_of(&batch, units).collect();
        for counted_at_once in odd_ranks.chunks(sets_at_once) {
            match self.count_sets(&batch, counted_at_once, cancel) {
                Ok(of_sets) => counts.extend(of_sets),
                Err(Interrupt::Overflow | Interrupt::LargeEntry) if counted_at_once.len() > 1 => {
                    // A number is too large in one of several units. Each unit is counted by itself, so that the units
                    // before it have their counts, and the error has its number.
                    for odd_rank in counted_at_once {
                        counts.extend(self.count_sets(&batch, &[*odd_rank], cancel)?);
                    }
                }
                Err(interrupt) => return Err(interrupt),
            }
        }
        Ok(())
    }
}
