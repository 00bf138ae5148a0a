//! Running programs: signals to them, and evidence of how far they have come. Tests wait for
//! evidence, never for a time: on a busy machine a program may not even have started after a second.

#![allow(dead_code, reason = "every test file that includes this uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far more than anything takes, even where ten programs share a core.
const PATIENCE: Duration = Duration::from_secs(180);

/// The program.
pub(crate) const NQUEENS: &str = env!("CARGO_BIN_EXE_nqueens");

/// An empty folder for one test.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// The program with these arguments; what it says can be read.
pub(crate) fn nqueens(args: &[&str]) -> Command {
    let mut command = Command::new(NQUEENS);
    command.args(args).env_remove("NQUEENS_THREADS").env_remove("SLURM_CPUS_PER_TASK");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

/// Exit code, answer and talk.
pub(crate) fn result(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).expect("text");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

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

pub(crate) fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
    assert!(sent.expect("kill is installed").success(), "the program runs");
}

/// Waits until something is there; panics with its name if it does not come.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("waited for {what} in vain, {} s long", PATIENCE.as_secs());
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// The processor time that a process has used so far.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(child: &Child) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    // The name of the program, in brackets, may hold spaces. Field 14 of proc(5) is user time,
    // field 15 system time, in hundredths of a second on every Linux (USER_HZ).
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let ticks = fields.split_whitespace().skip(11).take(2);
    Duration::from_millis(10 * ticks.map(|ticks| ticks.parse::<u64>().expect("ticks")).sum::<u64>())
}

/// Waits until a process has worked for so long from now on.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for_work(child: &Child, time: Duration) {
    let enough = cpu_time(child) + time;
    wait_until("processor time", || cpu_time(child) >= enough);
}

/// Waits until a process that has set its handlers of signals waits for somebody else: all of its
/// threads sleep, and none has run between two looks.
#[cfg(target_os = "linux")]
pub(crate) fn wait_until_blocked(child: &Child) {
    let mut before = None;
    wait_until("a process that waits", || {
        let catches = status_mask(child, "SigCgt") & SIGINT_BIT != 0;
        let now = if catches { sleeping_threads(child) } else { None };
        let blocked = now.is_some() && now == before;
        before = now;
        blocked
    });
}

/// Waits until no SIGINT waits for the process any more: it has been delivered.
#[cfg(target_os = "linux")]
pub(crate) fn wait_until_interrupt_is_delivered(child: &Child) {
    wait_until("the delivery of a signal", || status_mask(child, "ShdPnd") & SIGINT_BIT == 0);
}

#[cfg(target_os = "linux")]
const SIGINT_BIT: u64 = 1 << (2 - 1);

/// A mask of signals in `/proc/PID/status`.
#[cfg(target_os = "linux")]
fn status_mask(child: &Child, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    u64::from_str_radix(field(&status, name).expect("the mask"), 16).expect("a mask")
}

/// How often each thread has been put to sleep or aside, if all of them sleep.
#[cfg(target_os = "linux")]
fn sleeping_threads(child: &Child) -> Option<Vec<String>> {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs");
    tasks.map(|task| switches_if_asleep(&task.ok()?.path())).collect()
}

#[cfg(target_os = "linux")]
fn switches_if_asleep(task: &Path) -> Option<String> {
    // A thread may end between two looks; then the process is not asleep.
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
