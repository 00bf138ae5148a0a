//! The choice of a kernel: which vector instructions the inner loops use.
//!
//! Kernels differ in speed only. A [`Kernel`] other than the portable one holds a token whose
//! only constructor asks the CPU, so that whoever has one may call the functions compiled for
//! those instructions: the value is the proof.

use std::fmt;

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
    /// x86-64 with AVX-512 F, BW, DQ, VL and VPOPCNTDQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Proof that this CPU has AVX2, BMI1, BMI2 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
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

/// Proof that this CPU has AVX-512 F, BW, DQ, VL and VPOPCNTDQ, and all that [`Avx2`] proves.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
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

impl Kernel {
    /// The names of all kernels, whether this CPU can run them or not.
    pub const NAMES: [&str; 3] = ["portable", "avx2", "avx512"];

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

    /// The kernel of this name.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKernel`] if there is none, [`Error::KernelUnavailable`] if this CPU cannot
    /// run it.
    pub fn from_name(given: &str) -> Result<Self, Error> {
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
    fn the_available_kernels_are_found_by_name_and_no_others() {
        let available: Vec<_> = Kernel::available().iter().map(|kernel| kernel.name()).collect();
        assert_eq!(available[0], "portable");
        for name in Kernel::NAMES {
            match Kernel::from_name(name) {
                Ok(kernel) => assert_eq!(kernel.name(), name),
                Err(error) => {
                    assert!(matches!(error, Error::KernelUnavailable { .. }), "{error}");
                    assert!(!available.contains(&name));
                }
            }
        }
        assert!(matches!(Kernel::from_name("sse9"), Err(Error::UnknownKernel { .. })));
    }
}
