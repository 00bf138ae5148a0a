//! Running programs: signals to them, and evidence of their progress. Tests wait for evidence, never
//! for a time: on a busy machine a program may not even have started after a second.

#[cfg(target_os = "linux")]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Much longer than anything takes, even if ten programs share a core: some tests wait for minutes of work.
const PATIENCE: Duration = Duration::from_secs(600);

/// The library of tests/shim, built for this machine by the C compiler that Rust links with.
pub(crate) fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shim/journal_io.c");
        // Each test may be a process of its own.
        let name = format!("journal_io-{}.so", std::process::id());
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        assert!(built.is_ok_and(|status| status.success()), "cc builds the shim");
        library
    })
}

/// What is ignored here, the programs that tests start would ignore as well: SIGINT if the tests run in the
/// background of a script, SIGHUP after `nohup`. A signal that is caught here has its default there.
pub(crate) fn unignore_signals() {
    let ignored = status_mask(std::process::id(), "SigIgn").unwrap_or_default();
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        if ignored & signal_bit(signal) != 0 {
            signal_hook::flag::register(signal, Arc::default()).expect("it can be caught");
        }
    }
}

/// Of a signal in the masks of a process.
pub(crate) fn signal_bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

pub(crate) fn send(signal: &str, child: &Child) {
    send_to(signal, child.id());
}

pub(crate) fn send_to(signal: &str, pid: u32) {
    // Every shell has it; a program of this name need not be installed.
    let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {pid}")]).status();
    assert!(sent.expect("a shell").success(), "the program runs");
}

/// Waits for something that a process makes; panics if it does not come, or once the process ends.
pub(crate) fn wait_for<T>(what: &str, child: &mut Child, mut find: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        // The status comes first: a process may end right after it has made what is wanted.
        let ended = child.try_wait().expect("a status");
        if let Some(found) = find() {
            return found;
        }
        if let Some(status) = ended {
            panic!("the program ended before it made {what}: {status}");
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no {what} after {} s", PATIENCE.as_secs());
}

pub(crate) fn wait_until(what: &str, child: &mut Child, mut holds: impl FnMut() -> bool) {
    wait_for(what, child, || holds().then_some(()));
}

/// Waits for the end of a process; panics if it does not end.
pub(crate) fn wait_for_exit(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("a status") {
            return status;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no end after {} s", PATIENCE.as_secs());
}

/// Waits until a journal has more than this number of units; returns how many.
pub(crate) fn wait_for_units(path: &Path, child: &mut Child, more_than: usize) -> usize {
    wait_for("units in the journal", child, || {
        let units = super::some_units(path)?.units_done();
        Some(units).filter(|units| *units > more_than)
    })
}

/// Resumes a count from a folder with one journal, and stops it once it has a journal of its own. Returns the number of
/// units that it has found in the folder.
pub(crate) fn units_found_by_resuming(n: &str, folder: &Path) -> usize {
    let mut count = super::nqueens(&["count", n, "--json", "--journal", super::arg(folder)]);
    let mut child = super::spawn(&mut count);
    wait_until("a journal", &mut child, || super::journals_in(folder).len() == 2);
    send("TERM", &child);
    let stopped = super::finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    let object = super::json(&stopped);
    let units = object["journal"]["units_before"].as_u64().expect("a number");
    usize::try_from(units).expect("units of a plan")
}

/// The CPU time that a process has used so far, also if it has ended and nobody has waited for it.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program, in parentheses, may hold spaces. Field 14 of proc(5) is user time,
    // field 15 system time, in hundredths of a second on every Linux (USER_HZ).
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    Duration::from_millis(10 * ticks.map(|ticks| ticks.parse::<u64>().expect("ticks")).sum::<u64>())
}

/// Waits until a process has used this much CPU time from now on.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for_work(child: &mut Child, time: Duration) {
    let pid = child.id();
    let enough = cpu_time(pid) + time;
    wait_until("enough CPU time", child, || cpu_time(pid) >= enough);
}

/// Sends a signal to a process that works, and returns the CPU time that it then uses until it ends, or a time longer
/// than this limit. The wall time would depend on what else the machine does.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time_to_end(signal: &str, child: &mut Child, limit: Duration) -> Duration {
    let pid = child.id();
    // Stopped, it does no work between the look at its CPU time and the signal.
    send("STOP", child);
    wait_until_stopped(child);
    let before = cpu_time(pid);
    send(signal, child);
    send("CONT", child);
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let has_ended = has_ended(pid);
        let used = cpu_time(pid).saturating_sub(before);
        if has_ended || used > limit {
            return used;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no end after {} s", PATIENCE.as_secs());
}

/// Waits until a process has ended, and returns the CPU time that it used.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time_at_end(child: &Child) -> Duration {
    let started = Instant::now();
    // `wait_for` would take the process away, with its times.
    while !has_ended(child.id()) {
        assert!(started.elapsed() < PATIENCE, "no end after {} s", PATIENCE.as_secs());
        sleep(Duration::from_millis(10));
    }
    cpu_time(child.id())
}

/// Returns whether a process has ended, while nobody has waited for it.
#[cfg(target_os = "linux")]
fn has_ended(pid: u32) -> bool {
    state(pid).is_some_and(|state| state.starts_with('Z'))
}

/// The state of the main thread of a process: `T (stopped)`.
#[cfg(target_os = "linux")]
fn state(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    field(&status, "State").map(str::to_owned)
}

/// Waits until SIGSTOP has stopped the process.
#[cfg(target_os = "linux")]
pub(crate) fn wait_until_stopped(child: &mut Child) {
    let pid = child.id();
    wait_until("a stop", child, || state(pid).is_some_and(|state| state.starts_with('T')));
}

/// Waits until a process is blocked after it has set its signal handlers: all of its threads sleep, and none has run
/// between two checks.
#[cfg(target_os = "linux")]
pub(crate) fn wait_until_blocked(child: &mut Child) {
    let pid = child.id();
    let mut before = None;
    wait_until("a pause", child, || {
        let now = if is_caught(pid, SIGINT) { sleeping_threads(pid) } else { None };
        let blocked = now.is_some() && now == before;
        before = now;
        blocked
    });
}

/// Waits until a signal no longer ends the process by its default, because the process catches it.
pub(crate) fn wait_until_caught(child: &mut Child, signal: i32) {
    let pid = child.id();
    wait_until("a handler of signals", child, || is_caught(pid, signal));
}

fn is_caught(pid: u32, signal: i32) -> bool {
    status_mask(pid, "SigCgt").is_some_and(|mask| mask & signal_bit(signal) != 0)
}

/// Sends a first signal to a process that cannot end, and waits until it has heard it, and until another signal is not
/// taken for the same one.
#[cfg(target_os = "linux")]
pub(crate) fn send_in_vain(signal: &str, child: &mut Child, pid: u32) {
    let sleeps = sleeps_of_signal_thread(pid);
    send_to(signal, pid);
    wait_until("a heard signal", child, || sleeps_of_signal_thread(pid) > sleeps);
    sleep(Duration::from_millis(400));
    assert_eq!(child.try_wait().expect("a status"), None, "it waits");
}

/// Returns how often the thread that hears signals has gone to sleep: once before the first signal, and once more after
/// each.
#[cfg(target_os = "linux")]
fn sleeps_of_signal_thread(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    for task in tasks {
        let task = task.expect("a thread").path();
        // A thread may end meanwhile.
        let status = fs::read_to_string(task.join("status")).unwrap_or_default();
        if field(&status, "Name") == Some("nqueens-signals") {
            let sleeps = field(&status, "voluntary_ctxt_switches").expect("Linux counts them");
            return sleeps.parse().expect("a number");
        }
    }
    panic!("no thread hears signals");
}

/// A mask of signals in `/proc/PID/status`.
pub(crate) fn status_mask(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    u64::from_str_radix(field(&status, name)?, 16).ok()
}

/// The number of context switches of each thread, if all of them sleep.
#[cfg(target_os = "linux")]
fn sleeping_threads(pid: u32) -> Option<Vec<String>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    tasks.map(|task| switches_if_asleep(&task.ok()?.path())).collect()
}

#[cfg(target_os = "linux")]
fn switches_if_asleep(task: &Path) -> Option<String> {
    // A thread that ends meanwhile did not sleep.
    let status = fs::read_to_string(task.join("status")).ok()?;
    field(&status, "State")?.starts_with('S').then_some(())?;
    let switches = |kind| field(&status, &format!("{kind}_ctxt_switches"));
    Some(format!("{task:?} {} {}", switches("voluntary")?, switches("nonvoluntary")?))
}

#[cfg(target_os = "linux")]
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let lines = status.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim()).next()
}
