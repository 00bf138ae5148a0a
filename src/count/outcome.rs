//! The results of a count.

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::{Engine, Kernel, MemoryUse};
use crate::error::Error;
use crate::journal::ProcessRun;
use crate::known::Published;
use crate::shard::Shard;
use crate::size::BoardSize;

/// A finished count.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Outcome {
    /// The board.
    pub size: BoardSize,
    /// The number of solutions, Q(n).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub total: u128,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that it used; portable for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// How many units the count has.
    pub units: usize,
    /// How many of them a journal already held.
    pub units_before: usize,
    /// How many of them were counted a second time by another method.
    pub units_recounted: usize,
    /// How memory was used; `None` for engines that need little.
    pub memory: Option<MemoryUse>,
    /// Wall time, not including the start of the threads.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// How the total compares with the published one.
    pub published: Published,
    /// The processes that worked on the journal, as read back from it.
    pub runs: Vec<ProcessRun>,
    /// Why the journal cannot be relied on, although the total is complete.
    pub journal_fault: Option<Error>,
}

/// A finished shard of a count.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ShardOutcome {
    /// The board.
    pub size: BoardSize,
    /// The shard.
    pub shard: Shard,
    /// The engine that counted.
    pub engine: Engine,
    /// The kernel that it used; portable for engines without kernels.
    pub kernel: Kernel,
    /// The number of counting threads.
    pub threads: usize,
    /// How many units the shard has.
    pub units: usize,
    /// How many of them were finished before.
    pub units_before: usize,
    /// How many of them were counted a second time by another method.
    pub units_recounted: usize,
    /// The solutions in the shard's units, with their weights.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub solutions: u128,
    /// Wall time, not including the start of the threads.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::seconds"))]
    pub elapsed: Duration,
    /// The journal that was written; `None` if all units were finished before.
    pub journal: Option<PathBuf>,
    /// Why the journal cannot be relied on, although the units are counted.
    pub journal_fault: Option<Error>,
    /// Why journals in the folder could not be read. Their units count as not finished.
    pub left_out: Vec<Error>,
}
