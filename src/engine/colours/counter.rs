//! Counts the units of a batch at once.
//!
//! For each unit of a batch, the matrix of the colour with fewer queens (light) is filled: a block of
//! labels Ce or Co at a time, the rows of each block by the other label. Then the program of the other
//! colour (heavy) runs with what the light entries weigh: a block of its labels needs one column of the
//! light matrix for each lane, so tiles of entries are transposed. Where the hits of the heavy colour are few, its
//! tree is [walked](super::walk) instead.
//!
//! ```text
//!              white, light                          black, heavy
//!       block of 64 labels Ce in lanes          block of 64 labels Co in lanes
//!       row: a label Co                         row: a label Ce
//! ```

use std::ops::Range;

use super::kernel::{Bytes, DIGITS, Entries, LANES, STATE_ROWS, Scratch, Weights};
use super::limits::Limits;
use super::list::Slice;
use super::program::MAPPED;
use super::side::Side;
use super::sub_board::Colour;
use super::units::{Columns, UnitList};
use super::walk::{BLOCKS, Costs, Walk};
use super::weigh::{HitWeights, Light};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Counter, Interrupt, WhichCount};

/// Words that are walked to find out what a walk costs.
const SAMPLE: usize = 256;
/// Cycles for compiling an item, and the batches for which a program is compiled, about.
const COMPILED: f64 = 30.0;
const BATCHES: f64 = 4.0;
/// With so many bytes of weights, an item takes twice as long.
const CACHE: f64 = 1_048_576.0;

pub(super) struct ColoursCounter<'a> {
    units: &'a UnitList,
    kernel: Kernel,
    which: WhichCount,
    limits: Limits,
    light: Side,
    heavy: Side,
    /// Of the light matrix: for each block of the light list, each row set and each label of its tree.
    matrix: Vec<Entries>,
    /// Of one block of the heavy list.
    weights: Weights,
    scratch: Scratch,
    walk: Walk,
    hit_weights: HitWeights,
    /// Whether the heavy tree is walked, for it is faster than its program.
    walks: bool,
    /// The size of Re in the last batch.
    last_a: Option<u32>,
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
        let mapped = if limits.keeps_memory { 0 } else { MAPPED / size_of::<Entries>() };
        Self {
            units,
            kernel,
            which,
            limits,
            light: Side::new(units.size, Colour::White, which, kernel, limits),
            heavy: Side::new(units.size, Colour::Black, which, kernel, limits),
            matrix: Vec::with_capacity(mapped),
            weights: Weights::default(),
            scratch: Scratch::default(),
            walk: Walk::default(),
            hit_weights: HitWeights::default(),
            walks: false,
            last_a: None,
        }
    }

    /// Counts a slice of the light list in each unit: counting is linear in the light matrix, so the counts of
    /// slices add up. A slice with too large an entry is halved. This ends, for a word has entries of at most
    /// a!: its hits with a label are placements of a queens on a columns; and light colours have an a of 8 at
    /// most.
    fn count_slice(&mut self, task: &Task<'_>, slice: Slice) -> Result<Vec<u64>, Interrupt> {
        self.fill(task, slice)?;
        match self.sum(task) {
            Err(Interrupt::Overflow) if slice.of < self.light.list.longest_block() => {
                let [first, second] = slice.halves();
                let mut counts = self.count_slice(task, first)?;
                for (count, more) in counts.iter_mut().zip(self.count_slice(task, second)?) {
                    *count = count.checked_add(more).ok_or(Interrupt::Overflow)?;
                }
                Ok(counts)
            }
            counts => counts,
        }
    }

    /// Fills the light matrix from a slice of the list.
    fn fill(&mut self, task: &Task<'_>, slice: Slice) -> Result<(), Interrupt> {
        let Self { kernel, light, matrix, scratch, .. } = self;
        let labels = light.tree.labels_len;
        let rows = task.rows(labels);
        let rows_of_block = task.ys.len() * labels;
        matrix.clear();
        matrix.reserve(light.list.blocks.len() * rows_of_block);
        for _ in &light.list.blocks {
            // A signal need not wait for gigabytes.
            if task.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            matrix.resize(matrix.len() + rows_of_block, Entries([0; LANES]));
        }
        light.each_block(slice, scratch, task.cancel, |step, scratch| {
            let entries = &mut matrix[step.number * rows_of_block..][..rows_of_block];
            kernel.execute(step.code, step.words, scratch, task.cancel, |leaf, words, scratch| {
                kernel.count_leaf(leaf, words, &rows, entries, scratch);
            })
        })
    }

    /// Whether a walk is likely to be faster than the heavy program. Some words are walked to find out; their
    /// hits are not counted.
    fn is_walk_faster(&mut self, cancel: &Cancel) -> Result<bool, Interrupt> {
        let Self { kernel, heavy: Side { boards, list, tree, limits, .. }, walk, .. } = self;
        if limits.walk_within <= 0.0 || tree.rows() < STATE_ROWS {
            return Ok(false);
        }
        let listed = list.fill(&boards.list, 0, limits, *kernel, cancel)?;
        let Some(middle) = list.blocks.len().checked_sub(1).map(|last| last / 2) else {
            return Ok(false);
        };
        let words = list.slice(middle, Slice::WHOLE);
        let one_in = words.len.div_ceil(SAMPLE);
        walk.begin();
        walk.add(boards, 0, words, one_in);
        let work = walk.run(*kernel, boards, tree, |_| true, cancel, &mut |_, _| ())?;
        let blocks = (list.blocks.len() * list.to_list.len()) as f64 / listed as f64;
        let costs = Costs::of(*kernel);
        let items = tree.items();
        // An item takes longer the more of the weights of a block are outside the cache.
        let weights = tree.sets.len() * tree.labels_len * size_of::<Bytes>();
        let item = costs.item * (1.0 + weights as f64 / CACHE);
        // A program that is kept serves some batches.
        let batches = if items > limits.part_len as f64 { 1.0 } else { BATCHES };
        let by_program = items * (item * blocks + COMPILED / batches);
        Ok(costs.of_walk(work) * one_in as f64 * blocks < limits.walk_within * by_program)
    }

    /// The sum, for each unit, over all pairs of labels: what the light entry weighs times the heavy one.
    fn sum(&mut self, task: &Task<'_>) -> Result<Vec<u64>, Interrupt> {
        if self.walks { self.sum_by_walk(task) } else { self.sum_by_program(task) }
    }

    /// The sum without the heavy program.
    fn sum_by_walk(&mut self, task: &Task<'_>) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, light, heavy, matrix, weights, walk, hit_weights, .. } = self;
        let Side { boards, list, tree, limits, .. } = heavy;
        let light = Light { side: light, matrix, columns: task.columns, ys: task.ys };
        let unit_of = task.units();
        let mut totals = vec![0_u128; task.ys.len()];
        let mut next = 0;
        while next < list.to_list.len() {
            next = list.fill(&boards.list, next, limits, *kernel, task.cancel)?;
            for first in (0..list.blocks.len()).step_by(BLOCKS) {
                walk.begin();
                hit_weights.begin(tree, task.ys.len());
                for (at, block) in (first..list.blocks.len()).take(BLOCKS).enumerate() {
                    light.weigh(&list.blocks[block].labels, tree, *kernel, weights)?;
                    hit_weights.add(at, weights, limits.digit_bits);
                    walk.add(boards, at, list.slice(block, Slice::WHOLE), 1);
                }
                let is_wanted = |set: usize| unit_of[set].is_some();
                walk.run(*kernel, boards, tree, is_wanted, task.cancel, &mut |set, hits| {
                    let unit = unit_of[set].expect("wanted");
                    totals[unit] += u128::from(hit_weights.sum(unit, &tree.board, hits));
                })?;
            }
        }
        totals.into_iter().map(|total| total.try_into().map_err(|_| Interrupt::Overflow)).collect()
    }

    /// The sum with the heavy program.
    fn sum_by_program(&mut self, task: &Task<'_>) -> Result<Vec<u64>, Interrupt> {
        let Self { kernel, light, heavy, matrix, weights, scratch, .. } = self;
        let rows = task.rows(heavy.tree.labels_len);
        let mut totals = vec![[[0; 8]; DIGITS]; task.y_class.len()];
        let light = Light { side: light, matrix, columns: task.columns, ys: task.ys };
        heavy.each_block(Slice::WHOLE, scratch, task.cancel, |step, scratch| {
            light.weigh(step.labels, step.tree, *kernel, weights)?;
            kernel.execute(step.code, step.words, scratch, task.cancel, |leaf, words, scratch| {
                kernel.sum_leaf(leaf, words, &rows, weights, &mut totals, scratch);
            })
        })?;
        let digit_bits = self.limits.digit_bits;
        let count = |y: &u32| {
            let digits = (0..).zip(totals[(*y - task.y_class.start) as usize]);
            let lanes = digits.flat_map(|(digit, lanes)| {
                lanes.map(|lane| u128::from(lane) << (digit_bits * digit))
            });
            u64::try_from(lanes.sum::<u128>()).map_err(|_| Interrupt::Overflow)
        };
        task.ys.iter().map(count).collect()
    }
}

/// Some units of a batch.
struct Task<'a> {
    columns: Columns<'a>,
    y_class: &'a Range<u32>,
    ys: &'a [u32],
    cancel: &'a Cancel,
}

impl Task<'_> {
    /// For each row set of the class its place among these units, if it is one of them.
    fn units(&self) -> Vec<Option<usize>> {
        let mut units = vec![None; self.y_class.len()];
        for (unit, y) in self.ys.iter().enumerate() {
            units[(*y - self.y_class.start) as usize] = Some(unit);
        }
        units
    }

    /// The rows in a block of each row set of the class: of these units, one for each label.
    fn rows(&self, labels: usize) -> Vec<Option<Range<usize>>> {
        let rows_of = |unit| unit * labels..(unit + 1) * labels;
        self.units().into_iter().map(|unit| unit.map(rows_of)).collect()
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
        let is_white_light = 2 * white_queens <= self.units.size.get();
        if (self.light.colour == Colour::White) != is_white_light {
            std::mem::swap(&mut self.light, &mut self.heavy);
        }
        self.light.prepare(self.units, &batch, cancel)?;
        if self.heavy.prepare(self.units, &batch, cancel)? {
            // Until it is known, also if a signal comes first.
            self.walks = false;
            self.walks = self.is_walk_faster(cancel)?;
        }
        self.light.fill_list(cancel)?;
        let wanted: Vec<u32> = self.units.ys_of(&batch, units).collect();
        let rows_of_set = self.light.list.blocks.len() * self.light.tree.labels_len;
        let sets_at_once = (self.limits.matrix_rows / rows_of_set.max(1)).max(1);
        let mut counts = Vec::new();
        for ys in wanted.chunks(sets_at_once) {
            let columns = self.units.columns(batch.a, batch.x);
            let task = Task { columns, y_class: &batch.y_class, ys, cancel };
            counts.extend(self.count_slice(&task, Slice::WHOLE)?);
        }
        Ok(counts)
    }
}
