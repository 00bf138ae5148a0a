//! This machine: its CPU, its memory with the limits on it, and the CPU time of a thread.

pub(crate) mod cgroup;
pub mod cpu;
pub(crate) mod cpu_time;
pub mod memory;
pub(crate) mod threads;
