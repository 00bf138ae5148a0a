//! What a running count tells whoever watches it.

use std::ops::Range;
use std::time::Duration;

use crate::plan::Plan;

/// Watches a count. All methods do nothing by default, and are called from the counting threads:
/// they should return at once.
pub trait Observer: Sync {
    /// The count begins.
    fn started(&self, plan: &Plan, threads: usize) {
        let _ = (plan, threads);
    }

    /// Some units are done.
    fn units_done(&self, done: &UnitsDone) {
        let _ = done;
    }
}

/// Nobody watches.
impl Observer for () {}

/// A report of finished units.
#[derive(Clone, Debug)]
pub struct UnitsDone {
    /// Their numbers in the plan.
    pub units: Range<usize>,
    /// Their solutions, with weights.
    pub solutions: u128,
    /// The time that one thread spent on them.
    pub busy: Duration,
}
