//! The commands. How to add one is written at the head of `args.rs`.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod count;
pub(crate) mod cpu;
pub(crate) mod estimate;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod salvage;
pub(crate) mod shard;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod verify;
