//! The arguments, checked, as plain data. The last file that knows clap.

use std::env;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use clap_complete::Shell;
use nqueens::{BoardSize, Engine, Error, FixedQueens, Kernel, MAX_THREADS, Shard, SplitRows};

use super::args::{Command, CommandLine, HowArgs, JournalsArgs, MachineArgs, ProgressWhen};
use super::array::{number_of_shards, shard};
use super::bytes::Bytes;
use super::commands::compare::CompareArgs;
use super::exit::Failure;
use super::list::{ListOptions, fixed_queens};
use super::progress::When;
use super::salvage::SalvageOptions;
use super::talk::say;

/// The times that a sample may take.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// A subcommand with its options.
#[derive(Debug)]
pub(crate) enum Options {
    Count(CountOptions),
    Table(TableOptions),
    Estimate(EstimateOptions),
    List(ListOptions),
    Compare(CompareArgs),
    Shard(ShardOptions),
    Merge(MergeOptions),
    Status(StatusOptions),
    Verify(VerifyOptions),
    Salvage(SalvageOptions),
    Cpu(CpuOptions),
    Completions(Shell),
    Man,
}

#[derive(Debug)]
pub(crate) struct CountOptions {
    pub(super) size: BoardSize,
    pub(super) fundamental: bool,
    pub(super) how: How,
    pub(super) queens: FixedQueens,
    pub(super) journal: Option<PathBuf>,
    pub(super) format: CountFormat,
}

#[derive(Debug)]
pub(crate) struct TableOptions {
    pub(super) sizes: RangeInclusive<u32>,
    pub(super) how: How,
    pub(super) format: TableFormat,
}

#[derive(Debug)]
pub(crate) struct EstimateOptions {
    pub(super) size: BoardSize,
    pub(super) time: Duration,
    /// `None` for one that nobody can foresee.
    pub(super) seed: Option<u64>,
    pub(super) how: How,
    pub(super) json: bool,
}

#[derive(Debug)]
pub(crate) struct ShardOptions {
    pub(super) size: BoardSize,
    pub(super) shard: Shard,
    pub(super) out: PathBuf,
    pub(super) how: How,
    pub(super) json: bool,
}

#[derive(Debug)]
pub(crate) struct MergeOptions {
    pub(super) journals: JournalsOptions,
    pub(super) format: CountFormat,
}

#[derive(Debug)]
pub(crate) struct StatusOptions {
    pub(super) journals: JournalsOptions,
    pub(super) json: bool,
}

/// Which journals.
#[derive(Debug)]
pub(super) struct JournalsOptions {
    pub(super) paths: Vec<PathBuf>,
    /// How many parts there are, if it is said.
    pub(super) shards: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct VerifyOptions {
    pub(super) paths: Vec<PathBuf>,
    pub(super) units: usize,
    /// `None` for one that nobody can foresee.
    pub(super) seed: Option<u64>,
    pub(super) machine: MachineOptions,
    pub(super) json: bool,
}

#[derive(Debug)]
pub(crate) struct CpuOptions {
    pub(super) threads: usize,
    pub(super) json: bool,
}

/// How to count.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// `None` for `auto`.
    pub(super) engine: Option<Engine>,
    pub(super) split_rows: Option<SplitRows>,
    /// Bytes; `None` for the default share.
    pub(super) memory: Option<u64>,
    pub(super) self_check: bool,
    pub(super) machine: MachineOptions,
}

/// What to use of the machine, and when to show progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct MachineOptions {
    pub(super) threads: usize,
    /// `None` for `auto`.
    pub(super) kernel: Option<Kernel>,
    pub(super) progress: When,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum CountFormat {
    Text,
    Json,
    Quiet,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TableFormat {
    Text,
    Csv,
    Json,
}

impl Options {
    /// Reads and checks the arguments. Help and version are printed here.
    pub(crate) fn from_command_line() -> Result<Self, Failure> {
        let command = CommandLine::try_parse().map_err(one_line)?.command;
        Ok(match command {
            Command::Count(args) => Self::Count(CountOptions {
                size: args.n,
                fundamental: args.fundamental,
                how: args.how.checked()?,
                queens: fixed_queens(args.n, &args.place)?,
                journal: args.journal,
                format: count_format(args.json, args.quiet),
            }),
            Command::Table(args) => Self::Table(TableOptions {
                sizes: args.sizes.0,
                how: args.how.checked()?,
                format: table_format(args.csv, args.json),
            }),
            Command::Estimate(args) => Self::Estimate(EstimateOptions {
                size: args.n,
                time: Duration::try_from_secs_f64(args.seconds)
                    .ok()
                    .filter(|time| (SHORTEST..=LONGEST).contains(time))
                    .ok_or_else(|| {
                        let given = args.seconds;
                        Failure::Usage(format!(
                            "--seconds: '{given}' is no time for a sample: choose 0.001 to 1000000"
                        ))
                    })?,
                seed: args.seed,
                how: args.how.checked()?,
                json: args.json,
            }),
            Command::List(args) => Self::List(args.checked()?),
            Command::Compare(args) => Self::Compare(args),
            Command::Shard(args) => Self::Shard(ShardOptions {
                size: args.n,
                shard: shard(args.index.as_deref(), &args.of, |name| env::var(name).ok())?,
                out: args.out,
                how: args.how.checked()?,
                json: args.json,
            }),
            Command::Merge(args) => Self::Merge(MergeOptions {
                journals: args.journals.checked()?,
                format: count_format(args.json, args.quiet),
            }),
            Command::Status(args) => {
                Self::Status(StatusOptions { journals: args.journals.checked()?, json: args.json })
            }
            Command::Verify(args) => Self::Verify(VerifyOptions {
                paths: args.paths,
                units: args.units,
                seed: args.seed,
                machine: args.machine.checked()?,
                json: args.json,
            }),
            Command::Salvage(args) => Self::Salvage(args.checked()?),
            Command::Cpu(args) => Self::Cpu(CpuOptions {
                threads: threads(None, |name| env::var(name).ok())?,
                json: args.json,
            }),
            Command::Completions { shell } => Self::Completions(shell),
            Command::Man => Self::Man,
        })
    }
}

fn count_format(json: bool, quiet: bool) -> CountFormat {
    match (json, quiet) {
        (true, _) => CountFormat::Json,
        (_, true) => CountFormat::Quiet,
        _ => CountFormat::Text,
    }
}

fn table_format(csv: bool, json: bool) -> TableFormat {
    match (csv, json) {
        (true, _) => TableFormat::Csv,
        (_, true) => TableFormat::Json,
        _ => TableFormat::Text,
    }
}

impl JournalsArgs {
    fn checked(self) -> Result<JournalsOptions, Failure> {
        let shards = self.of.as_deref().map(number_of_shards).transpose()?;
        Ok(JournalsOptions { paths: self.paths, shards })
    }
}

impl HowArgs {
    fn checked(self) -> Result<How, Failure> {
        let usage = |flag: &str, error: &Error| Failure::Usage(format!("{flag}: {error}"));
        let engine = match self.engine.as_str() {
            "auto" => None,
            name => Some(name.parse().map_err(|error| match error {
                Error::UnknownEngine { given, choices } => usage(
                    "--engine",
                    &Error::UnknownEngine { given, choices: format!("auto, {choices}") },
                ),
                other => usage("--engine", &other),
            })?),
        };
        let how = How {
            engine,
            split_rows: self.split_rows,
            memory: self.memory.map(|Bytes(bytes)| bytes),
            self_check: !self.no_self_check,
            machine: self.machine.checked()?,
        };
        how.warn_of_options_without_effect();
        Ok(how)
    }
}

impl MachineArgs {
    fn checked(self) -> Result<MachineOptions, Failure> {
        Ok(MachineOptions {
            threads: threads(self.threads.as_deref(), |name| env::var(name).ok())?,
            kernel: kernel(&self.kernel)
                .map_err(|error| Failure::Usage(format!("--kernel: {error}")))?,
            progress: self.progress.into(),
        })
    }
}

impl From<ProgressWhen> for When {
    fn from(when: ProgressWhen) -> Self {
        match when {
            ProgressWhen::Never => Self::Never,
            ProgressWhen::Auto => Self::Auto,
            ProgressWhen::Always => Self::Always,
        }
    }
}

impl How {
    fn warn_of_options_without_effect(&self) {
        let Some(engine) = self.engine else { return };
        if self.split_rows.is_some() && engine != Engine::Subtrees {
            say(format_args!("warning: --split-rows has no effect on engine {engine}"));
        }
        if self.machine.kernel.is_some() && !engine.has_kernels() {
            say(format_args!("warning: --kernel has no effect on engine {engine}"));
        }
    }

    /// Says that a textbook engine will take long for this board.
    pub(super) fn warn_if_slow(&self, size: BoardSize) {
        let Some(engine) = self.engine else { return };
        if let Some(largest) = engine.largest_sensible().filter(|largest| size.get() > *largest) {
            say(format_args!(
                "warning: engine {engine} is sensible up to n = {largest}; \
                 n = {size} may take very long, --engine auto is faster"
            ));
        }
    }
}

/// The kernel of this name; `None` for `auto`.
pub(super) fn kernel(name: &str) -> Result<Option<Kernel>, Error> {
    match name {
        "auto" => Ok(None),
        name => Kernel::from_name(name).map(Some),
    }
}

/// A number of threads as it is written on the command line.
pub(super) fn threads_given(given: &str) -> Result<usize, Error> {
    let threads = given.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| Error::ThreadsOutOfRange { given: given.to_owned(), max: MAX_THREADS })
}

/// The number of threads: the flag, else a variable, else the cores that this process may use.
pub(super) fn threads(
    flag: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<usize, Failure> {
    let parse = |source: &str, given: &str| {
        threads_given(given).map_err(|error| Failure::Usage(format!("{source}: {error}")))
    };
    if let Some(given) = flag {
        return parse("--threads", given);
    }
    for name in ["NQUEENS_THREADS", "SLURM_CPUS_PER_TASK"] {
        if let Some(given) = variable(name).filter(|given| !given.is_empty()) {
            return parse(name, &given);
        }
    }
    Ok(num_cpus::get().clamp(1, MAX_THREADS))
}

/// clap's message as one line; help and version are no failure.
fn one_line(error: clap::Error) -> Failure {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return match error.print() {
                Ok(()) => std::process::exit(0),
                Err(error) => error.into(),
            };
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let message = "no command given; try 'nqueens count 16' or 'nqueens --help'";
            return Failure::Usage(message.to_owned());
        }
        _ => {}
    }
    let text = error.render().to_string();
    // The reason comes first, then hints, the usage and a pointer to the help.
    let reason: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let reason = reason.join(" ");
    let reason = reason.strip_prefix("error: ").unwrap_or(&reason);
    Failure::Usage(format!("{reason}; see 'nqueens --help'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<usize, String> {
        let variable =
            |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
        threads(flag, variable).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn the_flag_beats_the_variables_and_these_the_machine() {
        let both = [("NQUEENS_THREADS", "5"), ("SLURM_CPUS_PER_TASK", "3")];
        assert_eq!(chosen(Some("7"), &both), Ok(7));
        assert_eq!(chosen(None, &both), Ok(5));
        assert_eq!(chosen(None, &both[1..]), Ok(3));
        assert_eq!(chosen(None, &[("NQUEENS_THREADS", "")]), Ok(num_cpus::get()));
    }

    #[test]
    fn a_bad_number_of_threads_names_its_source() {
        for bad in ["0", "-1", "x", "4097", "99999999999999999999"] {
            let flag = chosen(Some(bad), &[]).expect_err("refused");
            assert!(flag.contains("--threads") && flag.contains("4096"), "{flag}");
            let variable = chosen(None, &[("SLURM_CPUS_PER_TASK", bad)]).expect_err("refused");
            assert!(variable.contains("SLURM_CPUS_PER_TASK"), "{variable}");
        }
    }
}
