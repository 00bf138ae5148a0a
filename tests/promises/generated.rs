//! Promise: completions parse in real shells and complete what fits, and there is a manual page for every command.
//! README.md makes this promise under "Use it".

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use super::help::{command_names, option_names};
use crate::common::{
    NQUEENS, arg, fresh, note_skipped, nqueens, output, printed, refused, run, stdout,
};

/// Each command with the long names of its options, as its help lists them.
fn commands_with_options() -> Vec<(String, Vec<String>)> {
    let mut commands = Vec::new();
    for command in command_names() {
        let help = printed(&["help", &command]);
        let options = option_names(&help);
        assert!(options.contains(&"--help".to_owned()), "{help}");
        commands.push((command, options));
    }
    commands
}

/// The part of a shell's completions that completes the arguments of a command. Many names are also words of help texts
/// or options of other commands, so only this part counts. Returns `None` if the command itself is not completed.
fn completions_of(shell: &str, script: &str, command: &str) -> Option<String> {
    let between = |start: &str, end: &str| {
        let (_, rest) = script.split_once(start)?;
        Some(rest.split_once(end)?.0.to_owned())
    };
    match shell {
        "bash" => {
            let names = between("\n        nqueens)\n            opts=\"", "\"")?;
            names.split(' ').find(|name| *name == command)?;
            between(&format!("\n        nqueens__subcmd__{command})\n"), "return 0")
        }
        "zsh" => {
            script.find(&format!("\n'{command}:"))?;
            between(&format!("({command})\n_arguments "), "&& ret=0")
        }
        _ => {
            script.find(&format!(" -f -a \"{command}\""))?;
            let of_command = format!("_using_subcommand {command}\"");
            let lines = script.lines().filter(|line| line.contains(&of_command));
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn completions_name_every_command_and_every_option() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for (command, options) in commands_with_options() {
            let part = completions_of(shell, &script, &command);
            let part = part.unwrap_or_else(|| panic!("{shell}: {command} is missing"));
            let words: HashSet<&str> =
                part.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
            for option in options {
                // Completions for fish write `-l journal` for `--journal`.
                let is_there = words.contains(&*option)
                    || shell == "fish" && words.contains(option.trim_start_matches('-'));
                assert!(is_there, "{shell}: {option} of {command} is missing");
            }
        }
    }
    assert_eq!(output(&["completions", "csh"]).status.code(), Some(2));
}

/// The shell reads its completions without an error.
fn parses_in(shell: &str) {
    let script = printed(&["completions", shell]);
    let parser = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut parser = parser.unwrap_or_else(|error| panic!("this test needs {shell}: {error}"));
    let mut pipe = parser.stdin.take().expect("piped");
    pipe.write_all(script.as_bytes()).expect("the shell reads");
    drop(pipe);
    let parsed = parser.wait_with_output().expect("ended");
    let complaint = String::from_utf8_lossy(&parsed.stderr);
    assert!(parsed.status.success() && complaint.is_empty(), "{shell}: {complaint}");
}

/// Tests that `cargo test` skips and `cargo test -- --ignored` runs. Each is in a module named after
/// what it needs, and fails without it.
mod needs_bash {
    #[test]
    #[ignore = "needs bash"]
    fn completions_parse() {
        super::parses_in("bash");
    }
}

/// See `needs_bash`.
mod needs_zsh {
    #[test]
    #[ignore = "needs zsh"]
    fn completions_parse() {
        super::parses_in("zsh");
    }
}

/// See `needs_bash`.
mod needs_fish {
    #[test]
    #[ignore = "needs fish"]
    fn completions_parse() {
        super::parses_in("fish");
    }
}

/// Manual pages in a folder.
struct Manual {
    folder: PathBuf,
}

impl Manual {
    /// Writes all pages into a folder of this name.
    fn new(name: &str) -> Self {
        let folder = fresh(name);
        assert_eq!(printed(&["man", "--out", arg(&folder)]), "");
        Self { folder }
    }

    fn page(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).expect("a page")
    }
}

#[test]
fn the_manual_page_names_every_command() {
    let page = Manual::new("man-program").page("nqueens.1");
    assert!(page.contains(".TH nqueens 1"), "{page}");
    for command in command_names() {
        assert!(page.contains(&format!("nqueens\\-{command}(1)")), "{command} is missing");
    }
    for section in ["\"EXIT STATUS\"", "ENVIRONMENT", "EXTRA\nExamples:\n  nqueens count 18 "] {
        assert!(page.contains(&format!(".SH {section}")), "{section}: {page}");
    }
}

/// mandoc reports a page without a date as a fault.
#[test]
fn every_page_has_a_date() {
    let manual = Manual::new("man-dates");
    for name in ["nqueens.1", "nqueens-count.1"] {
        let page = manual.page(name);
        let title = page.lines().find(|line| line.starts_with(".TH")).expect("a title");
        let date = title.split(' ').nth(3).expect("a date");
        assert_eq!((date.len(), date.matches('-').count()), (10, 2), "{title}");
    }
}

/// Who packages the program wants the same bytes on each day.
#[test]
fn the_date_of_the_pages_can_be_set() {
    for (seconds, date) in [("951868799", "2000-02-29"), ("18446744073709551615", "1970-01-01")] {
        let folder = fresh("man-dated");
        let mut man = nqueens(&["man", "--out", arg(&folder)]);
        let written = run(man.env("SOURCE_DATE_EPOCH", seconds));
        assert!(written.status.success(), "{written:?}");
        let page = fs::read_to_string(folder.join("nqueens.1")).expect("a page");
        assert!(page.contains(&format!(".TH nqueens 1 {date} ")), "{page}");
    }
}

/// The pages are found where the help says, after an installation by cargo. man looks for pages beside the folders in
/// the path.
#[test]
fn man_finds_the_pages_where_the_help_writes_them() {
    let help = printed(&["help", "man"]);
    let folder = help.split("--out ~/").nth(1).and_then(|rest| rest.split(' ').next());
    let home = fresh("man-home");
    let bin = home.join(".cargo/bin");
    fs::create_dir_all(&bin).expect("a folder");
    let pages = home.join(folder.expect("an example"));
    assert_eq!(printed(&["man", "--out", arg(&pages)]), "");
    // Other programs of this name look only in the folders of their configuration.
    let version = Command::new("man").arg("--version").output();
    if !version.is_ok_and(|version| version.stdout.starts_with(b"man ")) {
        return note_skipped("there is no man-db");
    }
    let mut man = Command::new("man");
    man.args(["--where", "nqueens-count"]).env("HOME", &home).env_remove("MANPATH");
    let found = run(man.env("PATH", format!("{}:/usr/bin:/bin", bin.display())));
    let page = Path::new(stdout(&found).trim());
    assert_eq!(page, pages.join("nqueens-count.1"), "{found:?}");
}

#[test]
fn the_page_of_each_command_explains_its_options() {
    let manual = Manual::new("man-commands");
    for (command, options) in commands_with_options() {
        let page = manual.page(&format!("nqueens-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS\n") && page.contains("\nExamples:\n"), "{page}");
        let version = concat!("\"nqueens ", env!("CARGO_PKG_VERSION"), "\"");
        assert!(page.contains(version), "{command}: {page}");
        for option in options {
            let name = format!("\\fB{}\\fR", option.replace('-', "\\-"));
            assert!(page.contains(&name), "{option} of {command}: {page}");
        }
    }
    assert!(manual.page("nqueens-count.1").contains("first ROWS rows"));
}

/// Runs a script in a shell, if this machine has it.
fn in_shell(shell: &str, script: &str) -> Option<String> {
    let path = Path::new(NQUEENS).parent().expect("a folder");
    let path = format!("{}:{}", path.display(), env::var("PATH").unwrap_or_default());
    match Command::new(shell).args(["-c", script]).env("PATH", path).output() {
        Ok(output) => Some(stdout(&output).to_owned()),
        Err(_) => {
            note_skipped(&format!("there is no {shell}"));
            None
        }
    }
}

/// What bash proposes for a word behind other words. Returns `None` if this machine has no bash.
fn completed_by_bash(words: &str, word: &str) -> Option<String> {
    let last = words.split(' ').count();
    let script = format!(
        "eval \"$(nqueens completions bash)\"; COMP_WORDS=({words} '{word}'); COMP_CWORD={last}; \
         _nqueens nqueens '{word}' \"${{COMP_WORDS[{last}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
    );
    in_shell("bash", &script)
}

#[test]
fn bash_completes_what_fits() {
    let with = |first: &str, names: &[&str]| [&[first], names].concat().join(" ");
    let engines = crate::common::engine_names();
    for (words, word, wanted) in [
        ("nqueens count 8 --engine", "", engines.join(" ")),
        ("nqueens compare --engines", "", with("all", &engines)),
        ("nqueens count 8 --kernel", "", crate::common::KERNELS.join(" ")),
        ("nqueens count 8 --progress", "", "never auto always".to_owned()),
        ("nqueens list 8 --style", "", "columns board unicode svg".to_owned()),
        ("nqueens count 8 --journal", "Cargo.l", "Cargo.lock".to_owned()),
    ] {
        if let Some(found) = completed_by_bash(words, word) {
            assert_eq!(found.trim(), wanted, "{words} {word}");
        }
    }
}

/// What fish proposes for the end of a line. Returns `None` if this machine has no fish.
fn completed_by_fish(line: &str) -> Option<String> {
    let script = format!("nqueens completions fish | source; complete -C '{line}'");
    in_shell("fish", &script)
}

#[test]
fn fish_completes_what_fits() {
    if let Some(found) = completed_by_fish("nqueens count 8 --engine ") {
        for engine in nqueens::Engine::ALL {
            let line = format!("{engine}\t{}", engine.summary());
            assert!(found.lines().any(|found| found == line), "{line} in:\n{found}");
        }
    }
    if let Some(found) = completed_by_fish("nqueens count 8 --journal Cargo.l") {
        assert_eq!(found, "Cargo.lock\n");
    }
}

/// In a terminal of its own, since zsh completes nowhere else. The program then says that all but the
/// board is there.
#[test]
fn zsh_completes_what_fits() {
    let script = r#"
        zmodload zsh/zpty && zpty terminal zsh -f -i
        zpty -w terminal 'autoload -U compinit; compinit -u -D'
        zpty -w terminal 'eval "$(nqueens completions zsh)"'
        zpty -w -n terminal $'nqueens compare --engines colo\t --kernels port\t\n'
        zpty -w terminal 'print DO""NE'
        zpty -r -m terminal text '*DONE*' && print -r -- $text
    "#;
    if let Some(found) = in_shell("zsh", script) {
        assert!(found.contains("arguments were not provided:"), "{found}");
    }
}

#[test]
fn manual_pages_are_written_where_a_folder_can_be() {
    refused(
        &output(&["man", "--out", "Cargo.toml"]),
        2,
        &["--out: cannot write Cargo.toml: File exists"],
    );
}
