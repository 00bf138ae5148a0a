//! The hash of a plan, by which journals of other plans are recognised.

use super::Plan;
use crate::engine::unit::{EVEN, RowDomains};

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
        hasher.add_domains(&plan.list.domains(unit));
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

/// Returns sets of columns for the white queens, chosen so that their weights show how the unit counts ties.
///
/// These are the unit's white rows taken as columns, the reverse of this set, and sets near it that have as many even
/// and as many odd columns.
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
    let mut sets = vec![white, white.reverse_bits() >> (32 - n)];
    let mut set = white;
    for parity in [1, 0, 0, 1, 1, 0] {
        set = turn(set, board & EVEN << parity);
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
