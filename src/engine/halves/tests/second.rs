//! The second count works on other data. That it counts the same is tested in `tests/second.rs`.

use crate::cancel::Cancel;
use crate::engine::halves::budget;
use crate::engine::halves::half_board::Half;
use crate::engine::halves::prepared::PreparedHalves;
use crate::engine::halves::quadrants::Piece;
use crate::engine::halves::unit_rows::UnitRows;
use crate::engine::halves::units::UnitList;
use crate::engine::halves::word_list::WordList;
use crate::engine::halves::worker::HalvesWorker;
use crate::engine::simd::Kernel;
use crate::engine::tests::{random, size};
use crate::engine::unit::Pass;
use crate::engine::unit::{Resources, Worker};

const PASSES: [Pass; 2] = [Pass::First, Pass::Second];

#[test]
fn every_unit_has_other_row_sets() {
    for n in 4..=19 {
        let units = UnitList::new(size(n));
        let board = units.board;
        for unit in (0..units.len()).map(|unit| units.unit(unit)) {
            let [first, second] = PASSES.map(|pass| {
                let east = UnitRows::new(board, unit, pass).rows_of(Half::East, Piece::WHOLE);
                (east.rows, east.middle_queen)
            });
            assert_ne!(first, second, "n = {n}, {unit:?}");
        }
    }
}

/// The words of both quadrants of the east, in the order of the lists, and the lengths of the last
/// products, after a unit was counted.
fn data_of(worker: &mut HalvesWorker<'_>, unit: usize) -> ([Vec<u64>; 2], [usize; 2]) {
    worker.count(unit, &Cancel::new()).expect("not cancelled");
    (
        worker.east.strict().lists.map(|list| list.to_vec()),
        worker.join.products.each_ref().map(WordList::len),
    )
}

#[test]
fn the_lists_of_units_differ() {
    let mut random = random();
    for n in [17, 18, 20, 21, 22] {
        let units = UnitList::new(size(n));
        let kernel = Kernel::detect();
        let resources = Resources { kernel, threads: 1, memory: 1 << 30 };
        let planned = budget::plan(units.board, &resources);
        let prepared = PASSES.map(|pass| {
            PreparedHalves::new(&units, pass, kernel, planned, &Cancel::new())
                .expect("not cancelled")
        });
        let mut workers = prepared.each_ref().map(HalvesWorker::new);
        let (mut same_lengths, mut products) = (0, 0);
        for _ in 0..20 {
            let unit = random.usize(..units.len());
            let [first, second] = workers.each_mut().map(|worker| data_of(worker, unit));
            let sorted = |mut list: Vec<u64>| {
                list.sort_unstable();
                list
            };
            assert_ne!(first.0.map(sorted), second.0.map(sorted), "n = {n}, unit {unit}");
            same_lengths += usize::from(first.1 == second.1);
            products += usize::from(first.1[0] > 0);
        }
        // Units up to n = 21 are multiplied at once, without splits.
        assert!(n < 22 || (products > 10 && same_lengths < 5), "{same_lengths} of {products}");
    }
}
