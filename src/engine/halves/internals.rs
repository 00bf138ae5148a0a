//! Parts of the engine for benchmarks; not stable.

use super::budget;
use super::kernel::JoinKernel;
use super::prepared::PreparedHalves;
use super::units::{Unit, UnitList};
use super::worker::HalvesWorker;
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::kernel::Kernel;
use crate::engine::pass::Pass;
use crate::engine::unit::Resources;
use crate::error::Error;

/// The leaf of the join: a function that counts the disjoint pairs of build and probe words, of which
/// only the lowest `bits` bits are set.
#[must_use]
pub fn leaf(kernel: Kernel, build: &[u64], probe: &[u64], bits: u32) -> Box<dyn FnMut() -> u64> {
    let kernel = JoinKernel(kernel);
    let layout = kernel.layout();
    let placed = |words: &[u64]| -> Vec<u64> {
        let bits = |word: u64| (0..bits).map(move |bit| (word >> bit & 1) << layout.place(bit));
        words.iter().map(|word| bits(*word).sum()).collect()
    };
    let (build, probe, places) = (placed(build), placed(probe), layout.place(bits - 1) + 1);
    let mut tables = kernel.tables();
    Box::new(move || kernel.count_bit_sliced(&build, &probe, places, &mut tables))
}

/// Passes `measure` a function that makes the half-boards of a unit of an even board and returns their
/// number.
///
/// # Errors
///
/// As for a count.
pub fn with_half_boards(
    size: BoardSize,
    kernel: Kernel,
    measure: impl FnOnce(&mut dyn FnMut(usize) -> usize),
) -> Result<(), Error> {
    debug_assert_eq!(size.get() % 2, 0, "odd boards make their lists in the count");
    let units = UnitList::new(size);
    let resources = Resources { kernel, threads: 1, memory: 4 << 30 };
    let planned = budget::plan(units.board, &resources)?;
    let cancel = Cancel::new();
    let prepared = PreparedHalves::new(&units, Pass::First, JoinKernel(kernel), planned, &cancel)?;
    let mut worker = HalvesWorker::new(&prepared);
    measure(&mut |number| match units.unit(number % units.len()) {
        Unit::Canonical { rows } => worker.make_half_boards(rows, &cancel),
        Unit::OffCentre { .. } => 0,
    });
    Ok(())
}
