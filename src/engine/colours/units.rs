//! The units of a count: orbits of row sets, and what a pair of labels weighs in them.
//!
//! A **unit** is a pair of row sets: Re, the even rows whose queen is white, and Ro, the odd rows whose
//! queen is white. Ce and Co are the even and odd columns whose queen is white. Let a be the size of Re,
//! and let x, y, u, v be ranks in the order of [`Subsets`]:
//!
//! **Even n = 2N.** All four sets have a numbers. x and u are the ranks of Re and Ce, y and v those of Ro
//! and Co *reversed*, and M = (N over a). A half-turn of the board swaps x with y and u with v. The flip
//! of the rows swaps the colours: it turns (x, y, u, v) into (M-1-y, M-1-x, M-1-u, M-1-v) with N - a for
//! a. The transposition swaps (x, y) and (u, v). So of each orbit one image is counted:
//!
//! ```text
//!     2a < N:   x <= y             weight 4, or 2 if y = x
//!     2a = N:   x <= y <= M-1-x    weight 4, or 2 if y = x or y = M-1-x
//! ```
//!
//! and of its columns those whose key, the smallest of (u, v), (v, u) and, if 2a = N, (M-1-u, M-1-v) and
//! (M-1-v, M-1-u), is not below (x, y): twice if it is above, for the transposed solution, once if it is
//! equal. So u and v are in x..M, or in x..M-x if 2a = N, or the pair does not count. Strictly inside, it
//! counts twice.
//!
//! **Odd n.** Re and Ce have a numbers, Ro and Co have a - 1; x, y, u and v are the ranks of Re, Ro, Ce and
//! Co. The flips of the rows and of the columns keep the colours and leave the other side alone. So Re has
//! at most the rank of its reverse, and if both are equal, Ro has; the weight is 2, or 1 if both are
//! palindromes. The same holds for the columns, whose factor of 2 or 1 is in the unit's count. Then the
//! transposition: (u, v) counts twice if it is above (x, y), once if it is equal.
//!
//! **Order:** by a, the class of x, the class of y, x, y. So all units of a **batch**, those with one x and
//! the y of one class, are neighbours, and so are the batches that have the same two classes.
//!
//! **Invariants:** the number of units, and what each of them counts, depend on n alone.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::sub_board::Colour;
use super::subsets::Subsets;
use crate::board::size::BoardSize;
use crate::engine::plain::{EVEN, halved};
use crate::engine::unit::RowDomains;

/// All units of a board, without a list of them.
pub(super) struct UnitList {
    pub(super) size: BoardSize,
    /// Sets of even rows or columns.
    pub(super) even: Subsets,
    /// Sets of odd rows or columns.
    pub(super) odd: Subsets,
    /// In order; those without units are left out.
    class_pairs: Vec<ClassPair>,
    len: usize,
}

/// A class of x and a class of y that have units.
#[derive(Clone, Copy)]
struct ClassPair {
    first_unit: usize,
    a: u32,
    /// The numbers of the classes.
    x_class: u16,
    y_class: u16,
}

/// The units of one x and of one class of y: they share their even rows, and the odd ones in the centre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// Their numbers.
    pub(super) units: Range<usize>,
    /// The number of white queens in even rows.
    pub(super) a: u32,
    pub(super) x: u32,
    pub(super) x_class: Range<u32>,
    pub(super) y_class: Range<u32>,
    ys: Ys,
}

/// The y of a class that form units with an x.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ys {
    ranks: Range<u32>,
    /// Whether x is a palindrome, so that y is at most the rank of its reverse.
    at_most_reversed: bool,
}

impl UnitList {
    pub(super) fn new(size: BoardSize) -> Self {
        let n = size.get();
        let (even, odd) = (Subsets::new(n.div_ceil(2)), Subsets::new(n / 2));
        let mut list = Self { size, even, odd, class_pairs: Vec::new(), len: 0 };
        let sizes = if list.is_odd() { 1..=n.div_ceil(2) } else { 0..=n / 4 };
        for a in sizes {
            for (x_class, xs) in (0..).zip(list.even.classes(a)) {
                for (y_class, class) in (0..).zip(list.odd.classes(list.odd_size(a))) {
                    let units: usize =
                        xs.clone().map(|x| list.number_of(a, &list.ys(a, x, class))).sum();
                    if units > 0 {
                        let first_unit = list.len;
                        list.class_pairs.push(ClassPair { first_unit, a, x_class, y_class });
                        list.len += units;
                    }
                }
            }
        }
        list
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn is_odd(&self) -> bool {
        self.size.get() % 2 == 1
    }

    /// Whether white and black have as many queens in even rows, on an even board.
    fn is_balanced(&self, a: u32) -> bool {
        !self.is_odd() && 4 * a == self.size.get()
    }

    /// The number of white queens in odd rows.
    pub(super) fn odd_size(&self, a: u32) -> u32 {
        if self.is_odd() { a - 1 } else { a }
    }

    /// Whether a set has at most the rank of its reverse.
    fn at_most_reversed(subsets: &Subsets, set: u32) -> bool {
        subsets.rank(set) <= subsets.rank(subsets.reversed(set))
    }

    /// The y of a class that form units with an x.
    fn ys(&self, a: u32, x: u32, class: &Range<u32>) -> Ys {
        if self.is_odd() {
            let set = self.even.of_size(a)[x as usize];
            let is_canonical = Self::at_most_reversed(&self.even, set);
            let ranks = if is_canonical { class.clone() } else { 0..0 };
            return Ys { ranks, at_most_reversed: self.even.reversed(set) == set };
        }
        let last = self.last_rank(a);
        let most = if self.is_balanced(a) { last.saturating_sub(x) } else { last };
        Ys { ranks: class.start.max(x)..class.end.min(most + 1), at_most_reversed: false }
    }

    /// Each of these y.
    fn each(&self, a: u32, ys: &Ys) -> impl Iterator<Item = u32> {
        let Ys { ranks, at_most_reversed } = ys.clone();
        let sets = self.odd.of_size(self.odd_size(a));
        let is_unit = move |y: &u32| Self::at_most_reversed(&self.odd, sets[*y as usize]);
        ranks.filter(move |y| !at_most_reversed || is_unit(y))
    }

    /// How many y these are.
    fn number_of(&self, a: u32, ys: &Ys) -> usize {
        if ys.at_most_reversed { self.each(a, ys).count() } else { ys.ranks.len() }
    }

    fn last_rank(&self, a: u32) -> u32 {
        self.even.of_size(a).len() as u32 - 1
    }

    /// The number of a unit's pair of classes.
    fn class_pair(&self, unit: usize) -> usize {
        assert!(unit < self.len, "unit {unit} of {}", self.len);
        self.class_pairs.partition_point(|pair| pair.first_unit <= unit) - 1
    }

    /// The units that have the same classes as this one.
    pub(super) fn of_classes(&self, unit: usize) -> Range<usize> {
        let pair = self.class_pair(unit);
        let end = self.class_pairs.get(pair + 1).map_or(self.len, |next| next.first_unit);
        self.class_pairs[pair].first_unit..end
    }

    /// The batch to which a unit belongs.
    pub(super) fn batch(&self, unit: usize) -> Batch {
        let ClassPair { mut first_unit, a, x_class, y_class } =
            self.class_pairs[self.class_pair(unit)];
        let x_class = self.even.classes(a)[usize::from(x_class)].clone();
        let y_class = self.odd.classes(self.odd_size(a))[usize::from(y_class)].clone();
        for x in x_class.clone() {
            let ys = self.ys(a, x, &y_class);
            let units = first_unit..first_unit + self.number_of(a, &ys);
            if units.contains(&unit) {
                return Batch { units, a, x, x_class, y_class, ys };
            }
            first_unit = units.end;
        }
        unreachable!("a pair of classes counts its units")
    }

    /// The y of some units, or of all that are in the batch of the first.
    pub(super) fn ys_of(&self, batch: &Batch, units: Range<usize>) -> impl Iterator<Item = u32> {
        self.each(batch.a, &batch.ys).skip(units.start - batch.units.start).take(units.len())
    }

    /// The a, x and y of a unit.
    fn ranks_of(&self, unit: usize) -> (u32, u32, u32) {
        let batch = self.batch(unit);
        let y = self.ys_of(&batch, unit..unit + 1).next().expect("a batch has its units");
        (batch.a, batch.x, y)
    }

    /// The odd rows, or columns, of this rank.
    pub(super) fn odd_set(&self, a: u32, rank: u32) -> u32 {
        let set = self.odd.of_size(self.odd_size(a))[rank as usize];
        if self.is_odd() { set } else { self.odd.reversed(set) }
    }

    /// The number of images that each solution of the unit stands for, except for those by transposition
    /// and, on odd boards, the flip of the columns, which are in the unit's count.
    pub(super) fn weight(&self, unit: usize) -> u64 {
        let (a, x, y) = self.ranks_of(unit);
        if self.is_odd() {
            let is_palindrome = |subsets: &Subsets, set| subsets.reversed(set) == set;
            let both = is_palindrome(&self.even, self.even.of_size(a)[x as usize])
                && is_palindrome(&self.odd, self.odd_set(a, y));
            return if both { 1 } else { 2 };
        }
        let ties = y == x || self.is_balanced(a) && y == self.last_rank(a) - x;
        if ties { 2 } else { 4 }
    }

    /// The solutions that the unit counts.
    pub(super) fn domains(self: &Arc<Self>, unit: usize) -> RowDomains {
        let (a, x, y) = self.ranks_of(unit);
        let [white_even, white_odd] = [self.even.of_size(a)[x as usize], self.odd_set(a, y)];
        let mut domains = RowDomains::whole_board(self.size);
        for (row, allowed) in domains.allowed[..self.size.rows()].iter_mut().enumerate() {
            let is_even_row = row % 2 == 0;
            let set = if is_even_row { white_even } else { white_odd };
            let is_white = set >> (row / 2) & 1 == 1;
            *allowed &= if is_white == is_even_row { EVEN } else { !EVEN };
        }
        let list = Arc::clone(self);
        domains.weight = Some(Box::new(move |columns| {
            list.columns(a, x).weight(y, halved(columns), halved(columns >> 1))
        }));
        domains
    }

    /// What the columns weigh in the units of this x.
    pub(super) fn columns(&self, a: u32, x: u32) -> Columns<'_> {
        Columns { list: self, a, x }
    }
}

/// What one label says about the weight of its pairs in the units of one x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelWeight {
    /// No pair counts: the label is left out of lists and programs.
    Dropped,
    /// The label ties with the rows: each pair has a weight of its own.
    Tied,
    /// A pair of two clear labels weighs the product of what both say.
    Clear(u16),
}

/// What pairs of labels weigh in the units of one x.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    list: &'a UnitList,
    a: u32,
    x: u32,
}

impl Columns<'_> {
    /// u, and v.
    fn ranks(&self, even: u32, odd: u32) -> (u32, u32) {
        let UnitList { even: evens, odd: odds, .. } = self.list;
        let odd = if self.list.is_odd() { odd } else { odds.reversed(odd) };
        (evens.rank(even), odds.rank(odd))
    }

    /// What a label of this rank, u or v, says: it is compared with x, on balanced boards with M - 1 - x as well.
    fn compare(&self, rank: u32, clear: u16) -> LabelWeight {
        let balanced = self.list.is_balanced(self.a);
        let nearest = if balanced { rank.min(self.list.last_rank(self.a) - rank) } else { rank };
        match nearest.cmp(&self.x) {
            Ordering::Greater => LabelWeight::Clear(clear),
            Ordering::Equal => LabelWeight::Tied,
            Ordering::Less => LabelWeight::Dropped,
        }
    }

    /// What a label of the list of this colour, or of the tree of the other one, says: Ce of white.
    pub(super) fn label(&self, list: Colour, label: u32) -> LabelWeight {
        let UnitList { even, odd, .. } = self.list;
        match (list, self.list.is_odd()) {
            (Colour::White, false) => self.compare(even.rank(label), 2),
            (Colour::Black, false) => self.compare(odd.rank(odd.reversed(label)), 1),
            (Colour::Black, true) => LabelWeight::Clear(1),
            // The flip of the columns: of Ce and its reverse one is counted, twice.
            _ if even.reversed(label) == label => self.compare(even.rank(label), 2),
            _ if UnitList::at_most_reversed(even, label) => self.compare(even.rank(label), 4),
            _ => LabelWeight::Dropped,
        }
    }

    /// The labels of the list of this colour, or of the tree of the other one, that are not dropped.
    pub(super) fn labels(self, list: Colour) -> impl Iterator<Item = u32> {
        let UnitList { even, odd, .. } = self.list;
        let sets = match list {
            Colour::White => even.of_size(self.a),
            Colour::Black => odd.of_size(self.list.odd_size(self.a)),
        };
        let counts = move |label: &u32| self.label(list, *label) != LabelWeight::Dropped;
        sets.iter().copied().filter(counts)
    }

    /// How many times the unit with this y counts the solutions with these columns.
    pub(super) fn weight(&self, y: u32, even: u32, odd: u32) -> u64 {
        let (u, v) = self.ranks(even, odd);
        let (fold, key) = if self.list.is_odd() {
            if !UnitList::at_most_reversed(&self.list.even, even) {
                return 0;
            }
            let is_palindrome = self.list.even.reversed(even) == even;
            let turned = self.list.odd.rank(self.list.odd.reversed(odd));
            if is_palindrome { (1, (u, v.min(turned))) } else { (2, (u, v)) }
        } else {
            let last = self.list.last_rank(self.a);
            let mut key = (u, v).min((v, u));
            if self.list.is_balanced(self.a) {
                key = key.min((last - u, last - v)).min((last - v, last - u));
            }
            (1, key)
        };
        match key.cmp(&(self.x, y)) {
            Ordering::Greater => 2 * fold,
            Ordering::Equal => fold,
            Ordering::Less => 0,
        }
    }
}
