//! Exit codes, failures in one line on standard error, and answers on standard output.
//!
//! The code is decided before anything is printed, and kept whatever happens to standard output.

use std::fmt;
use std::io::{self, StdoutLock, Write};
use std::panic::UnwindSafe;
use std::path::Path;

use nqueens::Error;
use nqueens::record::JournalError;

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

impl Exit {
    /// This code, or the other one if this says that all is well.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Done { other } else { self }
    }

    /// The code of two answers: a failure counts for more than what could not be read, and that for more than what is
    /// not complete.
    pub(crate) fn and(self, other: Self) -> Self {
        let rank = |exit: Self| [0, 4, 3, 1, 2][exit as usize];
        if rank(other) > rank(self) { other } else { self }
    }

    /// A failure that ends the program with this code.
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

    /// The code if not all of an answer could be printed. A reader that has gone has seen enough.
    pub(crate) fn unprinted(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return self;
        }
        message!("cannot write to standard output: {error}");
        self.or(Self::Failed)
    }
}

/// Where faults are reported: at the repository, once `Cargo.toml` names it.
const WHERE: &str = match env!("CARGO_PKG_REPOSITORY").is_empty() {
    true => "with this line to those from whom you have the program",
    false => concat!("with this line at ", env!("CARGO_PKG_REPOSITORY")),
};

/// Runs the program. A panic is a fault of ours: its message is one line, as that of every error,
/// and what was recorded before it stays good.
pub(crate) fn guarded(program: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|panic| {
            let fault = panic.to_string().replace('\n', " ");
            message!(
                "the program has a fault: {fault}; please report it {WHERE}; a journal keeps its units"
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
    /// Prints it in one line; returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        if !self.text.is_empty() {
            message!("{self}");
        }
        self.exit
    }

    /// With the code for this failure and what was found before it.
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

/// The library says what is wrong; the command line adds the exit code and the way out.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, way_out) = way_out(&error);
        exit.because(format!("{error}{way_out}"))
    }
}

/// The exit code, and the way out to follow the error's message. No match has an arm for the rest, so a new
/// error cannot be forgotten.
fn way_out(error: &Error) -> (Exit, String) {
    use Error as E;
    use Exit::{Failed, NotNow, Stopped, Usage};
    let (exit, text) = match error {
        E::OutOfRange { .. } | E::UnknownName { .. } => (Usage, ""),
        E::ThreadsNotStarted { .. } => {
            (NotNow, "; ask for fewer --threads, or raise the limit (ulimit -u or -v, pids.max)")
        }
        E::SquaresClash { .. } => (Usage, ": choose others"),
        E::QueensGiven => (Usage, ": leave out --place or the rest"),
        E::EntryOverflow { .. } => (Failed, ": count with --engine subtrees"),
        E::UnitOverflow { .. } => (Failed, ": cut it finer (--engine subtrees --split-rows 4)"),
        // The message ends with that of the fault.
        E::Stopped { journal_fault: Some(fault), .. } => return (Failed, way_out(fault).1),
        E::Stopped { journal_fault: None, .. } | E::StoppedBefore { .. } => (Stopped, ""),
        E::LacksMemory { counter, per_thread, usable, limit, .. } => {
            let fits = match usable / per_thread {
                0 => String::new(),
                threads => format!("it fits with --threads {threads}; "),
            };
            let text_if = |holds: bool, text| if holds { text } else { "" };
            let slower =
                text_if(counter == "engine colours", ", or much longer with --engine subtrees");
            let elsewhere = "count where there is more memory (see 'nqueens cpu')";
            // With ZFS, Linux reports too little.
            let more = "; if more is free than Linux reports, NQUEENS_MEMORY=64G says so";
            let overrule = text_if(limit == "this machine", more);
            return (NotNow, format!(": {fits}{elsewhere}{slower}{overrule}"));
        }
        E::Inconsistent { .. } => (Failed, ""),
        E::Journal { path, error } => return journal_way_out(path, error),
        E::PlansDiffer { .. } => (Usage, ": name the files or folders of one of them"),
        E::CountsDiffer { unit, .. } => {
            let verify = "'nqueens verify' shows which count is wrong";
            let leave_out =
                format!("'nqueens merge FILE --into NEW --without {unit}' leaves it out");
            return (Failed, format!(": a machine is faulty; {verify}; {leave_out}"));
        }
    };
    (exit, text.to_owned())
}

/// The exit code and the way out if a journal cannot be used.
fn journal_way_out(path: &Path, error: &JournalError) -> (Exit, String) {
    use Exit::{Failed, NotNow, Usage};
    use JournalError as J;
    use io::ErrorKind as K;
    let (exit, text) = match error {
        J::Io { source, .. } | J::NotSynced { source, .. } if is_full(source.kind) => {
            (Failed, ": make room (bytes or inodes), then run the same command again")
        }
        J::Io { source, action } => match source.kind {
            K::NotFound => (Usage, ": name a file or folder that exists"),
            K::InvalidFilename | K::IsADirectory | K::NotADirectory => {
                (Usage, ": name another file")
            }
            K::PermissionDenied if *action != "write" => {
                (NotNow, ": change the permissions, or ask its owner")
            }
            _ if source.is_of_machine && *action != "write" => {
                (NotNow, ": raise the limit (ulimit -n), or try later or on another machine")
            }
            _ if *action == "open" => (Failed, ""),
            _ => (Failed, ": check the disk, then run the same command again"),
        },
        J::NotAFile | J::Exists => (Usage, ": name another file"),
        J::OtherForm { form } => {
            let tool = form.strip_prefix("compressed by ").map(|tool| format!("{tool} -dc"));
            let tool = tool.unwrap_or(r#"tr -d "\r""#.to_owned());
            return (Usage, format!(": '{tool} < {} > NEW' makes a good one", quoted(path)));
        }
        J::NotReadBack | J::NotSynced { .. } => {
            (Failed, ": check the disk, then run the same command again")
        }
        J::Gone | J::Replaced => {
            (Failed, ": move it back if you can; the same command counts what is lost")
        }
        J::Cut | J::WrittenByOthers | J::NotAsWritten => {
            (Failed, ": its lines are good, so the same command counts what is missing")
        }
        J::Changed => (NotNow, ": run the same command again"),
        J::InUse => (NotNow, ": wait for it, or name another file"),
        J::NoLocks { .. } => {
            (Usage, ": name one elsewhere, or use 'nqueens shard', whose processes share no file")
        }
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
        J::OtherPlan { .. } => (Failed, ": finish it with the build that began it"),
        J::Damaged { .. } => {
            let salvage = format!("'nqueens merge {} --into NEW'", quoted(path));
            let way_out = "keeps its good lines; then move the old file away";
            return (Failed, format!(": {salvage} {way_out}"));
        }
    };
    (exit, text.to_owned())
}

/// Whether no more fits on the disk, or into a file.
fn is_full(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as K;
    matches!(kind, K::StorageFull | K::QuotaExceeded | K::FileTooLarge | K::WriteZero)
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
            let (counter, limit) = ("engine colours".to_owned(), "ulimit -v".to_owned());
            let per_thread = 768 << 20;
            let error = Error::LacksMemory { counter, n: 24, threads, per_thread, usable, limit };
            way_out(&error).1
        };
        let fits = ": it fits with --threads 2; count where there is more memory (see 'nqueens cpu'), or \
                    much longer with --engine subtrees";
        assert_eq!(text(4, 2 << 30), fits);
        assert!(!text(4, 300 << 20).contains("--threads"));
    }
}
