//! Exit codes, failures in one line on standard error, and answers on standard output.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::fmt;
use std::io::{self, StdoutLock, Write};
use std::panic::UnwindSafe;
use std::path::Path;
use std::process::ExitCode;

use indicatif::BinaryBytes;
use nqueens::Error;
use nqueens::record::{IoError, JournalError};

use super::format::many;
use super::report::{Format, Report};
use super::stderr::{message, quoted};

/// The ways in which the program ends, with their exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Failed, or a result that differs from the published one.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Stopped before the end.
    Stopped = 3,
    /// Not here and now: another machine or another time may do.
    NotNow = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// This code, or the other one if this says that all is well.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }

    /// Prints an answer that ends with this code.
    pub(crate) fn answer(self, format: impl Into<Format>, report: Report) -> Self {
        self.print(|out| report.write(format.into(), out))
    }

    /// Writes to standard output.
    pub(crate) fn print(
        self,
        write: impl FnOnce(&mut StdoutLock<'static>) -> io::Result<()>,
    ) -> Self {
        let mut out = io::stdout().lock();
        match write(&mut out).and_then(|()| out.flush()) {
            Ok(()) => self,
            Err(error) => self.unprinted(&error),
        }
    }

    /// The code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return self;
        }
        message!("cannot write to standard output: {error}");
        self.or(Self::Failed)
    }
}

/// Runs the program. A panic is a fault of ours: its message is one line, as that of every error,
/// and what was recorded before it stays good.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            let fault = panic.to_string().replace('\n', " ");
            message!(
                "the program has a fault: {fault}; please report it; finished units are in the \
                 journal, if there is one"
            );
        }));
    }
    std::panic::catch_unwind(program).unwrap_or(Exit::Failed)
}

/// Why there is no result: the exit code, and the line on standard error.
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Empty if nothing is left to say.
    text: String,
}

impl Exit {
    /// A failure that ends the program with this code.
    pub(crate) fn because(self, text: impl Into<String>) -> Failure {
        Failure { exit: self, text: text.into() }
    }
}

impl Failure {
    /// Prints it in one line; returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        if !self.text.is_empty() {
            message!("{self}");
        }
        self.exit
    }

    /// Adds to the message of a count that was stopped.
    pub(crate) fn if_stopped(self, change: impl FnOnce(String) -> String) -> Self {
        match self.exit {
            Exit::Stopped => Self { text: change(self.text), ..self },
            _ => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The library says what is wrong. Here is what only the command line knows: the exit code, the flag,
/// and the way out. No match has an arm for the rest, so a new error cannot be forgotten.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        use Error as E;
        use Exit::{Failed, NotNow, Stopped, Usage};
        let with =
            |exit: Exit, flag, way_out: &str| exit.because(format!("{flag}{error}{way_out}"));
        match &error {
            E::OutOfRange { .. } | E::UnknownName { .. } | E::NoSquare { .. } => {
                with(Usage, "", "")
            }
            E::ThreadsNotStarted { .. } => with(
                NotNow,
                "--threads: ",
                "; ask for fewer, or raise the limit (ulimit -u or -v, pids.max)",
            ),
            E::SquareOffBoard { .. } => with(Usage, "--place: ", ""),
            E::SquaresClash { .. } => with(Usage, "--place: ", ": choose others"),
            E::QueensGiven => with(Usage, "--place: ", ": leave out the queens or the rest"),
            E::UnitOverflow { .. } => {
                with(Failed, "", ": cut it finer (--engine subtrees --split-rows 4)")
            }
            // The message ends with that of the fault.
            E::Stopped { journal_fault: Some(fault), .. } => match &**fault {
                E::Journal { path, error } => with(Failed, "", &journal_way_out(path, error).1),
                _ => with(Failed, "", ""),
            },
            E::Stopped { journal_fault: None, .. } | E::StoppedBefore { .. } => {
                with(Stopped, "", "")
            }
            E::LacksMemory { .. } => lacks_memory(&error),
            E::Inconsistent { .. } => with(Failed, "", ""),
            E::Journal { path, error } => {
                let (exit, way_out) = journal_way_out(path, error);
                with(exit, "", &way_out)
            }
            E::PlansDiffer { .. } => with(Usage, "", ": name the files or folders of one of them"),
            E::CountsDiffer { files: [first, second], .. } if first == second => {
                with(Failed, "", &salvage(first, "leaves the unit out"))
            }
            E::CountsDiffer { unit, .. } => {
                let way_out = format!(
                    ": one of the two machines is faulty; 'nqueens verify' of each file shows which, \
                     'nqueens merge JOURNAL --into NEW --without {unit}' leaves the unit out"
                );
                with(Failed, "", &way_out)
            }
        }
    }
}

/// How a journal that cannot be used ends the program, and what to do about it, to follow the error's
/// message.
fn journal_way_out(path: &Path, error: &JournalError) -> (Exit, String) {
    use Exit::{Failed, NotNow, Usage};
    use JournalError as J;
    let (exit, way_out) = match error {
        J::CannotOpen { source } if source.kind == io::ErrorKind::NotFound => {
            (Usage, ": name a file or folder that exists")
        }
        J::CannotOpen { .. } | J::CannotRead { .. } => (Failed, ""),
        J::CannotWrite { source } | J::NotSynced { source, .. } => {
            return (Failed, format!(": {}, then run the same command again", repair(source)));
        }
        J::NotAFile => (Usage, ": name a file, or one that does not exist yet"),
        J::NotAsWritten { .. } => (
            Failed,
            "; another process or the disk has changed it, so set it aside, and count again with \
             another file",
        ),
        J::InUse => (NotNow, ": wait for it, or name another file"),
        J::NoLocks { .. } => (
            Usage,
            ": name one elsewhere, or use 'nqueens shard --index 0 --shards 1 --out FOLDER', whose \
             processes write files of their own",
        ),
        J::Exists => (Usage, ": name a file that does not exist yet"),
        J::NotAJournal | J::Damaged { line: 1, .. } => {
            let exit = if *error == J::NotAJournal { Usage } else { Failed };
            let merge = format!("'nqueens merge {} OTHER --into NEW'", quoted(path));
            let way_out = ": name another file; if the beginning of this one is damaged,";
            let other = "keeps its good lines, with another journal of the count as OTHER";
            return (exit, format!("{way_out} {merge} {other}"));
        }
        J::UnknownFormat { .. } => {
            (Failed, ": finish it with the version that began it, or count with another file")
        }
        J::OtherCount { .. } => (Usage, ": name another file, or ask for the same"),
        J::OtherPlan { holds, .. } if holds.contains(" engine=halves ") => (
            Failed,
            ": engine halves has left the program; count anew, with engine colours it is faster",
        ),
        J::OtherPlan { .. } => (Failed, ": finish it with that version"),
        J::Damaged { .. } => {
            return (Failed, salvage(path, "keeps its good lines; then move the old file away"));
        }
    };
    (exit, way_out.to_owned())
}

/// The command that copies what is good of a journal, and what it does for the user.
fn salvage(path: &Path, what: &str) -> String {
    format!(": 'nqueens merge {} --into NEW' {what}", quoted(path))
}

/// What the user can do if writing fails.
fn repair(error: &IoError) -> &'static str {
    use io::ErrorKind as K;
    match error.kind {
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge | K::WriteZero => "make room",
        K::PermissionDenied | K::ReadOnlyFilesystem => "make the file writable",
        K::StaleNetworkFileHandle => "mount the file system again",
        _ => "check the disk or the file server",
    }
}

/// What a count needs, which limit lacks it, what would fit, and what the ways out cost.
fn lacks_memory(error: &Error) -> Failure {
    let Error::LacksMemory { engine, n, threads, per_thread, usable, limit } = error else {
        return Exit::NotNow.because(error.to_string());
    };
    let fits = match (usable / per_thread, threads) {
        (0, 1) => String::new(),
        (0, _) => format!("one thread alone needs {}; ", BinaryBytes(*per_thread)),
        (fitting, _) => format!("it fits with --threads {fitting}; "),
    };
    let slower = if *engine == "colours" { ", or much longer with --engine subtrees" } else { "" };
    let [needed, usable] = [per_thread.saturating_mul(*threads as u64), *usable].map(BinaryBytes);
    let threads = many(*threads, "thread");
    Exit::NotNow.because(format!(
        "engine {engine} needs {needed} for n = {n} on {threads}, and {limit} leaves only {usable} for it \
         (see 'nqueens cpu'): {fits}count where there is more memory{slower}"
    ))
}

/// For writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Exit::Done.unprinted(&error).because("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_names_what_fits() {
        let text = |threads, usable| {
            let (engine, per_thread, limit) = ("colours", 768 << 20, "ulimit -v".to_owned());
            let error = Error::LacksMemory { engine, n: 24, threads, per_thread, usable, limit };
            lacks_memory(&error).to_string()
        };
        let fits = "engine colours needs 3.00 GiB for n = 24 on 4 threads, and ulimit -v leaves only 2.00 GiB for \
                    it (see 'nqueens cpu'): it fits with --threads 2; count where there is more memory, or \
                    much longer with --engine subtrees";
        assert_eq!(text(4, 2 << 30), fits);
        let alone = "leaves only 300.00 MiB for it (see 'nqueens cpu'): one thread alone needs 768.00 MiB; \
                     count where there is more memory, or";
        assert!(text(4, 300 << 20).contains(alone), "{}", text(4, 300 << 20));
    }
}
