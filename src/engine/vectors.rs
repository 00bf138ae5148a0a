//! Vectors: the instructions of each kernel, proofs that this CPU has them, loads and stores.

/// Passes the instructions of a kernel to another macro, with the rest of the arguments.
macro_rules! instructions {
    (neon, $then:ident, $($rest:tt)*) => {
        $then! { ["neon"] $($rest)* }
    };
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

/// Defines the proof that this CPU has the instructions of a kernel, and a module that loads and stores its vectors.
macro_rules! token {
    ([$($instruction:tt)*] $token:ident, $detected:ident, $arch:ident, $module:ident, $of_vectors:literal, $vector:ident) => {
        #[doc = concat!("Proof that this CPU has", $(" `", $instruction, "`"),*, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $token(());

        impl $token {
            /// Returns the proof, if this CPU has all the instructions.
            pub(crate) fn detect() -> Option<Self> {
                let found = [$(std::arch::$detected!($instruction)),*];
                if found.iter().all(|has| *has) { Some(Self(())) } else { None }
            }
        }

        pub(in crate::engine) mod $module {
            use std::arch::$arch::$vector;

            use super::Lane;

            /// Loads the lanes of one vector.
            #[inline]
            #[target_feature(enable = $of_vectors)]
            #[expect(unsafe_code, reason = "a vector is read through a pointer")]
            pub(in crate::engine) fn load<T: Lane, const LANES: usize>(lanes: &[T; LANES]) -> $vector {
                const { assert!(size_of::<[T; LANES]>() == size_of::<$vector>()) };
                // SAFETY: the reference covers the bytes read, and all bit patterns are valid.
                unsafe { lanes.as_ptr().cast::<$vector>().read_unaligned() }
            }

            /// Stores the lanes of one vector.
            #[inline]
            #[target_feature(enable = $of_vectors)]
            #[expect(unsafe_code, reason = "a vector is written through a pointer")]
            pub(in crate::engine) fn store<T: Lane, const LANES: usize>(lanes: &mut [T; LANES], of: $vector) {
                const { assert!(size_of::<[T; LANES]>() == size_of::<$vector>()) };
                // SAFETY: the reference covers the bytes written, and all bit patterns are valid.
                unsafe { lanes.as_mut_ptr().cast::<$vector>().write_unaligned(of) }
            }
        }
    };
}
#[cfg(target_arch = "aarch64")]
instructions!(neon, token, Neon, is_aarch64_feature_detected, aarch64, neon, "neon", uint8x16_t);
#[cfg(target_arch = "x86_64")]
instructions!(avx2, token, Avx2, is_x86_feature_detected, x86_64, avx2, "avx2", __m256i);
#[cfg(target_arch = "x86_64")]
instructions!(avx512, token, Avx512, is_x86_feature_detected, x86_64, avx512, "avx512f", __m512i);

/// The integers that fill vectors.
///
/// # Safety
///
/// Loads and stores cast arrays of these numbers to vectors: the type must have no padding, and every bit pattern
/// must be valid.
#[expect(unsafe_code, reason = "the loads and stores rest on what is promised here")]
pub(in crate::engine) unsafe trait Lane: Copy {}
macro_rules! lanes {
    ($($number:ty)*) => {$(
        // SAFETY: integers have no padding, and all bit patterns are valid.
        #[expect(unsafe_code, reason = "integers fulfil what the trait demands")]
        unsafe impl Lane for $number {}
    )*};
}
lanes!(u8 u16 u32 u64);

/// For every set of eight lanes, the permutation that moves these lanes to the front, one byte for each lane. The
/// table takes 2 KiB. A table of whole vectors would take a quarter of the first-level cache.
pub(in crate::engine) static LANES_TO_FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let mut lanes = set;
        let mut shift = 0;
        while lanes != 0 {
            table[set] |= (lanes.trailing_zeros() as u64) << shift;
            lanes &= lanes - 1;
            shift += 8;
        }
        set += 1;
    }
    table
};
