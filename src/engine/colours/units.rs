//! The units of a count, and how many times each unit counts a solution.
//!
//! docs/COLOURS.md (section *Units and symmetries*) derives the rules of this file, and proves that the units count
//! each solution once. In short:
//!
//! A **unit** has two row sets: Re, the even rows whose queen is white, and Ro, the odd rows whose queen is white. Ce
//! and Co are the even and the odd columns whose queen is white, and a is the size of Re. Each set has a **rank**, its
//! place in the order of [`Subsets`]: x for Re, y for Ro, u for Ce and v for Co. On even boards the odd sets are
//! reversed before they are ranked, because a half-turn of the board maps odd rows to even ones.
//!
//! Flips and the half-turn of the board give these two sets several **images**. The smallest one is their **key**
//! ([`Ranks`]). Each symmetry is used in one of three ways:
//!
//! * **Flips that change the rows are in the weight.** Rows are a unit if they are their own key. The weight of the
//!   unit is the number of different images of its rows, because each image has equally many solutions
//!   ([`UnitList::weight`]).
//! * **The flip of the columns of an odd board is in the count of the unit,** because it leaves the rows alone. A
//!   solution is counted twice if its Ce is below the reverse of Ce, and not at all if it is above
//!   ([`Multiplicities::of_flip`]).
//! * **The transposition is in the count of the unit,** because it exchanges the keys of the rows and of the columns.
//!   A solution is counted twice if its rows have the smaller key, and not at all if its columns have it
//!   ([`PairMultiplicity::in_unit`]).
//!
//! **Order:** by a, the class of x, the class of y, x, y. A **batch** is the units with the same x and with the y of
//! the same class. So the units of a batch are neighbours, and so are the batches with the same pair of classes.
//!
//! **Invariants:** the number of units, and what each of them counts, depend on n alone.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::squares::Parity;
use super::subsets::Subsets;
use crate::board::size::BoardSize;
use crate::engine::plain::even_bits;
use crate::engine::unit::{EVEN, RowDomains};

/// All units of a board, without a list of them.
pub(super) struct UnitList {
    pub(super) size: BoardSize,
    /// The sets of even rows or columns.
    pub(super) even: Subsets,
    /// The sets of odd rows or columns.
    pub(super) odd: Subsets,
    /// The pairs of classes, in order. Those without units are left out.
    class_pairs: Vec<ClassPair>,
    /// The number of units.
    pub(super) len: usize,
}

/// A class of x and a class of y that have units.
#[derive(Clone, Copy)]
struct ClassPair {
    first_unit: usize,
    a: u32,
    /// The number of the class of x.
    x_class: u16,
    /// The number of the class of y.
    y_class: u16,
}

/// The units with the same x and with the y of the same class. They share their even rows, and their odd rows in the
/// centre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The numbers of the units.
    pub(super) units: Range<usize>,
    /// The number of white queens in even rows.
    pub(super) a: u32,
    pub(super) x: u32,
    pub(super) x_class: Range<u32>,
    pub(super) y_class: Range<u32>,
}

/// The ranks of a set of even rows and a set of odd rows, or of columns. They are compared by the fields in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranks {
    /// The size of the even set.
    a: u32,
    /// The rank of the even set among the sets of its size: x or u.
    even: u32,
    /// The rank of the odd set, on even boards of its reverse: y or v.
    odd: u32,
}

impl Ranks {
    /// Returns the ranks after a half-turn of an even board, which exchanges the even set and the odd set.
    fn half_turned(self) -> Self {
        Self { a: self.a, even: self.odd, odd: self.even }
    }
}

impl UnitList {
    pub(super) fn new(size: BoardSize) -> Self {
        let n = size.get();
        let even = Subsets::new(n.div_ceil(2));
        let odd = Subsets::new(n / 2);
        let mut list = Self { size, even, odd, class_pairs: Vec::new(), len: 0 };
        // On even boards a flip of the rows turns a into N - a, so the keys have 2a <= N.
        let sizes = if list.is_odd() { 1..=n.div_ceil(2) } else { 0..=n / 4 };
        for a in sizes {
            for (x_class, xs) in (0..).zip(list.even.classes(a)) {
                for (y_class, ys) in (0..).zip(list.odd.classes(list.white_in_odd_rows(a))) {
                    let mut units = 0;
                    for x in xs.clone() {
                        units += list.odd_ranks(a, x, ys).count();
                    }
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

    fn is_odd(&self) -> bool {
        self.size.get() % 2 == 1
    }

    /// Returns the number of white queens in odd rows, given the number of white queens in even rows.
    pub(super) fn white_in_odd_rows(&self, a: u32) -> u32 {
        if self.is_odd() { a - 1 } else { a }
    }

    /// Returns the set of even rows, or columns, that has this rank.
    pub(super) fn even_set(&self, a: u32, rank: u32) -> u32 {
        self.even.of_size(a)[rank as usize]
    }

    /// Returns the set of odd rows, or columns, that has this rank.
    pub(super) fn odd_set(&self, a: u32, rank: u32) -> u32 {
        let set = self.odd.of_size(self.white_in_odd_rows(a))[rank as usize];
        self.reversed_on_even_boards(set)
    }

    /// Returns the rank of a set of odd rows or columns.
    fn odd_rank(&self, odd: u32) -> u32 {
        self.odd.rank(self.reversed_on_even_boards(odd))
    }

    /// Returns the set that is ranked in place of a set of odd numbers. On even boards this is the reverse, because a
    /// half-turn maps row 2i + 1 to row 2 (N - 1 - i), and so the rank of an odd set to the rank of an even one.
    fn reversed_on_even_boards(&self, odd: u32) -> u32 {
        if self.is_odd() { odd } else { self.odd.reversed(odd) }
    }

    /// Returns the ranks of a set of even rows and a set of odd rows, or of columns.
    fn ranks(&self, even: u32, odd: u32) -> Ranks {
        Ranks { a: even.count_ones(), even: self.even.rank(even), odd: self.odd_rank(odd) }
    }

    /// Returns the images of two sets of rows, or of two sets of columns, under nothing, the half-turn and both flips.
    /// An image that several of them give appears several times.
    fn images(&self, own: Ranks) -> [Ranks; 4] {
        if self.is_odd() {
            // One of the flips and the half-turn reverse the sets, and the other flip leaves them alone.
            let reversed = Ranks {
                a: own.a,
                even: self.even.rank_of_reversed(self.even_set(own.a, own.even)),
                odd: self.odd.rank_of_reversed(self.odd_set(own.a, own.odd)),
            };
            [own, reversed, reversed, own]
        } else {
            // The half-turn exchanges even and odd. A flip that leaves the sets in place exchanges the colours, and the
            // other flip does both.
            let recoloured = self.recoloured(own);
            [own, own.half_turned(), recoloured, recoloured.half_turned()]
        }
    }

    /// Returns the smallest image of two sets of rows or columns. All images have this key.
    fn key(&self, own: Ranks) -> Ranks {
        self.images(own).into_iter().fold(own, Ord::min)
    }

    /// Returns the ranks of the sets that are left when the colours are exchanged on an even board: the complements.
    fn recoloured(&self, ranks: Ranks) -> Ranks {
        let Ranks { a, even, odd } = ranks;
        Ranks {
            a: self.recoloured_size(a),
            even: self.recoloured_rank(a, even),
            odd: self.recoloured_rank(a, odd),
        }
    }

    /// Returns the size of the complement of a set of `a` rows or columns of an even board.
    fn recoloured_size(&self, a: u32) -> u32 {
        self.size.get() / 2 - a
    }

    /// Returns the rank of the complement of a set of `a` rows or columns of an even board, because the complement
    /// reverses the order.
    fn recoloured_rank(&self, a: u32, rank: u32) -> u32 {
        let last = self.even.of_size(a).len() - 1;
        u32::try_from(last).expect("sets have 16 bits") - rank
    }

    /// Returns the ranks y of a class with which this x forms a unit: the rows must be their own key.
    fn odd_ranks(&self, a: u32, x: u32, class: &Range<u32>) -> impl Iterator<Item = u32> {
        let mut ranks = class.clone();
        let mut is_palindrome = false;
        if self.is_odd() {
            // The image is the reverse of the rows. It is compared by x, and only if x ties, by y.
            let reversed = self.even.rank_of_reversed(self.even_set(a, x));
            is_palindrome = x == reversed;
            if x > reversed {
                ranks = 0..0;
            }
        } else {
            // The half-turn has the ranks (y, x). If 2a = N, the flips have (M-1-y, M-1-x) and (M-1-x, M-1-y).
            // Otherwise they have N - a queens in even rows, which is more.
            ranks.start = ranks.start.max(x);
            if self.recoloured_size(a) == a {
                ranks.end = ranks.end.min(self.recoloured_rank(a, x) + 1);
            }
        }
        ranks.filter(move |y| !is_palindrome || self.is_odd_set_at_most_its_reverse(a, *y))
    }

    /// Returns whether the set of odd rows of an odd board that has this rank does not come after its reverse.
    fn is_odd_set_at_most_its_reverse(&self, a: u32, rank: u32) -> bool {
        rank <= self.odd.rank_of_reversed(self.odd_set(a, rank))
    }

    /// Returns the number of the pair of classes to which a unit belongs.
    fn class_pair_index(&self, unit: usize) -> usize {
        assert!(unit < self.len, "unit {unit} of {}", self.len);
        self.class_pairs.partition_point(|class_pair| class_pair.first_unit <= unit) - 1
    }

    /// Returns the units that have the same pair of classes as this one.
    pub(super) fn class_pair_units(&self, unit: usize) -> Range<usize> {
        let index = self.class_pair_index(unit);
        let start = self.class_pairs[index].first_unit;
        match self.class_pairs.get(index + 1) {
            Some(next) => start..next.first_unit,
            None => start..self.len,
        }
    }

    /// Returns the batch to which a unit belongs.
    pub(super) fn batch(&self, unit: usize) -> Batch {
        let class_pair = self.class_pairs[self.class_pair_index(unit)];
        let a = class_pair.a;
        let x_class = self.even.classes(a)[usize::from(class_pair.x_class)].clone();
        let y_classes = self.odd.classes(self.white_in_odd_rows(a));
        let y_class = y_classes[usize::from(class_pair.y_class)].clone();
        let mut first_unit = class_pair.first_unit;
        for x in x_class.clone() {
            let units = first_unit..first_unit + self.odd_ranks(a, x, &y_class).count();
            if units.contains(&unit) {
                return Batch { units, a, x, x_class, y_class };
            }
            first_unit = units.end;
        }
        unreachable!("a unit has an x of its pair of classes")
    }

    /// Returns the rank y of each of these units that is in the batch. The first unit must be in it.
    pub(super) fn odd_ranks_of(
        &self,
        batch: &Batch,
        units: Range<usize>,
    ) -> impl Iterator<Item = u32> {
        let odd_ranks = self.odd_ranks(batch.a, batch.x, &batch.y_class);
        odd_ranks.skip(units.start - batch.units.start).take(units.len())
    }

    /// Returns the ranks of the even and the odd rows of a unit whose queen is white.
    fn ranks_of_rows(&self, unit: usize) -> Ranks {
        let batch = self.batch(unit);
        let y = self.odd_ranks_of(&batch, unit..unit + 1).next().expect("a batch has its units");
        Ranks { a: batch.a, even: batch.x, odd: y }
    }

    /// Returns the number of different images of the rows of a unit.
    ///
    /// Each image has equally many solutions, because a symmetry maps the solutions of the unit to them. The images by
    /// transposition, and on odd boards by the flip of the columns, are not among them, because these solutions are in
    /// the count of the unit.
    pub(super) fn weight(&self, unit: usize) -> u64 {
        let own = self.ranks_of_rows(unit);
        let images = self.images(own);
        let repetitions = images.iter().filter(|image| **image == own).count();
        // All different images appear equally often, because the symmetries form a group.
        (images.len() / repetitions) as u64
    }

    /// Returns the solutions that the unit counts.
    pub(super) fn domains(self: &Arc<Self>, unit: usize) -> RowDomains {
        let rows = self.ranks_of_rows(unit);
        let white_even = self.even_set(rows.a, rows.even);
        let white_odd = self.odd_set(rows.a, rows.odd);
        let mut domains = RowDomains::all(self.size);
        for (row, allowed) in domains.allowed[..self.size.rows()].iter_mut().enumerate() {
            let is_even_row = row % 2 == 0;
            let white_rows = if is_even_row { white_even } else { white_odd };
            let is_white = white_rows >> (row / 2) & 1 == 1;
            // White squares have the parity of their row in both coordinates.
            *allowed &= if is_white == is_even_row { EVEN } else { !EVEN };
        }
        let list = Arc::clone(self);
        domains.multiplicity = Some(Box::new(move |columns| {
            let multiplicities = list.multiplicities(rows.a, rows.even);
            let pair = multiplicities.of_pair(even_bits(columns), even_bits(columns >> 1));
            pair.in_unit(rows.odd).into()
        }));
        domains
    }

    /// Returns how many times the units of this x count columns.
    pub(super) fn multiplicities(&self, a: u32, x: u32) -> Multiplicities<'_> {
        Multiplicities { list: self, a, x }
    }
}

/// How many times the units of one x count the solutions with given columns, their **multiplicity**.
///
/// The columns are a pair of labels, Ce and Co. Their multiplicity is the product of two factors: for the
/// transposition, and on odd boards for the flip of the columns.
#[derive(Clone, Copy)]
pub(super) struct Multiplicities<'a> {
    list: &'a UnitList,
    /// The size of Re, and of Ce.
    a: u32,
    x: u32,
}

impl Multiplicities<'_> {
    /// Returns the factor for the flip of the columns, which on odd boards leaves the rows alone: of Ce and its
    /// reverse the one with the lower rank is counted, for both. On even boards the factor is 1, because the flip of
    /// the columns is in the weight of the unit.
    fn of_flip(&self, even_columns: u32) -> u16 {
        if !self.list.is_odd() {
            return 1;
        }
        let even = &self.list.even;
        of_smaller(&even.rank(even_columns), &even.rank_of_reversed(even_columns))
    }

    /// Returns the factor of a label: a Ce, which has even columns, or a Co, which has odd ones.
    ///
    /// The multiplicity of a pair of labels is the product of their two factors. Returns `None` if the label ties with
    /// the rows, because then the multiplicities of its pairs depend on both labels and on y: see
    /// [`Multiplicities::of_pair`].
    pub(super) fn of_label(&self, parity: Parity, label: u32) -> Option<u16> {
        match parity {
            Parity::Even => self.of_even_label(label),
            Parity::Odd => self.of_odd_label(label),
        }
    }

    /// Returns the factor of a Ce. It has the factor of the flip, and the 2 of solutions that stand for the transposed
    /// ones, too.
    fn of_even_label(&self, label: u32) -> Option<u16> {
        let of_flip = self.of_flip(label);
        if of_flip == 0 {
            // The reverse of this Ce is counted instead, whatever the rows are.
            return Some(0);
        }
        match self.compare_with_rows(self.list.even.rank(label)) {
            Ordering::Less => Some(0),
            Ordering::Equal => None,
            Ordering::Greater => Some(2 * of_flip),
        }
    }

    /// Returns the factor of a Co. It only decides whether the pair is counted, because the other factors belong to Ce.
    fn of_odd_label(&self, label: u32) -> Option<u16> {
        if self.list.is_odd() {
            // The key of the columns of an odd board begins with the rank of a Ce. Co matters only where Ce ties.
            return Some(1);
        }
        match self.compare_with_rows(self.list.odd_rank(label)) {
            Ordering::Less => Some(0),
            Ordering::Equal => None,
            Ordering::Greater => Some(1),
        }
    }

    /// Compares the smallest rank that a label brings into the images of the columns with x.
    ///
    /// The key of the columns begins with the smallest of u and v and of their complements' ranks. (On odd boards it
    /// begins with u, because a Ce above its reverse is not counted.) The key of the rows begins with x. So a label
    /// whose smallest rank is below x makes the key of the columns smaller than the key of the rows. Two labels above
    /// x make it larger.
    fn compare_with_rows(&self, rank: u32) -> Ordering {
        let Self { list, a, x } = *self;
        let mut smallest = rank;
        if !list.is_odd() && list.recoloured_size(a) == a {
            smallest = smallest.min(list.recoloured_rank(a, rank));
        }
        smallest.cmp(&x)
    }

    /// Returns the labels Ce or Co that units count: those whose factor is not 0.
    pub(super) fn labels(self, parity: Parity) -> impl Iterator<Item = u32> {
        let list = self.list;
        let sets = match parity {
            Parity::Even => list.even.of_size(self.a),
            Parity::Odd => list.odd.of_size(list.white_in_odd_rows(self.a)),
        };
        sets.iter().copied().filter(move |label| self.of_label(parity, *label) != Some(0))
    }

    /// Returns the multiplicities of a pair of labels in the units of this x.
    pub(super) fn of_pair(&self, even_columns: u32, odd_columns: u32) -> PairMultiplicity {
        PairMultiplicity {
            a: self.a,
            x: self.x,
            key_of_columns: self.list.key(self.list.ranks(even_columns, odd_columns)),
            of_flip: self.of_flip(even_columns),
        }
    }
}

/// The multiplicities of a pair of labels in the units of one x. They depend on y.
pub(super) struct PairMultiplicity {
    a: u32,
    x: u32,
    key_of_columns: Ranks,
    of_flip: u16,
}

impl PairMultiplicity {
    /// Returns the multiplicity in the unit with this y.
    ///
    /// Of a solution and the transposed one, the one whose rows have the smaller key is counted, for both. The rows of
    /// the transposed solution are the columns of the solution.
    pub(super) fn in_unit(&self, y: u32) -> u16 {
        // The rows of a unit are their own key.
        let key_of_rows = Ranks { a: self.a, even: self.x, odd: y };
        of_smaller(&key_of_rows, &self.key_of_columns) * self.of_flip
    }
}

/// Returns how many times the first of two images is counted, if the smaller one is counted for both: the two numbers
/// of times always add up to 2.
fn of_smaller<T: Ord>(own: &T, other: &T) -> u16 {
    match own.cmp(other) {
        Ordering::Less => 2,
        Ordering::Equal => 1,
        Ordering::Greater => 0,
    }
}
