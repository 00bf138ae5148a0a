//! Which program this is: version, commit, and what it was built for.

use git_version::git_version;
use nqueens::Kernel;

/// The version's number.
pub(crate) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// The commit, with `-modified` if files were changed after it; `unknown` outside of a repository.
pub(crate) const COMMIT: &str = git_version!(
    args = ["--always", "--dirty=-modified", "--abbrev=7", "--exclude=*"],
    fallback = "unknown"
);

/// Version, commit, target and kernels.
pub(crate) fn long() -> String {
    let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    format!(
        "{SHORT}\ncommit   {COMMIT}\ntarget   {arch}-{os}\nkernels  {} on this CPU",
        kernels.join(", ")
    )
}
