//! Promise: a thread takes the stated memory at most. Without `--threads`, a command runs as many threads as fit. With
//! it, a count that does not fit does not begin, and the message names what fits. Exit code 4 is only for memory that
//! others use. docs/CLUSTER.md makes this promise under "Memory". Reading journals takes the memory that
//! docs/JOURNAL.md states under "Packing".
//!
//! Some tests need control groups, so they need root and permission to make groups below the test's own one. Run them
//! with `cargo test --test promises -- --ignored memory::`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::processes::{send, wait_for_units, wait_for_work, wait_until};
use nqueens::{Cancel, Count, Engine, Error};

use crate::common::{
    NQUEENS, Running, arg, colours_bytes, contents, count_into, finish,
    first_line_with_check_digits, fresh, fresh_folder, journal_in, json, nqueens, plan_of, refused,
    run, size, spawn, stderr, stdout, with_check_digits,
};

/// A control group, removed at the end.
struct Group {
    folder: PathBuf,
    controller: &'static str,
}

impl Group {
    /// A group below the test's own one, with this limit.
    fn new(controller: &'static str, name: &str, limit: &str) -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").expect("groups");
        let own = |wanted: &str| {
            groups.lines().find_map(|line| {
                let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                let found = controllers.split(',').any(|found| found == wanted);
                found.then(|| path.trim_start_matches('/').to_owned())
            })
        };
        let mount = Path::new("/sys/fs/cgroup");
        let parent = match own(controller) {
            Some(path) => mount.join(controller).join(path),
            None => mount.join(own("").expect("a group of version 2")),
        };
        Self::make(&parent, controller, &format!("nqueens-{name}-{}", std::process::id()), limit)
    }

    /// A group below this one.
    fn below(&self, name: &str, limit: &str) -> Self {
        Self::make(&self.folder, self.controller, name, limit)
    }

    /// Without text for a limit, the group keeps what every new group has, no limit of its own.
    fn make(parent: &Path, controller: &'static str, name: &str, limit: &str) -> Self {
        // In version 2, controllers must be enabled one by one; version 1 has no such file.
        let _ = fs::write(parent.join("cgroup.subtree_control"), format!("+{controller}"));
        let group = Self { folder: parent.join(name), controller };
        fs::create_dir(&group.folder).expect("root may make groups");
        let files = match controller {
            "memory" => ["memory.limit_in_bytes", "memory.max"],
            // Both are microseconds of CPU time in each period of 100 000.
            "cpu" => ["cpu.cfs_quota_us", "cpu.max"],
            _ => ["pids.max", "pids.max"],
        };
        let file = files.map(|file| group.folder.join(file)).into_iter().find(|file| file.exists());
        let file = file.expect("the controller is enabled");
        if !limit.is_empty() {
            fs::write(file, limit).expect("a limit");
        }
        group
    }

    /// A shell command that becomes the program in this group.
    fn shell(&self, args: &str) -> String {
        format!("echo $$ > {}/cgroup.procs && exec {NQUEENS} {args}", self.folder.display())
    }

    fn run(&self, args: &str) -> Output {
        shell(&self.shell(args))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel may take a moment to notice the end of the last process.
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        eprintln!("cannot remove {}", self.folder.display());
    }
}

fn shell(command: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_remove("NQUEENS_THREADS");
    shell.output().expect("a shell")
}

fn answers(output: &Output, answer: &str) {
    assert_eq!(stdout(output), answer, "{output:?}");
}

/// Where control groups can be made.
mod needs_cgroups {
    use super::*;

    #[test]
    #[ignore = "needs root and cgroups"]
    fn a_count_keeps_within_its_group_or_names_what_fits() {
        let roomy = Group::new("memory", "roomy", "2G");
        let tight = roomy.below("tight", "1750M");
        let nested = Group::new("memory", "tight", "1750M");
        let inner = nested.below("roomy", "2G");
        for group in [&tight, &inner] {
            let words = ["n = 26 on 5 threads", "--threads 3", "nqueens cpu"];
            refused(&group.run("count 26 --threads 5"), 1, &words);
            // What the message proposes does fit, until it is stopped.
            let mut shell = Command::new("sh");
            shell.args(["-c", &group.shell("count 26 --threads 3")]).stderr(Stdio::piped());
            let mut counting = spawn(&mut shell);
            wait_for_work(&mut counting, Duration::from_secs(3));
            send("TERM", &counting);
            let stopped = finish(counting);
            assert_eq!(stopped.status.code(), Some(3), "{:?} {}", stopped, stderr(&stopped));
            refused(&group.run("count 30 --threads 2"), 1, &["n = 30 on 2 threads"]);
            // It was not counted, so no folder was made.
            let folder = fresh("memory-refused");
            for args in ["", "--shard 0/2"] {
                let args = format!("count 30 {args} --threads 2 --journal {}", folder.display());
                refused(&group.run(&args), 1, &["n = 30 on 2 threads"]);
                assert!(!folder.exists(), "{args}");
            }
            answers(&group.run("count 18 --threads 2 --quiet"), "666090624\n");
            let estimate = group.run("estimate 22 --threads 1 --seconds 1");
            assert!(estimate.status.success(), "{:?} {}", estimate.status, stderr(&estimate));
            let cpu = group.run("cpu");
            let cpu = stdout(&cpu);
            assert!(cpu.contains("available of 1.71 GiB") && cpu.contains("tight"), "{cpu}");
        }
    }

    /// As in a container without a quota of its own, in a pod or a job that has one.
    #[test]
    #[ignore = "needs root and cgroups"]
    fn a_cpu_quota_of_a_parent_group_holds_and_is_rounded_down() {
        let threads = |group: &Group| {
            let output = group.run("cpu --quiet");
            stdout(&output).trim().parse::<usize>().expect("a number")
        };
        let without_quota = threads(&Group::new("cpu", "no-quota", ""));
        for (microseconds, cores) in [("50000", 1), ("100000", 1), ("150000", 1), ("250000", 2)] {
            let parent = Group::new("cpu", &format!("quota-{microseconds}"), microseconds);
            let expected = without_quota.min(cores);
            assert_eq!(threads(&parent), expected, "in a group with {microseconds}");
            let child = parent.below("child", "");
            assert_eq!(threads(&child), expected, "below a group with {microseconds}");
        }
    }

    #[test]
    #[ignore = "needs root and cgroups"]
    fn threads_that_cannot_be_started_are_an_error() {
        // Beside the threads that count, there are the main thread and one that hears signals.
        let group = Group::new("pids", "pids", "6");
        let words = ["cannot start 8 threads", "use fewer --threads"];
        refused(&group.run("count 12 --threads 8"), 1, &words);
        answers(&group.run("count 12 --threads 4 --quiet"), "14200\n");
        // A terminal on which a bar is wanted, and no room for a thread that draws it: there is none.
        let bar = group.shell("count 18 --threads 4 --quiet --progress always --kernel portable");
        let output =
            Command::new("script").args(["-qec", &bar, "/dev/null"]).output().expect("script");
        let terminal = stdout(&output);
        assert!(output.status.success(), "{:?} {terminal}", output.status);
        assert!(terminal.contains("666090624") && !terminal.contains("18 ["), "{terminal}");
        assert!(!terminal.contains("panicked"), "{terminal}");
        // Journals are read without any further thread.
        let folder = fresh("memory-pids");
        let folder = arg(&folder);
        answers(&group.run(&format!("count 12 --threads 1 --quiet --journal {folder}")), "14200\n");
        let alone = Group::new("pids", "alone", "1");
        answers(&alone.run(&format!("merge --quiet {folder}")), "14200\n");
        answers(&alone.run(&format!("status --quiet {folder}")), "100\n");
        refused(&alone.run(&format!("verify {folder}")), 1, &["cannot start"]);
    }

    /// A count on two threads may take 784 MiB, and reaches 300 MB in seconds. Then one more thread fits, and not two.
    #[test]
    #[ignore = "needs root and cgroups"]
    fn only_memory_that_others_use_is_a_temporary_lack() {
        let parent = Group::new("memory", "shared-memory", "1150M");
        let other = parent.below("other", "");
        let child = parent.below("child", "");
        let counting = count_in(&other);
        let words = ["on 2 threads", "shared-memory", "it fits with --threads 1; try later"];
        refused(&child.run("count 26 --threads 2"), 4, &words);
        refused(
            &child.run("count 26 --threads 3"),
            1,
            &["on 3 threads", "--threads 1; count where"],
        );
        drop(counting);
        refused(
            &child.run("count 26 --threads 3"),
            1,
            &["on 3 threads", "--threads 2; count where"],
        );
    }

    /// Starts a long count in a group, and waits until it has much of its memory.
    fn count_in(group: &Group) -> Running {
        let mut shell = Command::new("sh");
        shell.args(["-c", &group.shell("count 26 --threads 2 --quiet")]);
        let mut counting = spawn(&mut shell);
        let pid = counting.id();
        wait_until("300 MB", &mut counting, || {
            peak_memory(pid).is_some_and(|bytes| bytes > 300_000_000)
        });
        counting
    }
}

/// The resident memory of a process at its peak, in bytes, as long as the process lives.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes = line.trim().strip_suffix(" kB")?;
    Some(kibibytes.parse::<u64>().expect("a number") << 10)
}

/// The peak of a process that counts nothing: it waits, because no one reads its solutions.
fn peak_without_a_count() -> u64 {
    let mut listing = nqueens(&["list", "12"]);
    let mut listing = spawn(listing.stdout(Stdio::piped()));
    let mut first_byte = [0];
    let read = listing.stdout.as_mut().expect("a pipe").read_exact(&mut first_byte);
    read.expect("there are solutions");
    let peak = peak_memory(listing.id()).expect("it waits");
    listing.kill().expect("it runs");
    listing.wait().expect("it ends");
    peak
}

/// The memory that a command takes beyond a process that counts nothing, in bytes.
fn memory_of(command: &mut Command) -> u64 {
    let mut child = spawn(command.stdout(Stdio::null()));
    let mut peak = 0;
    while child.try_wait().expect("it is a child").is_none() {
        peak = peak_memory(child.id()).unwrap_or(peak);
        sleep(Duration::from_millis(2));
    }
    peak.saturating_sub(peak_without_a_count())
}

/// Counts the first part of a board on one thread, and compares the peak of its memory with what is stated.
fn counts_within_the_stated_memory(n: u32, shard: &str) {
    let stated = colours_bytes(n);
    let folder = fresh_folder(&format!("memory-{n}"));
    let shard = ["--shard", shard, "--threads", "1"];
    let used = memory_of(&mut count_into(&n.to_string(), &folder, &shard));
    let share = used as f64 / stated as f64;
    // Where the system uses huge pages for every process, the share is a twentieth higher.
    assert!((0.85..=1.0).contains(&share), "n = {n}: {used} of {stated} bytes");
}

#[test]
fn a_thread_takes_the_stated_memory_and_no_more() {
    counts_within_the_stated_memory(20, "0/4");
}

#[test]
#[ignore = "takes half a minute"]
fn a_thread_takes_the_stated_memory_and_no_more_on_an_odd_board() {
    counts_within_the_stated_memory(21, "0/5");
}

/// Ten thousand journals of one run. Each has units from all over the plan, as the journals of shards have.
#[test]
fn journals_take_the_stated_memory_and_no_more() {
    let stated = 1000;
    let journals = 10_000;
    let folder = fresh_folder("memory-journals");
    let lines = ["--engine", "subtrees", "--threads", "16"];
    answers(&finish(spawn(&mut count_into("12", &folder, &lines))), "14200\n");
    let whole = journal_in(&folder);
    for number in 1..journals {
        fs::copy(&whole, folder.join(format!("{number}.journal"))).expect("room");
    }
    for command in ["merge", "status"] {
        let used = memory_of(&mut nqueens(&[command, "--quiet", arg(&folder)]));
        let of_journal = used / journals;
        assert!(
            of_journal > 100,
            "{command}: a journal has at least a path, not {of_journal} bytes"
        );
        assert!(of_journal <= stated, "{command}: {of_journal} bytes for each journal");
    }
    fs::remove_dir_all(&folder).expect("it was made");
}

/// Eight bytes for each of ten million units of n = 28, and 91 MiB for each thread that recounts one.
#[test]
fn a_check_keeps_within_the_memory_as_a_count_does() {
    let path = fresh("memory-verify.journal");
    let units = plan_of(size(28), Engine::Colours, None);
    let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {units}"));
    let done = "done units=0..8 solutions=0 elapsed-ms=1 busy-us=1 counts=0,0,0,0,0,0,0,0";
    fs::write(&path, format!("{first}{}", with_check_digits(&first, done))).expect("room");
    let verify = |memory: &str, threads: &str| {
        let mut verify = nqueens(&["verify", arg(&path), "--threads", threads]);
        finish(spawn(verify.env("NQUEENS_MEMORY", memory)))
    };
    let words = ["the record of all units needs 77 MiB", "NQUEENS_MEMORY leaves only 75 MiB"];
    refused(&verify("100M", "1"), 1, &words);
    let words = ["the recount needs 72", "NQUEENS_MEMORY leaves only 300", "--threads 3"];
    refused(&verify("400M", "8"), 1, &words);
    let mut without_threads = nqueens(&["verify", arg(&path)]);
    without_threads.env("NQUEENS_MEMORY", "400M").env("NQUEENS_THREADS", "8");
    let mut checking = spawn(without_threads.stderr(Stdio::piped()));
    let mut line = String::new();
    let messages = checking.stderr.take().expect("a pipe");
    BufReader::new(messages).read_line(&mut line).expect("text");
    assert!(line.starts_with("nqueens: 3 of 8 threads: each needs 91 MiB for n = 28"), "{line}");
    checking.kill().expect("it runs, because these units take long");
}

/// With ZFS, Linux reports too little. Limits of groups and processes still hold.
#[test]
fn a_user_may_say_how_much_memory_is_available() {
    let with =
        |memory: &str, args: &[&str]| finish(spawn(nqueens(args).env("NQUEENS_MEMORY", memory)));
    refused(&with("100M", &["count", "26"]), 1, &["NQUEENS_MEMORY leaves only 75 MiB"]);
    let compare =
        with("100M", &["compare", "26", "--engines", "colours", "--seconds-limit", "11d"]);
    assert_eq!(compare.status.code(), Some(1), "{compare:?}");
    assert!(!stderr(&compare).contains("--seconds-limit"), "{compare:?}");
    for (memory, available) in [("1T", "1.00 TiB"), ("1024gb", "1.00 TiB"), ("1.5 TiB", "1.50 TiB")]
    {
        let cpu = with(memory, &["cpu"]);
        let available = format!("{available} available of");
        assert!(stdout(&cpu).contains(&available), "{memory}: {cpu:?}");
    }
    let object = json(&with("1T", &["cpu", "--json"]));
    assert!(object["memory_total"].as_u64() >= object["memory_available"].as_u64(), "{object}");
    // An empty variable counts as unset.
    answers(&with("", &["count", "14", "--quiet"]), "365596\n");
}

/// Memory in bytes of which a count may use what this many threads need, and three quarters of what one more needs.
fn memory_for(threads: u64, bytes_of_thread: u64) -> String {
    ((4 * threads + 3) * bytes_of_thread / 3).to_string()
}

/// The variable says how many threads there may be, and not that there must be as many.
#[test]
fn without_threads_a_command_runs_as_many_as_fit_and_says_so() {
    let memory = memory_for(2, colours_bytes(14));
    let with = |args: &[&str]| {
        let mut command = nqueens(args);
        run(command.env("NQUEENS_THREADS", "5").env("NQUEENS_MEMORY", &memory))
    };
    let folder = fresh("memory-threads-that-fit");
    let estimate = ["estimate", "14", "--seconds", "0.01", "--json"];
    let count = ["count", "14", "--json", "--journal", arg(&folder)];
    let compare = ["compare", "12,14", "--repeat", "1", "--json"];
    // Engine colours takes as much for n = 12 as for n = 14.
    for (command, n) in [(&estimate[..], 14), (&count, 14), (&compare, 12)] {
        let output = with(command);
        let message = stderr(&output);
        assert!(message.starts_with("nqueens: 2 of 5 threads: each needs "), "{output:?}");
        let reason = format!(" MiB for n = {n}, and NQUEENS_MEMORY leaves ");
        assert!(message.contains(&reason), "{output:?}");
        assert_eq!(message.matches("of 5 threads").count(), 1, "{output:?}");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        for row in stdout(&output).lines().filter(|row| row.starts_with('{')) {
            let row: serde_json::Value = serde_json::from_str(row).expect("an object");
            assert_eq!(row["threads"], 2, "{row}");
        }
    }
    // The largest board decides, and small ones would run on all threads.
    let table = with(&["table", "12,14", "--csv"]);
    assert!(stderr(&table).starts_with("nqueens: 2 of 5 threads: "), "{table:?}");
    let small = with(&["count", "12", "--json"]);
    assert_eq!((json(&small)["threads"].as_u64(), stderr(&small)), (Some(5), ""));
    // Whoever names the number gets it, or is refused.
    let words = ["n = 14 on 5 threads, but NQUEENS_MEMORY leaves only", "it fits with --threads 2"];
    refused(&with(&["estimate", "14", "--threads", "5"]), 1, &words);
    // A count that is finished needs no memory.
    let mut finished = nqueens(&["count", "14", "--quiet", "--journal", arg(&folder)]);
    answers(&run(finished.env("NQUEENS_MEMORY", "1M")), "365596\n");
}

/// The library reads no variable, so its users say it for each count.
#[test]
fn a_program_may_say_how_much_memory_is_available() {
    let count = Count::new(size(26)).threads(1);
    let refused = count.clone().memory(100 << 20).run().expect_err("too little");
    assert!(matches!(refused, Error::LacksMemory(_)), "{refused:?}");
    assert!(refused.to_string().ends_with("but the stated memory leaves only 75 MiB"), "{refused}");
    // The plan of the journal has to obey as well, whose units take more than a megabyte.
    let folder = fresh("memory-stated");
    let cancel = Cancel::new();
    let count_one_unit = count.clone().journal(&folder).cancel_on(&cancel);
    let begun = count_one_unit.on_progress(|_| cancel.cancel()).run();
    assert!(!begun.expect("one unit").is_complete());
    let refused = count.journal(&folder).memory(1 << 20).run().expect_err("too little");
    assert!(matches!(refused, Error::LacksMemory(_)), "{refused:?}");
    answers(&run(nqueens(&["count", "12", "--quiet"]).env("NQUEENS_MEMORY", "1M")), "14200\n");
}

/// It is wrong usage, because a scheduler repeats what ends with exit code 4, and waiting does not mend a variable.
#[test]
fn memory_that_cannot_be_read_ends_every_command_that_needs_it() {
    let small = fresh("memory-unread");
    answers(&finish(spawn(&mut count_into("12", &small, &["--threads", "1"]))), "14200\n");
    // The record of its units alone takes more than the smallest amount that is checked.
    let large = fresh("memory-unread-28.journal");
    let first = first_line_with_check_digits(&format!(
        "nqueens-journal 2 version=0.1.0 {}",
        plan_of(size(28), Engine::Colours, None)
    ));
    fs::write(&large, first).expect("room");
    let new = fresh("memory-unread-new");
    let commands: [&[&str]; 11] = [
        &["count", "8"],
        &["count", "14", "--shard", "0/2", "--journal", arg(&new)],
        &["table", "8-9"],
        &["estimate", "16"],
        &["compare", "8", "--engines", "all"],
        &["unit", "8", "0"],
        &["cpu"],
        &["list", "8"],
        &["verify", arg(&small)],
        &["merge", arg(&large)],
        &["status", arg(&large)],
    ];
    let not_text = OsStr::from_bytes(b"64\xffG");
    for command in commands {
        for value in ["much", "0", "64"].map(OsStr::new).into_iter().chain([not_text]) {
            let output = run(nqueens(command).env("NQUEENS_MEMORY", value));
            let message = stderr(&output);
            assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{output:?}");
            let reason =
                format!("'{}' is not an amount of memory for NQUEENS_MEMORY", value.display());
            assert!(message.contains(&reason), "{command:?}: {message}");
        }
    }
    assert!(!new.exists(), "nothing was counted");
}

mod needs_root {
    use super::*;

    /// A command of a user who has no other processes, and may have as many processes and threads as this.
    fn as_user(processes: u32, command: &[&str]) -> Command {
        const USER: [&str; 5] = ["--reuid", "64321", "--regid", "64321", "--clear-groups"];
        let mut as_user = Command::new("setpriv");
        as_user.args(USER).args(["prlimit", &format!("--nproc={processes}")]).args(command);
        as_user.env_remove("NQUEENS_THREADS").stdout(Stdio::piped()).stderr(Stdio::piped());
        as_user
    }

    #[test]
    #[ignore = "needs root"]
    fn a_limit_on_the_processes_of_a_user_refuses_threads() {
        let count = [NQUEENS, "count", "12", "--threads", "8"];
        let words = ["cannot start 8 threads", "use fewer --threads"];
        refused(&run(&mut as_user(6, &count)), 1, &words);
        answers(&run(as_user(14, &count).arg("--quiet")), "14200\n");
    }

    /// As in a chroot that somebody has made in a hurry.
    #[test]
    #[ignore = "needs root"]
    fn a_system_that_does_not_tell_its_memory_sets_no_limit() {
        let command = |args: &str| {
            format!("unshare --mount sh -c 'umount --lazy /proc && exec {NQUEENS} {args}'")
        };
        answers(&shell(&command("count 14 --quiet --engine colours")), "365596\n");
        let cpu = shell(&command("cpu"));
        assert!(stdout(&cpu).contains("memory       not known"), "{cpu:?}");
        what_is_not_known_is_not_known(command);
    }

    /// As in a service of systemd with `ProcSubset=pid`.
    #[test]
    #[ignore = "needs root"]
    fn a_system_that_shows_only_processes_sets_no_limit_either() {
        let command = |args: &str| {
            let mount = "mount -t proc -o subset=pid proc /proc";
            format!("unshare --mount --pid --fork sh -c '{mount} && exec {NQUEENS} {args}'")
        };
        answers(&shell(&command("count 14 --quiet --engine colours")), "365596\n");
        what_is_not_known_is_not_known(command);
    }

    /// Whatever the system hides. `command` returns the command line for a command of the program.
    fn what_is_not_known_is_not_known(command: impl Fn(&str) -> String) {
        let object = json(&shell(&command("cpu --json")));
        for name in ["cpu", "physical_cores", "logical_cpus"] {
            assert!(object[name].is_null(), "{name}: {object}");
        }
        // A test may run in a control group that has a limit.
        let limit = object["memory_limit"].as_str().unwrap_or("none");
        assert!(limit == "none" || limit.starts_with("/sys/fs/cgroup/"), "{object}");
        for name in ["memory_total", "memory_available", "memory_usable"] {
            let bytes = object[name].as_u64();
            assert_eq!(bytes.is_none(), limit == "none", "{name}: {object}");
            assert!(bytes.is_none_or(|bytes| bytes < 1 << 50), "{name}: {object}");
        }
        let stated = |args| format!("export NQUEENS_MEMORY=100M; {}", command(args));
        let object = json(&shell(&stated("cpu --json")));
        assert_eq!(object["memory_limit"], "NQUEENS_MEMORY", "{object}");
        assert_eq!(object["memory_available"], 100 << 20, "{object}");
        let words = ["NQUEENS_MEMORY leaves only 75 MiB"];
        refused(&shell(&stated("count 26")), 1, &words);
    }
}

/// The limit falls while the count runs. Rust aborts the process then, as a kill does, and the journal is good. On a
/// smaller board the next allocation may come much later, because a count keeps its memory.
#[test]
fn an_allocation_that_fails_loses_no_journal() {
    let folder = fresh("memory-falls");
    let mut counting = spawn(&mut count_into("26", &folder, &["--threads", "2"]));
    let units = wait_for_units(&folder, &mut counting, 0);
    let limit = format!("--pid={}", counting.id());
    let lowered = Command::new("prlimit").args([&limit, "--as=50000000"]).status();
    assert!(lowered.expect("prlimit of util-linux").success());
    let ended = finish(counting);
    assert_eq!(ended.status.signal(), Some(signal_hook::consts::SIGABRT), "{ended:?}");
    assert!(contents(&folder).units_done() >= units);
}

#[test]
fn the_limits_of_the_process_are_known_before_the_count() {
    let limited = format!("ulimit -v 300000; exec {NQUEENS} count 30 --threads 1");
    refused(&shell(&limited), 1, &["n = 30 on 1 thread,", "nqueens cpu"]);
    let limited = format!("ulimit -v 300000; exec {NQUEENS} count 16 --threads 1 --quiet");
    answers(&shell(&limited), "14772512\n");
    let cpu = shell(&format!("ulimit -d 500000; exec {NQUEENS} cpu"));
    assert!(stdout(&cpu).contains("memory limit ulimit -d"), "{}", stdout(&cpu));
}

/// A scheduler repeats what ends with exit code 4, and no other program uses the memory of this one.
#[test]
fn a_limit_of_the_process_is_never_a_temporary_lack() {
    // Under most of these limits the threads would have their memory if the program itself took none.
    for (limit, sizes) in
        [("ulimit -v", [38_000, 40_000, 42_000]), ("ulimit -d", [34_000, 36_000, 38_000])]
    {
        let leaves = format!("{limit} leaves only");
        let with = |kibibytes: u32, args: &str| {
            shell(&format!("{limit} {kibibytes}; exec {NQUEENS} count {args} --quiet"))
        };
        for kibibytes in sizes {
            let words = ["n = 20 on 2 threads", &leaves];
            refused(&with(kibibytes, "20 --threads 2"), 1, &words);
        }
        for kibibytes in [40_000, 80_000, 120_000] {
            let words = ["cannot start 64 threads", &leaves, "use fewer --threads"];
            refused(&with(kibibytes, "12 --threads 64"), 1, &words);
        }
    }
}

/// Of address space a thread needs more than of memory. What the message proposes does run.
#[test]
fn under_a_limit_of_address_space_a_count_runs_or_names_the_threads_that_fit() {
    let limited = |kibibytes: u32, command: &str, threads: &str| {
        shell(&format!("ulimit -v {kibibytes}; exec {NQUEENS} {command} --threads {threads}"))
    };
    let estimate = "estimate 21 --seconds 0.2";
    for kibibytes in [300_000, 700_000] {
        let output = limited(kibibytes, estimate, "16");
        refused(&output, 1, &["n = 21 on 16 threads, but ulimit -v leaves only", "--threads"]);
        let (_, fitting) = stderr(&output).split_once("--threads ").expect("some fit");
        let fitting = fitting.split(';').next().expect("a number");
        let output = limited(kibibytes, estimate, fitting);
        assert!(output.status.success(), "{kibibytes} KiB, {fitting} threads: {output:?}");
    }
    let subtrees = "count 14 --quiet --engine subtrees";
    answers(&limited(100_000, subtrees, "16"), "365596\n");
    let words = ["engine subtrees needs", "ulimit -v leaves only"];
    refused(&limited(50_000, subtrees, "16"), 1, &words);
}

/// Whatever the limit is, no allocation fails.
#[test]
fn under_any_limit_of_address_space_a_count_runs_on_what_fits_or_is_refused() {
    let mut fitting = BTreeSet::new();
    for kibibytes in (16_000..200_000).step_by(3_000) {
        let threads = "NQUEENS_THREADS=16; export NQUEENS_THREADS";
        let limited = format!("{threads}; ulimit -v {kibibytes}; exec {NQUEENS} count 14 --quiet");
        let output = shell(&limited);
        let message = stderr(&output);
        if output.status.code() == Some(1) {
            refused(&output, 1, &["on 1 thread, but ulimit -v leaves only"]);
        } else {
            answers(&output, "365596\n");
            assert!(message.lines().count() <= 1, "{kibibytes} KiB: {message}");
        }
        fitting.insert(message.split(" of 16 threads").next().map(str::to_owned));
    }
    assert!(fitting.len() > 5, "{fitting:?}");
}

/// A thread that counts a unit again needs little, but its stack and some room beside it.
#[test]
fn under_a_limit_of_address_space_a_check_runs_or_is_refused() {
    let folder = fresh("memory-check");
    assert!(run(&mut count_into("12", &folder, &["--engine", "subtrees"])).status.success());
    let folder = arg(&folder);
    let check = |kibibytes: u32| {
        shell(&format!("ulimit -v {kibibytes}; exec {NQUEENS} verify {folder} --threads 2 --quiet"))
    };
    // Just below the least limit under which it runs, nothing fails that was not checked before.
    let [mut too_little, mut enough] = [19_000, 40_000];
    let mut refusal = None;
    while enough - too_little > 4 {
        let kibibytes = (too_little + enough) / 2;
        let output = check(kibibytes);
        if output.status.success() {
            enough = kibibytes;
        } else {
            too_little = kibibytes;
            refusal = Some(output);
        }
    }
    let words = ["the recount needs", "ulimit -v leaves only"];
    refused(&refusal.expect("some limit is too little"), 1, &words);
}

/// The memory of a thread is checked before the folder is made.
#[test]
fn what_cannot_be_counted_is_refused_before_any_work() {
    let folder = fresh("memory-q30");
    let path = arg(&folder);
    for command in [
        "count 30",
        "estimate 30",
        &format!("count 30 --journal {path}"),
        &format!("count 30 --shard 0/2 --journal {path}"),
    ] {
        // Less address space than one thread takes.
        let limited = format!("ulimit -v 400000; exec {NQUEENS} {command} --threads 1");
        refused(&shell(&limited), 1, &["engine colours", "n = 30", "ulimit -v leaves only"]);
    }
    assert!(!folder.exists(), "nothing was counted");
}
