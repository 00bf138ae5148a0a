//! Promise: whatever stops a long count (a signal, a full disk, a second process, a clock that is set back), the
//! journal is good and the message says what to do. docs/JOURNAL.md makes this promise under "What is promised" and
//! "What to do".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::errno::EACCES;
use crate::common::processes::{send, shim, wait_for_units};
use crate::common::{
    NQUEENS, arg, contents, count_into, finish, nqueens, refused, run, spawn, stderr, stdout,
    without_reader,
};

/// Q(17): seconds of work for the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";
/// Q(24): hours.
const LONG: &str = "24";

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("fault-{name}.journal"))
}

fn units_done(path: &Path) -> usize {
    contents(path).sum().units
}

/// The message of a stopped count agrees with its journal. Job systems send the signals besides INT, TERM and HUP before
/// a limit.
#[test]
fn a_signal_loses_nothing() {
    for signal in ["INT", "TERM", "HUP", "USR1", "USR2", "ALRM", "XCPU"] {
        let path = fresh(&format!("signal-{signal}"));
        let mut child = spawn(&mut count_into(LONG, &path, &[]));
        let first = wait_for_units(&path, &mut child, 0);
        wait_for_units(&path, &mut child, first);
        send(signal, &child);
        let output = finish(child);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("the same command resumes"), "{message}");
        let said = format!("stopped after {} of ", units_done(&path));
        assert!(message.contains(&said), "{said:?} in {message:?}");
    }
}

/// A link to a file that is not there yet is as good as its path, and no other kind of file is read.
#[test]
fn a_journal_is_a_file_or_a_link_to_one() {
    let path = fresh("linked");
    let link = fresh("link");
    let fifo = fresh("fifo");
    std::os::unix::fs::symlink(&path, &link).expect("room");
    assert_eq!(stdout(&run(&mut count_into("12", &link, &[]))), "14200\n");
    assert!(link.is_symlink() && units_done(&path) > 0);
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there").success());
    for args in [&["count", "12", "--journal"][..], &["merge"], &["status"], &["verify"]] {
        refused(&run(nqueens(args).arg(&fifo)), 2, &["not a regular file"]);
    }
    fs::remove_file(&fifo).expect("it can be removed");
}

#[test]
fn a_second_process_is_refused() {
    let path = fresh("second");
    let mut child = spawn(&mut count_into(LONG, &path, &[]));
    wait_for_units(&path, &mut child, 0);
    let second = run(&mut count_into(LONG, &path, &[]));
    assert_eq!(second.status.code(), Some(4));
    assert!(stderr(&second).contains("another process"), "{}", stderr(&second));
    // Reading is allowed.
    let verify = run(nqueens(&["verify", "--units", "0"]).arg(&path));
    assert_eq!(verify.status.code(), Some(0), "{}", stderr(&verify));
    assert!(stderr(&verify).contains("the count is not finished"), "{}", stderr(&verify));
    child.kill().expect("it runs");
    child.wait().expect("ended");
}

/// Whether the reader of stdout has left or stdout is full, the journal is complete.
#[test]
fn the_journal_does_not_depend_on_stdout() {
    let path = fresh("stdout");
    let output = without_reader(&mut count_into("14", &path, &[]));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = run(count_into("14", &path, &[]).stdout(full));
    assert_eq!(output.status.code(), Some(1));
    let again = run(&mut count_into("14", &path, &[]));
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), "365596\n"));
}

/// Runs a count that may not make files of more than some kilobytes.
fn count_with_small_files(journal: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 16 && exec \"$0\" \"$@\"", NQUEENS, "count", N, "--quiet"]);
    run(shell.arg("--journal").arg(journal))
}

/// `ulimit -f` stops a count as a full disk does, but no room on the disk cures it.
#[test]
fn a_limit_on_files_stops_the_count_and_room_lets_it_resume() {
    let path = fresh("file-size");
    refused(
        &count_with_small_files(&path),
        1,
        &["File too large", "raise the limit on the size of files (ulimit -f)"],
    );
    let before = units_done(&path);
    assert!(before > 0, "records from before are good");
    let text = fs::read_to_string(&path).expect("text");
    assert!(text.ends_with('\n'), "the line that did not fit has left nothing");
    assert_eq!(count_with_small_files(&path).status.code(), Some(1));
    assert!(units_done(&path) >= before);
    let output = run(&mut count_into(N, &path, &[]));
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), TOTAL));
}

/// A page has a temporary name until it is whole, which says nothing to a user.
#[test]
fn a_page_that_does_not_fit_is_named_as_the_user_names_it() {
    let path = fresh("page-does-not-fit");
    assert_eq!(run(&mut count_into(N, &path, &[])).status.code(), Some(0));
    let page = path.with_extension("html");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\"", NQUEENS, "status"]);
    let refused_page = run(shell.arg(&path).arg("--html").arg(&page));
    let reason = format!("--html: cannot write {}: File too large", arg(&page));
    refused(&refused_page, 1, &[&reason, "raise the limit on the size of files (ulimit -f)"]);
    assert!(!stderr(&refused_page).contains(".tmp"), "{refused_page:?}");
}

#[test]
fn paths_that_cannot_be_written_are_clear_errors() {
    let device = fresh("device");
    let program = fresh("program");
    std::os::unix::fs::symlink("/dev/full", &device).expect("room");
    std::os::unix::fs::symlink(NQUEENS, &program).expect("room");
    let cases = [
        ("/nowhere/at/all.journal", 2, "make folder /nowhere/at first"),
        ("/nowhere/at/all/", 2, "make folder /nowhere/at first"),
        (arg(&device), 2, "not a regular file"),
        ("/proc/nqueens.journal", 2, "cannot open the journal"),
        // Nobody can make a file in this folder, or a folder.
        ("/proc", 2, "cannot open the journal"),
        ("/proc/nqueens/", 2, "cannot open the journal"),
        (arg(&program), 1, "cannot open the journal: Text file busy"),
    ];
    for (path, code, reason) in cases {
        refused(&run(&mut count_into("10", Path::new(path), &[])), code, &[reason, path]);
    }
}

/// In a folder that all may write to, Linux refuses to open the file of another user in order to create it
/// (`fs.protected_regular`).
#[test]
fn a_journal_of_another_user_resumes() {
    let path = finished("faults-protected");
    let output = run(count_into("10", &path, &[])
        .env("LD_PRELOAD", shim())
        .env("SHIM_FAIL", "create")
        .env("SHIM_ERRNO", EACCES));
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "724\n"), "{output:?}");
}

/// A journal with all units of n = 10.
fn finished(name: &str) -> PathBuf {
    let path = fresh(name);
    assert!(run(&mut count_into("10", &path, &[])).status.success());
    path
}

/// Tests that `cargo test` skips and `cargo test -- --ignored` runs. Each is in a module named after
/// what it needs, and fails without it.
mod needs_root {
    use super::*;

    /// A folder of its own, in a file system of its own.
    struct Mounted(PathBuf);

    impl Mounted {
        fn new(name: &str, options: &str) -> Self {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mounted-{name}"));
            fs::create_dir_all(&folder).expect("the folder can be made");
            let _ = Command::new("umount").arg(&folder).stderr(Stdio::null()).status();
            let mount = Command::new("mount")
                .args(["-t", "tmpfs", "-o", options, "tmpfs"])
                .arg(&folder)
                .status();
            let mounted = mount.expect("mount is installed").success();
            assert!(mounted, "this test needs root, or another user who may mount a tmpfs");
            Self(folder)
        }

        fn remount(&self, options: &str) {
            let options = format!("remount,{options}");
            let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status();
            assert!(status.expect("mount is installed").success(), "{options}");
        }
    }

    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_disk_without_inodes_is_full() {
        let disk = Mounted::new("inodes", "size=1m,nr_inodes=2");
        fs::write(disk.0.join("other"), "the last inode").expect("room");
        let path = disk.0.join("q.journal");
        refused(&run(&mut count_into(N, &path, &[])), 1, &["No space left", "bytes or inodes"]);
        let folder = run(&mut count_into(N, &disk.0, &[]));
        refused(&folder, 1, &["No space left", "bytes or inodes"]);
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_full_disk_stops_the_count_and_room_lets_it_resume() {
        let disk = Mounted::new("full", "size=16k");
        let path = disk.0.join("q.journal");
        let output = run(&mut count_into(N, &path, &[]));
        refused(&output, 1, &["No space left", "make room"]);
        let before = units_done(&path);
        assert!(before > 0, "records from before are good");
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.ends_with('\n'), "the line that did not fit has left nothing");

        // Still no room: nothing is lost, and the message comes again.
        let output = run(&mut count_into(N, &path, &[]));
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(units_done(&path) >= before);

        disk.remount("size=4m");
        let output = run(&mut count_into(N, &path, &[]));
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), TOTAL));
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_folder_that_is_read_only_is_a_clear_error() {
        let disk = Mounted::new("read-only", "size=1m");
        let path = disk.0.join("q.journal");
        let finished = disk.0.join("finished.journal");
        assert!(run(&mut count_into("12", &finished, &[])).status.success());
        disk.remount("ro");
        for path in [&path, &finished] {
            refused(&run(&mut count_into("12", path, &[])), 1, &["Read-only file system"]);
        }
        // Nothing is written to read it.
        let output = run(nqueens(&["merge", "--quiet"]).arg(&finished));
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), "14200\n"));
    }
}

/// See `needs_root`.
mod needs_libfaketime {
    use super::*;

    /// The wall clock is set back by a day in the middle of a run.
    #[test]
    #[ignore = "needs libfaketime"]
    fn a_clock_that_is_set_back_changes_nothing() {
        let library = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
            .map(|folder| format!("{folder}/faketime/libfaketime.so.1"))
            .into_iter()
            .find(|library| Path::new(library).exists());
        let library = library.expect("this test needs libfaketime: Debian's package faketime");
        let path = fresh("clock");
        let clock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clock");
        fs::write(&clock, "+0").expect("the folder can be written");
        let mut command = count_into(N, &path, &["--kernel", "portable", "--threads", "1"]);
        command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &clock);
        command.env("FAKETIME_NO_CACHE", "1").env("DONT_FAKE_MONOTONIC", "1");
        let mut child = spawn(&mut command);
        wait_for_units(&path, &mut child, 0);
        fs::write(&clock, "-1d").expect("the folder can be written");
        let output = finish(child);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), TOTAL));
        let run = contents(&path).files()[0].runs[0].clone();
        assert!(run.elapsed < Duration::from_secs(3600), "{run:?}");
    }
}
