//! The method of docs/COLOURS.md with plain sets: no words, lists, trees or kernels. It uses nothing of the engine,
//! and agrees with it about every unit and every pair of column sets.

#![expect(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::super::{Colours, Kernel, Pass, SMALLEST, Units};
use crate::cancel::Cancel;
use crate::engine::tests::size;

/// Rows or columns of the whole board, with bit i for number i: Re and Ro together, or Ce and Co.
type Set = u32;
const EVEN: Set = 0x5555_5555;

fn others(n: u32, set: Set) -> Set {
    !set & ((1 << n) - 1)
}

fn reversed(n: u32, set: Set) -> Set {
    set.reverse_bits() >> (32 - n)
}

/// Returns the sets that can be white rows, or white columns: with a even numbers and a odd ones, or a - 1 odd ones
/// if n is odd.
fn sets(n: u32) -> impl Iterator<Item = Set> {
    let a = move |set: &Set| (set & !EVEN).count_ones() + n % 2;
    (0..1 << n).filter(move |set| (set & EVEN).count_ones() == a(set))
}

/// Returns the rank of a set. Sets are compared by a, then by even numbers, then by odd ones, which are reversed if n
/// is even.
fn rank(n: u32, set: Set) -> [u32; 3] {
    let even = set & EVEN;
    let odd = set & !EVEN;
    let ranked_odd = if n % 2 == 1 { odd } else { reversed(n, odd) };
    [even.count_ones(), even, ranked_odd]
}

/// Returns the ranks of a set's images under flips of the board. The first is its key. If n is even, a flip of rows
/// alone exchanges the colours.
fn images(n: u32, set: Set) -> BTreeSet<[u32; 3]> {
    let kept = [set, reversed(n, set)];
    let exchanged = if n % 2 == 1 { kept } else { kept.map(|set| others(n, set)) };
    kept.into_iter().chain(exchanged).map(|image| rank(n, image)).collect()
}

/// Returns the white rows of all units, in order. The weight of a unit is the number of its images.
fn units(n: u32) -> Vec<Set> {
    let is_key = |rows: &Set| images(n, *rows).first() == Some(&rank(n, *rows));
    let mut units: Vec<Set> = sets(n).filter(is_key).collect();
    units.sort_by_key(|rows| rank(n, *rows));
    units
}

/// Returns how many times white columns are counted. A solution stands for the transposed one if its rows have the
/// lower key. If n is odd, it stands for the one with flipped columns if its Ce is lower.
fn multiplicity_of(n: u32, rows: Set, columns: Set) -> u64 {
    let key_of_rows = images(n, rows).first().copied();
    let key_of_columns = images(n, columns).first().copied();
    let transposed = times(key_of_rows.cmp(&key_of_columns));
    let flipped = times((columns & EVEN).cmp(&(reversed(n, columns) & EVEN)));
    if n % 2 == 1 { transposed * flipped } else { transposed }
}

/// Returns how many times a solution is counted, given the order of the solution and its image.
fn times(order: Ordering) -> u64 {
    match order {
        Ordering::Less => 2,
        Ordering::Equal => 1,
        Ordering::Greater => 0,
    }
}

/// Counts the ways to fill rows and columns with queens on squares whose row + column has this parity.
fn placements(n: u32, parity: u32, rows: Set, columns: Set, queens: &[[u32; 2]]) -> u64 {
    let Some(row) = (0..n).find(|row| rows >> row & 1 == 1) else {
        return u64::from(columns == 0);
    };
    let mut ways = 0;
    for column in 0..n {
        let has_colour = (row + column) % 2 == parity;
        let is_attacked = queens.iter().any(|q| q[0].abs_diff(row) == q[1].abs_diff(column));
        if columns >> column & 1 == 1 && has_colour && !is_attacked {
            let with_queen = [queens, &[[row, column]]].concat();
            let other_columns = columns & !(1 << column);
            ways += placements(n, parity, rows & !(1 << row), other_columns, &with_queen);
        }
    }
    ways
}

/// Returns the dot product of W and B, with the multiplicities of columns.
fn count(n: u32, rows: Set) -> u64 {
    let mut sum = 0;
    for columns in sets(n) {
        let white = placements(n, 0, rows, columns, &[]);
        let black = placements(n, 1, others(n, rows), others(n, columns), &[]);
        sum += multiplicity_of(n, rows, columns) * white * black;
    }
    sum
}

#[test]
fn plain_sets_agree_about_every_unit() {
    for n in 1..=9 {
        let mut total = 0;
        let is_for_engine = n >= SMALLEST as u32;
        let colours = if is_for_engine { Some(Colours::new(size(n))) } else { None };
        if let Some(colours) = &colours {
            assert_eq!(colours.len(), units(n).len(), "n = {n}");
        }
        for (unit, rows) in units(n).into_iter().enumerate() {
            let weight = images(n, rows).len() as u64;
            let count = count(n, rows);
            total += weight * count;
            let Some(colours) = &colours else {
                continue;
            };
            assert_eq!(colours.weight(unit), weight, "n = {n}, {rows:b}");
            let domains = colours.domains(unit, Pass::First);
            for (row, allowed) in (0..n).zip(domains.allowed) {
                let columns = if rows >> row & 1 == row % 2 { !EVEN } else { EVEN };
                assert_eq!(allowed, columns & others(n, 0), "n = {n}, {rows:b}");
            }
            let multiplicity = domains.multiplicity.expect("columns have a multiplicity");
            for columns in sets(n).filter(|set| set.count_ones() == rows.count_ones()) {
                assert_eq!(multiplicity(columns), multiplicity_of(n, rows, columns), "{rows:b}");
            }
            for pass in [Pass::First, Pass::Second] {
                let counted = colours.counter(pass, Kernel::detect()).count(unit, &Cancel::new());
                assert_eq!(counted, Ok(count), "n = {n}, {rows:b}, {pass} count");
            }
        }
        assert_eq!(Some(total.into()), size(n).published().total, "n = {n}");
    }
}
