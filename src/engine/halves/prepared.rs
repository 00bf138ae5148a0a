//! What the workers of a count share: the units, the quadrant lists, and how both halves are cut.

use super::budget::Limits;
use super::cuts::Cuts;
use super::half_board::Half;
use super::quadrants::pieces::{self, Pieces};
use super::quadrants::{Piece, QuadrantLists};
use super::unit_rows::UnitRows;
use super::units::UnitList;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{MemoryUse, Pass};
use crate::error::Error;

/// The units with the quadrant lists that all threads share.
pub(crate) struct PreparedHalves<'a> {
    pub(super) units: &'a UnitList,
    pub(super) quadrants: QuadrantLists,
    pub(super) memory: MemoryUse,
    pub(super) limits: Limits,
    pass: Pass,
    pub(super) cuts: Cuts,
    pub(super) list_plans: ListPlans,
    /// For units of which only a part is counted.
    pub(super) sampled_list_plans: ListPlans,
}

/// How both halves of a unit are cut, by the numbers of rows of their larger quadrants.
pub(super) struct ListPlans {
    half: u32,
    pub(super) plans: Vec<ListPlan>,
}

/// How the halves of a unit are cut into pieces, and the most words of the lists of each.
#[derive(Clone, Copy)]
pub(super) struct ListPlan {
    pub(super) larger_quadrants: [u32; 2],
    pub(super) pieces: [Pieces; 2],
    pub(super) most_words: [u64; 2],
}

impl ListPlans {
    fn new(half: u32, list_bytes: u64) -> Self {
        let plan = |larger_quadrants| {
            let pieces = pieces::cut(half, larger_quadrants, list_bytes);
            let planned = pieces::bytes(larger_quadrants, pieces);
            // What the plan leaves is for both halves.
            let spare = list_bytes.saturating_sub(planned[0] + planned[1]) / 2;
            let most_words = planned.map(|bytes| (bytes + spare) / 8 + SLACK_WORDS);
            ListPlan { larger_quadrants, pieces, most_words }
        };
        let rows = 0..=half;
        let plans = rows.clone().flat_map(|east| rows.clone().map(move |west| [east, west]));
        Self { half, plans: plans.map(plan).collect() }
    }

    pub(super) fn of(&self, unit: &UnitRows) -> ListPlan {
        let rows_of = |half| unit.rows_of(half, Piece::WHOLE).rows_of_quadrants(self.half);
        let [east, west] = [Half::East, Half::West].map(|half| rows_of(half).into_iter().max());
        let place = east.unwrap_or(0) * (self.half + 1) + west.unwrap_or(0);
        self.plans[place as usize]
    }
}

/// Short lists may be longer than planned by this much: it comes from the memory for buffers, of which
/// boards with short lists need little.
pub(super) const SLACK_WORDS: u64 = 1 << 15;

/// The lists of a unit of which only a part is counted take at most about this many bytes. Larger ones,
/// from n = 30 on, would take a second and more to make; the unit itself takes minutes then, and hardly
/// longer with more pieces.
const SAMPLED_BYTES: u64 = 1 << 30;

impl<'a> PreparedHalves<'a> {
    pub(crate) fn new(
        units: &'a UnitList,
        pass: Pass,
        kernel: Kernel,
        (memory, limits): (MemoryUse, Limits),
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let (board, cuts) = (units.board, Cuts::of(pass));
        let limits = Limits { most_pairs: cuts.most_pairs(limits.most_pairs), ..limits };
        let quadrants = QuadrantLists::new(kernel, board, cuts.batch, memory.shared > 0, cancel);
        if cancel.is_cancelled() {
            return Err(Error::StoppedBefore { what: "the first unit" });
        }
        let list_plans = |list_bytes| ListPlans::new(board.half, list_bytes);
        Ok(Self {
            units,
            quadrants,
            memory,
            limits,
            pass,
            cuts,
            list_plans: list_plans(limits.list_bytes),
            sampled_list_plans: list_plans(limits.list_bytes.min(SAMPLED_BYTES)),
        })
    }

    /// A unit as it is counted.
    pub(super) fn unit(&self, unit: usize) -> UnitRows {
        UnitRows::new(self.units.board, self.units.unit(unit), self.pass)
    }
}
