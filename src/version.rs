//! The version and the commit of this build.

/// The commit from which this crate was compiled, with `-modified` if its sources had changed since. `build.rs` finds
/// it.
///
/// If `NQUEENS_COMMIT` is set during the compilation, it names the commit. Otherwise the commit is `unknown` outside
/// a repository of this crate and a package that was made in one.
pub(crate) const COMMIT: &str = env!("NQUEENS_COMMIT");

/// The version of this crate, such as `1.0.0`.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the version with the commit, as journals name it: `1.0.0+86eb928`.
pub(crate) fn version() -> String {
    format!("{VERSION}+{COMMIT}")
}

#[cfg(test)]
mod tests {
    use super::COMMIT;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// Returns what a git command prints in the folder of this crate, or `None` if it fails.
    fn git(args: &[&str]) -> Option<String> {
        let mut git = Command::new("git");
        git.args(["-C", env!("CARGO_MANIFEST_DIR")]).args(args);
        let output = git.output().ok()?;
        let is_found = output.status.success();
        is_found.then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A tree that lies in the repository of something else has none, unless it is a package.
    #[test]
    fn the_commit_is_one_of_this_crate() {
        match git(&["rev-parse", "--show-prefix"]) {
            // This folder is the root of a repository.
            Some(prefix) if prefix.is_empty() => {
                let commit = git(&["rev-parse", "--short=7", "HEAD"]).expect("a commit");
                assert!(COMMIT == "unknown" || COMMIT.starts_with(&commit), "{COMMIT}, {commit}");
            }
            _ => {
                let info = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json");
                match fs::read_to_string(info) {
                    Ok(info) => assert!(
                        info.contains(COMMIT.trim_end_matches("-modified")),
                        "{COMMIT}, {info}"
                    ),
                    Err(_) => assert_eq!(COMMIT, "unknown"),
                }
            }
        }
    }
}
