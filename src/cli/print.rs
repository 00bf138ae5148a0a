//! What the program prints as its answer: reports as text, JSON and CSV, and how numbers are written.

pub(crate) mod command;
pub(crate) mod format;
pub(crate) mod origin;
pub(crate) mod published;
pub(crate) mod report;
pub(crate) mod stdout;
