//! The vectors of x86-64: the instructions of each kernel, proofs that this CPU has them, loads and stores.

/// Passes the instructions of a kernel to another macro, with the rest of the arguments.
macro_rules! instructions {
    (avx2, $then:ident, $($rest:tt)*) => {
        $then! { ["avx2" "bmi1" "bmi2" "popcnt"] $($rest)* }
    };
    (avx512, $then:ident, $($rest:tt)*) => {
        $then! {
            ["avx2" "bmi1" "bmi2" "popcnt" "avx512f" "avx512bw" "avx512dq" "avx512vl"
             "avx512vpopcntdq" "avx512bitalg" "avx512vbmi" "avx512vnni" "gfni"]
            $($rest)*
        }
    };
}

/// Defines the proof that this CPU has the instructions of a kernel, and a module with the loads and
/// stores of its vectors.
macro_rules! token {
    ([$($instruction:tt)*] $token:ident, $module:ident, $of_vectors:literal, $vector:ident, $load:ident, $store:ident) => {
        #[doc = concat!("Proof that this CPU has", $(" `", $instruction, "`"),*, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $token(());

        impl $token {
            /// Asks the CPU.
            pub fn detect() -> Option<Self> {
                let found = [$(is_x86_feature_detected!($instruction)),*];
                found.iter().all(|has| *has).then_some(Self(()))
            }
        }

        pub(in crate::engine) mod $module {
            use std::arch::x86_64::*;

            use super::Lane;

            /// Loads the lanes of one vector.
            #[inline]
            #[target_feature(enable = $of_vectors)]
            #[expect(unsafe_code, reason = "vector loads take pointers")]
            pub(in crate::engine) fn load<T: Lane, const LANES: usize>(lanes: &[T; LANES]) -> $vector {
                const { assert!(size_of::<[T; LANES]>() == size_of::<$vector>()) };
                // SAFETY: the reference covers the bytes read; this load needs no alignment.
                unsafe { $load(lanes.as_ptr().cast()) }
            }

            /// Stores the lanes of one vector.
            #[inline]
            #[target_feature(enable = $of_vectors)]
            #[expect(unsafe_code, reason = "vector stores take pointers")]
            pub(in crate::engine) fn store<T: Lane, const LANES: usize>(lanes: &mut [T; LANES], of: $vector) {
                const { assert!(size_of::<[T; LANES]>() == size_of::<$vector>()) };
                // SAFETY: the reference covers the bytes written; this store needs no alignment.
                unsafe { $store(lanes.as_mut_ptr().cast(), of) }
            }
        }
    };
}
instructions!(avx2, token, Avx2, avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256);
instructions!(
    avx512,
    token,
    Avx512,
    avx512,
    "avx512f",
    __m512i,
    _mm512_loadu_si512,
    _mm512_storeu_si512
);

/// Numbers that fill vectors.
///
/// # Safety
///
/// Loads and stores cast arrays of them to vectors: they have no padding, and all bit patterns are valid.
#[expect(unsafe_code, reason = "the loads and stores rest on what is promised here")]
pub(in crate::engine) unsafe trait Lane: Copy {}
macro_rules! lanes {
    ($($number:ty)*) => {$(
        // SAFETY: integers have no padding, and all bit patterns are valid.
        #[expect(unsafe_code, reason = "as the trait says")]
        unsafe impl Lane for $number {}
    )*};
}
lanes!(u8 u16 u32 u64);

/// For every set of eight lanes, the permutation that moves these lanes to the front, one byte for each
/// lane. It takes 2 KiB; a table of whole vectors would take a quarter of the first-level cache.
pub(in crate::engine) static LANES_TO_FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lanes, mut bits) = (set, 0);
        while lanes != 0 {
            table[set] |= (lanes.trailing_zeros() as u64) << bits;
            lanes &= lanes - 1;
            bits += 8;
        }
        set += 1;
    }
    table
};
