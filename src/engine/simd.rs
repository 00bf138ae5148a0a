//! The choice of a kernel: which vector instructions the inner loops use.
//!
//! Kernels differ in speed only. A [`Kernel`] other than the portable one holds a token whose only
//! constructor asks the CPU. So the value proves that functions compiled for those instructions may
//! be called. `instructions!` names the instructions of each kernel: the CPU is asked for these, and
//! `dispatch!` makes its calls from functions that are compiled for these, where the compiler finds
//! any call that needs others.
//!
//! CONTRIBUTING.md has a recipe for adding a kernel.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A version of the inner loops that this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Any CPU.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// x86-64 with AVX-512 F, BW, DQ, VL, VPOPCNTDQ, BITALG, VBMI and VNNI, and GFNI.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Passes the instructions of a kernel to another macro, with the rest of the arguments.
#[cfg(target_arch = "x86_64")]
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
#[cfg(target_arch = "x86_64")]
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
#[cfg(target_arch = "x86_64")]
instructions!(avx2, token, Avx2, avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256);
#[cfg(target_arch = "x86_64")]
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

/// Defines methods of [`Kernel`] that call the function of the same name in the module `portable`,
/// `avx2` or `avx512` next to them.
macro_rules! dispatch {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $function:ident(
            $kernel:ident $(, $argument:ident: $type:ty)* $(,)?
        ) $(-> $result:ty)?;
    )*) => {
        $(
            $(#[$attribute])*
            #[cfg_attr(
                target_arch = "x86_64",
                expect(unsafe_code, reason = "the token proves that the CPU has the instructions")
            )]
            $visibility fn $function($kernel $(, $argument: $type)*) $(-> $result)? {
                match $kernel {
                    $crate::Kernel::Portable => portable::$function($($argument),*),
                    #[cfg(target_arch = "x86_64")]
                    $crate::Kernel::Avx2(_) => {
                        instructions! {
                            avx2, compiled_for, avx2::$function($($argument: $type),*) $(-> $result)?
                        }
                        // SAFETY: an `Avx2` comes from `Avx2::detect` only, which found these
                        // instructions.
                        unsafe { call($($argument),*) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    $crate::Kernel::Avx512(_) => {
                        instructions! {
                            avx512, compiled_for, avx512::$function($($argument: $type),*) $(-> $result)?
                        }
                        // SAFETY: an `Avx512` comes from `Avx512::detect` only, which found these
                        // instructions.
                        unsafe { call($($argument),*) }
                    }
                }
            }
        )*
    };
}

/// Defines a function `call` that is compiled for some instructions and calls another.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ([$($instruction:tt)*] $module:ident::$function:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        #[inline]
        #[target_feature($(enable = $instruction),*)]
        fn call($($argument: $type),*) $(-> $result)? {
            $module::$function($($argument),*)
        }
    };
}

/// Numbers that fill vectors: all bit patterns are valid.
#[cfg(target_arch = "x86_64")]
pub(in crate::engine) trait Lane: Copy {}
#[cfg(target_arch = "x86_64")]
impl Lane for u8 {}
#[cfg(target_arch = "x86_64")]
impl Lane for u16 {}
#[cfg(target_arch = "x86_64")]
impl Lane for u32 {}
#[cfg(target_arch = "x86_64")]
impl Lane for u64 {}

/// For every set of eight lanes, the permutation that moves these lanes to the front and the others
/// after them, one byte for each lane. It takes 2 KiB; a table of whole vectors would take a quarter
/// of the first-level cache.
#[cfg(target_arch = "x86_64")]
pub(in crate::engine) static LANES_TO_FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut lanes = 0;
    while lanes < 256 {
        let mut at = 0;
        let mut step = 0;
        while step < 16 {
            let lane = step % 8;
            if (lanes >> lane & 1 == 1) == (step < 8) {
                table[lanes] |= (lane as u64) << (8 * at);
                at += 1;
            }
            step += 1;
        }
        lanes += 1;
    }
    table
};

impl Kernel {
    /// The names of all kernels, whether this CPU can run them or not.
    pub const NAMES: [&str; 3] = ["portable", "avx2", "avx512"];

    /// What each of [`Kernel::NAMES`] runs on, in one line.
    pub const SUMMARIES: [&str; 3] = [
        "any CPU",
        "x86-64 with AVX2, BMI1, BMI2 and POPCNT",
        "x86-64 with AVX-512 F, BW, DQ, VL, VPOPCNTDQ, BITALG, VBMI and VNNI, and GFNI",
    ];

    /// The fastest kernel that this CPU can run.
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// Every kernel that this CPU can run, the fastest last.
    pub fn available() -> Vec<Self> {
        let kernels = [
            Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Self::Avx512),
        ];
        kernels.into_iter().flatten().collect()
    }

    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
        }
    }
}

impl FromStr for Kernel {
    type Err = Error;

    /// The kernel of this name; [`Error::UnknownName`] if there is none that this CPU can run.
    fn from_str(name: &str) -> Result<Self, Error> {
        let available = Self::available();
        available.iter().copied().find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
            let (given, choices) = (name.to_owned(), names.join(", "));
            Error::UnknownName { what: "a kernel that this CPU can run", given, choices }
        })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_available_kernels_are_found_by_name() {
        let available: Vec<_> = Kernel::available().iter().map(|kernel| kernel.name()).collect();
        assert_eq!(available[0], "portable");
        for name in Kernel::NAMES {
            match name.parse::<Kernel>() {
                Ok(kernel) => assert_eq!(kernel.name(), name),
                Err(error) => {
                    assert!(matches!(error, Error::UnknownName { .. }), "{error}");
                    assert!(!available.contains(&name));
                }
            }
        }
        assert!(matches!("sse9".parse::<Kernel>(), Err(Error::UnknownName { .. })));
    }
}
