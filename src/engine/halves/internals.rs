//! Parts of the engine for benchmarks; not stable.

use super::budget;
use super::kernel::JoinKernel;
use super::units::{Unit, UnitList};
use super::worker::{HalvesWorker, PreparedHalves};
use crate::cancel::Cancel;
use crate::engine::kernel::Kernel;
use crate::engine::unit::Resources;
use crate::error::Error;
use crate::size::BoardSize;

/// Counts the disjoint pairs of two lists; only the lowest `bits` bits are set.
pub type CountPairs = Box<dyn FnMut(&[u64], &[u64], u32) -> u64>;

/// The leaf of the join: blocks of build words (the first list) against probe words (the second).
#[must_use]
pub fn leaf(kernel: Kernel) -> CountPairs {
    let kernel = JoinKernel(kernel);
    let mut tables = kernel.tables();
    Box::new(move |build, probe, bits| kernel.count_bit_sliced(build, probe, bits, &mut tables))
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
    let prepared = PreparedHalves::new(&units, JoinKernel(kernel), planned, &cancel)?;
    let mut worker = HalvesWorker::new(&prepared);
    measure(&mut |number| match units.unit(number % units.len()) {
        Unit::Canonical { rows } => worker.make_half_boards(rows, &cancel),
        Unit::OffCentre { .. } => 0,
    });
    Ok(())
}
