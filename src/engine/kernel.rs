//! The choice of a kernel: which vector instructions the inner loops use.
//!
//! Kernels differ in speed only. A [`Kernel`] other than the portable one holds a token whose only
//! constructor asks the CPU. So the value proves that functions compiled for those instructions may
//! be called, and [`dispatch`] is the only place that relies on it.
//!
//! # How to add a kernel
//!
//! 1. Write a token with its `detect`, loads and stores in `kernel/NAME.rs`. Add a variant to
//!    [`Kernel`], a name to [`Kernel::NAMES`] and an arm to [`dispatch`].
//! 2. Write the functions of the portable kernels, under the same names, in `subtrees/kernel/NAME.rs`
//!    and `halves/kernel/NAME.rs`. The latter only needs a vector type and its operations:
//!    `vector_kernel!` makes the loops from them.
//! 3. Run `cargo test`: the tests take the new kernel from [`Kernel::available`].

#[cfg(target_arch = "x86_64")]
pub(in crate::engine) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(in crate::engine) mod avx512;

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;

/// A version of the inner loops that this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Any CPU.
    Portable,
    /// x86-64 with AVX2, BMI1, BMI2 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// x86-64 with AVX-512 F, BW, DQ, VL and VPOPCNTDQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Calls the version of a function that is compiled for a kernel, from the module `portable`, `avx2`
/// or `avx512` next to the caller.
macro_rules! dispatch {
    ($kernel:expr, $function:ident($($argument:expr),*)) => {
        match $kernel {
            $crate::Kernel::Portable => portable::$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
            $crate::Kernel::Avx2(_) => {
                // SAFETY: an `Avx2` comes from `Avx2::detect` only, which found these features.
                unsafe { avx2::$function($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "the token proves that the CPU has the instructions")]
            $crate::Kernel::Avx512(_) => {
                // SAFETY: an `Avx512` comes from `Avx512::detect` only, which found these features.
                unsafe { avx512::$function($($argument),*) }
            }
        }
    };
}
pub(in crate::engine) use dispatch;

/// Numbers that fill vectors: all bit patterns are valid.
#[cfg(target_arch = "x86_64")]
pub(in crate::engine) trait Lane: Copy {}
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
        "x86-64 with AVX-512 F, BW, DQ, VL and VPOPCNTDQ",
    ];

    /// The fastest kernel that this CPU can run.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// Every kernel that this CPU can run, the fastest last.
    #[must_use]
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
    #[must_use]
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

    /// The kernel of this name: [`Error::UnknownKernel`] if there is none,
    /// [`Error::KernelUnavailable`] if this CPU cannot run it.
    fn from_str(given: &str) -> Result<Self, Error> {
        let Some(name) = Self::NAMES.into_iter().find(|name| *name == given) else {
            let choices = Self::NAMES.join(", ");
            return Err(Error::UnknownKernel { given: given.to_owned(), choices });
        };
        let available = Self::available();
        available.iter().copied().find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
            Error::KernelUnavailable { name, choices: names.join(", ") }
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
                    assert!(matches!(error, Error::KernelUnavailable { .. }), "{error}");
                    assert!(!available.contains(&name));
                }
            }
        }
        assert!(matches!("sse9".parse::<Kernel>(), Err(Error::UnknownKernel { .. })));
    }
}
