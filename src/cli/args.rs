//! What several commands share: groups of options, and names of engines and kernels, each with a line
//! in the help and in the completions.

use std::iter::once;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nqueens::{BoardSize, Count, Engine, Error, Kernel, WhichCount};

use super::exit::{Exit, Failure};
use super::progress::ProgressWhen;
use super::stderr::message;
use super::values::{number_of_threads, up_to};

/// The heading of options that experts need; the short help leaves them out.
pub(crate) const EXPERTS: &str = "Engine and machine";

/// How to count.
///
/// `None` is the word `auto`. Clap takes a field of type `Option` for an option without a default value, except if the type
/// is written with its path, as here.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Engine that counts: see 'nqueens help count'
    #[arg(long, value_name = "NAME", hide_possible_values = true, default_value = "auto", value_parser = named_or::<Engine>("auto", "the fastest engine for the board", engines()))]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) engine: std::option::Option<Engine>,

    /// Vector instructions to use: see 'nqueens help count'
    #[arg(long, value_name = "NAME", hide_possible_values = true, default_value = "auto", value_parser = named_or::<Kernel>("auto", "the fastest that this CPU can run", kernels()))]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) kernel: std::option::Option<Kernel>,
}

/// The threads, and when to show progress.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Number of threads [default: NQUEENS_THREADS, else the usable cores]
    #[arg(long, short, value_name = "T", allow_negative_numbers = true)]
    #[arg(value_parser = number_of_threads)]
    pub(crate) threads: Option<usize>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ProgressWhen,
}

/// How engine subtrees makes its units. Another number of rows makes another plan.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Make units of all placements of the first ROWS rows, 1 to 4, with engine subtrees [default: a sixth of N]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = up_to(4))]
    #[arg(help_heading = EXPERTS, hide_short_help = true)]
    split_rows: Option<usize>,
}

impl SplitArgs {
    /// Returns the number of rows that `--split-rows` names.
    ///
    /// # Errors
    ///
    /// Wrong usage if another engine than subtrees is named, because it would not obey the option.
    pub(crate) fn rows(&self, engine: Option<Engine>) -> Result<Option<usize>, Failure> {
        let other = engine.filter(|engine| *engine != Engine::Subtrees);
        match (self.split_rows, other) {
            (Some(_), Some(engine)) => {
                let text = format!(
                    "--split-rows needs engine subtrees, not {engine}: leave out one of them"
                );
                Err(Exit::Usage.because(text))
            }
            (rows, _) => Ok(rows),
        }
    }
}

/// Returns the count that `--second` asks for.
pub(crate) fn which_count(second: bool) -> WhichCount {
    if second { WhichCount::Second } else { WhichCount::First }
}

impl EngineArgs {
    /// Warns if an engine is named that has no kernels, and a kernel as well.
    pub(crate) fn warn_of_kernel(&self) {
        if let Some(engine) = self.engine.filter(|engine| !engine.has_kernels())
            && self.kernel.is_some()
        {
            message!("warning: --kernel has no effect on engine {engine}");
        }
    }

    /// Returns a count with these settings. The session adds its threads, observer and cancellation.
    pub(crate) fn count(&self, size: BoardSize) -> Count<'static> {
        // An option that is not given leaves the count as it is.
        let count = self.engine.into_iter().fold(Count::new(size), Count::engine);
        self.kernel.into_iter().fold(count, Count::kernel)
    }
}

/// Parses a name, or `None` for this word.
pub(crate) fn named_or<T>(
    word: &'static str,
    help: &'static str,
    names: impl Iterator<Item = PossibleValue>,
) -> impl TypedValueParser<Value = Option<T>>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    let all = once(PossibleValue::new(word).help(help)).chain(names);
    PossibleValuesParser::new(all)
        .try_map(move |name| (name != word).then(|| name.parse()).transpose())
}

pub(crate) fn kernels() -> impl Iterator<Item = PossibleValue> {
    let names = Kernel::NAMES.into_iter().zip(Kernel::SUMMARIES);
    names.map(|(name, summary)| PossibleValue::new(name).help(summary))
}

pub(crate) fn engines() -> impl Iterator<Item = PossibleValue> {
    Engine::ALL.into_iter().map(|engine| PossibleValue::new(engine.name()).help(engine.summary()))
}
