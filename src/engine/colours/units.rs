//! The units of a count: orbits of row sets, and the weights of pairs of labels in them.
//!
//! A **unit** is a pair of row sets: Re, the even rows whose queen is white, and Ro, the odd rows whose queen is
//! white. Ce and Co are the even and odd columns whose queen is white. Let a be the size of Re, and let x, y, u, v be
//! ranks in the order of [`Subsets`]:
//!
//! **Even n = 2N.** All four sets have a numbers. x and u are the ranks of Re and Ce, y and v are the ranks of Ro and
//! Co *reversed*, and M = (N choose a). A half-turn of the board exchanges x with y and u with v. The flip of the rows
//! exchanges the colours: it turns (x, y, u, v) into (M-1-y, M-1-x, M-1-u, M-1-v), and a into N - a. The
//! transposition exchanges (x, y) with (u, v). So of each orbit one image is counted:
//!
//! ```text
//!     2a < N:   x <= y             weight 4, or 2 if y = x
//!     2a = N:   x <= y <= M-1-x    weight 4, or 2 if y = x or y = M-1-x
//! ```
//!
//! The key of the columns is the smallest of (u, v) and (v, u), and if 2a = N also of (M-1-u, M-1-v) and (M-1-v,
//! M-1-u). Columns count twice if their key is above (x, y), for the transposed solution. They count once if it is
//! equal, and never if it is below. So a pair (u, v) counts only if u and v are in x..M, or if 2a = N, in x..M-x. If
//! both are strictly inside this range, the pair counts twice.
//!
//! **Odd n = 2N + 1.** Re and Ce have a numbers, Ro and Co have a - 1. x, y, u and v are the ranks of Re, Ro, Ce and
//! Co. The flips keep the colours. A flip of the rows leaves the columns alone, and a flip of the columns leaves the
//! rows alone. So of the rows and their reverse one pair is counted: the rank of Re is at most the rank of its
//! reverse, and if these are equal, then the rank of Ro is at most the rank of its reverse. The weight is 2, or 1 if
//! both sets are palindromes.
//!
//! The flip of the columns reverses Ce and Co, and is in the count of the unit: columns count twice if the rank of Ce
//! is below the rank of its reverse, once if they are equal, and never if it is above. Last comes the transposition.
//! The key of the columns is the smaller of (u, v) and its reverse. The number of times doubles if the key is above
//! (x, y), stays if it is equal, and is 0 if it is below.
//!
//! **Order:** by a, the class of x, the class of y, x, y. A **batch** is the units with the same x and with the y of
//! the same class. So the units of a batch are neighbours, and so are the batches with the same pair of classes.
//!
//! **Invariants:** the number of units, and what each of them counts, depend on n alone.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::squares::Colour;
use super::subsets::Subsets;
use crate::board::size::BoardSize;
use crate::board::square::FixedQueens;
use crate::engine::plain::even_bits;
use crate::engine::unit::{EVEN, RowDomains};

/// All units of a board, without a list of them.
pub(super) struct UnitList {
    pub(super) size: BoardSize,
    /// The sets of even rows or columns.
    pub(super) even: Subsets,
    /// The sets of odd rows or columns.
    pub(super) odd: Subsets,
    /// The pairs of classes, in order. Pairs without units are left out.
    class_pairs: Vec<ClassPair>,
    /// The number of units.
    pub(super) len: usize,
}

/// A class of x and a class of y that have units.
#[derive(Clone, Copy)]
struct ClassPair {
    first_unit: usize,
    a: u32,
    /// The number of the class of x and the number of the class of y.
    x_class: u16,
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

impl UnitList {
    pub(super) fn new(size: BoardSize) -> Self {
        let n = size.get();
        let (even, odd) = (Subsets::new(n.div_ceil(2)), Subsets::new(n / 2));
        let mut list = Self { size, even, odd, class_pairs: Vec::new(), len: 0 };
        let sizes = if list.is_odd() { 1..=n.div_ceil(2) } else { 0..=n / 4 };
        for a in sizes {
            for (x_class, xs) in (0..).zip(list.even.classes(a)) {
                for (y_class, class) in (0..).zip(list.odd.classes(list.white_in_odd_rows(a))) {
                    let units: usize =
                        xs.clone().map(|x| list.odd_ranks(a, x, class).count()).sum();
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

    /// Returns the number of white queens in odd rows.
    pub(super) fn white_in_odd_rows(&self, a: u32) -> u32 {
        if self.is_odd() { a - 1 } else { a }
    }

    /// Returns the images of a set of even rows and a set of odd rows, or of columns, under the flips of the board.
    /// Each image is a and the ranks x and y, or u and v. The first image is the sets themselves. On odd boards each
    /// image appears twice.
    fn images(&self, even: u32, odd: u32) -> [(u32, u32, u32); 4] {
        let a = even.count_ones();
        let [x, y] = [self.even.rank(even), self.odd.rank(self.reversed_on_even_boards(odd))];
        if self.is_odd() {
            let reversed = (a, self.even.rank_of_reversed(even), self.odd.rank_of_reversed(odd));
            return [(a, x, y), reversed, (a, x, y), reversed];
        }
        let [(b, p), (_, q)] = [x, y].map(|rank| self.recoloured(a, rank));
        [(a, x, y), (a, y, x), (b, p, q), (b, q, p)]
    }

    /// Returns the number of white queens in even rows, a, and the rank of a set of rows or columns after a flip of
    /// the rows of an even board, which exchanges the colours.
    fn recoloured(&self, a: u32, rank: u32) -> (u32, u32) {
        (self.size.get() / 2 - a, self.even.of_size(a).len() as u32 - 1 - rank)
    }

    /// Returns the ranks y of a class that form units with an x: the ranks for which no image comes before the rows
    /// themselves.
    fn odd_ranks(&self, a: u32, x: u32, class: &Range<u32>) -> impl Iterator<Item = u32> {
        let (ranks, order) = if self.is_odd() {
            let reversed = self.even.rank_of_reversed(self.even.of_size(a)[x as usize]);
            (class.clone(), x.cmp(&reversed))
        } else {
            let (b, most) = self.recoloured(a, x);
            let end = if a == b { class.end.min(most + 1) } else { class.end };
            (class.start.max(x)..end, Ordering::Less)
        };
        ranks.filter(move |y| match order {
            Ordering::Less => true,
            Ordering::Equal => *y <= self.odd.rank_of_reversed(self.odd_set(a, *y)),
            Ordering::Greater => false,
        })
    }

    /// Returns the number of the pair of classes to which a unit belongs.
    fn class_pair_index(&self, unit: usize) -> usize {
        assert!(unit < self.len, "unit {unit} of {}", self.len);
        self.class_pairs.partition_point(|pair| pair.first_unit <= unit) - 1
    }

    /// Returns the units that have the same pair of classes as this one.
    pub(super) fn class_pair_units(&self, unit: usize) -> Range<usize> {
        let pair = self.class_pair_index(unit);
        let end = self.class_pairs.get(pair + 1).map_or(self.len, |next| next.first_unit);
        self.class_pairs[pair].first_unit..end
    }

    /// Returns the batch to which a unit belongs.
    pub(super) fn batch(&self, unit: usize) -> Batch {
        let ClassPair { mut first_unit, a, x_class, y_class } =
            self.class_pairs[self.class_pair_index(unit)];
        let x_class = self.even.classes(a)[usize::from(x_class)].clone();
        let y_class = self.odd.classes(self.white_in_odd_rows(a))[usize::from(y_class)].clone();
        for x in x_class.clone() {
            let units = first_unit..first_unit + self.odd_ranks(a, x, &y_class).count();
            if units.contains(&unit) {
                return Batch { units, a, x, x_class, y_class };
            }
            first_unit = units.end;
        }
        unreachable!("a pair of classes counts its units")
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

    /// Returns the even and the odd rows of a unit whose queen is white.
    fn rows_of(&self, unit: usize) -> [u32; 2] {
        let batch = self.batch(unit);
        let y = self.odd_ranks_of(&batch, unit..unit + 1).next().expect("a batch has its units");
        [self.even.of_size(batch.a)[batch.x as usize], self.odd_set(batch.a, y)]
    }

    /// Returns the odd rows, or columns, that have this rank.
    pub(super) fn odd_set(&self, a: u32, rank: u32) -> u32 {
        let set = self.odd.of_size(self.white_in_odd_rows(a))[rank as usize];
        self.reversed_on_even_boards(set)
    }

    /// Returns the set whose place in the order of subsets is the rank of a set of odd numbers. On even boards this
    /// is the reverse, because a half-turn maps odd numbers to even ones.
    fn reversed_on_even_boards(&self, odd: u32) -> u32 {
        if self.is_odd() { odd } else { self.odd.reversed(odd) }
    }

    /// Returns the number of images that each solution of the unit stands for. The images by transposition, and on
    /// odd boards by the flip of the columns, are not among them, because they are in the count of the unit.
    pub(super) fn weight(&self, unit: usize) -> u64 {
        let [even, odd] = self.rows_of(unit);
        let images = self.images(even, odd);
        let alike = images.iter().filter(|image| **image == images[0]).count();
        (images.len() / alike) as u64
    }

    /// Returns the solutions that the unit counts.
    pub(super) fn domains(self: &Arc<Self>, unit: usize) -> RowDomains {
        let [white_even, white_odd] = self.rows_of(unit);
        let (a, x, y) = self.images(white_even, white_odd)[0];
        let mut domains = RowDomains::with_queens(self.size, &FixedQueens::default());
        for (row, allowed) in domains.allowed[..self.size.rows()].iter_mut().enumerate() {
            let is_even_row = row % 2 == 0;
            let set = if is_even_row { white_even } else { white_odd };
            let is_white = set >> (row / 2) & 1 == 1;
            *allowed &= if is_white == is_even_row { EVEN } else { !EVEN };
        }
        let list = Arc::clone(self);
        domains.weight = Some(Box::new(move |columns| {
            list.label_weights(a, x).pair(even_bits(columns), even_bits(columns >> 1))(y).into()
        }));
        domains
    }

    /// Returns the weights of columns in the units of this x.
    pub(super) fn label_weights(&self, a: u32, x: u32) -> LabelWeights<'_> {
        LabelWeights { list: self, a, x }
    }
}

/// The weights of pairs of labels in the units of one x.
#[derive(Clone, Copy)]
pub(super) struct LabelWeights<'a> {
    list: &'a UnitList,
    /// The size of Re.
    pub(super) a: u32,
    x: u32,
}

impl LabelWeights<'_> {
    /// Returns how many times this Ce counts for the flip of the columns, which on odd boards leaves the rows alone.
    fn flipped(&self, label: u32) -> u16 {
        let UnitList { even, .. } = self.list;
        if !self.list.is_odd() {
            return 1;
        }
        orbit_factor(&even.rank(label), &even.rank_of_reversed(label))
    }

    /// Returns the weight of a label of the list of this colour, or of the tree of the other colour. For white this
    /// is a Ce.
    ///
    /// A pair of labels weighs the product of both weights. If a label ties with the rows, it has no weight of its
    /// own, and this is `None`. Each of its pairs has a weight of its own then.
    pub(super) fn label(&self, colour: Colour, label: u32) -> Option<u16> {
        let Self { list, a, x } = *self;
        let (rank, weight) = match colour {
            Colour::White => (list.even.rank(label), 2 * self.flipped(label)),
            Colour::Black if list.is_odd() => return Some(1),
            Colour::Black => (list.odd.rank(list.reversed_on_even_boards(label)), 1),
        };
        let image = if list.is_odd() { (a, rank) } else { list.recoloured(a, rank) };
        match image.min((a, rank)).cmp(&(a, x)) {
            Ordering::Less => Some(0),
            Ordering::Equal if weight > 0 => None,
            _ => Some(weight),
        }
    }

    /// Returns the labels of the list of this colour, or of the tree of the other colour: all labels that do not
    /// weigh 0.
    pub(super) fn labels(self, colour: Colour) -> impl Iterator<Item = u32> {
        let UnitList { even, odd, .. } = self.list;
        let sets = match colour {
            Colour::White => even.of_size(self.a),
            Colour::Black => odd.of_size(self.list.white_in_odd_rows(self.a)),
        };
        sets.iter().copied().filter(move |label| self.label(colour, *label) != Some(0))
    }

    /// Returns a function from y to the number of times that the unit with this y counts the solutions with these
    /// columns.
    pub(super) fn pair(&self, even: u32, odd: u32) -> impl Fn(u32) -> u16 + use<> {
        let Self { list, a, x } = *self;
        let [own, others @ ..] = list.images(even, odd);
        let key = others.into_iter().fold(own, Ord::min);
        let flipped = self.flipped(even);
        move |y| orbit_factor(&(a, x, y), &key) * flipped
    }
}

/// Returns how many times one of two images counts: the lower one counts for both.
fn orbit_factor<T: Ord>(one: &T, other: &T) -> u16 {
    match one.cmp(other) {
        Ordering::Less => 2,
        Ordering::Equal => 1,
        Ordering::Greater => 0,
    }
}
