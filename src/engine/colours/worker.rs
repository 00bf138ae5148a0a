//! Counts batches of units.
//!
//! For each unit of a batch, the matrix of the colour with fewer queens (light) is filled: a block of
//! labels Ce or Co at a time, the rows of each block by the other label. Then the program of the other
//! colour (heavy) runs with what the light entries weigh: a block of its labels needs one column of the
//! light matrix for each lane, so tiles of entries are transposed.
//!
//! ```text
//!              white, light                          black, heavy
//!       block of 64 labels Ce in lanes          block of 64 labels Co in lanes
//!       row: a label Co                         row: a label Ce
//! ```

use std::ops::Range;

use super::kernel::{Counts, LANES, PLANES, Purpose, Rows, Scratch, Weights};
use super::limits::Limits;
use super::list::Slice;
use super::program::MAPPED;
use super::side::{Side, Step};
use super::sub_board::Colour;
use super::units::{Columns, UnitList};
use super::weigh::Light;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{self, Interrupt, WhichCount};

pub(super) struct Worker<'a> {
    units: &'a UnitList,
    size: BoardSize,
    kernel: Kernel,
    which: WhichCount,
    limits: Limits,
    /// The size of Re in the last batch.
    last_a: Option<u32>,
    memory: Memory,
}

/// What a worker keeps from batch to batch.
struct Memory {
    white: Side,
    black: Side,
    /// Of the light matrix: for each block of the light list, each row set and each label of its tree.
    matrix: Vec<Counts>,
    /// Of one block of the heavy list.
    weights: Weights,
    scratch: Scratch,
}

impl Memory {
    fn new(size: BoardSize, which: WhichCount, limits: Limits) -> Self {
        let [white, black] =
            [Colour::White, Colour::Black].map(|colour| Side::new(size, colour, which, limits));
        let mapped = if limits.keeps_memory { 0 } else { MAPPED / size_of::<Counts>() };
        let matrix = Vec::with_capacity(mapped);
        Self { white, black, matrix, weights: Weights::default(), scratch: Scratch::default() }
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        units: &'a UnitList,
        size: BoardSize,
        kernel: Kernel,
        which: WhichCount,
        limits: Limits,
    ) -> Self {
        let weight_bits = limits.digit_bits * PLANES as u32;
        assert!(
            4 * u32::from(limits.largest_entry) < 1 << weight_bits,
            "weights have their digits"
        );
        let memory = Memory::new(size, which, limits);
        Self { units, size, kernel, which, limits, last_a: None, memory }
    }

    /// Counts as many of the first of these units as belong to one batch.
    fn count_batch(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        let batch = self.units.batch(units.start);
        if self.last_a.replace(batch.a) != Some(batch.a) && !self.limits.keeps_memory {
            // Where the lists and programs are long the matrix is small, and the other way round.
            self.memory = Memory::new(self.size, self.which, self.limits);
        }
        let Memory { white, black, matrix, weights, scratch } = &mut self.memory;
        white.prepare(self.units, &batch);
        black.prepare(self.units, &batch);
        // Of white queens there are a in even rows and as many, or one less, in odd ones.
        let white_queens = batch.a + self.units.odd_size(batch.a);
        let is_white_light = 2 * white_queens <= self.units.n;
        let (light, heavy) = if is_white_light { (white, black) } else { (black, white) };
        light.fill_list(cancel)?;
        let first = units.start - batch.units.start;
        let wanted = &batch.ys[first..batch.ys.len().min(first + units.len())];
        let labels = light.tree().labels_len;
        let rows_of_set = light.list.blocks.len() * labels;
        let sets_at_once = (self.limits.matrix_rows / rows_of_set.max(1)).max(1);
        let mut counts = Vec::new();
        for ys in wanted.chunks(sets_at_once) {
            let part = Part {
                kernel: self.kernel,
                limits: &self.limits,
                columns: self.units.columns(batch.a, batch.x),
                y_class: batch.y_class.clone(),
                ys,
                cancel,
            };
            let mut slices = 1;
            counts.extend(loop {
                match part.count(slices, light, heavy, matrix, weights, scratch) {
                    // A slice of one word has entries of at most a!, for so many placements have the rows and
                    // columns of a label; and a is 8 at most where entries are too large.
                    Err(Interrupt::Overflow) if slices < light.list.longest_block() => slices *= 2,
                    counts => break counts?,
                }
            });
        }
        Ok(counts)
    }
}

impl unit::Worker for Worker<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        Ok(self.count_batch(unit..unit + 1, cancel)?[0])
    }

    fn count_first(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        self.count_batch(units, cancel)
    }
}

/// Some units of a batch.
struct Part<'a> {
    kernel: Kernel,
    limits: &'a Limits,
    columns: Columns<'a>,
    y_class: Range<u32>,
    ys: &'a [u32],
    cancel: &'a Cancel,
}

impl Part<'_> {
    /// The number of each unit's row set in its class.
    fn set(&self, y: u32) -> usize {
        (y - self.y_class.start) as usize
    }

    /// Where the rows of each row set of the class begin in a block.
    fn rows_at(&self, labels: usize) -> Vec<Option<usize>> {
        let mut rows_at = vec![None; self.y_class.len()];
        for (place, y) in self.ys.iter().enumerate() {
            rows_at[self.set(*y)] = Some(place * labels);
        }
        rows_at
    }

    /// Counts each unit. The count is linear in the light matrix, so the counts of slices of the light list
    /// add up.
    fn count(
        &self,
        slices: usize,
        light: &mut Side,
        heavy: &mut Side,
        matrix: &mut Vec<Counts>,
        weights: &mut Weights,
        scratch: &mut Scratch,
    ) -> Result<Vec<u64>, Interrupt> {
        let mut counts = vec![0_u64; self.ys.len()];
        for number in 0..slices {
            self.fill(Slice { number, of: slices }, light, matrix, scratch)?;
            let more = self.sum(light, heavy, matrix, weights, scratch)?;
            for (count, more) in counts.iter_mut().zip(more) {
                *count = count.checked_add(more).ok_or(Interrupt::Overflow)?;
            }
        }
        Ok(counts)
    }

    /// Fills the light matrix from a slice of the list.
    fn fill(
        &self,
        slice: Slice,
        light: &mut Side,
        matrix: &mut Vec<Counts>,
        scratch: &mut Scratch,
    ) -> Result<(), Interrupt> {
        let labels = light.tree().labels_len;
        let rows_at = self.rows_at(labels);
        let rows_of_block = self.ys.len() * labels;
        let needed = light.list.blocks.len() * rows_of_block;
        matrix.reserve_exact(needed.saturating_sub(matrix.len()));
        light.each_block(slice, scratch, self.cancel, |step, scratch| {
            let (start, end) = (step.number * rows_of_block, (step.number + 1) * rows_of_block);
            // Block by block, so that a signal need not wait for gigabytes.
            matrix.resize(matrix.len().max(end), Counts([0; LANES]));
            let rows = &mut matrix[start..end];
            if step.is_first {
                rows.fill(Counts([0; LANES]));
            }
            self.run(step, &Rows { at: &rows_at, labels }, &mut Purpose::Count(rows), scratch)
        })
    }

    /// The sum, for each unit, over all pairs of labels: what the light entry weighs times the heavy one.
    fn sum(
        &self,
        light: &Side,
        heavy: &mut Side,
        matrix: &[Counts],
        weights: &mut Weights,
        scratch: &mut Scratch,
    ) -> Result<Vec<u64>, Interrupt> {
        let labels = heavy.tree().labels_len;
        let rows_at = self.rows_at(labels);
        let mut totals = vec![[[0; 8]; PLANES]; self.y_class.len()];
        let rows = Rows { at: &rows_at, labels };
        let Side { colour, ref list, .. } = *light;
        let (columns, limits) = (self.columns, self.limits);
        let light = Light::new(colour, list, light.tree(), matrix, columns, self.ys, limits);
        heavy.each_block(Slice::WHOLE, scratch, self.cancel, |step, scratch| {
            if self.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            light.weigh(step.labels, step.tree, self.kernel, weights)?;
            self.run(step, &rows, &mut Purpose::Sum(weights, &mut totals), scratch)
        })?;
        let count = |y: &u32| {
            let mut count = 0_u64;
            for (digit, lanes) in (0..).zip(totals[self.set(*y)]) {
                for lane in lanes {
                    count =
                        count.checked_add(lane.checked_mul(1 << (limits.digit_bits * digit))?)?;
                }
            }
            Some(count)
        };
        self.ys.iter().map(|y| count(y).ok_or(Interrupt::Overflow)).collect()
    }

    fn run(
        &self,
        step: &Step<'_>,
        rows: &Rows<'_>,
        purpose: &mut Purpose<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Interrupt> {
        let ended = self.kernel.run(&step.run, rows, purpose, scratch, self.cancel);
        if ended { Ok(()) } else { Err(Interrupt::Cancelled) }
    }
}
