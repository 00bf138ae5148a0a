//! Promise: a build names the commit of its sources, so a journal says which code counted its units. docs/FORMAT.md
//! makes this promise under "Format 2". The tests build a small package with this package's build script, in
//! repositories of git. This takes some twenty seconds, because cargo runs some fifty times.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::common::{arg, fresh, fresh_folder, note_skipped, run, stderr, stdout};

/// A package that prints the commit from which it was compiled.
struct Package {
    folder: PathBuf,
    target: PathBuf,
}

impl Package {
    fn new(folder: &Path) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let package = Self { folder: folder.to_owned(), target: folder.with_extension("target") };
        package.write("src/main.rs", "fn main() { println!(\"{}\", env!(\"NQUEENS_COMMIT\")); }\n");
        // It is no part of a workspace in a folder above.
        package.write(
            "Cargo.toml",
            "[package]\nname = \"commit\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
        );
        package.write("README.md", "Of no importance\n");
        fs::copy(root.join("build.rs"), folder.join("build.rs")).expect("a copy");
        package
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(args).current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        // What the tests were compiled with is of no use here.
        for name in ["NQUEENS_COMMIT", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER"] {
            cargo.env_remove(name);
        }
        cargo
    }

    /// Builds the package if cargo finds that it has to, and returns the commit that the program prints.
    fn commit(&self) -> String {
        printed(&mut self.cargo(&["run", "--quiet", "--offline"]))
    }

    /// Returns whether a build has something to do, and does it.
    fn builds(&self) -> bool {
        let output = run(&mut self.cargo(&["build", "--verbose", "--offline"]));
        assert!(output.status.success(), "{}", stderr(&output));
        let is_fresh = stderr(&output).lines().any(|line| line.contains("Fresh commit v0.0.0"));
        !is_fresh
    }

    /// Makes a file as old as the epoch, without a change of its contents.
    fn age(&self, name: &str) {
        let file = File::options().append(true).open(self.folder.join(name)).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("its owner");
    }

    fn modified(&self, name: &str) -> SystemTime {
        let facts = fs::metadata(self.folder.join(name)).expect("a file");
        facts.modified().expect("a time")
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.folder, args)
    }

    /// Commits all changes of tracked files, and returns the beginning of the name of the commit.
    fn commit_changes(&self) -> String {
        self.git(&["commit", "--quiet", "--all", "--allow-empty", "--message", "a change"]);
        self.git(&["rev-parse", "--short=7", "HEAD"])
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]);
    git.args(["-c", "commit.gpgSign=false"]).args(args);
    printed(&mut git)
}

fn printed(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    stdout(&output).trim().to_owned()
}

#[test]
fn a_build_names_the_commit_of_its_sources() {
    let folder = fresh_folder("commit-own");
    let package = Package::new(&folder);
    // A repository that does not hold the package, for example of somebody who unpacked it there.
    package.git(&["init", "--quiet"]);
    package.git(&["add", "README.md"]);
    package.commit_changes();
    assert_eq!(package.commit(), "unknown");

    package.git(&["add", "--all"]);
    let first = package.commit_changes();
    assert_eq!(package.commit(), first);

    package.write("README.md", "Of no importance to the program\n");
    package.write("src/main.rs", "fn main() { print!(\"{}\", env!(\"NQUEENS_COMMIT\")); }\n");
    assert_eq!(package.commit(), format!("{first}-modified"));

    let second = package.commit_changes();
    assert_ne!(second, first);
    assert_eq!(package.commit(), second);

    // The file of the branch goes, and comes back with the next commit.
    package.git(&["pack-refs", "--all"]);
    assert_eq!(package.commit(), second);
    let third = package.commit_changes();
    assert_eq!(package.commit(), third);

    package.git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "another"]);
    let amended = package.git(&["rev-parse", "--short=7", "HEAD"]);
    assert_ne!(amended, third);
    assert_eq!(package.commit(), amended);

    package.git(&["checkout", "--quiet", &first]);
    assert_eq!(package.commit(), first);

    let given = printed(package.cargo(&["run", "--quiet"]).env("NQUEENS_COMMIT", "v1.0-12"));
    assert_eq!(given, "v1.0-12");
    // As a line of a journal would not be read again.
    let spaced = run(package.cargo(&["run", "--quiet"]).env("NQUEENS_COMMIT", "a b"));
    assert!(stderr(&spaced).contains("NQUEENS_COMMIT is 'a b'"), "{spaced:?}");
}

/// A build takes minutes of CPU time, so what leaves the sources and the commit alone must not cause one.
#[test]
fn what_is_no_commit_builds_nothing() {
    let folder = fresh_folder("commit-same");
    let package = Package::new(&folder);
    package.git(&["init", "--quiet"]);
    package.git(&["add", "--all"]);
    let first = package.commit_changes();
    assert_eq!(package.commit(), first);
    assert!(!package.builds(), "nothing has changed");

    // Git looks into a file whose time is not that of the index, and notes its time.
    package.age("README.md");
    package.age(".git/index");
    package.git(&["status"]);
    assert!(package.modified(".git/index") > SystemTime::UNIX_EPOCH, "the status writes the index");
    assert!(!package.builds(), "a status");

    package.write("README.md", "Of no importance to the program\n");
    package.git(&["add", "README.md"]);
    assert!(!package.builds(), "a staged file that is no source");
    package.git(&["pack-refs", "--all"]);
    assert!(!package.builds(), "a packed branch");
    package.git(&["branch", "other"]);
    assert!(!package.builds(), "a new branch");

    let second = package.commit_changes();
    assert!(package.builds(), "a commit");
    assert_eq!(package.commit(), second);
}

/// In these repositories HEAD has no log, or its log is not a file of its own.
#[test]
fn a_commit_is_noticed_without_a_log() {
    for (format, log) in [("files", "false"), ("files", "true"), ("reftable", "true")] {
        let folder = fresh_folder(&format!("commit-{format}-{log}"));
        let package = Package::new(&folder);
        let format = format!("--ref-format={format}");
        let init = ["init", "--quiet", &format];
        if !run(Command::new("git").args(init).current_dir(&folder)).status.success() {
            // Git has this option from version 2.45 on.
            note_skipped(&format!("this git has no {format}"));
            continue;
        }
        package.git(&["config", "core.logAllRefUpdates", log]);
        package.git(&["add", "--all"]);
        assert_eq!(package.commit(), "unknown", "{format} {log}: there is no commit");
        let first = package.commit_changes();
        assert_eq!(package.commit(), first, "{format} {log}");
        let second = package.commit_changes();
        assert_eq!(package.commit(), second, "{format} {log}");

        package.git(&["pack-refs", "--all"]);
        assert_eq!(package.commit(), second, "{format} {log}");
        let third = package.commit_changes();
        assert_eq!(package.commit(), third, "{format} {log}: the branch was packed");

        package.git(&["checkout", "--quiet", &first]);
        assert_eq!(package.commit(), first, "{format} {log}");
        let detached = package.commit_changes();
        assert_eq!(package.commit(), detached, "{format} {log}: without a branch");
        assert!(!package.builds(), "{format} {log}: nothing has changed");
    }
}

/// A worktree has its own HEAD, and shares the branches with the repository.
#[test]
fn a_build_in_a_worktree_names_the_commit_of_the_worktree() {
    for log in ["true", "false"] {
        let folder = fresh_folder(&format!("commit-main-{log}"));
        let package = Package::new(&folder);
        package.git(&["init", "--quiet"]);
        package.git(&["config", "core.logAllRefUpdates", log]);
        package.git(&["add", "--all"]);
        let first = package.commit_changes();

        let folder = fresh(&format!("commit-worktree-{log}"));
        package.git(&["worktree", "add", "--quiet", "-b", "side", arg(&folder)]);
        let worktree = Package { target: folder.with_extension("target"), folder };
        assert_eq!(worktree.commit(), first);
        let second = worktree.commit_changes();
        assert_ne!(second, first);
        assert_eq!(worktree.commit(), second, "log: {log}");
        package.commit_changes();
        assert!(!worktree.builds(), "log: {log}: a commit of another worktree");
    }
}

#[test]
fn a_folder_of_another_repository_and_a_place_without_git_have_no_commit() {
    let other = fresh_folder("commit-other");
    let package = Package::new(&other.join("vendor/commit"));
    git(&other, &["init", "--quiet"]);
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "--quiet", "--message", "all"]);
    assert_eq!(package.commit(), "unknown");

    // The script alone, because cargo needs a linker from the path.
    let builds = fs::read_dir(package.target.join("debug/build")).expect("builds");
    let scripts = builds.map(|build| build.expect("a folder").path().join("build-script-build"));
    let script = scripts.into_iter().find(|script| script.exists()).expect("a build script");
    let mut without_git = Command::new(script);
    without_git.current_dir(&package.folder).env("PATH", OsStr::new(""));
    let lines = printed(without_git.env_remove("NQUEENS_COMMIT"));
    assert!(lines.lines().any(|line| line == "cargo::rustc-env=NQUEENS_COMMIT=unknown"), "{lines}");
}

/// Cargo writes this file into every package that it makes in a repository. Here the package is unpacked in the
/// repository of something else, whose commit is not that of the package.
#[test]
fn a_package_names_the_commit_from_which_it_was_made() {
    let other = fresh_folder("commit-package");
    let package = Package::new(&other.join("vendor/commit"));
    git(&other, &["init", "--quiet"]);
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "--quiet", "--message", "all"]);
    let hash = "0123456789abcdef0123456789abcdef01234567";
    for (git, commit) in [
        (format!("{{\n    \"sha1\": \"{hash}\"\n  }}"), "0123456"),
        (format!("{{\n    \"sha1\": \"{hash}\",\n    \"dirty\": true\n  }}"), "0123456-modified"),
        // As of a later cargo, or of somebody's hand.
        ("{}".to_owned(), "unknown"),
        ("{\"sha1\": null}".to_owned(), "unknown"),
    ] {
        let info = format!("{{\n  \"git\": {git},\n  \"path_in_vcs\": \"\"\n}}");
        package.write(".cargo_vcs_info.json", &info);
        assert_eq!(package.commit(), commit, "{info}");
    }
}
