//! Cancellation, the list of units, and whole boards with lists made for each row set.

use std::collections::HashSet;

use crate::board::known::known;
use crate::cancel::Cancel;
use crate::engine::halves::Halves;
use crate::engine::halves::budget;
use crate::engine::halves::prepared::PreparedHalves;
use crate::engine::halves::units::{TILE, Unit, UnitList};
use crate::engine::simd::Kernel;
use crate::engine::tests::{kernels, size};
use crate::engine::unit::Pass;
use crate::engine::unit::{Interrupt, MemoryUse, Prepared, Resources, Units};
use crate::error::Error;

/// Counts as on boards whose quadrant lists do not fit the budget.
fn total_by_row_set(n: u32, kernel: Kernel) -> u128 {
    let units = UnitList::new(size(n));
    let planned = budget::plan(units.board, &resources(1 << 30));
    let planned = (MemoryUse { shared: 0, ..planned.0 }, planned.1);
    let prepared = PreparedHalves::new(&units, Pass::First, kernel, planned, &Cancel::new());
    let prepared = prepared.expect("not cancelled");
    let mut worker = prepared.worker();
    let weighted = |unit| {
        let count = worker.count(unit, &Cancel::new()).expect("not cancelled");
        u128::from(count * units.weight(unit))
    };
    (0..units.len()).map(weighted).sum()
}

fn resources(memory: u64) -> Resources {
    Resources { kernel: Kernel::detect(), threads: 1, memory }
}

#[test]
fn lists_made_for_each_row_set_count_the_same() {
    for n in 4..=15 {
        for kernel in kernels() {
            let total = total_by_row_set(n, kernel);
            assert_eq!(Some(total), known(size(n)).total, "n = {n}, kernel {kernel}");
        }
    }
}

#[test]
fn off_centre_units_come_in_tiles() {
    for n in [13, 17, 19] {
        let units = UnitList::new(size(n));
        let half = units.board.half;
        let off_centre: Vec<(u32, u32)> = (0..units.len())
            .map_while(|unit| match units.unit(unit) {
                Unit::OffCentre { below, rows } => Some((below, rows)),
                Unit::Canonical { .. } => None,
            })
            .collect();
        let different: HashSet<_> = off_centre.iter().collect();
        assert_eq!(different.len(), off_centre.len(), "n = {n}");
        for (below, rows) in &off_centre {
            assert_eq!(
                (rows.count_ones(), rows >> (half + below - 1) & 1),
                (half - 1, 0),
                "n = {n}"
            );
        }
        // Of most units, the eighth before has the same northern rows.
        let north = |(below, rows): &(u32, u32)| (*below, rows & ((1 << half) - 1));
        let kept =
            off_centre.windows(TILE + 1).filter(|tile| north(&tile[0]) == north(&tile[TILE]));
        assert!(kept.count() > off_centre.len() / 2, "n = {n}");
    }
}

#[test]
fn a_cancelled_unit_has_no_count_and_harms_no_later_one() {
    let halves = Halves::new(size(12));
    let prepared =
        halves.prepare(Pass::First, &resources(1 << 30), &Cancel::new()).expect("it fits");
    let mut worker = prepared.worker();
    let (running, cancelled) = (Cancel::new(), Cancel::new());
    cancelled.cancel();
    let before: Vec<_> = (0..halves.len()).map(|unit| worker.count(unit, &running)).collect();
    for (unit, expected) in before.iter().enumerate() {
        assert_eq!(worker.count(unit, &cancelled), Err(Interrupt::Cancelled));
        assert_eq!(worker.count(unit, &running), *expected, "unit {unit} afterwards");
    }
}

#[test]
fn a_cancelled_preparation_is_an_error() {
    let cancelled = Cancel::new();
    cancelled.cancel();
    let stopped = Halves::new(size(18)).prepare(Pass::First, &resources(1 << 30), &cancelled).err();
    assert_eq!(stopped, Some(Error::StoppedBefore { what: "the first unit" }));
}

#[test]
fn the_length_of_a_list_is_known_before_it_is_made() {
    for n in 4..=21 {
        let (units, bytes) = UnitList::forecast(size(n));
        let list = UnitList::new(size(n));
        assert_eq!(units, list.len(), "n = {n}");
        let canonical =
            (0..units).filter(|unit| matches!(list.unit(*unit), Unit::Canonical { .. }));
        assert_eq!(bytes, 4 * canonical.count() as u64, "n = {n}");
    }
    // The list for n = 32 is not made here: it takes 573 MiB.
    assert_eq!(UnitList::forecast(size(32)), (150_289_699, 601_158_796));
}
