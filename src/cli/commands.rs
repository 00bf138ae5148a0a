//! The commands.

pub(crate) mod compare;
