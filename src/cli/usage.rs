//! The line for arguments that make no sense: what is wrong with which of them, and the way out.
//!
//! clap's own messages take several lines, repeat arguments of any length, and guess: `version` is
//! no misspelt `verify`, and who writes `list --engine` has another command in mind.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use nqueens::Engine;
use strsim::damerau_levenshtein;

use super::format::{shortened, with_short_words};

/// Longer arguments are not repeated whole.
const ARGUMENT: usize = 60;

/// Changed letters at which a name still looks like a misspelt one.
const MISSPELT: usize = 2;

/// Explains an error of the parser. `first` is the first argument, which names the command.
pub(super) fn explain(error: &clap::Error, program: &Command, first: Option<&str>) -> String {
    let command =
        first.filter(|name| *name != "help").and_then(|name| program.find_subcommand(name));
    let called = command.map_or_else(String::new, |command| format!(" {}", command.get_name()));
    format!("{}; see 'nqueens{called} --help'", reason(error, program, command))
}

fn reason(error: &clap::Error, program: &Command, command: Option<&Command>) -> String {
    use ErrorKind as Kind;
    let context = |kind| context(error, kind);
    let (arg, value) = (context(ContextKind::InvalidArg), context(ContextKind::InvalidValue));
    // `N` reads better than clap's `<N>` and `[N]...`.
    let name = arg.replace("]...", "").replace(['<', '>', '['], "");
    let choices = match context(ContextKind::ValidValue) {
        choices if choices.is_empty() => choices,
        choices => format!(": choose one of {choices}"),
    };
    match error.kind() {
        Kind::MissingSubcommand => "no command given: try 'nqueens count 16'".to_owned(),
        Kind::InvalidSubcommand => {
            unknown_command(&context(ContextKind::InvalidSubcommand), program)
        }
        Kind::UnknownArgument => unknown_argument(&arg, program, command),
        Kind::MissingRequiredArgument => format!("missing: {name}"),
        Kind::InvalidValue if value.is_empty() => format!("{name}: the value is missing{choices}"),
        Kind::InvalidValue => format!("{name}: there is no '{value}'{choices}"),
        Kind::ValueValidation => format!("{name}: {}", refusal(error, &value)),
        Kind::TooManyValues => format!("{arg} takes no value, and not '{value}'"),
        Kind::ArgumentConflict => match context(ContextKind::PriorArg) {
            prior if prior == arg => format!("{arg} is given twice"),
            prior => format!("{arg} cannot be used with {prior}"),
        },
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        }
    }
}

/// What the parser says about an error: one text, or several.
fn context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => shortened(text, ARGUMENT),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// Why a value is refused. Some of our parsers name the value, others only what they want.
fn refusal(error: &clap::Error, value: &str) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let source = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(whole)) if !whole.is_empty() => source.replace(whole, value),
        _ => source,
    };
    // It may name a part of the value: an end of a range.
    let source = with_short_words(&source, 2 * ARGUMENT);
    if source.contains(&format!("'{value}'")) { source } else { format!("'{value}': {source}") }
}

fn unknown_command(name: &str, program: &Command) -> String {
    if program.find_subcommand(name).is_some() {
        return format!("help explains one command at a time: try 'nqueens help {name}'");
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!(
            "no command given: 'nqueens count {name}' counts the solutions of this board"
        );
    }
    if Engine::ALL.map(Engine::name).contains(&name) {
        return format!("'{name}' is an engine: 'nqueens count 16 --engine {name}' counts with it");
    }
    let names = program.get_subcommands().map(|command| command.get_name().to_owned());
    let meant = nearest(name, names.chain(longs(program, |_| true)));
    format!("there is no command '{name}'{meant}")
}

fn unknown_argument(arg: &str, program: &Command, command: Option<&Command>) -> String {
    if !arg.starts_with('-') {
        return format!("'{arg}' is one argument too many");
    }
    let owner = command.unwrap_or(program);
    let option =
        |command: &Command| command.get_arguments().find(|option| is_called(option, arg)).cloned();
    let others: Vec<&Command> =
        program.get_subcommands().filter(|command| option(command).is_some()).collect();
    // Whoever gives an option of another command does not mean one that takes no value instead.
    let takes_value =
        others.first().and_then(|other| option(other)).map(|option| takes_value(&option));
    let is_alike =
        |option: &Arg| takes_value.is_none_or(|takes| takes == self::takes_value(option));
    let meant = nearest(arg, longs(owner, is_alike));
    let name = owner.get_name();
    if others.is_empty() || !meant.is_empty() {
        return format!("{name} has no option '{arg}'{meant}");
    }
    let others: Vec<&str> = others.iter().map(|command| command.get_name()).collect();
    format!("{name} has no option '{arg}': it is one of {}", others.join(", "))
}

pub(super) fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

fn is_called(option: &Arg, text: &str) -> bool {
    match text.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => option.get_short().is_some_and(|short| text.chars().nth(1) == Some(short)),
    }
}

fn longs<'a>(
    command: &'a Command,
    is_wanted: impl Fn(&Arg) -> bool + 'a,
) -> impl Iterator<Item = String> + 'a {
    let options = command.get_arguments().filter(move |option| is_wanted(option));
    options.filter_map(|option| Some(format!("--{}", option.get_long()?)))
}

/// The name that may be meant, or nothing if none looks like it.
fn nearest(given: &str, names: impl Iterator<Item = String>) -> String {
    let distances = names.map(|name| (damerau_levenshtein(given, &name), name));
    let near = distances.filter(|(changes, name)| *changes <= MISSPELT && 2 * changes < name.len());
    near.min().map_or_else(String::new, |(_, name)| format!(": perhaps '{name}'"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{CommandLine, program};

    fn explained(args: &[&str]) -> String {
        let error =
            CommandLine::try_parse_from([&["nqueens"], args].concat()).expect_err("refused");
        explain(&error, &program(), args.first().copied())
    }

    #[test]
    fn misspelt_names_are_recognised_and_others_are_not_guessed() {
        for (args, wanted) in [
            (&["8"][..], "'nqueens count 8'"),
            (&["colours"], "'nqueens count 16 --engine colours'"),
            (&["cuont", "8"], "perhaps 'count'"),
            (&["help", "count", "list"], "one command at a time: try 'nqueens help list'"),
            (&["version"], "perhaps '--version'"),
            (&["count", "8", "--thread", "2"], "perhaps '--threads'"),
            (&["count", "8", "--quite"], "perhaps '--quiet'"),
            (&["compare", "8", "--engine", "colours"], "perhaps '--engines'"),
            (
                &["list", "8", "--engines", "colours"],
                "list has no option '--engines': it is one of compare",
            ),
            (
                &["count", "8", "--seconds", "5"],
                "count has no option '--seconds': it is one of estimate",
            ),
            (&["list", "8", "-j", "x"], "list has no option '-j': it is one of count"),
            (&["--quiet", "8"], "nqueens has no option '--quiet': it is one of count"),
        ] {
            let line = explained(args);
            assert!(line.contains(wanted), "{args:?}: {line}");
        }
        for args in [&["frobnicate"][..], &["count", "8", "-x"], &["count", "8", "--frobnicate"]] {
            let line = explained(args);
            assert!(!line.contains("perhaps") && !line.contains("--;"), "{args:?}: {line}");
        }
    }

    #[test]
    fn the_line_is_short_and_names_the_help_of_the_command() {
        let long = "x".repeat(5000);
        let option = format!("--{long}");
        let range = format!("1..={long}");
        for args in [
            &["count", &long][..],
            &["count", "8", &option],
            &["count", "8", &long],
            &["count", "8", "--engine", &long],
            &["table", &range],
        ] {
            let line = explained(args);
            assert!(line.len() < 400, "{line}");
            assert!(line.ends_with(&format!("see 'nqueens {} --help'", args[0])), "{line}");
        }
        assert!(explained(&[&long]).ends_with("see 'nqueens --help'"));
    }
}
