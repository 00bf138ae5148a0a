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

use std::ops::Range;

use super::kernel::{DIGITS, Entries, LANES, Scratch, Totals, Weights};
use super::limits::{LIGHT_PROGRAM_DIVISOR, Limits};
use super::side::{ColourState, Step};
use super::squares::Colour;
use super::units::{LabelWeights, UnitList};
use super::weigh::Light;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Counter, Interrupt, WhichCount};

pub(super) struct ColoursCounter<'a> {
    units: &'a UnitList,
    kernel: Kernel,
    which: WhichCount,
    limits: Limits,
    light: ColourState,
    heavy: ColourState,
    /// The size of Re in the last batch.
    last_a: Option<u32>,
    /// Of the light matrix: for each block of the light list, each row set and each label of its tree.
    matrix: Vec<Entries>,
    /// Of one block of the heavy list.
    weights: Weights,
    scratch: Scratch,
}

impl<'a> ColoursCounter<'a> {
    pub(super) fn new(
        units: &'a UnitList,
        kernel: Kernel,
        which: WhichCount,
        limits: Limits,
    ) -> Self {
        let weight_bits = limits.digit_bits * DIGITS as u32;
        assert!(4 * u32::from(limits.largest_entry) < 1 << weight_bits, "digits for all weights");
        Self {
            units,
            kernel,
            which,
            limits,
            light: ColourState::new(units.size, Colour::White, which, kernel, limits),
            heavy: ColourState::new(units.size, Colour::Black, which, kernel, limits),
            last_a: None,
            matrix: Vec::new(),
            weights: Weights::default(),
            scratch: Scratch::default(),
        }
    }

    /// Fills the light matrix.
    fn fill(&mut self, task: &Task<'_>) -> Result<(), Interrupt> {
        let Self { kernel, limits, light, matrix, scratch, .. } = self;
        let labels = light.tree.labels_len;
        let rows = task.rows(labels);
        let rows_of_block = task.odd_ranks.len() * labels;
        matrix.clear();
        matrix.reserve(light.list.blocks.len() * rows_of_block);
        for _ in &light.list.blocks {
            // A signal need not wait for gigabytes.
            if task.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            matrix.resize(matrix.len() + rows_of_block, Entries([0; LANES]));
        }
        light.each_block(
            limits.part_len / LIGHT_PROGRAM_DIVISOR,
            scratch,
            task.cancel,
            |step, scratch| {
                let entries = &mut matrix[step.number * rows_of_block..][..rows_of_block];
                kernel.execute(
                    step.code,
                    step.words,
                    scratch,
                    task.cancel,
                    |leaf, words, scratch| {
                        kernel.count_leaf(leaf, words, &rows, entries, scratch);
                    },
                )
            },
        )
    }

    /// The sum, for each unit, over all pairs of labels: what the light entry weighs times the heavy one.
    fn sum(&mut self, task: &Task<'_>) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, limits, light, heavy, matrix, weights, scratch, .. } = self;
        let rows = task.rows(heavy.tree.labels_len);
        let mut totals = vec![Totals::default(); task.y_class.len()];
        let light = Light { side: light, matrix, columns: task.columns, odd_ranks: task.odd_ranks };
        heavy.each_block(limits.part_len, scratch, task.cancel, |step, scratch| {
            let Step { tree, words, code, .. } = *step;
            light.weigh(step.labels, tree, *kernel, weights)?;
            kernel.execute(code, words, scratch, task.cancel, |leaf, words, scratch| {
                kernel.sum_leaf(leaf, words, &rows, weights, &mut totals, scratch);
            })
        })?;
        let digit_bits = limits.digit_bits;
        let count = |y: &u32| {
            let digits = (0..).zip(totals[(*y - task.y_class.start) as usize]);
            let lanes = digits.flat_map(|(digit, lanes)| {
                lanes.map(|lane| u128::from(lane) << (digit_bits * digit))
            });
            u64::try_from(lanes.sum::<u128>()).map_err(|_| Interrupt::Overflow)
        };
        task.odd_ranks.iter().map(count).collect()
    }
}

/// Some units of a batch.
struct Task<'a> {
    columns: LabelWeights<'a>,
    y_class: &'a Range<u32>,
    odd_ranks: &'a [u32],
    cancel: &'a Cancel,
}

impl Task<'_> {
    /// The rows in a block of each row set of the class: of these units, one for each label.
    fn rows(&self, labels: usize) -> Vec<Option<Range<usize>>> {
        let mut rows = vec![None; self.y_class.len()];
        for (unit, y) in self.odd_ranks.iter().enumerate() {
            rows[(*y - self.y_class.start) as usize] = Some(unit * labels..(unit + 1) * labels);
        }
        rows
    }
}

impl Counter for ColoursCounter<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Ok(self.count_batch(unit..unit + 1, cancel)?[0])
    }

    fn count_batch(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        let batch = self.units.batch(units.start);
        if self.last_a.is_some_and(|a| a != batch.a) && !self.limits.keeps_memory {
            // Where the lists and programs are long the matrix is small, and the other way round.
            *self = Self::new(self.units, self.kernel, self.which, self.limits);
        }
        self.last_a = Some(batch.a);
        // Of white queens there are a in even rows and as many, or one less, in odd ones.
        let white_queens = batch.a + self.units.odd_size(batch.a);
        // Of as many queens white has more hits, as measured.
        let is_white_light = 2 * white_queens < self.units.size.get();
        if (self.light.colour == Colour::White) != is_white_light {
            std::mem::swap(&mut self.light, &mut self.heavy);
        }
        self.light.prepare(self.units, &batch, cancel)?;
        self.heavy.prepare(self.units, &batch, cancel)?;
        self.light.fill_list(cancel)?;
        let wanted: Vec<u32> = self.units.odd_ranks_of(&batch, units).collect();
        let rows_of_set = self.light.list.blocks.len() * self.light.tree.labels_len;
        let sets_at_once = (self.limits.matrix_rows / rows_of_set.max(1)).max(1);
        let mut counts = Vec::new();
        for odd_ranks in wanted.chunks(sets_at_once) {
            let columns = self.units.columns(batch.a, batch.x);
            let task = Task { columns, y_class: &batch.y_class, odd_ranks, cancel };
            self.fill(&task)?;
            counts.extend(self.sum(&task)?);
        }
        Ok(counts)
    }
}
