//! Promise: every example in help texts, README.md and docs/ is a complete command that runs. CONTRIBUTING.md makes
//! this promise.
//!
//! An example is a line of the help that begins with `nqueens`, and in README.md and docs:
//!
//! * a line that begins with `nqueens` in a block of `sh`,
//! * a line that begins with `$ nqueens` in a block of `text` or `console`,
//! * a command in `inline code`. If it has no operands, as in `nqueens merge --missing`, it only names a command and
//!   options. Then the help must list them.
//!
//! Each example runs in a shell in a fresh folder, on small boards and with short times (see `Small`), and must end
//! with exit code 0. The journals that it reads are there, under the names that it gives them.
//!
//! What cannot run here has a comment on the line before its block or paragraph: `<!-- not run: needs a cluster -->`.

mod small;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use self::small::Small;
use super::help::{command_names, help_of, option_names};
use crate::common::{NQUEENS, arg, fresh_folder, nqueens, result, run, stdout};

/// A command in a page or in a help, and where it stands.
#[derive(Debug)]
struct Example {
    place: String,
    command: String,
    /// Whether it stands in a sentence. There it may only name a command.
    is_inline: bool,
}

/// The examples in the help of the program and of each command.
fn examples_in_help() -> Vec<Example> {
    let mut examples = Vec::new();
    for name in [String::new()].into_iter().chain(command_names()) {
        let help = help_of(&name);
        let (_, lines) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("none: {help}"));
        let before = examples.len();
        for line in lines.lines() {
            // What an example does follows after two spaces.
            let command = line.trim_start().split("  ").next().expect("a command").to_owned();
            assert!(command.starts_with("nqueens "), "{line}");
            let place = format!("nqueens {name} --help").replace("  ", " ");
            examples.push(Example { place, command, is_inline: false });
        }
        assert!(examples.len() >= before + 2, "'nqueens {name} --help' has no two examples");
    }
    examples
}

/// The pages with examples.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    for entry in fs::read_dir("docs").expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages.sort_unstable();
    pages
}

/// The beginning of the comment on what cannot run here. The reason follows, then ` -->`.
const NOT_RUN: &str = "<!-- not run: ";

/// The examples in a page.
fn examples_in_page(name: &str, text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    // The language of the block in which a line is, and whether the block or paragraph has the comment.
    let mut block = None;
    let mut is_left_out = false;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let line = line.trim_start();
        if let Some(reason) = line.strip_prefix(NOT_RUN) {
            assert!(reason.trim_end_matches("-->").trim().len() > 5, "{place}: give a reason");
            is_left_out = true;
        } else if let Some(language) = line.strip_prefix("```") {
            is_left_out &= block.is_none();
            block = if block.is_none() { Some(language) } else { None };
        } else if block.is_none() && line.is_empty() {
            is_left_out = false;
        } else if !is_left_out {
            let commands = match block {
                Some("sh") => command_in_shell(line).into_iter().collect(),
                Some("text" | "console") => {
                    line.strip_prefix("$ ").and_then(command_in_shell).into_iter().collect()
                }
                Some(_) => Vec::new(),
                None => commands_in_sentence(&place, line),
            };
            let is_inline = block.is_none();
            for command in commands {
                let place = place.clone();
                let command = command.to_owned();
                examples.push(Example { place, command, is_inline });
            }
        }
    }
    examples
}

/// The command in a line of a shell, without the comment behind it.
fn command_in_shell(line: &str) -> Option<&str> {
    let command = line.split(" #").next().expect("a part").trim_end();
    command.starts_with("nqueens ").then_some(command)
}

/// The commands in `inline code`.
fn commands_in_sentence<'a>(place: &str, line: &'a str) -> Vec<&'a str> {
    let parts: Vec<&str> = line.split('`').collect();
    let is_broken = parts.len().is_multiple_of(2) && parts[parts.len() - 1].starts_with("nqueens ");
    assert!(!is_broken, "{place}: write the command in one line, so that it can be searched");
    let code = parts.into_iter().skip(1).step_by(2);
    code.filter(|code| code.starts_with("nqueens ")).collect()
}

#[test]
fn examples_are_found_where_they_stand() {
    let page = "\
Run `nqueens count 8` or `cargo test`, or\n\
```sh\n\
nqueens cpu      # the machine\n\
cargo test\n\
```\n\
<!-- not run: needs a cluster -->\n\
```sh\n\
nqueens count 9\n\
```\n\
\n\
   ```text\n\
   $ nqueens count 10 | cat\n\
   nqueens: not complete\n\
   ```\n\
<!-- not run: takes a day -->\n\
`nqueens count 11`\n\
\n\
`nqueens count 12`\n";
    let found = examples_in_page("p", page);
    let found: Vec<_> =
        found.iter().map(|found| (&*found.place, &*found.command, found.is_inline)).collect();
    assert_eq!(
        found,
        [
            ("p:1", "nqueens count 8", true),
            ("p:3", "nqueens cpu", false),
            ("p:12", "nqueens count 10 | cat", false),
            ("p:18", "nqueens count 12", true),
        ]
    );
}

/// Returns what is wrong with an example.
fn fault_of(example: &Example, folder: &Path) -> Option<String> {
    let words: Vec<&str> = example.command.split_whitespace().collect();
    let is_name = example.is_inline && words[2..].iter().all(|word| word.starts_with('-'));
    if is_name && words[1] != "help" {
        return fault_of_name(words[1], &words[2..]);
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("room");
    let command = Small { folder }.command(&example.command);
    let output = in_shell(&command, folder);
    let (code, _, messages) = result(&output);
    let ran = if command == example.command { String::new() } else { format!(" as '{command}'") };
    (code != Some(0)).then(|| format!("ran{ran}, exit code {code:?}: {}", messages.trim_end()))
}

/// Runs a command in a folder, which is the home folder as well, on a node of a cluster. A command that takes more than
/// a minute of CPU time is stopped, so it fails.
pub(crate) fn in_shell(command: &str, folder: &Path) -> std::process::Output {
    let program = Path::new(NQUEENS).parent().expect("a folder").display();
    let path = format!("{program}:{}", env::var("PATH").unwrap_or_default());
    let limited = format!("ulimit -t 60; {command}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(folder).env("PATH", path).env("HOME", folder);
    shell.env_remove("NQUEENS_THREADS").env("i", "0");
    shell.env("SLURM_ARRAY_TASK_ID", "0").env("SLURM_CPUS_PER_TASK", "2");
    run(&mut shell)
}

/// Returns what is wrong with the name of a command, with options.
fn fault_of_name(command: &str, options: &[&str]) -> Option<String> {
    let help = run(&mut nqueens(&[command, "--help"]));
    if !help.status.success() {
        return Some("there is no such command".to_owned());
    }
    let known = option_names(stdout(&help));
    let unknown = options.iter().find(|option| !known.iter().any(|known| known == *option))?;
    Some(format!("{command} has no option {unknown}"))
}

/// Runs examples; returns a line for each that fails.
fn failures(examples: &[Example], folder: &str) -> Vec<String> {
    let folder = fresh_folder(folder);
    let mut failures = Vec::new();
    for example in examples {
        if let Some(fault) = fault_of(example, &folder) {
            failures.push(format!("{}: {}: {fault}", example.place, example.command));
        }
    }
    failures
}

#[test]
fn every_example_in_the_help_runs() {
    let failures = failures(&examples_in_help(), "examples-help");
    assert!(failures.is_empty(), "{} examples fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_example_in_the_pages_runs() {
    let mut examples = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        examples.extend(examples_in_page(arg(&path), &text));
    }
    assert!(examples.len() > 30, "{examples:?}");
    let failures = failures(&examples, "examples-pages");
    assert!(failures.is_empty(), "{} examples fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn an_example_that_does_not_run_is_noticed() {
    let of = |command: &str, is_inline| Example {
        place: "page:1".to_owned(),
        command: command.to_owned(),
        is_inline,
    };
    let examples = [
        of("nqueens count 24 --shard 1/40 --journal /shared/q24 | cat", false),
        of("nqueens shard 24 --index 0 --shards 40 --out q24", false),
        of("nqueens merge q24 --into new.journal", true),
        of("nqueens merge --missing", true),
        of("nqueens merge --into", true),
        of("nqueens frobnicate", true),
    ];
    let failures = failures(&examples, "examples-failing");
    let reasons = ["'shard'", "'--into'", "merge has no option --into", "no such command"];
    assert_eq!(failures.len(), reasons.len(), "{failures:?}");
    for (failure, reason) in failures.iter().zip(reasons) {
        assert!(failure.starts_with("page:1: nqueens ") && failure.contains(reason), "{failure}");
    }
}
