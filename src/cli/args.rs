//! What several commands share: groups of options, and names of engines and kernels, each with a line
//! in the help and in the completions.

use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use git_version::git_version;
use nqueens::{BoardSize, Count, Engine, Error, Kernel, WhichCount};

use super::progress::ProgressWhen;
use super::values::number_of_threads;

/// The commit, with `-modified` if files were changed after it; `unknown` outside of a repository.
pub(crate) const COMMIT: &str = git_version!(
    args = ["--always", "--dirty=-modified", "--abbrev=7", "--exclude=*"],
    fallback = "unknown"
);

/// `None` for `auto`. The alias keeps clap from taking the field for an option without a default.
pub(crate) type OrAuto<T> = Option<T>;

/// The heading of options that experts need; the short help leaves them out.
pub(crate) const EXPERTS: &str = "Engine and machine";

/// How to count.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Engine that counts
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engine_or_auto())]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) engine: OrAuto<Engine>,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// What to use of the machine, and when to show progress.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Threads; without it NQUEENS_THREADS, SLURM_CPUS_PER_TASK, or all cores that this process
    /// may use
    #[arg(long, short, value_name = "T", allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    pub(crate) threads: Option<usize>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ProgressWhen,

    /// Vector instructions to use
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = kernel_or_auto())]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) kernel: OrAuto<Kernel>,
}

/// What `--second` asks for.
pub(crate) fn which_count(second: bool) -> WhichCount {
    if second { WhichCount::Second } else { WhichCount::First }
}

impl EngineArgs {
    /// A count with these settings. Its threads, its observer and its end are the session's.
    pub(crate) fn count(&self, size: BoardSize) -> Count<'static> {
        // An option that is not given leaves the count as it is.
        let count = self.engine.into_iter().fold(Count::new(size), Count::engine);
        self.machine.kernel.into_iter().fold(count, Count::kernel)
    }
}

pub(crate) fn engine_or_auto() -> impl TypedValueParser<Value = OrAuto<Engine>> {
    let auto = PossibleValue::new("auto").help("the fastest of these for the board and the kernel");
    PossibleValuesParser::new([auto].into_iter().chain(engines())).try_map(|name| or_none(&name))
}

/// `None` for `all`.
pub(crate) fn engine_or_all() -> impl TypedValueParser<Value = Option<Engine>> {
    let all = PossibleValue::new("all").help("all of these, on boards where they are fast enough");
    PossibleValuesParser::new([all].into_iter().chain(engines())).try_map(|name| or_none(&name))
}

pub(crate) fn kernel_or_auto() -> impl TypedValueParser<Value = OrAuto<Kernel>> {
    let auto = PossibleValue::new("auto").help("the fastest that this CPU can run");
    let names = Kernel::NAMES.into_iter().zip(Kernel::SUMMARIES);
    let kernels = names.map(|(name, summary)| PossibleValue::new(name).help(summary));
    PossibleValuesParser::new([auto].into_iter().chain(kernels)).try_map(|name| or_none(&name))
}

fn engines() -> impl Iterator<Item = PossibleValue> {
    Engine::ALL.into_iter().map(|engine| PossibleValue::new(engine.name()).help(engine.summary()))
}

/// `None` for the word that names no one in particular.
fn or_none<T: FromStr<Err = Error>>(name: &str) -> Result<Option<T>, Error> {
    if matches!(name, "auto" | "all") { Ok(None) } else { name.parse().map(Some) }
}
