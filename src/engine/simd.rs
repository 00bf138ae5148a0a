//! The choice of a kernel: the vector instructions that the inner loops use.
//!
//! Kernels differ in speed only. A [`Kernel`] other than the portable one holds a token, and the only constructor of
//! the token asks the CPU. So the value proves that functions compiled for its instructions may be called.
//! `instructions!` lists the instructions of each kernel. The CPU is asked for exactly these. `dispatch!` makes its
//! calls from functions that are compiled for exactly these, so the compiler rejects a call that needs others.
//!
//! CONTRIBUTING.md has a recipe for adding a kernel.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "aarch64")]
use super::vectors::Neon;
#[cfg(target_arch = "x86_64")]
use super::vectors::{Avx2, Avx512};
use crate::error::Error;

/// A version of the inner loops that this CPU can run: the portable one, or one with the vector instructions of the
/// CPU.
///
/// ```
/// use nqueens::Kernel;
///
/// for kernel in Kernel::available() {
///     println!("{kernel}");
/// }
/// assert_eq!(Kernel::available().last(), Some(&Kernel::detect()));
/// assert_eq!("portable".parse(), Ok(Kernel::PORTABLE));
/// assert_eq!(Kernel::PORTABLE.name(), "portable");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub(crate) Vectors);

/// The vectors of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vectors {
    /// Plain Rust, for any CPU.
    Portable,
    /// Vectors of NEON, for 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// Vectors of AVX2, for x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Vectors of AVX-512, for x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Defines methods of [`Kernel`]. Each calls the function of its own name in the module `portable`, `neon`, `avx2` or
/// `avx512` beside it.
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
                any(target_arch = "aarch64", target_arch = "x86_64"),
                expect(unsafe_code, reason = "the token proves that the CPU has the instructions")
            )]
            $visibility fn $function($kernel $(, $argument: $type)*) $(-> $result)? {
                match $kernel.0 {
                    $crate::engine::Vectors::Portable => portable::$function($($argument),*),
                    #[cfg(target_arch = "aarch64")]
                    $crate::engine::Vectors::Neon(_) => instructions! {
                        neon, call_with, neon::$function($($argument: $type),*) $(-> $result)?
                    },
                    #[cfg(target_arch = "x86_64")]
                    $crate::engine::Vectors::Avx2(_) => instructions! {
                        avx2, call_with, avx2::$function($($argument: $type),*) $(-> $result)?
                    },
                    #[cfg(target_arch = "x86_64")]
                    $crate::engine::Vectors::Avx512(_) => instructions! {
                        avx512, call_with, avx512::$function($($argument: $type),*) $(-> $result)?
                    },
                }
            }
        )*
    };
}

/// Calls a function from another one that is compiled for some instructions. The token of the kernel proves that the
/// CPU has them.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
macro_rules! call_with {
    ([$($instruction:tt)*] $module:ident::$function:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {{
        #[inline]
        #[target_feature($(enable = $instruction),*)]
        fn call($($argument: $type),*) $(-> $result)? {
            $module::$function($($argument),*)
        }
        // SAFETY: a token comes from its `detect` only, which found these instructions.
        unsafe { call($($argument),*) }
    }};
}

impl Kernel {
    /// The portable kernel, which every CPU can run.
    pub const PORTABLE: Self = Self(Vectors::Portable);

    /// The names of all kernels, whether this CPU can run them or not.
    pub(crate) const NAMES: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

    /// Returns the fastest kernel that this CPU can run.
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::PORTABLE)
    }

    /// Returns every kernel that this CPU can run, the fastest last.
    pub fn available() -> Vec<Self> {
        let all_vectors = [
            Some(Vectors::Portable),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Vectors::Neon),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Vectors::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Vectors::Avx512),
        ];
        all_vectors.into_iter().flatten().map(Self).collect()
    }

    /// Returns the name of the kernel.
    pub fn name(self) -> &'static str {
        match self.0 {
            Vectors::Portable => "portable",
            #[cfg(target_arch = "aarch64")]
            Vectors::Neon(_) => "neon",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(_) => "avx512",
        }
    }
}

impl FromStr for Kernel {
    type Err = Error;

    /// Returns the kernel of this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if this CPU cannot run a kernel of this name.
    fn from_str(name: &str) -> Result<Self, Error> {
        let available = Self::available();
        for kernel in &available {
            if kernel.name() == name {
                return Ok(*kernel);
            }
        }
        let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
        let advice = format!("choose one of {}", names.join(", "));
        Err(Error::invalid("a kernel that this CPU can run", name, advice))
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
                    assert!(matches!(error, Error::InvalidValue { .. }), "{error}");
                    assert!(!available.contains(&name));
                }
            }
        }
        assert!(matches!("sse9".parse::<Kernel>(), Err(Error::InvalidValue { .. })));
    }
}
