//! The hash of a plan, by which journals of other plans are recognised.

use super::Plan;
use crate::engine::unit::{EVEN, Pass, RowDomains};

/// A number that goes into the hash. It is increased when units change their meaning in a way that the hash would
/// miss.
const HASH_VERSION: u32 = 1;
/// The number of units that are hashed if the list is longer, spread evenly over it.
const HASHED_UNITS: usize = 1024;

/// Returns the hash that [`Plan::hash`] describes.
pub(super) fn hash(plan: &Plan) -> u32 {
    let mut hasher = Hasher::default();
    let units = plan.units();
    hasher.add(HASH_VERSION.into());
    hasher.add(plan.size.get().into());
    for byte in plan.engine.name().bytes() {
        hasher.add(byte.into());
    }
    hasher.add(plan.split_rows.unwrap_or(0) as u64);
    hasher.add(units as u64);
    let hashed = units.min(HASHED_UNITS);
    for place in 0..hashed {
        let unit = (place as u128 * units as u128 / hashed as u128) as usize;
        hasher.add(plan.weight(unit));
        // Both passes over a plan have the hash of the first one.
        hasher.add_domains(&plan.list.domains(unit, Pass::First));
    }
    hasher.0.finalize()
}

/// A CRC-32 of numbers.
#[derive(Default)]
struct Hasher(crc32fast::Hasher);

impl Hasher {
    fn add(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    /// Adds which solutions a unit counts, and how many times.
    fn add_domains(&mut self, domains: &RowDomains) {
        match &domains.multiplicity {
            None => self.add(0),
            Some(multiplicity) => {
                for columns in near_ties(domains) {
                    self.add(multiplicity(columns));
                }
            }
        }
        for columns in domains.allowed {
            self.add(columns.into());
        }
    }
}

/// Returns eight sets of columns for the white queens, chosen so that their multiplicities show how the unit treats
/// ties.
///
/// A unit of engine `colours` decides by two comparisons whether it counts a solution or the image of the solution:
/// between the keys of its rows and of its columns, and on odd boards also between the white even columns and their
/// reverse (docs/COLOURS.md, *Three rules*). With another order, or another factor for a tie, the same rows would count
/// other solutions, and no weight would show it. So the hash has to hold both comparisons with each of their results:
///
/// * The white rows taken as columns, and the reverse of this set, have the key of the rows, so the keys tie. On odd
///   boards the reverse has the opposite result in the second comparison.
/// * Six more sets are made from the white rows by moving the columns of one parity at a time. So they have as many
///   even and as many odd columns as the white queens of a solution. The first of them has the even columns of the tie,
///   so the keys usually differ in the odd ranks alone. In the others they differ in the even ranks, too. Each of the
///   six is counted by some units and not by others (n = 13 to 25).
fn near_ties(domains: &RowDomains) -> Vec<u32> {
    let n = domains.size.get();
    let board = domains.size.columns();
    let mut white: u32 = 0;
    for row in 0..n {
        // In a white row the columns of the row's own parity are allowed.
        if domains.is_white(row as usize) {
            white |= 1 << row;
        }
    }
    let reversed = white.reverse_bits() >> (32 - n);
    let mut sets = vec![white, reversed];
    let even_columns = board & EVEN;
    let odd_columns = board & !EVEN;
    let mut set = white;
    for moved in [odd_columns, even_columns, even_columns, odd_columns, odd_columns, even_columns] {
        set = turn(set, moved);
        sets.push(set);
    }
    sets
}

/// Moves the columns of a set that are on `side`, the even or the odd columns of a board, one place further on that
/// side, and the last one to the front.
fn turn(set: u32, side: u32) -> u32 {
    let moved = (set << 2 | set >> (2 * side.count_ones() - 2)) & side;
    set & !side | moved
}
