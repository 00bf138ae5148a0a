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

use super::code::{MAX_COMPLETIONS, MAX_PLANES};
use super::kernel::{BLOCK_LABELS, MatrixRows, Scratch, Totals};
use super::limits::Limits;
use super::matrix::Matrix;
use super::role::{ColourBoards, Role};
use super::squares::Colour;
use super::subsets::MAX_SETS;
use super::units::{Batch, Multiplicities, UnitList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Counter, Interrupt, Pass};

/// Hits of the heavy colour are rare if it has more queens than the light one by this many tenths of n. Measured with
/// AVX2 for n = 18 to 24: from n / 3 on, skipping groups without hits saves up to a fifth of the time, and at 0.27 n
/// and below it costs 6 to 40%.
const RARE_HITS_TENTHS: u32 = 3;

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
    pub(super) fn new(units: &'a UnitList, kernel: Kernel, pass: Pass, limits: Limits) -> Self {
        // The loops of kernels have room for no more.
        assert!(limits.block_labels <= BLOCK_LABELS, "a row has room for each label of a block");
        assert!(limits.leaf_planes <= MAX_PLANES, "an offset has 16 bits");
        assert!(limits.section_completions <= MAX_COMPLETIONS, "sums of 32 bits have room");
        let white = ColourBoards::new(units, Colour::White, pass);
        let black = ColourBoards::new(units, Colour::Black, pass);
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

    /// Begins the lists of a batch, and its programs, unless the last batch had the same pair of classes.
    ///
    /// The colour with fewer queens is the light one. If both have equally many, black is light, because white has more
    /// hits, as measured.
    fn begin(&mut self, batch: &Batch, cancel: &Cancel) -> Result<(), Interrupt> {
        let Self { units, white, black, class_pair, light, heavy, matrix, .. } = self;
        // There are a white queens in even rows, and in odd rows equally many or one fewer.
        let white_queens = batch.a + units.white_in_odd_rows(batch.a);
        let black_queens = units.size.get() - white_queens;
        let is_white_light = white_queens < black_queens;
        matrix.expect_rare_hits(
            10 * white_queens.abs_diff(black_queens) >= RARE_HITS_TENTHS * units.size.get(),
        );
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
        let set_numbers: Vec<usize> =
            odd_ranks.iter().map(|y| (y - batch.y_class.start) as usize).collect();
        self.fill(&set_numbers, cancel)?;
        self.sum(&set_numbers, odd_ranks, multiplicities, cancel)
    }

    /// Fills the light matrix for the row sets with these numbers in the class.
    fn fill(&mut self, set_numbers: &[usize], cancel: &Cancel) -> Result<(), Interrupt> {
        let Self { kernel, limits, light, matrix, scratch, .. } = self;
        let labels = light.program.tree.labels_len;
        let matrix_rows = matrix_rows(set_numbers, labels);
        matrix.clear(light.list.blocks().len(), set_numbers.len() * labels, cancel)?;
        light.each_block(limits, *kernel, cancel, |code, block, _| {
            let entries = matrix.block(block.number);
            kernel.execute(code, block.words, scratch, cancel, |leaf, words, scratch| {
                kernel.count_leaf(leaf, words, &matrix_rows, entries, scratch);
            })
        })
    }

    /// Returns the count of each unit: for each row set, the sum over all pairs of labels of the multiplied light entry
    /// times the heavy entry. `odd_ranks` has the rank y of each set.
    fn sum(
        &mut self,
        set_numbers: &[usize],
        odd_ranks: &[u32],
        multiplicities: Multiplicities<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, limits, light, heavy, matrix, scratch, .. } = self;
        let matrix_rows = matrix_rows(set_numbers, heavy.program.tree.labels_len);
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
                kernel.sum_leaf(leaf, words, &matrix_rows, coefficients, &mut totals, scratch);
            })
        })?;
        set_numbers.iter().map(|number| matrix.total(&totals[*number])).collect()
    }
}

/// Assigns rows of a matrix to the row sets with these numbers in the class: one row for each label. The other row sets
/// have none.
fn matrix_rows(set_numbers: &[usize], labels: usize) -> MatrixRows {
    let mut rows = [const { None }; MAX_SETS];
    for (place, set_number) in set_numbers.iter().enumerate() {
        rows[*set_number] = Some(place * labels..(place + 1) * labels);
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
        // The light list is one stretch, however long, because the matrix has rows for all of its blocks.
        light.list.list_all(*kernel, cancel)?;
        let matrix_rows_of_set = light.list.blocks().len() * light.program.tree.labels_len;
        let sets_at_once = (limits.matrix_rows / matrix_rows_of_set.max(1)).max(1);
        let odd_ranks: Vec<u32> = self.units.odd_ranks_of(&batch, units).collect();
        for counted_at_once in odd_ranks.chunks(sets_at_once) {
            match self.count_sets(&batch, counted_at_once, cancel) {
                Ok(of_sets) => counts.extend(of_sets),
                Err(Interrupt::Overflow) if counted_at_once.len() > 1 => {
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
