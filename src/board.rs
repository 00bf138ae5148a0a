//! Boards: sizes and squares, solutions and their symmetries, and the published counts.

pub(crate) mod known;
mod pictures;
pub(crate) mod size;
pub(crate) mod solution;
pub(crate) mod solutions;
pub(crate) mod square;
pub mod symmetry;
