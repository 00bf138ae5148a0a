//! The message for arguments that make no sense: clap's text in one line, and the command that prints the help.

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// Explains an error of the parser. `first` is the first argument, which names the command.
pub(super) fn explain(error: &clap::Error, program: &Command, first: &str) -> String {
    let reason = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if is_number(name) => {
            format!("no command given: 'nqueens count {name}' counts the solutions of this board")
        }
        _ => in_one_line(&error.render().to_string()),
    };
    match program.find_subcommand(first) {
        Some(command) => format!("{reason}; see 'nqueens {command} --help'"),
        None => format!("{reason}; see 'nqueens --help'"),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the paragraphs that say what is wrong, without the tip on values that look like options.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut reasons = Vec::new();
    for paragraph in text.split("\n\n") {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        let line = words.join(" ");
        if line.starts_with("Usage:") {
            break;
        }
        if !line.starts_with("tip: to pass") && !line.starts_with("For more information") {
            reasons.push(line);
        }
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::CommandLine;

    fn explained(args: &[&str]) -> String {
        let error =
            CommandLine::try_parse_from([&["nqueens"], args].concat()).expect_err("refused");
        explain(&error, &CommandLine::command(), args[0])
    }

    #[test]
    fn misspelt_names_are_recognised_and_others_are_not_guessed() {
        for (args, wanted) in [
            (&["8"][..], "'nqueens count 8'"),
            (&["cuont", "8"], "tip: a similar subcommand exists: 'count'"),
            (&["count", "8", "--thread", "2"], "tip: a similar argument exists: '--threads'"),
            (&["compare", "8", "--engine", "colours"], "a similar argument exists: '--engines'"),
            (&["count", "8", "--engine", "colour"], "tip: a similar value exists: 'colours'"),
            (&["list", "8", "--engines", "colours"], "unexpected argument '--engines' found;"),
        ] {
            let line = explained(args);
            assert!(line.contains(wanted), "{args:?}: {line}");
        }
        for args in [&["frobnicate"][..], &["count", "8", "-x"], &["count", "8", "--frobnicate"]] {
            let line = explained(args);
            assert!(!line.contains("tip"), "{args:?}: {line}");
        }
    }

    #[test]
    fn the_line_names_the_help_of_the_command() {
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
            assert!(line.ends_with(&format!("see 'nqueens {} --help'", args[0])), "{line}");
        }
        assert!(explained(&[&long]).ends_with("see 'nqueens --help'"));
    }
}
