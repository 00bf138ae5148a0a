//! What users type: groups of options, values, and journals; and what a count runs with.

pub(crate) mod args;
pub(crate) mod drawing;
pub(crate) mod journals;
pub(crate) mod memory;
pub(crate) mod session;
pub(crate) mod values;
mod watch;
