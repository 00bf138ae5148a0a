//! The real program, as tests run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

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

/// Waits until there is something; a minute is too long.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited a minute for {what}");
}

/// Sends a signal by its name.
pub(crate) fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
    assert!(sent.expect("kill is installed").success(), "the program runs");
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
