//! The line for arguments that make no sense: what is wrong with which of them, and the way out.
//!
//! clap's own messages take several lines and repeat arguments of any length.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::format::{shortened, with_short_words};

/// Longer arguments are not repeated whole.
const ARGUMENT: usize = 60;

/// Explains an error of the parser. `first` is the first argument, which names the command.
pub(super) fn explain(error: &clap::Error, program: &Command, first: Option<&str>) -> String {
    let command = first.filter(|name| *name != "help" && program.find_subcommand(name).is_some());
    let called = command.map_or_else(String::new, |name| format!(" {name}"));
    let reason = reason(error, program, command.unwrap_or("nqueens"));
    format!("{reason}; see 'nqueens{called} --help'")
}

fn reason(error: &clap::Error, program: &Command, command: &str) -> String {
    use ContextKind as Context;
    use ErrorKind as Kind;
    let context = |kind| context(error, kind);
    let (arg, value) = (context(Context::InvalidArg), context(Context::InvalidValue));
    // `N` reads better than clap's `<N>` and `[N]...`.
    let name = arg.replace("...", "").replace(['<', '>', '[', ']'], "");
    let after = |words: &str, kind| match context(kind) {
        names if names.is_empty() => names,
        names => format!("{words}{names}"),
    };
    let choices = after(": choose one of ", Context::ValidValue);
    match error.kind() {
        Kind::InvalidSubcommand => {
            let meant = after(": perhaps ", Context::SuggestedSubcommand);
            unknown_command(&context(Context::InvalidSubcommand), program) + &meant
        }
        Kind::UnknownArgument if !arg.starts_with('-') => {
            format!("'{arg}' is one argument too many")
        }
        Kind::UnknownArgument => {
            let meant = after(": perhaps ", Context::SuggestedArg);
            format!("{command} has no option '{arg}'{meant}")
        }
        Kind::MissingRequiredArgument => format!("missing: {name}"),
        Kind::InvalidValue if value.is_empty() => format!("{name}: the value is missing{choices}"),
        Kind::InvalidValue => format!("{name}: there is no '{value}'{choices}"),
        Kind::ValueValidation => format!("{name}: {}", refusal(error, &value)),
        Kind::TooManyValues => format!("{arg} takes no value, and not '{value}'"),
        Kind::ArgumentConflict => match context(Context::PriorArg) {
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
    format!("there is no command '{name}'")
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
            (&["cuont", "8"], "perhaps count"),
            (&["help", "count", "list"], "one command at a time: try 'nqueens help list'"),
            (&["count", "8", "--thread", "2"], "perhaps --threads"),
            (&["count", "8", "--quite"], "perhaps --quiet"),
            (&["compare", "8", "--engine", "colours"], "perhaps --engines"),
            (&["list", "8", "--engines", "colours"], "list has no option '--engines';"),
            (&["list", "8", "-j", "x"], "list has no option '-j';"),
            (&["--quiet", "8"], "nqueens has no option '--quiet';"),
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
