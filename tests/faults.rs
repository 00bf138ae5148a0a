//! Long runs as users have them: real processes, real signals, full disks, folders that cannot be
//! written, clocks that are set back.

#![cfg(target_os = "linux")]

#[path = "common/processes.rs"]
mod processes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nqueens::journal;

use processes::{send, wait_for};

const NQUEENS: &str = env!("CARGO_BIN_EXE_nqueens");

/// Q(17): seconds of work for the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";
/// Q(24): hours.
const LONG: &str = "24";

fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fault-{name}.journal"));
    let _ = fs::remove_file(&path);
    path
}

fn count(n: &str, journal: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(NQUEENS);
    command.args(["count", n, "--quiet", "--journal"]).arg(journal).args(args);
    command.env_remove("NQUEENS_THREADS").env_remove("SLURM_CPUS_PER_TASK");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Waits until the journal holds more units than so many.
fn wait_for_units(path: &Path, more_than: usize) -> usize {
    wait_for("units in the journal", || {
        let contents = journal::read(path).ok().flatten()?;
        Some(contents.finished.units_done()).filter(|units| *units > more_than)
    })
}

fn units_done(path: &Path) -> usize {
    journal::read(path).expect("readable").expect("a journal").finished.units_done()
}

/// What is said when a count is stopped is what the journal holds.
#[test]
fn a_signal_loses_nothing() {
    for signal in ["INT", "TERM"] {
        let path = fresh(&format!("signal-{signal}"));
        let child = count(LONG, &path, &[]).spawn().expect("the program starts");
        let first = wait_for_units(&path, 0);
        wait_for_units(&path, first);
        send(signal, &child);
        let output = child.wait_with_output().expect("the program ends");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("the same command resumes"), "{message}");
        let said = format!("stopped after {} of ", units_done(&path));
        assert!(message.contains(&said), "{said:?} in {message:?}");
    }
}

#[test]
fn a_second_process_is_refused() {
    let path = fresh("second");
    let mut first = count(LONG, &path, &[]).spawn().expect("the program starts");
    wait_for_units(&path, 0);
    let second = run(&mut count(LONG, &path, &[]));
    assert_eq!(second.status.code(), Some(4));
    assert!(text(&second.stderr).contains("another process"), "{}", text(&second.stderr));
    // Reading is allowed.
    let verify = run(Command::new(NQUEENS).arg("verify").arg(&path).args(["--units", "0"]));
    assert_eq!(verify.status.code(), Some(3), "not finished: {}", text(&verify.stderr));
    first.kill().expect("it ran");
    first.wait().expect("ended");
}

/// The reader of stdout is gone or stdout is full: the work is in the journal all the same.
#[test]
fn the_journal_does_not_depend_on_stdout() {
    let path = fresh("stdout");
    let mut child = count("14", &path, &[]).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = run(count("14", &path, &[]).stdout(full));
    assert_eq!(output.status.code(), Some(1));
    let again = run(&mut count("14", &path, &[]));
    assert_eq!((again.status.code(), text(&again.stdout)), (Some(0), "365596\n"));
}

#[test]
fn paths_that_cannot_be_written_are_clear_errors() {
    let cases = [
        ("/nowhere/at/all.journal", 1, "cannot open the journal"),
        ("/dev/full", 2, "not a plain file"),
        (env!("CARGO_TARGET_TMPDIR"), 2, "not a plain file"),
        ("/proc/nqueens.journal", 1, "cannot open the journal"),
        (NQUEENS, 2, "not a journal"),
    ];
    for (path, code, reason) in cases {
        let output = run(&mut count("10", Path::new(path), &[]));
        let message = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(code), ""), "{message}");
        assert!(message.contains(reason) && message.contains(path), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

/// Tests that `cargo test` leaves out: each lies in a module that is named after what it needs, fails
/// without it, and runs by `cargo test -- --ignored`.
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
            assert!(mounted, "this test needs root, or another who may mount a tmpfs");
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
    fn a_full_disk_stops_the_count_and_room_lets_it_go_on() {
        let disk = Mounted::new("full", "size=16k");
        let path = disk.0.join("q.journal");
        let output = run(&mut count(N, &path, &[]));
        let message = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""), "{message}");
        assert!(message.contains("No space left") && message.contains("make room"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        let before = units_done(&path);
        assert!(before > 0, "what was written before is good");

        // Still no room: nothing is lost, and the reason is said again.
        let output = run(&mut count(N, &path, &[]));
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(units_done(&path) >= before);

        disk.remount("size=4m");
        let output = run(&mut count(N, &path, &[]));
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), TOTAL));
    }

    #[test]
    #[ignore = "needs root, to mount a file system"]
    fn a_folder_that_is_read_only_is_a_clear_error() {
        let disk = Mounted::new("read-only", "size=1m");
        let path = disk.0.join("q.journal");
        let finished = disk.0.join("finished.journal");
        assert!(run(&mut count("12", &finished, &[])).status.success());
        disk.remount("ro");
        let output = run(&mut count("12", &path, &[]));
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("Read-only file system"), "{}", text(&output.stderr));
        // A finished journal needs no writing.
        let output = run(&mut count("12", &finished, &[]));
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "14200\n"));
    }
}

/// See `needs_root`.
mod needs_libfaketime {
    use super::*;

    /// The wall clock goes back by a day in the middle of a run.
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
        let mut command = count(N, &path, &["--kernel", "portable", "--threads", "1"]);
        command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &clock);
        command.env("FAKETIME_NO_CACHE", "1").env("DONT_FAKE_MONOTONIC", "1");
        let child = command.spawn().expect("the program starts");
        wait_for_units(&path, 0);
        fs::write(&clock, "-1d").expect("the folder can be written");
        let output = child.wait_with_output().expect("ended");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), TOTAL));
        let contents = journal::read(&path).expect("readable").expect("a journal");
        assert!(contents.runs[0].elapsed < Duration::from_secs(3600), "{:?}", contents.runs);
    }
}

#[test]
fn verify_tells_true_from_false_and_finished_from_not() {
    let verify =
        |path: &Path, args: &[&str]| run(Command::new(NQUEENS).arg("verify").arg(path).args(args));
    let path = fresh("verify");
    assert!(run(&mut count("12", &path, &["--engine", "halves"])).status.success());
    let good = verify(&path, &["--json", "--seed", "7", "--units", "50"]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    let object: serde_json::Value = serde_json::from_slice(&good.stdout).expect("JSON");
    assert_eq!(object["total"], "14200");
    assert_eq!((&object["published"], &object["recounted"]), (&"agrees".into(), &50.into()));
    assert_eq!((&object["recounted_by"], &object["seed"]), (&"row-domains".into(), &7.into()));
    assert_eq!(object["differences"].as_array().map(Vec::len), Some(0));

    // A true journal without its last line is not finished.
    let whole = fs::read_to_string(&path).expect("text");
    let cut = whole.trim_end().rsplit_once('\n').expect("lines").0.to_owned() + "\n";
    fs::write(&path, &cut).expect("the folder can be written");
    let part = verify(&path, &[]);
    assert_eq!(part.status.code(), Some(3));
    assert!(text(&part.stderr).contains("not finished"), "{}", text(&part.stderr));

    // One count changed, with its sum and CRC.
    let (line, _) = whole
        .trim_end()
        .rsplit_once('\n')
        .map(|(_, last)| last.rsplit_once(' ').expect("a CRC"))
        .expect("lines");
    let (before, counts) = line.rsplit_once("counts=").expect("counts");
    let unit: usize = line.split(['=', '.']).nth(1).expect("a unit").parse().expect("a number");
    let plan = journal::read(&path).expect("readable").expect("a journal").plan;
    let sum: u64 = before.split(['=', ' ']).nth(4).expect("a sum").parse().expect("a number");
    let mut counts: Vec<u64> =
        counts.split(',').map(|count| count.parse().expect("a count")).collect();
    counts[0] += 2;
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    let before = before.replace(
        &format!("solutions={sum} "),
        &format!("solutions={} ", sum + 2 * plan.weight(unit)),
    );
    let line = format!("{before}counts={}", counts.join(","));
    let line = format!("{line} {:08x}\n", crc32fast::hash(line.as_bytes()));
    fs::write(&path, cut + &line).expect("the folder can be written");
    let bad = verify(&path, &["--units", "1000000"]);
    assert_eq!(bad.status.code(), Some(1));
    let message = text(&bad.stderr);
    assert!(message.contains(&format!("unit {unit} is recorded with ")), "{message}");
    assert!(message.contains("differs from the published 14200"), "{message}");
    assert!(text(&bad.stdout).contains("1 DIFFER"), "{}", text(&bad.stdout));

    let missing = verify(Path::new("/no/such.journal"), &[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("/no/such.journal"), "{}", text(&missing.stderr));
}
