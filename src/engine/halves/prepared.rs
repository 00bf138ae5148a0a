//! What the workers of a count share: the units, the quadrant lists, and how both halves are cut.

use super::budget::Limits;
use super::canonical::CanonicalRows;
use super::cuts::Cuts;
use super::half_board::Half;
use super::kernel::JoinKernel;
use super::off_centre::OffCentre;
use super::quadrants::{Pieces, QuadrantLists, sizes};
use super::units::UnitList;
use super::worker::HalvesWorker;
use crate::cancel::Cancel;
use crate::engine::pass::Pass;
use crate::engine::unit::{MemoryUse, Prepared, Worker};
use crate::error::Error;

/// The units with the quadrant lists that all threads share.
pub(crate) struct PreparedHalves<'a> {
    pub(super) units: &'a UnitList,
    pub(super) quadrants: QuadrantLists,
    memory: MemoryUse,
    pub(super) limits: Limits,
    pub(super) pass: Pass,
    pub(super) cuts: Cuts,
    pub(super) pieces: PiecesOfUnits,
    /// For units of which only a part is counted.
    pub(super) sampled_pieces: PiecesOfUnits,
}

/// How both halves of a unit are cut into pieces, by the number of rows of the north-east quadrant.
pub(super) struct PiecesOfUnits {
    pub(super) canonical: Vec<[Pieces; 2]>,
    pub(super) off_centre: Vec<[Pieces; 2]>,
}

impl PiecesOfUnits {
    fn new(pass: Pass, half: u32, list_bytes: u64) -> Self {
        let pieces = |larger| sizes::pieces(half, larger, list_bytes);
        let canonical = |north: u32| pieces([north.max(half - north); 2]);
        let off_centre = |north| pieces(OffCentre::larger_quadrants(pass, half, north));
        Self {
            canonical: (0..=half).map(canonical).collect(),
            off_centre: (0..=half).map(off_centre).collect(),
        }
    }
}

/// The lists of a unit of which only a part is counted take at most about this many bytes. Larger ones,
/// from n = 30 on, would take a second and more to make; the unit itself takes minutes then, and hardly
/// longer with more pieces.
const SAMPLED_BYTES: u64 = 1 << 30;

impl<'a> PreparedHalves<'a> {
    pub(crate) fn new(
        units: &'a UnitList,
        pass: Pass,
        kernel: JoinKernel,
        (memory, limits): (MemoryUse, Limits),
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let (board, cuts) = (units.board, Cuts::of(pass));
        let limits = Limits { most_pairs: cuts.most_pairs(limits.most_pairs), ..limits };
        let quadrants = QuadrantLists::new(kernel, board, cuts.batch, memory.shared > 0, cancel);
        if cancel.is_cancelled() {
            return Err(Error::PreparationStopped);
        }
        let pieces = |list_bytes| PiecesOfUnits::new(pass, board.half, list_bytes);
        Ok(Self {
            units,
            quadrants,
            memory,
            limits,
            pass,
            cuts,
            pieces: pieces(limits.list_bytes),
            sampled_pieces: pieces(limits.list_bytes.min(SAMPLED_BYTES)),
        })
    }

    /// A canonical unit as it is counted, and the number of rows of its north-east quadrant. The
    /// south-west quadrant has as many rows, and the two others have the rest of h.
    pub(super) fn canonical(&self, rows: u32) -> (CanonicalRows, usize) {
        let canonical = CanonicalRows::new(self.units.board.half, rows).in_pass(self.pass);
        (canonical, self.north_east_rows(canonical.rows_of(Half::East)))
    }

    /// An off-centre unit as it is counted, and the number of rows of its north-east quadrant.
    pub(super) fn off_centre(&self, below: u32, rows: u32) -> (OffCentre, usize) {
        let unit = OffCentre::new(self.units.board, below, rows).in_pass(self.pass);
        (unit, self.north_east_rows(unit.east))
    }

    fn north_east_rows(&self, east: u32) -> usize {
        (east & ((1 << self.units.board.half) - 1)).count_ones() as usize
    }

    /// The bits of a half-board, and the most pairs of words that are multiplied at once.
    pub(super) fn join_limits(&self) -> (u32, u64) {
        (2 * self.units.board.field(), self.limits.most_pairs)
    }
}

impl Prepared for PreparedHalves<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(HalvesWorker::new(self))
    }

    fn memory(&self) -> Option<MemoryUse> {
        Some(self.memory)
    }
}
