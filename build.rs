//! Finds the commit from which the crate is compiled, for `src/version.rs`.
//!
//! The lack of git, or of a repository, is no error, because the crate is also compiled from a package of the registry,
//! or as a folder of something else. A package names the commit in a file.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The file in which a package of cargo names its commit: `{"git": {"sha1": "86eb928...", "dirty": true}, ...}`.
const PACKAGE_INFO: &str = ".cargo_vcs_info.json";

/// What the library and the program are made of.
const SOURCES: [&str; 4] = ["src", "Cargo.toml", "Cargo.lock", "build.rs"];

fn main() {
    for source in SOURCES {
        rerun_if_changed(source);
    }
    println!("cargo::rerun-if-env-changed=NQUEENS_COMMIT");
    let given = env::var_os("NQUEENS_COMMIT").unwrap_or_default();
    let commit = if given.is_empty() {
        let found = commit_of_own_repository().or_else(commit_of_package);
        found.unwrap_or_else(|| "unknown".to_owned())
    } else {
        given.to_string_lossy().into_owned()
    };
    // A space would end the word in the lines of journals that names the version.
    assert!(
        commit.chars().all(|c| c.is_ascii_graphic()),
        "NQUEENS_COMMIT is '{commit}': use letters, digits and signs, without spaces"
    );
    println!("cargo::rustc-env=NQUEENS_COMMIT={commit}");
}

/// Returns the commit, with `-modified` if sources have changed since. Returns `None` if git does not find it, or if
/// `Cargo.toml` is not at the root of its repository: then the repository, and its commit, belong to something else.
fn commit_of_own_repository() -> Option<String> {
    let folders_above = git(&["rev-parse", "--show-prefix"])?;
    if !folders_above.is_empty() {
        return None;
    }
    watch_head()?;
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(&["rev-parse", "--short=7", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(SOURCES);
    let changes = git(&status)?;
    let suffix = if changes.is_empty() { "" } else { "-modified" };
    Some(commit + suffix)
}

/// Makes cargo run this again after a commit or a checkout. The index is no sign of them, because a mere `git status`
/// may write it, and the library would be compiled again for nothing. Returns `None` if git fails.
fn watch_head() -> Option<()> {
    let path_of = |name: &str| git(&["rev-parse", "--git-path", name]);
    rerun_if_changed(&path_of("HEAD")?);
    // Everything that moves HEAD adds a line to its log, whether the branch has a file of its own or is packed.
    let log = path_of("logs/HEAD")?;
    if Path::new(&log).exists() {
        rerun_if_changed(&log);
        return Some(());
    }
    // The log does not exist before the first commit, if `core.logAllRefUpdates` is false, or if git keeps its
    // references in tables.
    rerun_if_changed(&path_of("reftable")?);
    // A detached HEAD has no branch.
    if let Some(branch) = git(&["symbolic-ref", "--quiet", "HEAD"]) {
        let file = path_of(&branch)?;
        // A commit makes the file of a branch that is new or packed, and so changes a folder above it.
        let existing = Path::new(&file).ancestors().find(|path| path.exists());
        rerun_if_changed(existing?.to_str()?);
    }
    Some(())
}

/// Returns the commit from which this package was made, with `-modified` if its sources had changed since. Returns
/// `None` if this is no package, or if it was made outside a repository.
fn commit_of_package() -> Option<String> {
    rerun_if_changed(PACKAGE_INFO);
    let info = fs::read_to_string(PACKAGE_INFO).ok()?;
    let (_, after_name) = info.split_once("\"sha1\"")?;
    let hash = after_name.split('"').nth(1)?;
    if !hash.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let commit = hash.get(..7)?;
    let suffix = if info.contains("\"dirty\"") { "-modified" } else { "" };
    Some(commit.to_owned() + suffix)
}

/// Returns what a git command prints, or `None` if it fails.
fn git(args: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // A hook of another repository sets these variables, and git would look there.
    git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    // A status that refreshed the index would cause the next build.
    git.arg("--no-optional-locks").args(args);
    let output = git.output().ok()?;
    let is_found = output.status.success();
    is_found.then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Makes cargo run this again if a file or folder changes. Cargo would run it each time for a path that does not exist.
fn rerun_if_changed(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}
