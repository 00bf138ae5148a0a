//! What an engine provides: the independent units of a count, and workers that count them.

use std::fmt;

use super::domains::RowDomains;
use super::kernel::Kernel;
use super::pass::Pass;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::machine::cpu::Stopwatch;

/// The independent units of one count, numbered from 0. The list depends only on the board, the
/// engine and the number of split rows, never on the machine.
pub(crate) trait Units: fmt::Debug + Send + Sync {
    /// The number of units.
    fn len(&self) -> usize;

    /// The number of solutions of the whole board that each solution of this unit stands for: 1 for
    /// engines that do not use symmetry.
    fn weight(&self, _unit: usize) -> u64 {
        1
    }

    /// The solutions that the unit counts, and how many times.
    fn domains(&self, unit: usize) -> RowDomains;

    /// Prepares what the units of the first or the second count share, within the given memory. Engines
    /// without a second count count twice in the same way.
    fn prepare(
        &self,
        pass: Pass,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared + '_>, Error>;
}

/// What a count may use of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// The kernel for the inner loops.
    pub kernel: Kernel,
    /// Workers that run at the same time.
    pub threads: usize,
    /// Bytes for all of them together.
    pub memory: u64,
}

/// What the threads of a count share.
pub(crate) trait Prepared: Sync {
    /// A worker for one thread, with its own scratch memory.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// The memory in use, for engines that need much.
    fn memory(&self) -> Option<MemoryUse> {
        None
    }
}

/// Memory that a count plans to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryUse {
    /// Bytes that all threads share.
    pub shared: u64,
    /// Bytes that each thread may need.
    pub per_thread: u64,
    /// How the engine fits its lists into the budget, in a few words.
    pub strategy: &'static str,
}

/// Counts units on one thread.
pub(crate) trait Worker: Send {
    /// The number of solutions in this unit, before its weight.
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt>;

    /// The greatest depth of [`Worker::sample`]; 0 if only whole units can be counted.
    fn deepest(&self) -> usize {
        0
    }

    /// Estimates a unit from a random part of it, which is the smaller the greater the depth, 1 to
    /// [`Worker::deepest`]. The expected values are the unit's count and, but for the path itself, its
    /// time.
    ///
    /// One path of random choices is followed, what lies at its end is counted, and what the path
    /// leads to is divided by its probability (D. E. Knuth, "Estimating the efficiency of backtrack
    /// programs", 1975).
    fn sample(
        &mut self,
        unit: usize,
        _depth: usize,
        _random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Result<UnitEstimate, Interrupt> {
        let mut stopwatch = Stopwatch::start();
        let solutions = self.count(unit, cancel)? as f64;
        Ok(UnitEstimate { solutions, seconds: stopwatch.lap() })
    }
}

/// What a part of a unit says about the whole unit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnitEstimate {
    /// Solutions, before the unit's weight.
    pub(crate) solutions: f64,
    /// CPU time to count it.
    pub(crate) seconds: f64,
}

impl UnitEstimate {
    /// What was counted and what it took, divided by the probability of the path.
    pub(crate) fn of_path(solutions: u64, seconds: f64, probability: f64) -> Self {
        Self { solutions: solutions as f64 / probability, seconds: seconds / probability }
    }
}

/// Threads that share nothing each work with a copy.
impl<T: Worker + Clone + Sync> Prepared for T {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.clone())
    }
}

/// Counts the units of any engine by the domains of their rows.
pub(crate) trait CountDomains: Send {
    /// The weighted number of solutions.
    fn count(&mut self, domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt>;
}

/// Why a unit has no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// The count was cancelled.
    Cancelled,
    /// The unit's count passed `u64::MAX`.
    Overflow,
}

impl Interrupt {
    /// The error for this unit.
    pub(crate) fn in_unit(self, unit: usize) -> Error {
        match self {
            Self::Cancelled => Error::UnitStopped { unit },
            Self::Overflow => Error::UnitOverflow { unit },
        }
    }
}
