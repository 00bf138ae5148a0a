//! Boards: sizes and squares, solutions and their symmetries, and the published counts.

mod pictures;
pub(crate) mod published;
pub(crate) mod size;
pub(crate) mod solution;
pub(crate) mod solutions;
pub(crate) mod square;
pub(crate) mod symmetry;
