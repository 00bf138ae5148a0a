//! What the AVX2 kernels share: the proof that the CPU has the instructions, loads and stores.

use std::arch::x86_64::*;

use super::Lane;

/// Proof that this CPU has AVX2, BMI1, BMI2 and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    /// Asks the CPU.
    #[must_use]
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        found.then_some(Self(()))
    }
}

/// Loads the lanes of one vector.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "vector loads take pointers")]
pub(in crate::engine) fn load<T: Lane, const LANES: usize>(lanes: &[T; LANES]) -> __m256i {
    const { assert!(size_of::<[T; LANES]>() == 32) };
    // SAFETY: the reference covers the 32 bytes read; this load needs no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Stores the lanes of one vector.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "vector stores take pointers")]
pub(in crate::engine) fn store<T: Lane, const LANES: usize>(lanes: &mut [T; LANES], of: __m256i) {
    const { assert!(size_of::<[T; LANES]>() == 32) };
    // SAFETY: the reference covers the 32 bytes written; this store needs no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), of) }
}
