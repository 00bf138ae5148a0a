//! Promise: every command and every option has a help text, and docs/PERFORMANCE.md
//! describes engines and kernels in the words of the help.
//! CONTRIBUTING.md makes this promise under "Every option".

use crate::common::{output, printed, stderr, stdout};

/// The help of a command, or of the program if the name is empty.
pub(crate) fn help_of(command: &str) -> String {
    let args: &[&str] = if command.is_empty() { &["--help"] } else { &[command, "--help"] };
    let help = output(args);
    assert_eq!((help.status.code(), stderr(&help)), (Some(0), ""), "{args:?}");
    stdout(&help).to_owned()
}

/// All commands but `help`, as the help of the program lists them.
pub(crate) fn command_names() -> Vec<String> {
    let help = help_of("");
    let (_, list) = help.split_once("\nCommands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The lines of a help that name an argument or an option, with the line below each. Their texts are indented further.
pub(crate) fn entries(help: &str) -> Vec<(&str, &str)> {
    let mut lines = help.lines().peekable();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        let is_indented = (1..=6).contains(&indent(line));
        if is_indented && line.trim_start().starts_with(['-', '<', '[']) {
            entries.push((line, lines.peek().copied().unwrap_or_default()));
        }
    }
    entries
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The long names of all options in a help: `--journal`.
pub(crate) fn option_names(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (entry, _) in entries(help) {
        let mut words = entry.split([' ', ',']);
        names.extend(words.find(|word| word.starts_with("--")).map(str::to_owned));
    }
    names
}

/// The arguments and options in a help that have no text. A text follows after two spaces or on the next line.
fn entries_without_text(help: &str) -> Vec<&str> {
    let mut lacking = Vec::new();
    for (entry, next) in entries(help) {
        let is_in_line = entry.trim().contains("  ");
        let is_below = indent(next) > 6 && next.trim_start().starts_with(char::is_alphabetic);
        if !is_in_line && !is_below {
            lacking.push(entry);
        }
    }
    lacking
}

#[test]
fn every_command_and_option_has_a_help_text() {
    let program = help_of("");
    let (_, list) = program.split_once("\nCommands:\n").expect("a list of commands");
    let commands = command_names();
    assert!(commands.len() > 5, "{program}");
    for (line, command) in list.lines().zip(&commands) {
        let text = line.trim_start().strip_prefix(&**command).expect("in this order");
        assert!(text.starts_with("  ") && text.trim().len() > 10, "{line}");
    }
    for command in &commands {
        let help = help_of(command);
        assert_eq!(entries_without_text(&help), [""; 0], "{command}: {help}");
        assert!(help.contains("\nOptions:\n") && help.contains("\nUsage: "), "{help}");
    }
}

#[test]
fn an_option_without_a_text_is_noticed() {
    let short = "Options:\n      --out <FOLDER>  \n  -h, --help          Print help\n";
    assert_eq!(entries_without_text(short), ["      --out <FOLDER>  "]);
    let long = "Options:\n  -q, --quiet\n\n      --json\n          Print one JSON object\n";
    assert_eq!(entries_without_text(long), ["  -q, --quiet"]);
    let default = "      --progress <WHEN>\n          [default: auto]\n";
    assert_eq!(entries_without_text(default).len(), 1);
    assert_eq!(option_names(&(long.to_owned() + short)), ["--quiet", "--json", "--out", "--help"]);
}

/// No argument at all is wrong usage, answered by the short help.
#[test]
fn without_arguments_the_short_help_goes_to_stderr() {
    let output = output(&[]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
    let help = stderr(&output);
    assert!(help.lines().count() < 40, "{help}");
    let examples = help.split_once("Examples:\n").expect("examples").1;
    assert!(examples.matches("  nqueens ").count() >= 3, "{help}");
}

#[test]
fn the_page_on_engines_describes_each_as_the_help_does() {
    let page = std::fs::read_to_string("docs/PERFORMANCE.md").expect("the package has it");
    for engine in nqueens::Engine::ALL {
        let row = format!("| `{engine}` | {}", engine.summary());
        assert!(page.contains(&row), "{row}");
    }
}

/// The short help has what most need, the long one everything.
#[test]
fn options_for_experts_are_in_the_long_help() {
    for command in ["count", "table", "estimate"] {
        let short = printed(&[command, "-h"]);
        let long = printed(&[command, "--help"]);
        let (_, experts) = long.split_once("Engine and machine:\n").expect("a heading");
        assert!(experts.contains("--kernel") && !short.contains("--kernel"), "{short}");
        assert!(short.contains("--threads") && !experts.contains("--threads"), "{long}");
    }
}

#[test]
fn the_short_help_of_a_count_shows_the_options_that_matter() {
    let names = option_names(&printed(&["count", "-h"]));
    let wanted = [
        "--journal",
        "--shard",
        "--place",
        "--json",
        "--quiet",
        "--fundamental",
        "--second",
        "--threads",
        "--help",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn the_long_version_names_the_build() {
    assert_eq!(printed(&["-V"]), format!("nqueens {}\n", env!("CARGO_PKG_VERSION")));
    let long = printed(&["--version"]);
    assert!(long.contains(", commit "), "{long}");
}
