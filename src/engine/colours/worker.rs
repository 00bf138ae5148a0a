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

use std::cmp::Ordering;
use std::ops::Range;

use super::kernel::{Bytes, Counts, LANES, PLANES, Purpose, Rows, Run, Scratch, Weights};
use super::list::List;
use super::program::{Compiler, MAPPED, Program, Tree};
use super::sub_board::{Colour, SubBoards};
use super::units::{Batch, Columns, UnitList};
use super::weigh::Light;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{self, Interrupt, WhichCount};

/// The most rows of the light matrix, of 128 bytes: 448 MiB. Batches that need more are counted in parts.
const MOST_ROWS: usize = 7 << 19;

/// Programs with more words are compiled for each batch, part by part; a part may be a little longer.
fn part_len(n: u32) -> usize {
    // 3, 10, 48 and 64 MiB.
    match n {
        ..=20 => 3 << 18,
        21..=22 => 5 << 19,
        23..=24 => 12 << 20,
        _ => 16 << 20,
    }
}

/// The bytes with which a thread can count every unit: its programs, the light matrix, the weights and the lists.
pub(crate) fn bytes(size: BoardSize) -> u64 {
    let n = size.get();
    // Those of one colour are long only if those of the other are short.
    let programs = 6 * part_len(n) as u64;
    let weights = PLANES as u64 * MOST_SETS * most_labels(size);
    // Measured: a list has 6 900 words at n = 20, and 4.3 times as many with two more columns. Long lists of
    // few labels have more; there is a copy of each word as it is found, and others at each depth of a tree.
    let words = 6_900.0 * 4.3_f64.powf((f64::from(n) - 20.0) / 2.0);
    programs
        + most_rows(size) * size_of::<Counts>() as u64
        + weights * size_of::<Bytes>() as u64
        + (32.0 * words) as u64
}

/// The labels of a sub-board, at most.
fn most_labels(size: BoardSize) -> u64 {
    let side = u64::from(size.get().div_ceil(2));
    (0..side / 2).fold(1, |ways, at| ways * (side - at) / (at + 1))
}

/// The rows of a light matrix, at most.
fn most_rows(size: BoardSize) -> u64 {
    let labels = most_labels(size);
    let lanes = 1 << (64 - SubBoards::new(size, Colour::White, WhichCount::First).bits).min(6);
    let rows_of_set = labels.div_ceil(lanes) * labels;
    (MOST_SETS * rows_of_set).min(rows_of_set.max(MOST_ROWS as u64))
}

/// On boards up to this one a worker keeps its few megabytes between batches that are not alike: it would
/// take 5 % of the time of n = 20 to get them again.
const LARGEST_KEPT: u32 = 20;

/// The row sets of a class, at most.
const MOST_SETS: u64 = 20;

pub(super) struct Worker<'a> {
    units: &'a UnitList,
    kernel: Kernel,
    which: WhichCount,
    white: Side,
    black: Side,
    /// Of the light matrix: for each block of the light list, each row set and each label of its tree.
    matrix: Vec<Counts>,
    most_rows: usize,
    /// The size of Re in the last batch.
    last_a: Option<u32>,
    /// Of one block of the heavy list.
    weights: Weights,
    scratch: Scratch,
}

/// What belongs to a colour.
struct Side {
    colour: Colour,
    boards: SubBoards,
    list: List,
    tree: Option<(TreeKey, Tree)>,
    /// The whole tree, or if it is too long a part of it.
    program: Program,
    is_whole: bool,
    part_len: usize,
}

/// What a tree depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeKey {
    a: u32,
    x_class: Range<u32>,
    y_class: Range<u32>,
}

impl Side {
    fn new(size: BoardSize, colour: Colour, which: WhichCount) -> Self {
        let boards = SubBoards::new(size, colour, which);
        Self {
            colour,
            boards,
            list: List::default(),
            tree: None,
            program: Program::default(),
            is_whole: false,
            part_len: part_len(size.get()),
        }
    }

    /// Lists the placements on the even rows, and plants the tree of those on the odd rows.
    fn prepare(&mut self, units: &UnitList, batch: &Batch, which: WhichCount) {
        let Batch { a, x, ref x_class, ref y_class, .. } = *batch;
        let columns = units.columns(a, x);
        let even = units.even.of_size(a).iter().copied();
        let odd = units.odd.of_size(units.odd_size(a)).iter().copied();
        let rows = self.boards.list.own_rows(units.even.of_size(a)[x as usize], units.even.all());
        let outer = units.even.outer();
        let counts = |order: Ordering| order != Ordering::Less;
        let evens = even.clone().filter(|label| counts(columns.even_label(*label)));
        let odds = odd.clone().filter(|label| counts(columns.odd_label(*label)));
        match self.colour {
            Colour::White => self.list.fill(&self.boards, rows, outer, evens, which),
            Colour::Black => self.list.fill(&self.boards, rows, outer, odds, which),
        }

        let key = TreeKey { a, x_class: x_class.clone(), y_class: y_class.clone() };
        if self.tree.as_ref().is_none_or(|(last, _)| *last != key) {
            let own_rows = |y| self.boards.tree.own_rows(units.odd_set(a, y), units.odd.all());
            let class: Vec<u32> = y_class.clone().map(own_rows).collect();
            // The labels that count with some x of the class count with its first.
            let columns = units.columns(a, x_class.start);
            let evens = even.filter(|label| counts(columns.even_label(*label)));
            let odds = odd.filter(|label| counts(columns.odd_label(*label)));
            let board = &self.boards.tree;
            let tree = match self.colour {
                Colour::White => Tree::new(board, &class, odds),
                Colour::Black => Tree::new(board, &class, evens),
            };
            self.tree = Some((key, tree));
            self.is_whole = false;
        }
    }
}

/// A part of a program on a block.
struct Step<'a> {
    run: Run<'a>,
    /// The block's number, and its labels.
    number: usize,
    labels: &'a [u32],
    tree: &'a Tree,
    /// Whether it is the first part.
    is_first: bool,
}

impl Side {
    fn tree(&self) -> &Tree {
        let (_, tree) = self.tree.as_ref().expect("planted before it is used");
        tree
    }

    /// Runs each part of the program on each block of the list.
    fn each_block(
        &mut self,
        scratch: &mut Scratch,
        cancel: &Cancel,
        mut with: impl FnMut(&Step<'_>, &mut Scratch) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        scratch.reserve(self.list.longest_block());
        let mut part = std::mem::take(&mut self.program);
        let is_whole = std::mem::take(&mut self.is_whole);
        let mut compiler = Compiler::new(self.tree(), &self.list, cancel);
        if !is_whole {
            compiler.replace(part);
            part = compiler.next_part(self.part_len);
        }
        let mut is_first = true;
        loop {
            if cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            for (number, block) in self.list.blocks.iter().enumerate() {
                let (words, tag_at) = (self.list.words_from(number), self.list.tag_at);
                let run =
                    Run { code: &part.code, len: self.list.words(number).len(), words, tag_at };
                with(
                    &Step { run, number, labels: &block.labels, tree: self.tree(), is_first },
                    scratch,
                )?;
            }
            if is_whole || compiler.has_ended() {
                break;
            }
            compiler.replace(part);
            part = compiler.next_part(self.part_len);
            is_first = false;
        }
        (self.program, self.is_whole) = (part, is_first);
        Ok(())
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        units: &'a UnitList,
        size: BoardSize,
        kernel: Kernel,
        which: WhichCount,
    ) -> Self {
        Self {
            units,
            kernel,
            which,
            white: Side::new(size, Colour::White, which),
            black: Side::new(size, Colour::Black, which),
            matrix: Vec::new(),
            most_rows: most_rows(size) as usize,
            last_a: None,
            weights: Weights::default(),
            scratch: Scratch::default(),
        }
    }

    /// Counts as many of the first of these units as belong to one batch.
    fn count_batch(&mut self, units: Range<usize>, cancel: &Cancel) -> Result<Vec<u64>, Interrupt> {
        let batch = self.units.batch(units.start);
        if self.last_a.replace(batch.a) != Some(batch.a) && self.units.n > LARGEST_KEPT {
            // Where the programs are long the matrix is small, and the other way round.
            let rows = self.most_rows.max(MAPPED / size_of::<Counts>());
            self.matrix = Vec::with_capacity(rows);
            self.white.program = Program::default();
            self.black.program = Program::default();
        }
        self.white.prepare(self.units, &batch, self.which);
        self.black.prepare(self.units, &batch, self.which);
        let n = self.units.n;
        // Of white queens there are a in even rows and as many, or one less, in odd ones.
        let white_queens = batch.a + self.units.odd_size(batch.a);
        let (light, heavy) = if 2 * white_queens <= n {
            (&mut self.white, &mut self.black)
        } else {
            (&mut self.black, &mut self.white)
        };
        let first = units.start - batch.units.start;
        let wanted = &batch.ys[first..batch.ys.len().min(first + units.len())];
        let labels = light.tree().labels_len;
        let rows_of_set = light.list.blocks.len() * labels;
        let sets_at_once = (MOST_ROWS / rows_of_set.max(1)).max(1);
        let mut counts = Vec::new();
        for ys in wanted.chunks(sets_at_once) {
            let part = Part {
                kernel: self.kernel,
                columns: self.units.columns(batch.a, batch.x),
                y_class: batch.y_class.clone(),
                ys,
                cancel,
            };
            part.fill(light, &mut self.matrix, &mut self.scratch)?;
            counts.extend(part.sum(
                light,
                heavy,
                &self.matrix,
                &mut self.weights,
                &mut self.scratch,
            )?);
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

    /// Fills the light matrix.
    fn fill(
        &self,
        light: &mut Side,
        matrix: &mut Vec<Counts>,
        scratch: &mut Scratch,
    ) -> Result<(), Interrupt> {
        let labels = light.tree().labels_len;
        let rows_at = self.rows_at(labels);
        let rows_of_block = self.ys.len() * labels;
        let needed = light.list.blocks.len() * rows_of_block;
        if matrix.len() < needed {
            matrix.resize(needed, Counts([0; LANES]));
        }
        light.each_block(scratch, self.cancel, |step, scratch| {
            let rows = &mut matrix[step.number * rows_of_block..][..rows_of_block];
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
        let light = Light::new(colour, list, light.tree(), matrix, self.columns, self.ys);
        heavy.each_block(scratch, self.cancel, |step, scratch| {
            if self.cancel.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            light.weigh(step.labels, step.tree, self.kernel, weights)?;
            self.run(step, &rows, &mut Purpose::Sum(weights, &mut totals), scratch)
        })?;
        let count = |y: &u32| {
            let mut count = 0_u64;
            for (plane, lanes) in totals[self.set(*y)].iter().enumerate() {
                for lane in lanes {
                    count = count.checked_add(lane.checked_mul(1 << (8 * plane))?)?;
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
