//! Exit codes, failures in one line on standard error, and answers on standard output.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::fmt;
use std::io::{self, StdoutLock, Write};
use std::panic::UnwindSafe;
use std::path::Path;

use nqueens::Error;
use nqueens::record::JournalError;

use super::bad_lines::{lines_of, take_out};
use super::report::{Format, Report};
use super::stderr::{message, quoted};

/// The ways in which the program ends, with their exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Failed, or a total that differs from the published one.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Stopped before the end.
    Stopped = 3,
    /// Temporarily impossible: a later try or another machine may do.
    NotNow = 4,
}

impl Exit {
    /// Returns the code of two answers: a failure outweighs what could not be read, which outweighs what is not
    /// complete.
    pub(crate) fn and(self, other: Self) -> Self {
        let rank = |exit: Self| [0, 4, 3, 1, 2][exit as usize];
        if rank(other) > rank(self) { other } else { self }
    }

    /// Returns a failure that ends the program with this code.
    pub(crate) fn because(self, text: impl Into<String>) -> Failure {
        Failure { exit: self, text: text.into() }
    }

    /// Prints an answer that ends with this code.
    pub(crate) fn answer(self, format: Format, report: Report) -> Self {
        self.print(|out| report.write(format, out))
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

    /// Returns the code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return self;
        }
        message!("cannot write to standard output: {error}");
        if self == Self::Done { Self::Failed } else { self }
    }
}

/// Runs the program. A panic is a fault of the program: its message is one line, like that of every error,
/// and what was recorded before it stays good.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            let fault = panic.to_string().replace('\n', " ");
            message!(
                "the program has a fault: {fault}; please report this line; a journal keeps its units"
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

impl Failure {
    /// Prints the failure in one line, and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        if !self.text.is_empty() {
            message!("{self}");
        }
        self.exit
    }

    /// Returns this failure with the code for it and what was found before it.
    pub(crate) fn after(self, found: Exit) -> Self {
        Self { exit: self.exit.and(found), ..self }
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

/// Adds the exit code and the way out to what the library says is wrong.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, way_out) = way_out(&error);
        exit.because(format!("{error}{way_out}"))
    }
}

/// Returns the exit code, and the way out to follow the error's message. No match has an arm for the rest, so a new
/// error cannot be forgotten.
fn way_out(error: &Error) -> (Exit, String) {
    use Error as E;
    use Exit::{Failed, NotNow, Stopped, Usage};
    let (exit, text) = match error {
        E::InvalidValue { .. } => (Usage, ""),
        E::ThreadsNotStarted { .. } => {
            (NotNow, ": use fewer --threads, or raise the limit (ulimit -u or -v, pids.max)")
        }
        E::EntryOverflow { .. } => (Failed, ": count with --engine subtrees"),
        E::UnitOverflow { .. } => {
            (Failed, ": make smaller units with --engine subtrees --split-rows 4")
        }
        E::Stopped { .. } | E::StoppedBefore { .. } => (Stopped, ""),
        E::LacksMemory { what, threads, bytes, usable, .. } => {
            let fits = match usable / bytes {
                fitting @ 1.. if threads.is_some() => format!("it fits with --threads {fitting}; "),
                _ => String::new(),
            };
            let is_colours = what == "engine colours";
            let slower = if is_colours { ", or, much slower, with --engine subtrees" } else { "" };
            let elsewhere = "count where there is more memory (see 'nqueens cpu')";
            return (NotNow, format!(": {fits}{elsewhere}{slower}"));
        }
        E::Inconsistent { .. } => (Failed, ""),
        E::Journal { path, error } => return journal_way_out(path, error),
        E::PlansDiffer { .. } => (
            Usage,
            ": name the files or folders of one of them, or for a count its --engine and --split-rows",
        ),
        E::CountsDiffer { lines } => {
            let bad = lines_of(lines);
            let files: Vec<String> = bad.keys().map(|path| quoted(path)).collect();
            let verify = format!("'nqueens verify {}' shows which count is wrong", files.join(" "));
            // One wrong line may lie in several files, so all lines of the unit have to go.
            let commands = take_out(&bad).join(" && ");
            let text = "to take its lines out, so that it is counted again";
            return (Failed, format!(": a machine made an error; {verify}; {text}: {commands}"));
        }
    };
    (exit, text.to_owned())
}

const CHECK_DISK: &str = ": check the disk, then run the same command again";

/// Returns the exit code and the way out if a journal cannot be used.
fn journal_way_out(path: &Path, error: &JournalError) -> (Exit, String) {
    use Exit::{Failed, NotNow, Usage};
    use JournalError as J;
    use io::ErrorKind as K;
    let (exit, text) = match error {
        // Nothing would keep a second process away.
        J::Io { action: "lock", .. } => (
            Usage,
            ": name a folder (with a slash behind it), where no locks are needed, or a file elsewhere",
        ),
        J::Io { source, .. } | J::NotSynced { source, .. } if is_full(source.kind) => {
            (Failed, ": make room (bytes or inodes), then run the same command again")
        }
        J::Io { source, action } => match source.kind {
            K::NotFound => (Usage, ": name a file or folder that exists"),
            K::InvalidFilename | K::IsADirectory | K::NotADirectory | K::AlreadyExists => {
                (Usage, ": name another file")
            }
            K::PermissionDenied if *action != "write" => (NotNow, ": change its permissions"),
            _ if source.is_of_machine && *action != "write" => {
                (NotNow, ": raise the limit (ulimit -n), or try later or on another machine")
            }
            _ if *action == "open" => (Failed, ""),
            _ => (Failed, CHECK_DISK),
        },
        J::NotAFile | J::OtherCount { .. } => (Usage, ": name another file"),
        J::NotAsWritten | J::NotSynced { .. } => (Failed, CHECK_DISK),
        J::Gone => (Failed, ": move it back; the same command counts what is missing"),
        J::WrittenByOthers => (Failed, ": the same command counts what is missing"),
        J::Changed => (NotNow, ": run the same command again"),
        J::InUse => (NotNow, ": wait for it, or name another file"),
        J::NotAJournal | J::NoPlan { .. } => {
            let (exit, condition) = match error {
                J::NotAJournal => {
                    (Usage, "unpack it if it is compressed; if it is a damaged one, ")
                }
                _ => (Failed, ""),
            };
            let command = format!("head -n 1 OTHER.journal | cat - {} > NEW.journal", quoted(path));
            let text = "this makes a good journal with line 1 of another one of this count";
            return (exit, format!("; {condition}{text}: {command}"));
        }
        // A damaged line alone ends no command.
        J::Damaged { .. } => (Failed, ""),
        J::UnknownFormat { .. } | J::OtherPlan { .. } => {
            (Failed, ": finish it with the build that began it, or count with another file")
        }
    };
    (exit, text.to_owned())
}

/// Returns whether the disk or the file has no room.
fn is_full(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as K;
    matches!(kind, K::StorageFull | K::QuotaExceeded | K::FileTooLarge | K::WriteZero)
}

/// Makes a failure of an error of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Exit::Done.unprinted(&error).because("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a first count with a journal that may not be read, and a second one with damage; or of a table with a
    /// wrong total that is stopped at the next board.
    #[test]
    fn what_is_not_complete_hides_no_failure() {
        for (one, other) in [(Exit::Stopped, Exit::Failed), (Exit::Failed, Exit::Stopped)] {
            assert_eq!(one.and(other), Exit::Failed);
            assert_eq!(one.because("").after(other).exit, Exit::Failed);
        }
        assert_eq!(Exit::NotNow.because("").after(Exit::Stopped).exit, Exit::NotNow);
        assert_eq!(Exit::Done.and(Exit::Stopped), Exit::Stopped);
    }

    #[test]
    fn a_lack_of_memory_names_what_fits() {
        let text = |threads, usable| {
            let (what, limit) = ("engine colours".to_owned(), "ulimit -v".to_owned());
            let bytes = 768 << 20;
            let threads = Some(threads);
            let error = Error::LacksMemory { what, n: 24, threads, bytes, usable, limit };
            way_out(&error).1
        };
        let fits = ": it fits with --threads 2; count where there is more memory (see 'nqueens cpu'), or, \
                    much slower, with --engine subtrees";
        assert_eq!(text(4, 2 << 30), fits);
        assert!(!text(4, 300 << 20).contains("--threads"));
    }
}
