//! How all that is printed looks.

pub(crate) mod bar;
#[allow(dead_code)]
pub(crate) mod json;
pub(crate) mod plot;
pub(crate) mod rows;
pub(crate) mod stderr;
#[allow(dead_code)]
pub(crate) mod text;
pub(crate) mod timings;
