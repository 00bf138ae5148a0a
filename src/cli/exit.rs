//! Exit codes, failures in one line on standard error, and answers on standard output.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::fmt;
use std::io;
use std::panic::UnwindSafe;
use std::path::Path;
use std::time::Duration;

use nqueens::Error;
use nqueens::record::{JournalError, Lack};
use rustix::process::{Resource, getrlimit};

use super::bad_lines::{lines_of, take_out};
use super::quote::quoted;
use super::report::{Format, Report};
use super::stderr::{self, message};
use super::stdout;

/// The ways in which the program ends, with their exit codes. [`Exit::meaning`] says what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Stopped = 3,
    Temporary = 4,
}

impl Exit {
    /// All exit codes, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] =
        [Self::Done, Self::Failed, Self::Usage, Self::Stopped, Self::Temporary];

    /// Returns what an exit code means. Help, manual pages and README take their words from here.
    ///
    /// Schedulers retry a command that ends with code 4. So only what passes by waiting has that code.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => {
                "a total that differs from the published one, a unit with two different counts, damage while units \
                 are missing, or something that waiting does not cure: a disk, a permission, too little memory, a fault"
            }
            Self::Usage => "wrong usage",
            Self::Stopped => {
                "stopped, not complete, or nothing recorded yet: with a journal, the same command resumes"
            }
            Self::Temporary => {
                "temporarily impossible (memory or threads that others use, a journal that is being written): the same \
                 command works later, or on another machine"
            }
        }
    }

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

    /// Writes to standard output, and waits until somebody has taken it.
    pub(crate) fn print(self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Self {
        // On a terminal, messages and the answer come in their order.
        stderr::hide();
        let mut lines = Vec::new();
        let printed = write(&mut lines)
            .and_then(|()| stdout::put(&lines))
            .and_then(|()| stdout::settle(Duration::MAX));
        match printed {
            Ok(()) => self,
            Err(error) => self.unprinted(&error),
        }
    }

    /// Returns the code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => self,
            io::ErrorKind::Interrupted => {
                message!("stopped before standard output took the answer");
                self.and(Self::Stopped)
            }
            _ => {
                message!("cannot write to standard output: {error}");
                if self == Self::Done { Self::Failed } else { self }
            }
        }
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
    use Exit::{Failed, Stopped, Temporary, Usage};
    let (exit, text) = match error {
        E::InvalidValue { .. } => (Usage, ""),
        E::ThreadsNotStarted { .. } => {
            // Under a limit of its own address space, a process waits in vain.
            let is_own = getrlimit(Resource::As).current.is_some();
            let exit = if is_own { Failed } else { Temporary };
            (exit, ": use fewer --threads, or raise the limit (ulimit -u or -v, pids.max)")
        }
        E::EntryOverflow { .. } => (Failed, ": count with --engine subtrees"),
        E::UnitOverflow { .. } => {
            (Failed, ": make smaller units with --engine subtrees --split-rows 4")
        }
        E::Stopped { .. } | E::StoppedBefore { .. } => (Stopped, ""),
        E::LacksMemory { what, threads, bytes, usable, most, .. } => {
            let fits = match usable / bytes {
                fitting @ 1.. if threads.is_some() => format!("it fits with --threads {fitting}; "),
                _ => String::new(),
            };
            let is_colours = what == "engine colours";
            let slower = if is_colours { ", or, much slower, with --engine subtrees" } else { "" };
            let elsewhere = "count where there is more memory (see 'nqueens cpu')";
            let needed = bytes.saturating_mul(threads.unwrap_or(1) as u64);
            let exit = if needed > *most { Failed } else { Temporary };
            return (exit, format!(": {fits}{elsewhere}{slower}"));
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
    use Exit::{Failed, Stopped, Temporary, Usage};
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
            K::NotFound if path.parent().is_some_and(Path::is_dir) && *action == "open" => {
                (Usage, ": name a file or folder that exists, in a folder that takes files")
            }
            K::NotFound => (Usage, ": name a file or folder that exists"),
            K::InvalidFilename | K::IsADirectory | K::NotADirectory | K::AlreadyExists => {
                (Usage, ": name another file")
            }
            K::PermissionDenied if *action != "write" => (Failed, ": change its permissions"),
            K::ReadOnlyFilesystem => (Failed, ": name a file on a file system that can be written"),
            _ if *action == "write" => (Failed, CHECK_DISK),
            _ => match source.lack {
                Some(Lack::HandlesOfProcess) => (Failed, ": raise the limit (ulimit -n)"),
                Some(Lack::HandlesOfMachine) => {
                    (Temporary, ": try later, when other programs have closed files")
                }
                Some(Lack::Memory) => {
                    (Temporary, ": try later, when other programs have given memory back")
                }
                Some(Lack::FileServer) => {
                    (Temporary, ": the file server has changed, so try again")
                }
                None if *action == "open" => (Failed, ": check the path and the file system"),
                None => (Failed, CHECK_DISK),
            },
        },
        J::NotAFile | J::OtherCount { .. } => (Usage, ": name another file"),
        J::NotAsWritten | J::NotSynced { .. } => (Failed, CHECK_DISK),
        J::NotYetSynced => (Stopped, ": the same command checks the journal"),
        J::FolderNotSynced { .. } => (Failed, ""),
        J::Gone => (Failed, ": move it back; the same command counts what is missing"),
        J::WrittenByOthers => (Failed, ": the same command counts what is missing"),
        J::Changed => (Temporary, ": run the same command again"),
        J::InUse => (Temporary, ": wait for it, or name another file"),
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
        assert_eq!(Exit::Temporary.because("").after(Exit::Stopped).exit, Exit::Temporary);
        assert_eq!(Exit::Done.and(Exit::Stopped), Exit::Stopped);
    }

    #[test]
    fn the_readme_has_the_meanings_of_all_codes() {
        let readme = include_str!("../../README.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |\n", exit as u8, exit.meaning());
            assert!(readme.contains(&row), "not in README.md: {row}");
        }
    }

    #[test]
    fn a_lack_of_memory_names_what_fits() {
        let text = |threads, usable| {
            let (what, limit) = ("engine colours".to_owned(), "ulimit -v".to_owned());
            let bytes = 768 << 20;
            let threads = Some(threads);
            let most = 4 << 30;
            let error = Error::LacksMemory { what, n: 24, threads, bytes, usable, most, limit };
            way_out(&error)
        };
        let fits = ": it fits with --threads 2; count where there is more memory (see 'nqueens cpu'), or, \
                    much slower, with --engine subtrees";
        assert_eq!(text(4, 2 << 30), (Exit::Temporary, fits.to_owned()));
        assert!(!text(4, 300 << 20).1.contains("--threads"));
        assert_eq!(text(6, 2 << 30).0, Exit::Failed, "so much memory will never be free");
    }
}
