//! Promise: a signal stops a count within 0.3 s, also in the middle of a unit, and it reports its progress. A second
//! signal ends it at once. docs/JOURNAL.md makes this promise under "What is promised", and
//! docs/CLUSTER.md under "Other schedulers".

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nqueens::{Cancel, Solutions, Square};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};

use crate::common::processes::{
    cpu_time_to_end, send, shim, signal_bit, status_mask, unignore_signals, wait_for_work,
    wait_until, wait_until_caught,
};
use crate::common::{
    NQUEENS, Running, finish, fresh_folder, kernels, nqueens, size, spawn, stderr, stdout,
};

fn start(args: &[&str]) -> Running {
    spawn(nqueens(args).stdout(Stdio::null()))
}

fn messages_of(child: &mut Child) -> BufReader<impl Read + use<>> {
    BufReader::new(child.stderr.take().expect("piped"))
}

/// Counts of hours. Their first line of progress shows that units have been finished. `faults` sends every other signal
/// to a count with a journal.
#[test]
fn a_count_without_a_journal_reports_its_progress_when_it_is_stopped() {
    for command in [&["count", "24"][..], &["table", "24-25"]] {
        let mut child = start(&[command, &["--threads", "1", "--progress", "always"]].concat());
        let mut messages = messages_of(&mut child);
        let mut line = String::new();
        while !line.contains(" units") {
            line.clear();
            assert_ne!(messages.read_line(&mut line).expect("text"), 0, "{command:?} ended");
        }
        send("TERM", &child);
        let mut message = String::new();
        messages.read_to_string(&mut message).expect("text");
        let status = child.wait().expect("ended");
        assert_eq!(status.code(), Some(3), "{command:?}: {message}");
        assert!(message.contains("stopped after "), "{command:?}: {message}");
        assert!(message.contains(" units, "), "{command:?}: {message}");
        let names_the_way_out = message.contains("nothing was kept, because there is no --journal");
        assert_eq!(names_the_way_out, command[0] == "count", "{command:?}: {message}");
    }
}

/// `nohup` ignores SIGHUP for the program that it starts, a script SIGINT for those in its background.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    unignore_signals();
    let mut shell = Command::new("sh");
    let script = "trap '' HUP INT TERM USR1; exec \"$0\" count 24 --progress never";
    shell.args(["-c", script, NQUEENS]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawn(&mut shell);
    let pid = child.id();
    wait_until_caught(&mut child, SIGXCPU);
    let ignored = status_mask(pid, "SigIgn").expect("a mask");
    let caught = status_mask(pid, "SigCgt").expect("a mask");
    child.kill().expect("it runs");
    child.wait().expect("ended");
    for signal in [SIGHUP, SIGINT, SIGTERM, SIGUSR1] {
        let bit = signal_bit(signal);
        assert_eq!((ignored & bit, caught & bit), (bit, 0), "signal {signal}");
    }
}

/// The operating system sends SIGXCPU again for each further second of CPU time.
#[test]
fn a_limit_on_cpu_time_stops_the_count() {
    unignore_signals();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -S -t 1; exec \"$0\" count 24 --progress never", NQUEENS]);
    let output = shell.output().expect("a shell");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("stopped after "), "{message}");
}

/// A sample that is stopped answers with what it has. A unit takes some hundredths of a second.
#[cfg(target_os = "linux")]
#[test]
fn a_stopped_estimate_still_answers() {
    let mut child = spawn(&mut nqueens(&["estimate", "22", "--seconds", "600", "--threads", "1"]));
    wait_for_work(&mut child, Duration::from_secs(1));
    send("INT", &child);
    let stopped = finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    assert!(stderr(&stopped).contains("stopped after "), "{stopped:?}");
    for row in ["sample ", "time ", "total "] {
        assert!(stdout(&stopped).lines().any(|line| line.starts_with(row)), "{stopped:?}");
    }
}

/// Job systems, and the program `timeout`, send a signal to the program and to its process group, so it
/// comes twice.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_comes_twice_at_once_stops_the_count() {
    use std::os::unix::process::CommandExt;

    for _ in 0..10 {
        let mut count = nqueens(&["count", "24", "--progress", "never"]);
        let mut child = spawn(count.process_group(0));
        // Until then, a signal ends the program as it ends any other.
        wait_until_caught(&mut child, SIGTERM);
        wait_for_work(&mut child, Duration::from_millis(200));
        let pid = child.id().to_string();
        let group = format!("-{pid}");
        let kill = format!("kill -s TERM -- {pid} {group}");
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("a shell").success(), "the program runs");
        let output = finish(child);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("stopped "), "{message}");
    }
}

/// Stops a count on one thread when it has used this much CPU time since it began its journal. Checks that it then
/// uses at most 0.3 s of CPU time. That much wall time is promised, and a machine where nothing else runs needs no more
/// wall time than CPU time.
#[cfg(target_os = "linux")]
fn stops_at_once(n: &str, options: &[&str], after: Duration) {
    use crate::common::{count_into, read};

    let limit = Duration::from_millis(300);
    let folder = fresh_folder(&format!("signals-{n}{}", options.concat()));
    let mut child = spawn(count_into(n, &folder, options).args(["--threads", "1"]));
    wait_until("a journal", &mut child, || {
        let record = read(&folder).ok().flatten();
        record.is_some_and(|record| record.runs().next().is_some())
    });
    wait_for_work(&mut child, after);
    let used = cpu_time_to_end("TERM", &mut child, limit);
    assert!(used <= limit, "{options:?}: {used:?} of CPU time after the signal");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(3), "{options:?}: {}", stderr(&output));
    assert!(stderr(&output).contains("stopped after "), "{options:?}: {}", stderr(&output));
    assert!(stderr(&output).contains(" units, "), "{options:?}: {}", stderr(&output));
}

/// Returns how many bytes of a file a process has read, if the process has opened it.
#[cfg(target_os = "linux")]
fn position_in(pid: u32, path: &Path) -> Option<u64> {
    use std::fs;

    let process = Path::new("/proc").join(pid.to_string());
    for file in fs::read_dir(process.join("fd")).ok()? {
        let file = file.ok()?;
        // A file may be closed meanwhile.
        if fs::read_link(file.path()).is_ok_and(|target| target == path) {
            let facts = fs::read_to_string(process.join("fdinfo").join(file.file_name())).ok()?;
            return facts.strip_prefix("pos:")?.lines().next()?.trim().parse().ok();
        }
    }
    None
}

/// A journal of 80 MB that lacks some units. No unit is counted and no file is made before it is read.
#[cfg(target_os = "linux")]
#[test]
fn a_count_that_reads_a_large_journal_stops_at_once() {
    use std::fs;

    use crate::common::{count_into, journal_in, keep_lines, refused, run};

    let folder = fresh_folder("signals-large");
    let counted = run(&mut count_into("18", &folder, &[]));
    assert!(counted.status.success(), "{counted:?}");
    let path = journal_in(&folder);
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines / 2);
    // The same lines again and again are as good as once.
    let text = fs::read(&path).expect("it is there");
    fs::write(&path, text.repeat((80 << 20) / text.len())).expect("room");

    let limit = Duration::from_millis(300);
    let mut count = count_into("18", &folder, &["--threads", "1"]);
    let mut child = spawn(&mut count);
    let pid = child.id();
    wait_until("a look into the journal", &mut child, || {
        position_in(pid, &path).is_some_and(|position| position > 1 << 20)
    });
    let used = cpu_time_to_end("TERM", &mut child, limit);
    assert!(used <= limit, "{used:?} of CPU time after the signal");
    refused(&finish(child), 3, &["stopped before the end"]);
    assert_eq!(journal_in(&folder), path, "nothing was written");
    fs::remove_dir_all(&folder).expect("it is there");
}

/// They have a unit for each column of the first queen, and it takes hours.
#[cfg(target_os = "linux")]
#[test]
fn every_textbook_engine_stops_in_the_middle_of_a_unit() {
    use nqueens::Engine;

    let others = [Engine::Colours, Engine::Subtrees];
    for engine in Engine::ALL.iter().copied().filter(|engine| !others.contains(engine)) {
        stops_at_once("24", &["--engine", engine.name()], Duration::from_millis(100));
    }
}

/// A unit takes hours.
#[cfg(target_os = "linux")]
#[test]
fn subtrees_stops_in_the_middle_of_a_unit_with_every_kernel() {
    for kernel in kernels() {
        let options = ["--engine", "subtrees", "--split-rows", "1", "--kernel", kernel.name()];
        stops_at_once("24", &options, Duration::from_millis(100));
    }
}

/// A batch of units takes seconds: its lists and trees first, then its matrices.
#[cfg(target_os = "linux")]
#[test]
fn colours_stops_in_the_middle_of_a_unit_with_every_kernel() {
    for kernel in kernels() {
        for after in [100, 400, 800] {
            let options = ["--engine", "colours", "--kernel", kernel.name()];
            stops_at_once("28", &options, Duration::from_millis(after));
        }
    }
}

/// Sends signals to a process, the child or one of its own, that cannot end after the first, because its disk is slow.
/// Only the last ends it; returns how the child ended.
#[cfg(target_os = "linux")]
fn interrupted(mut child: Running, pid: u32, folder: &Path, signals: &[&str]) -> ExitStatus {
    use crate::common::processes::{send_in_vain, send_to, wait_for_units};

    let (last, first) = signals.split_last().expect("signals");
    wait_for_units(folder, &mut child, 0);
    for signal in first {
        send_in_vain(signal, &mut child, pid);
    }
    send_to(last, pid);
    child.wait().expect("ended")
}

/// A count whose last lines the disk does not take for minutes.
#[cfg(target_os = "linux")]
fn with_slow_disk(program: &mut Command, folder: &Path) -> Running {
    program.args(["count", "22", "--journal"]).arg(folder);
    program.env("LD_PRELOAD", shim()).env("SHIM_SYNC_MS", "600000");
    program.stdout(Stdio::null()).stderr(Stdio::null());
    spawn(program)
}

/// The operating system sends SIGXCPU for each second of CPU time, so a later one means nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_kills() {
    use std::os::unix::process::ExitStatusExt;

    for signals in [&["INT", "INT"][..], &["USR1", "INT"], &["XCPU", "XCPU", "XCPU", "INT"]] {
        let folder = fresh_folder("signals-second");
        let child = with_slow_disk(&mut nqueens(&[]), &folder);
        let pid = child.id();
        let status = interrupted(child, pid, &folder, signals);
        assert_eq!((status.code(), status.signal()), (None, Some(SIGINT)), "{signals:?}");
    }
}

/// Tests that `cargo test` skips and `cargo test -- --ignored` runs.
#[cfg(target_os = "linux")]
mod needs_root {
    use super::*;

    /// Linux does not kill the first process of a container by a signal's default action.
    #[test]
    #[ignore = "needs root, for a namespace of processes"]
    fn a_second_signal_ends_the_first_process_of_a_container() {
        unignore_signals();
        let mut unshare = Command::new("unshare");
        unshare.args(["--pid", "--fork", "--kill-child", NQUEENS]);
        let folder = fresh_folder("signals-container");
        let mut child = with_slow_disk(&mut unshare, &folder);
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let pid = crate::common::processes::wait_for("a process", &mut child, || {
            std::fs::read_to_string(&children).ok()?.trim().parse().ok()
        });
        let status = interrupted(child, pid, &folder, &["INT", "INT"]);
        assert_eq!(status.code(), Some(128 + SIGINT));
    }
}

/// Nothing is found for many seconds. A search that came to its end, or to its limit, was not stopped.
#[test]
fn a_search_is_stopped_between_two_solutions() {
    let place = |row, column| Square { row, column };
    let queens = [place(31, 4), place(30, 7), place(29, 1)];
    let solutions = Solutions::with_queens(size(32), &queens).expect("no queen attacks another");
    let cancel = Cancel::new();
    let mut solutions = solutions.cancel_on(&cancel);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancel.cancel();
        });
        assert_eq!(solutions.next(), None);
    });
    assert!(solutions.was_cancelled());
    let mut solutions = Solutions::new(size(6)).cancel_on(&Cancel::new());
    assert_eq!((solutions.by_ref().count(), solutions.was_cancelled()), (4, false));
    for solutions in [Solutions::new(size(6)), Solutions::fundamental(size(6))] {
        let cancel = Cancel::new();
        let mut solutions = solutions.cancel_on(&cancel);
        assert!(solutions.next().is_some());
        cancel.cancel();
        assert_eq!((solutions.next(), solutions.was_cancelled()), (None, true));
    }
}
