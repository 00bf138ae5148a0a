//! Names of engines and kernels, each with a line in the help and in the completions.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nqueens::{Engine, Error, Kernel};

use super::OrAuto;

/// One engine, or `all` of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Engines {
    One(Engine),
    All,
}

impl Engines {
    pub(crate) fn list(&self) -> Vec<Engine> {
        match self {
            Self::One(engine) => vec![*engine],
            Self::All => Engine::ALL.to_vec(),
        }
    }
}

pub(crate) fn engine_or_auto() -> impl TypedValueParser<Value = OrAuto<Engine>> {
    let auto = PossibleValue::new("auto").help("the fastest of these for the board and the kernel");
    PossibleValuesParser::new([auto].into_iter().chain(engines())).try_map(|name| or_auto(&name))
}

pub(crate) fn engines_or_all() -> impl TypedValueParser<Value = Engines> {
    let all = PossibleValue::new("all").help("all of these, on boards where they are fast enough");
    PossibleValuesParser::new([all].into_iter().chain(engines())).try_map(|name| match &*name {
        "all" => Ok(Engines::All),
        name => name.parse().map(Engines::One),
    })
}

pub(crate) fn kernel_or_auto() -> impl TypedValueParser<Value = OrAuto<Kernel>> {
    let auto = PossibleValue::new("auto").help("the fastest that this CPU can run");
    let names = Kernel::NAMES.into_iter().zip(Kernel::SUMMARIES);
    let kernels = names.map(|(name, summary)| PossibleValue::new(name).help(summary));
    PossibleValuesParser::new([auto].into_iter().chain(kernels)).try_map(|name| or_auto(&name))
}

fn engines() -> impl Iterator<Item = PossibleValue> {
    Engine::ALL.into_iter().map(|engine| PossibleValue::new(engine.name()).help(engine.summary()))
}

fn or_auto<T: FromStr<Err = Error>>(name: &str) -> Result<OrAuto<T>, Error> {
    if name == "auto" { Ok(None) } else { name.parse().map(Some) }
}
