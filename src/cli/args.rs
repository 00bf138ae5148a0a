//! Groups of options that several commands share, and the names of engines and kernels, each with a line in the help
//! and in the completions.

use std::iter::once;
use std::str::FromStr;

use crate::{Engine, Error, Kernel, Pass};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};

use crate::cli::progress::ProgressWhen;
use crate::cli::values::number_of_threads;

/// The heading of options that experts need; the short help leaves them out.
pub(crate) const EXPERTS: &str = "Engine and machine";

/// How to count.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Engine that counts: see 'nqueens help count' [default: the fastest for the board]
    #[arg(long, value_name = "NAME", value_parser = named::<Engine>(engines()))]
    #[arg(help_heading = EXPERTS, hide_short_help = true, hide_possible_values = true)]
    pub(crate) engine: Option<Engine>,

    /// Vector instructions to use: see 'nqueens help count' [default: the fastest that this CPU can run]
    #[arg(long, value_name = "NAME", value_parser = named::<Kernel>(kernels()))]
    #[arg(help_heading = EXPERTS, hide_short_help = true, hide_possible_values = true)]
    pub(crate) kernel: Option<Kernel>,
}

/// The threads, and when to show progress.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Number of threads [default: NQUEENS_THREADS, or all usable CPUs, as far as they fit into memory]
    #[arg(long, short, value_name = "T", value_parser = number_of_threads)]
    pub(crate) threads: Option<usize>,

    /// When to show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) progress: ProgressWhen,
}

/// How engine subtrees makes its units. Another number of rows makes another plan.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Fix the queens of the first ROWS rows in each unit, 1 to 4, with engine subtrees. Symmetries fix more queens in
    /// some units [default: a sixth of N]
    #[arg(long, value_name = "ROWS", help_heading = EXPERTS, hide_short_help = true)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=4))]
    pub(crate) split_rows: Option<usize>,
}

/// Returns the count that `--second` asks for.
pub(crate) fn pass(second: bool) -> Pass {
    if second { Pass::Second } else { Pass::First }
}

/// Parses one of some names.
fn named<T>(names: impl Iterator<Item = PossibleValue>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Parses one of some names, or the word `all`, which is `None`.
pub(crate) fn named_or_all<T>(
    meaning: &'static str,
    names: impl Iterator<Item = PossibleValue>,
) -> impl TypedValueParser<Value = Option<T>>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    let all_first = once(PossibleValue::new("all").help(meaning)).chain(names);
    PossibleValuesParser::new(all_first)
        .try_map(|name| if name == "all" { Ok(None) } else { name.parse().map(Some) })
}

/// The CPU that each of [`Kernel::NAMES`] needs, in one line.
const KERNEL_SUMMARIES: [&str; 4] = [
    "any CPU",
    "64-bit ARM, with NEON",
    "x86-64 with AVX2, BMI1, BMI2 and POPCNT",
    "x86-64 with AVX-512 F, BW, DQ, VL, VPOPCNTDQ, BITALG, VBMI and VNNI, and GFNI",
];

/// Returns the names of all kernels, each with its line of help.
pub(crate) fn kernels() -> impl Iterator<Item = PossibleValue> {
    let names = Kernel::NAMES.into_iter().zip(KERNEL_SUMMARIES);
    names.map(|(name, summary)| PossibleValue::new(name).help(summary))
}

/// Returns the names of all engines, each with its line of help.
pub(crate) fn engines() -> impl Iterator<Item = PossibleValue> {
    Engine::ALL
        .iter()
        .copied()
        .map(|engine| PossibleValue::new(engine.name()).help(engine.summary()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_performance_describes_each_kernel_as_the_help_does() {
        let page = include_str!("../../docs/PERFORMANCE.md");
        for (kernel, summary) in Kernel::NAMES.into_iter().zip(KERNEL_SUMMARIES) {
            let row = format!("| `{kernel}` | {summary} |");
            assert!(page.contains(&row), "{row}");
        }
    }
}
