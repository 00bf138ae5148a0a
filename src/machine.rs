//! This machine: its CPU, its memory with the limits on it, and its threads.

pub(crate) mod cgroup;
pub mod cpu;
pub mod memory;
pub(crate) mod threads;
