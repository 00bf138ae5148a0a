//! What ends a command without an answer, and what users can do about it: failures, warnings and signals.

#[expect(clippy::module_inception, reason = "a failure is what the room is about")]
pub(crate) mod failure;
pub(crate) mod signals;
pub(crate) mod warnings;
pub(crate) mod way_out;
