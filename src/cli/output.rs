//! How all that is printed looks: bars and lines on standard error, numbers, JSON, rows of tables, pages.

pub(crate) mod bar;
pub(crate) mod date;
pub(crate) mod file;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod long_count;
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod rows;
pub(crate) mod sample_progress;
pub(crate) mod stderr;
pub(crate) mod stdout;
pub(crate) mod text;
pub(crate) mod timings;
