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
//! are the fractions of half-boards that have the bit. [`groups`] splits the words of each group in
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
mod groups;
mod lists;

use std::ops::Range;

use super::kernel::JoinKernel;
use super::word_list::{PIECE, SLACK, WordList};
use crate::cancel::Cancel;
pub(crate) use groups::{Group, all_pairs};
use lists::ListJoin;

/// The half-boards of units with at most this many pairs of words are all made, without any split.
pub(crate) const SMALL: u64 = 1_000_000;

/// In larger units they are made below this many pairs, or below this many for each group: short
/// groups are split at a greater cost for each word. Half or twice these numbers make no difference.
const FEW: u64 = 300_000;
const FEW_PER_GROUP: u64 = 600;

/// Products of this many pairs are made however little memory there is. It takes 0.3 MB.
pub(crate) const LEAST_PAIRS: u64 = 10_000;

/// Pairs of words that are sampled on each side for one factored split, and before a product.
const SPLIT_SAMPLE: u64 = 600;
const PRODUCT_SAMPLE: u64 = 765;

/// Half-boards that are sampled on each side if there was no split.
const LIST_SAMPLE: usize = 255;

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
    /// All bits of the words.
    all: u64,
    most_pairs: u64,
    cancel: &'a Cancel,
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

/// The working memory of one thread.
pub(crate) struct Join {
    kernel: JoinKernel,
    list_join: ListJoin,
    /// The groups of all parts that are not counted yet.
    stack: Vec<Group>,
    /// Groups of half-boards with the bit of a split, before they go to the stack.
    with: Vec<Group>,
    /// Room for the longest list of a group.
    scratch: Vec<u64>,
    sample: Vec<u64>,
    ranked: Vec<u32>,
    /// The factors of a product, in the order of its bits.
    factors: WordList,
    factor_groups: Vec<Group>,
    /// The half-boards of both sides.
    products: [WordList; 2],
}

impl Join {
    pub(crate) fn new(kernel: JoinKernel) -> Self {
        Self {
            kernel,
            list_join: ListJoin::new(kernel),
            stack: Vec::new(),
            with: Vec::new(),
            scratch: Vec::new(),
            sample: Vec::new(),
            ranked: Vec::new(),
            factors: WordList::default(),
            factor_groups: Vec::new(),
            products: Default::default(),
        }
    }

    /// Frees the memory.
    pub(crate) fn release(&mut self) {
        *self = Self::new(self.kernel);
    }

    /// The most pairs that are multiplied in a unit whose halves have at most this many groups, if memory
    /// does not limit it.
    pub(crate) fn usual_pairs(column_sets: u64) -> u64 {
        SMALL.max(2 * FEW_PER_GROUP * column_sets)
    }

    /// Counts the disjoint pairs of east and west half-boards, whose words have `bits` bits. No product
    /// has more than `most_pairs` pairs of words. A cancelled count is meaningless.
    pub(crate) fn count(
        &mut self,
        bits: u32,
        east: Factored<'_>,
        west: Factored<'_>,
        most_pairs: u64,
        cancel: &Cancel,
    ) -> u64 {
        self.stack.clear();
        let mut part = |side, groups: &[Group]| {
            let start = self.stack.len();
            self.stack.extend_from_slice(groups);
            Part { side, groups: start..self.stack.len(), pairs: all_pairs(groups) }
        };
        let parts = (part(0, east.groups), part(1, west.groups));
        let lists = [east.lists, west.lists];
        let all = u64::MAX >> (64 - bits);
        let most_pairs = most_pairs.max(LEAST_PAIRS);
        let mut context = Context { lists, all, most_pairs, cancel };
        let longest = self.stack.iter().map(|group| group.north_len.max(group.south_len)).max();
        let needed = longest.unwrap_or(0) as usize + SLACK;
        if self.scratch.len() < needed {
            self.scratch = vec![0; needed];
        }
        self.split(&mut context, parts.0, parts.1, all)
    }

    /// Counts the disjoint pairs of two lists of half-boards, whose words have `bits` bits. The order of
    /// the bits changes in both. A cancelled count is meaningless.
    pub(crate) fn count_lists(
        &mut self,
        bits: u32,
        lists: [&mut [u64]; 2],
        cancel: &Cancel,
    ) -> u64 {
        let [x, y] = lists.each_ref().map(|list| list.len());
        if x == 0 || y == 0 {
            return 0;
        }
        let mut counts = [[0; 64]; 2];
        if !self.list_join.is_leaf(x.max(y), x.min(y)) {
            for (counts, list) in counts.iter_mut().zip(&lists) {
                self.sample.clear();
                let stride = list.len().div_ceil(LIST_SAMPLE);
                self.sample.extend(list.iter().step_by(stride));
                *counts = self.bit_counts(&self.sample);
            }
        }
        bits::rank(u64::MAX >> (64 - bits), &counts, &mut self.ranked);
        let (order, splits) = bits::plan_splits(&self.ranked, 0);
        let [x, y] = lists;
        for piece in x.chunks_mut(PIECE).chain(y.chunks_mut(PIECE)) {
            if cancel.is_cancelled() {
                return 0;
            }
            if !order.is_identity() {
                self.kernel.permute_bits(piece, &order);
            }
        }
        self.list_join.count(x, y, &splits, cancel)
    }

    /// Counts the disjoint pairs of two parts; they can only clash in the bits `unused`.
    fn split(&mut self, context: &mut Context<'_>, x: Part, y: Part, unused: u64) -> u64 {
        let (x, y) = if x.pairs >= y.pairs { (x, y) } else { (y, x) };
        if y.pairs == 0 || context.cancel.is_cancelled() {
            return 0;
        }
        if unused == 0 {
            return self.half_boards(context, &x) * self.half_boards(context, &y);
        }
        let groups = (x.groups.len() + y.groups.len()) as u64;
        if x.pairs + y.pairs <= FEW.max(FEW_PER_GROUP * groups).min(context.most_pairs) {
            return self.multiply(context, &x, &y, unused);
        }
        self.rank_bits(context, &x, &y, unused, SPLIT_SAMPLE);
        let bit = 1 << self.ranked[0];
        let unused = unused & !bit;
        let top = self.stack.len();
        let x_without = self.split_part(context, &x, bit);
        let x_with = self.push_with(x.side);
        let y_without = self.split_part(context, &y, bit);
        let pairs = self.split(context, x_with, y_without, unused);
        self.stack.truncate(x_without.groups.end);
        let pairs = pairs + self.split(context, x_without, y, unused);
        self.stack.truncate(top);
        pairs
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
        let lists = context.lists[part.side].each_ref().map(|list| &**list);
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
            let lists = context.lists[part.side].each_ref().map(|list| &**list);
            self.sample.clear();
            groups::sample(lists, &self.stack[part.groups.clone()], pairs, &mut self.sample);
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
        self.rank_bits(context, x, y, unused, PRODUCT_SAMPLE);
        let (order, splits) = bits::plan_splits(&self.ranked, context.all & !unused);
        let mut products = std::mem::take(&mut self.products);
        for (product, part) in products.iter_mut().zip([x, y]) {
            let lists = context.lists[part.side].each_ref().map(|list| &**list);
            let groups = &self.stack[part.groups.clone()];
            let words = groups.iter().map(|group| (group.north_len + group.south_len) as usize);
            self.factors.clear();
            self.factor_groups.clear();
            let room = self.factors.room(words.sum());
            let words = self.kernel.gather(lists, groups, room, &mut self.factor_groups);
            self.factors.grow(words);
            self.kernel.permute_bits(self.factors.as_mut_slice(), &order);
            let factors = self.factors.as_slice();
            product.clear();
            let room = product.room(part.pairs as usize);
            let made = self.kernel.multiply([factors; 2], &self.factor_groups, room);
            product.grow(made);
        }
        let [x, y] = products.each_ref().map(WordList::as_slice);
        let pairs = self.list_join.count(x, y, &splits, context.cancel);
        self.products = products;
        pairs
    }
}
