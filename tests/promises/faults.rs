//! Promise: whatever stops a long count (a signal, a full disk, a limit on files, a clock that is set back), the
//! journal is good, and the message says what to do. docs/JOURNAL.md makes this promise under "What is promised".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::processes::{send, wait_for_units};
use crate::common::{
    NQUEENS, arg, contents, count_into, finish, fresh, fresh_folder, journal_in, journals_in,
    nqueens, record_of, refused, result, run, spawn, stderr, stdout, without_reader,
};

/// Q(17): seconds of work for the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";
/// Q(24): hours.
const LONG: &str = "24";

/// A path in a new folder, for the folder of a count.
fn folder(name: &str) -> PathBuf {
    fresh_folder(&format!("faults-{name}")).join("count")
}

fn units_done(folder: &Path) -> usize {
    record_of(&[folder]).units_done()
}

/// The message of a stopped count agrees with its journal. Job systems send the signals besides INT, TERM and HUP
/// before a limit.
#[test]
fn a_signal_loses_nothing() {
    for signal in ["INT", "TERM", "HUP", "USR1", "USR2", "ALRM", "XCPU"] {
        let folder = folder(&format!("signal-{signal}"));
        let mut child = spawn(&mut count_into(LONG, &folder, &[]));
        let first = wait_for_units(&folder, &mut child, 0);
        wait_for_units(&folder, &mut child, first);
        send(signal, &child);
        let output = finish(child);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("the same command resumes"), "{message}");
        let said = format!("stopped after {} of ", contents(&folder).units_done());
        assert!(message.contains(&said), "{said:?} in {message:?}");
    }
}

/// Whether the reader of stdout has left or stdout is full, the journal is complete.
#[test]
fn the_journal_does_not_depend_on_stdout() {
    let folder = folder("stdout");
    let output = without_reader(&mut count_into("14", &folder, &[]));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = run(count_into("14", &folder, &[]).stdout(full));
    assert_eq!(output.status.code(), Some(1));
    let again = run(&mut count_into("14", &folder, &[]));
    assert_eq!(result(&again), (Some(0), "365596\n", ""));
    assert_eq!(contents(&journal_in(&folder)).total(), Some(365_596));
}

/// The only journal fills its room to the last byte, so it nearly always ends in the middle of a line. The lines before
/// it are good.
fn fills_its_room(folder: &Path) -> usize {
    let text = fs::read_to_string(journal_in(folder)).expect("text");
    assert!(text.len().is_multiple_of(512), "{} bytes of whole blocks: {text}", text.len());
    let units = contents(folder).units_done();
    assert!(units > 0, "{text}");
    units
}

/// Runs a count that may not make files of more than eight kilobytes.
fn count_with_small_files(folder: &Path) -> Output {
    let mut shell = Command::new("sh");
    let limited = "ulimit -f 16 && exec \"$0\" \"$@\"";
    shell.args(["-c", limited, NQUEENS, "count", N, "--quiet", "--journal"]);
    run(shell.arg(folder))
}

/// `ulimit -f` stops a count as a full disk does, but no room on the disk cures it. A torn line is dropped without a
/// word, because a process that is killed leaves one as well.
#[test]
fn a_limit_on_files_stops_the_count_and_its_units_resume() {
    let folder = folder("file-size");
    let words = ["cannot write the journal: File too large", "(ulimit -f)"];
    refused(&count_with_small_files(&folder), 1, &words);
    let before = fills_its_room(&folder);
    // The next process has a file of its own, so it comes further under the same limit.
    assert_eq!(count_with_small_files(&folder).status.code(), Some(1));
    assert!(units_done(&folder) > before);
    let resumed = run(&mut count_into(N, &folder, &[]));
    assert_eq!(result(&resumed), (Some(0), TOTAL, ""));
    assert_eq!(contents(&folder).total(), Some(95_815_104));
}

/// A page has a temporary name until it is whole, which says nothing to a user.
#[test]
fn a_page_that_does_not_fit_is_named_as_the_user_names_it() {
    let folder = folder("page-does-not-fit");
    assert_eq!(run(&mut count_into(N, &folder, &[])).status.code(), Some(0));
    let page = folder.with_extension("html");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\"", NQUEENS, "status"]);
    let refused_page = run(shell.arg(&folder).arg("--html").arg(&page));
    let reason = format!("--html: cannot write {}: File too large", arg(&page));
    refused(&refused_page, 1, &[&reason, "(ulimit -f)"]);
    assert!(!stderr(&refused_page).contains(".tmp"), "{refused_page:?}");
}

#[test]
fn a_file_in_place_of_the_folder_is_left_alone() {
    let file = fresh("faults-file.journal");
    fs::write(&file, "whatever it holds").expect("room");
    let link = fresh("faults-link-to-file");
    std::os::unix::fs::symlink(&file, &link).expect("room");
    let advice =
        "is not a folder: journals live in a folder; move this file into one, and name the folder";
    for path in [&*file, &link, Path::new("/dev/full")] {
        let output = run(&mut count_into("10", path, &[]));
        refused(&output, 2, &[&format!("'{}' {advice}", path.display())]);
    }
    assert_eq!(fs::read_to_string(&file).expect("text"), "whatever it holds");
    // What cannot be a journal is not waited for, as the reader of a pipe would.
    let pipe = fresh("faults-pipe.journal");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
    for args in [&["merge"][..], &["status"], &["verify"]] {
        refused(&run(nqueens(args).arg(&pipe)), 2, &["is not a journal of nqueens"]);
    }
    fs::remove_file(&pipe).expect("it is there");
}

#[test]
fn paths_that_cannot_be_written_are_clear_errors() {
    let cases = [
        ("/nowhere/at/all", 1, "cannot create the journal: No such file"),
        // Nobody can make a file in this folder, or a folder.
        ("/proc", 1, "cannot create the journal: No such file"),
        ("/proc/nqueens", 1, "cannot create the journal: No such file"),
    ];
    for (path, code, reason) in cases {
        refused(&run(&mut count_into("10", Path::new(path), &[])), code, &[reason, path]);
    }
}

/// A link to a folder is as good as the folder.
#[test]
fn a_link_to_a_folder_is_a_folder() {
    let folder = fresh_folder("faults-linked");
    let link = fresh("faults-link");
    std::os::unix::fs::symlink(&folder, &link).expect("room");
    assert_eq!(stdout(&run(&mut count_into("12", &link, &[]))), "14200\n");
    assert_eq!(contents(&journal_in(&folder)).total(), Some(14_200));
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
        for folder in [disk.0.join("count"), disk.0.clone()] {
            refused(&run(&mut count_into(N, &folder, &[])), 1, &["No space left", "inodes"]);
        }
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_full_disk_stops_the_count_and_room_lets_it_resume() {
        let disk = Mounted::new("full", "size=16k");
        let folder = disk.0.join("count");
        refused(&run(&mut count_into(N, &folder, &[])), 1, &["No space left", "make room"]);
        let before = fills_its_room(&folder);

        // There is still no room: nothing is lost, and the message comes again.
        refused(&run(&mut count_into(N, &folder, &[])), 1, &["No space left", "make room"]);
        assert_eq!(units_done(&folder), before);

        disk.remount("size=4m");
        assert_eq!(result(&run(&mut count_into(N, &folder, &[]))), (Some(0), TOTAL, ""));
        assert_eq!(contents(&folder).total(), Some(95_815_104));
    }

    /// The copy of a journal that others removed does not fit.
    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_journal_that_cannot_be_saved_ends_the_count() {
        let disk = Mounted::new("lost", "size=64k");
        let folder = disk.0.join("count");
        let args = ["--kernel", "portable", "--threads", "1"];
        let mut child = spawn(&mut count_into(LONG, &folder, &args));
        wait_for_units(&folder, &mut child, 0);
        send("STOP", &child);
        crate::common::processes::wait_until_stopped(&mut child);
        let path = journal_in(&folder);
        fs::rename(&path, disk.0.join("away")).expect("it is there");
        let others = fs::File::create(disk.0.join("others"));
        let mut others = others.expect("an inode");
        while std::io::Write::write_all(&mut others, &[1; 512]).is_ok() {}
        send("CONT", &child);
        refused(&finish(child), 1, &["cannot write the journal: No space left", "make room"]);
        let moved = disk.0.join("away");
        assert!(contents(&moved).units_done() > 0, "what was moved is good");
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_folder_that_is_read_only_is_a_clear_error() {
        let disk = Mounted::new("read-only", "size=1m");
        let finished = disk.0.join("finished");
        assert!(run(&mut count_into("12", &finished, &[])).status.success());
        disk.remount("ro");
        let new = disk.0.join("new");
        refused(&run(&mut count_into("12", &new, &[])), 1, &["Read-only file system"]);
        // Nothing is written if nothing is left to count, or to read it.
        assert_eq!(result(&run(&mut count_into("12", &finished, &[]))), (Some(0), "14200\n", ""));
        let merged = run(nqueens(&["merge", "--quiet"]).arg(&finished));
        assert_eq!(result(&merged), (Some(0), "14200\n", ""));
        assert_eq!(journals_in(&finished).len(), 1);
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
        let folder = folder("clock");
        let clock = folder.with_file_name("clock");
        fs::write(&clock, "+0").expect("the folder can be written");
        let mut command = count_into(N, &folder, &["--kernel", "portable", "--threads", "1"]);
        command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &clock);
        command.env("FAKETIME_NO_CACHE", "1").env("DONT_FAKE_MONOTONIC", "1");
        let mut child = spawn(&mut command);
        wait_for_units(&folder, &mut child, 0);
        fs::write(&clock, "-1d").expect("the folder can be written");
        let output = finish(child);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), TOTAL));
        let run = contents(&folder).runs().next().expect("a run").clone();
        assert!(run.elapsed() < Duration::from_secs(3600), "{run:?}");
    }
}
