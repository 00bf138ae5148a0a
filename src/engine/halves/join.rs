//! Counts the pairs of an east and a west half-board that share no diagonal.
//!
//! **Counts:** pairs (p, q) of words, one from each list, with p & q = 0.
//!
//! **Idea: split before multiplying.** Half-boards come as *factored lists*: groups of northern and
//! southern words, of which every pair without a common bit is a half-board. Large boards have a
//! hundred times as many pairs as words. A split on a bit needs the words only:
//!
//! ```text
//! join(X, Y):                               X has more pairs of words
//!     if X and Y have few pairs: multiply both, join the lists of half-boards
//!     choose the unused bit that most pairs of half-boards share
//!     X1, X0 = half-boards of X with, without the bit;  Y0 = those of Y without it
//!     return join(X1, Y0) + join(X0, Y)
//!
//! a half-board lacks the bit  <=>  both factors lack it            N0 x S0
//! it has the bit              <=>  exactly one factor has it       N1 x S0 and N0 x S1
//! ```
//!
//! Of the four products of halves only X1 x Y1 is dropped: a fraction p·q of all pairs, where p and q
//! are the fractions of half-boards that have the bit. [`group`] splits the words of each group in
//! place, so the factored part needs no memory but for the groups. [`lists`] joins the lists of
//! half-boards, by more splits of the same kind and then hundreds of pairs at a time.
//!
//! **The bits** are ranked by p·q, from samples of both sides: one bit for each factored split, and all
//! that are left before a product. Then the bits move to new places ([`bits`]). They do so in the
//! factors, of which there are few.
//!
//! **Memory:** a product is made when it has at most `most_pairs` pairs. With less memory the factored
//! splits go deeper; the count is the same.
//!
//! **Invariants:** the factored splits change the order of words, but not which words a group has.
//! After a split on a bit, no east half-board shares it with a west half-board that it still meets,
//! since one of them lacks it. Two factors of one half can share it: then they are no half-board.

mod bits;
mod lists;

use std::ops::Range;

use super::cuts::Cuts;
use super::group::{self, Group, all_pairs};
use super::kernel::{BitOrder, Layout};
use super::word_list::{SLACK, WordList};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::UnitEstimate;
use crate::machine::cpu::Stopwatch;
use bits::SplitBits;
use lists::ListJoin;

/// Products of this many pairs are made however little memory there is. It takes 0.3 MB.
pub(crate) const LEAST_PAIRS: u64 = 10_000;

/// The half-boards of one half, as factored lists.
pub(crate) struct Factored<'a> {
    /// The words of the northern and of the southern quadrants. Their order may change within groups.
    pub(crate) lists: [&'a mut [u64]; 2],
    pub(crate) groups: &'a [Group],
}

/// What all splits of a join share.
struct Context<'a> {
    /// The northern and southern lists of the east and of the west.
    lists: [[&'a mut [u64]; 2]; 2],
    most_pairs: u64,
    cancel: &'a Cancel,
}

impl Context<'_> {
    /// The northern and southern lists of a part.
    fn words(&self, part: &Part) -> [&[u64]; 2] {
        self.lists[part.side].each_ref().map(|list| &**list)
    }
}

/// A part of the half-boards of one half.
#[derive(Clone)]
struct Part {
    /// 0 for the east, 1 for the west.
    side: usize,
    /// Its groups on the stack.
    groups: Range<usize>,
    pairs: u64,
}

/// What becomes of two parts.
enum Step {
    Counted(u64),
    /// The half-boards of one part with a bit go with those of the other without it, and those without
    /// it with all of the other. They are on the stack in the order: without it, with it, the others.
    Split {
        with: [Part; 2],
        without: [Part; 2],
        unused: u64,
    },
}

/// The working memory of one thread.
pub(crate) struct Join {
    kernel: Kernel,
    cuts: Cuts,
    /// All bits of the words.
    all: u64,
    list_join: ListJoin,
    /// The groups of all parts that are not counted yet.
    stack: Vec<Group>,
    /// Groups of half-boards with the bit of a split, before they go to the stack.
    with: Vec<Group>,
    /// Room for the longest list of a group.
    scratch: Vec<u64>,
    sample: Vec<u64>,
    ranked: Vec<u32>,
    /// The order of the bits of short lists.
    leaf_plan: (BitOrder, SplitBits),
    /// The factors of a product, in the order of its bits.
    factors: WordList,
    factor_groups: Vec<Group>,
    /// The half-boards of both sides.
    pub(crate) products: [WordList; 2],
}

impl Join {
    /// For words of `bits` bits.
    pub(crate) fn new(kernel: Kernel, cuts: Cuts, bits: u32) -> Self {
        let all = u64::MAX >> (64 - bits);
        Self {
            kernel,
            cuts,
            all,
            list_join: ListJoin::new(kernel, cuts),
            stack: Vec::new(),
            with: Vec::new(),
            scratch: Vec::new(),
            sample: Vec::new(),
            ranked: Vec::new(),
            leaf_plan: bits::plan_leaf(all, kernel.layout()),
            factors: WordList::default(),
            factor_groups: Vec::new(),
            products: Default::default(),
        }
    }

    /// The most pairs that are multiplied in a unit whose halves have at most this many groups, if memory
    /// does not limit it.
    pub(crate) fn usual_pairs(column_sets: u64) -> u64 {
        Cuts::FIRST.small.max(2 * Cuts::FIRST.few_per_group * column_sets)
    }

    /// Counts the disjoint pairs of east and west half-boards. No product has more than `most_pairs` pairs of
    /// words. A cancelled count is meaningless.
    pub(crate) fn count(
        &mut self,
        east: Factored<'_>,
        west: Factored<'_>,
        most_pairs: u64,
        cancel: &Cancel,
    ) -> u64 {
        let (mut context, [x, y]) = self.begin(east, west, most_pairs, cancel);
        self.split(&mut context, x, y, self.all)
    }

    /// Estimates [`Join::count`] from one random path through its splits. The result of a cancelled
    /// estimate is meaningless.
    ///
    /// A path begins as the count does, but follows only one of the two branches of each split, either
    /// with a probability p that is about its share of the work. What the rest of the path finds, and
    /// the time that it takes, is divided by p. So the expected values are the pairs and the time of
    /// the whole join.
    pub(crate) fn sample(
        &mut self,
        east: Factored<'_>,
        west: Factored<'_>,
        most_pairs: u64,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> UnitEstimate {
        let mut stopwatch = Stopwatch::start();
        let (mut context, [mut x, mut y]) = self.begin(east, west, most_pairs, cancel);
        let (mut unused, mut probability) = (self.all, 1.0);
        let mut estimate = UnitEstimate::default();
        loop {
            let step = self.step(&mut context, x, y, unused);
            estimate.seconds += stopwatch.lap() / probability;
            match step {
                Step::Counted(pairs) => {
                    estimate.solutions = pairs as f64 / probability;
                    return estimate;
                }
                Step::Split { with, without, unused: rest } => {
                    let [with_bit, without_bit] = [&with, &without].map(work);
                    let share = with_bit / (with_bit + without_bit).max(f64::MIN_POSITIVE);
                    let (branch, chance) = match random.f64() < share {
                        true => (with, share),
                        false => (without, 1.0 - share),
                    };
                    [x, y] = branch;
                    unused = rest;
                    probability *= chance;
                }
            }
        }
    }

    /// Puts the groups of both sides on the stack.
    fn begin<'a>(
        &mut self,
        east: Factored<'a>,
        west: Factored<'a>,
        most_pairs: u64,
        cancel: &'a Cancel,
    ) -> (Context<'a>, [Part; 2]) {
        self.stack.clear();
        let mut part = |side, groups: &[Group]| {
            let start = self.stack.len();
            self.stack.extend_from_slice(groups);
            Part { side, groups: start..self.stack.len(), pairs: all_pairs(groups) }
        };
        let parts = [part(0, east.groups), part(1, west.groups)];
        let lists = [east.lists, west.lists];
        let most_pairs = most_pairs.max(LEAST_PAIRS);
        let longest = self.stack.iter().map(|group| group.north_len.max(group.south_len)).max();
        let needed = longest.unwrap_or(0) as usize + SLACK;
        if self.scratch.len() < needed {
            self.scratch = vec![0; needed];
        }
        (Context { lists, most_pairs, cancel }, parts)
    }

    /// Counts the disjoint pairs of two lists of half-boards. The order of the bits changes in both. A cancelled count is meaningless.
    pub(crate) fn count_lists(&mut self, lists: [&mut [u64]; 2], cancel: &Cancel) -> u64 {
        let layout = self.kernel.layout();
        if self.all.count_ones() > layout.most_bits() {
            // The bits that are too many are split on, as in factored lists with one group.
            let mut nothing = [[0], [0]];
            let groups = lists.each_ref().map(|list| [Group::single(list.len())]);
            let [north_x, north_y] = lists;
            let [south_x, south_y] = &mut nothing;
            let x = Factored { lists: [north_x, south_x], groups: &groups[0] };
            let y = Factored { lists: [north_y, south_y], groups: &groups[1] };
            return self.count(x, y, u64::MAX, cancel);
        }
        let [x, y] = lists.each_ref().map(|list| list.len());
        if x == 0 || y == 0 {
            return 0;
        }
        let (order, splits) = if self.list_join.is_leaf(x.max(y), x.min(y)) {
            self.leaf_plan
        } else {
            let mut counts = [[0; 64]; 2];
            for (counts, list) in counts.iter_mut().zip(&lists) {
                self.sample.clear();
                let stride = list.len().div_ceil(self.cuts.list_sample);
                self.sample.extend(list.iter().step_by(stride));
                *counts = self.bit_counts(&self.sample);
            }
            bits::rank(self.all, &counts, &mut self.ranked);
            self.ranked.swap(0, self.cuts.first_split);
            bits::plan_splits(&self.ranked, 0, layout, false)
        };
        let ([x, y], batch) = (lists, self.cuts.batch);
        for batch in x.chunks_mut(batch).chain(y.chunks_mut(batch)) {
            if cancel.is_cancelled() {
                return 0;
            }
            if !order.is_identity() {
                self.kernel.permute_bits(batch, &order);
            }
        }
        self.list_join.count(x, y, &splits, cancel)
    }

    /// Counts the disjoint pairs of two parts; they can only clash in the bits `unused`.
    fn split(&mut self, context: &mut Context<'_>, x: Part, y: Part, unused: u64) -> u64 {
        match self.step(context, x, y, unused) {
            Step::Counted(pairs) => pairs,
            Step::Split { with: [x, y], without: [x_without, y_whole], unused } => {
                let (top, end) = (x_without.groups.start, x_without.groups.end);
                let pairs = self.split(context, x, y, unused);
                self.stack.truncate(end);
                let pairs = pairs + self.split(context, x_without, y_whole, unused);
                self.stack.truncate(top);
                pairs
            }
        }
    }

    /// Counts the disjoint pairs of two parts if they are few, or splits them.
    fn step(&mut self, context: &mut Context<'_>, x: Part, y: Part, unused: u64) -> Step {
        let (x, y) = if x.pairs >= y.pairs { (x, y) } else { (y, x) };
        if y.pairs == 0 || context.cancel.is_cancelled() {
            return Step::Counted(0);
        }
        if unused == 0 {
            let pairs = self.half_boards(context, &x) * self.half_boards(context, &y);
            return Step::Counted(pairs);
        }
        let groups = (x.groups.len() + y.groups.len()) as u64;
        let Cuts { few, few_per_group, .. } = self.cuts;
        let is_small = x.pairs + y.pairs <= few.max(few_per_group * groups).min(context.most_pairs);
        if is_small && unused.count_ones() <= self.kernel.layout().most_bits() {
            return Step::Counted(self.multiply(context, &x, &y, unused));
        }
        self.rank_bits(context, &x, &y, unused, self.cuts.split_sample);
        if unused == self.all {
            self.ranked.swap(0, self.cuts.first_split);
        }
        let bit = 1 << self.ranked[0];
        let x_without = self.split_part(context, &x, bit);
        let x_with = self.push_with(x.side);
        let y_without = self.split_part(context, &y, bit);
        Step::Split { with: [x_with, y_without], without: [x_without, y], unused: unused & !bit }
    }

    /// The half-boards of a part without a bit. The groups of those with the bit are left in `with`.
    fn split_part(&mut self, context: &mut Context<'_>, part: &Part, bit: u64) -> Part {
        let [north, south] = &mut context.lists[part.side];
        let start = self.stack.len();
        self.with.clear();
        self.kernel.split_groups(
            [north, south],
            &mut self.stack,
            part.groups.clone(),
            bit,
            &mut self.scratch,
            &mut self.with,
        );
        self.top_part(part.side, start)
    }

    /// Moves the groups in `with` to the stack.
    fn push_with(&mut self, side: usize) -> Part {
        let start = self.stack.len();
        self.stack.extend_from_slice(&self.with);
        self.top_part(side, start)
    }

    fn top_part(&self, side: usize, start: usize) -> Part {
        Part { side, groups: start..self.stack.len(), pairs: all_pairs(&self.stack[start..]) }
    }

    /// The number of half-boards of a part.
    fn half_boards(&self, context: &Context<'_>, part: &Part) -> u64 {
        let lists = context.words(part);
        let of_group = |group: &Group| {
            let [north, south] = group.words(lists);
            self.kernel.nested_loop(north, south)
        };
        self.stack[part.groups.clone()].iter().map(of_group).sum()
    }

    /// Sorts a set of bits by samples of two parts.
    fn rank_bits(&mut self, context: &Context<'_>, x: &Part, y: &Part, set: u64, pairs: u64) {
        let mut counts = [[0; 64]; 2];
        for (counts, part) in counts.iter_mut().zip([x, y]) {
            let lists = context.words(part);
            self.sample.clear();
            group::sample(lists, &self.stack[part.groups.clone()], pairs, &mut self.sample);
            *counts = self.bit_counts(&self.sample);
        }
        bits::rank(set, &counts, &mut self.ranked);
    }

    fn bit_counts(&self, sample: &[u64]) -> [u32; 64] {
        let mut counts = [0; 64];
        for words in sample.chunks(u8::MAX.into()) {
            let some = self.kernel.positional_popcount(words);
            counts.iter_mut().zip(some).for_each(|(count, some)| *count += u32::from(some));
        }
        counts
    }

    /// Ranks the bits, moves those of the factors, makes the half-boards of both parts and joins them.
    fn multiply(&mut self, context: &Context<'_>, x: &Part, y: &Part, unused: u64) -> u64 {
        self.rank_bits(context, x, y, unused, self.cuts.product_sample);
        let layout = self.kernel.layout();
        let (order, splits) =
            bits::plan_splits(&self.ranked, self.all & !unused, layout, layout == Layout::Bytes);
        let has_spare = self.all.count_ones() > layout.most_bits();
        let mut products = std::mem::take(&mut self.products);
        for (product, part) in products.iter_mut().zip([x, y]) {
            let lists = context.words(part);
            let groups = &self.stack[part.groups.clone()];
            self.factors.clear();
            self.factor_groups.clear();
            group::gather(lists, groups, &mut self.factors, &mut self.factor_groups);
            self.kernel.permute_bits(self.factors.as_mut_slice(), &order);
            let factors = self.factors.as_slice();
            product.clear();
            let room = product.room(part.pairs as usize);
            let made = self.kernel.multiply([factors; 2], &self.factor_groups, room);
            product.grow(made);
            if has_spare {
                // Bits that were split on are needed no more, and leaves want the spare ones clear.
                product.as_mut_slice().iter_mut().for_each(|word| *word &= splits.unused);
            }
        }
        let [x, y] = products.each_ref().map(WordList::as_slice);
        let pairs = self.list_join.count(x, y, &splits, context.cancel);
        self.products = products;
        pairs
    }
}

/// A measure of the work to join two parts. Of the powers from 0.5 to 1, all up to 0.8 estimate the time
/// equally well; 1 needs 1.7 times as many paths at n = 26.
fn work([x, y]: &[Part; 2]) -> f64 {
    (x.pairs as f64 * y.pairs as f64).powf(0.7)
}
