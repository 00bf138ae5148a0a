//! What the program prints: answers, messages, progress, and how numbers and names are written.

mod bar;
pub(crate) mod command;
pub(crate) mod format;
pub(crate) mod origin;
pub(crate) mod progress;
pub(crate) mod published;
pub(crate) mod quote;
pub(crate) mod report;
pub(crate) mod stderr;
pub(crate) mod stdout;
