//! The version and the commit of this build.

/// The commit from which this crate was compiled, with `-modified` if its sources had changed since. `build.rs` finds it.
///
/// If `NQUEENS_COMMIT` is set during the compilation, it names the commit. Otherwise the commit is `unknown` outside
/// a repository of this crate.
pub const COMMIT: &str = env!("NQUEENS_COMMIT");

/// Returns the version with the commit, as journals name it: `0.1.0+86eb928`.
pub(crate) fn version() -> String {
    format!("{}+{COMMIT}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::COMMIT;
    use std::process::Command;

    /// A tree that lies in the repository of something else has none.
    #[test]
    fn the_commit_is_one_of_this_crate() {
        let root = env!("CARGO_MANIFEST_DIR");
        let git = |args: &[&str]| {
            let output = Command::new("git").args(["-C", root]).args(args).output().ok()?;
            output
                .status
                .success()
                .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        match git(&["rev-parse", "--show-prefix"]) {
            // This folder is the root of a repository.
            Some(prefix) if prefix.is_empty() => {
                let commit = git(&["rev-parse", "--short=7", "HEAD"]).expect("a commit");
                assert!(COMMIT == "unknown" || COMMIT.starts_with(&commit), "{COMMIT}, {commit}");
            }
            _ => assert_eq!(COMMIT, "unknown"),
        }
    }
}
