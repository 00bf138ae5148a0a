//! What the AVX-512 kernels share: the proof that the CPU has the instructions, loads and stores.

use std::arch::x86_64::*;

use super::{Avx2, Lane};

/// Proof that this CPU has AVX-512 F, BW, DQ, VL and VPOPCNTDQ, and all that [`Avx2`] proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

impl Avx512 {
    /// Asks the CPU.
    #[must_use]
    pub fn detect() -> Option<Self> {
        let found = Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vpopcntdq");
        found.then_some(Self(()))
    }
}

/// Loads the lanes of one vector.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "vector loads take pointers")]
pub(in crate::engine) fn load<T: Lane, const LANES: usize>(lanes: &[T; LANES]) -> __m512i {
    const { assert!(size_of::<[T; LANES]>() == 64) };
    // SAFETY: the reference covers the 64 bytes read; this load needs no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Stores the lanes of one vector.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "vector stores take pointers")]
pub(in crate::engine) fn store<T: Lane, const LANES: usize>(lanes: &mut [T; LANES], of: __m512i) {
    const { assert!(size_of::<[T; LANES]>() == 64) };
    // SAFETY: the reference covers the 64 bytes written; this store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), of) }
}
