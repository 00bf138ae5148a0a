//! The inner loop of a block, in one version for each [`Kernel`].
//!
//! ```text
//! for each filling:
//!     fits = AND, over its pairs of rows, of the placements that leave both squares free
//!     ones += bits of fits AND once;  twos += bits of fits AND twice
//! ```
//!
//! Nothing in it branches on the fillings.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use super::fillings::Filling;
use super::set::Set;
use crate::engine::kernel::{Kernel, dispatch};

/// The placements of the block that fit the fillings, those that count once and those that count
/// twice.
pub(super) fn count(
    kernel: Kernel,
    pairs: &[[Set; 256]],
    counting: &[[Set; 2]],
    list: &[Filling],
) -> [u64; 2] {
    dispatch!(kernel, count(pairs, counting, list))
}
