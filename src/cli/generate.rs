//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::io::{self, Write};
use std::path::PathBuf;
use std::{fs, iter};

use clap::builder::{PossibleValuesParser, Resettable, TypedValueParser};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use nqueens::Engine;

use super::exit::{Exit, Failure};
use super::stderr::message;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens completions bash > ~/.local/share/bash-completion/completions/nqueens
  nqueens completions fish > ~/.config/fish/completions/nqueens.fish
  nqueens completions zsh > ~/.zfunc/_nqueens       with ~/.zfunc in $fpath")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = PossibleValuesParser::new(["bash", "fish", "zsh"]).try_map(|name| name.parse::<Shell>()))]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, program: Command) -> Result<Exit, Failure> {
        let mut program = program.mut_subcommands(|command| command.mut_args(with_hint));
        // Made before anything is written: the generator would panic if nobody reads.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "nqueens", &mut script);
        let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let script = with_lists(self.shell, &String::from_utf8_lossy(&script), &commands.join(" "));
        Ok(Exit::Done.print(|out| out.write_all(script.as_bytes())))
    }
}

/// clap_complete offers no second name after a comma, in bash none after `--engine=`, there options before
/// the files, and in fish files where a number is meant.
fn with_lists(shell: Shell, script: &str, commands: &str) -> String {
    let names = [&["all"][..], &Engine::ALL.map(Engine::name)].concat();
    match shell {
        Shell::Bash => {
            let names = names.join(" ");
            let first = format!(r#"compgen -W "{names}" -- "${{cur}}""#);
            let each =
                format!(r#"compgen -P "${{cur%"${{cur##*,}}"}}" -W "{names}" -- "${{cur##*,}}""#);
            script
                .replace(&first, &each)
                .replace("prev=\"$3\"", BASH)
                .replace(r#"compgen -W "${opts}" --"#, r#"compgen -W "${opts}" -X "${hidden}" --"#)
        }
        Shell::Zsh => {
            let list = format!(":NAMES:_sequence compadd - {}'", names.join(" "));
            let (before, engines) = script.split_once(":NAMES:((").unwrap_or((script, ""));
            let (_, after) = engines.split_once("))'").unwrap_or_default();
            before.to_owned() + &list + after
        }
        _ => {
            let fish = FISH.replace("NAMES", &names.join(","));
            script.to_owned() + &fish.replace("COMMANDS", commands)
        }
    }
}

const BASH: &str = r#"prev="$3"; [[ $3 == = ]] && prev="${COMP_WORDS[COMP_CWORD-2]}"
    local hidden=
    case "${COMP_WORDS[1]}$2" in merge|status|verify|man|completions) hidden='-*' ;; esac"#;

const FISH: &str = include_str!("generate/lists.fish");

/// Files are offered where a file is meant, and only there.
fn with_hint(argument: Arg) -> Arg {
    match argument.get_value_hint() {
        ValueHint::AnyPath => argument.value_hint(ValueHint::FilePath),
        _ if !argument.get_action().takes_values()
            || !argument.get_possible_values().is_empty() =>
        {
            argument
        }
        _ => argument.value_hint(ValueHint::Other),
    }
}

/// Print a manual page: nqueens man count | man -l -
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nqueens man count | man -l -                the page of one command
  nqueens man --out ~/.local/share/man/man1   all pages; then: man nqueens-count")]
pub(crate) struct ManArgs {
    /// Command whose page to print; without it the page of the program
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(self, mut program: Command) -> Result<Exit, Failure> {
        program.build();
        if let Some(folder) = &self.out {
            let mut commands = iter::once(&program).chain(program.get_subcommands());
            let written = fs::create_dir_all(folder).and_then(|()| {
                commands.try_for_each(|command| {
                    let (name, text) = page(command)?;
                    fs::write(folder.join(name), text)
                })
            });
            written.map_err(|error| {
                Exit::Failed
                    .because(format!("--out: cannot write to {}: {error}", folder.display()))
            })?;
            message!("the pages are written into {}", folder.display());
            return Ok(Exit::Done);
        }
        let command = self.command.and_then(|name| program.find_subcommand(name));
        let (_, text) = page(command.unwrap_or(&program))?;
        Ok(Exit::Done.print(|out| out.write_all(&text)))
    }
}

/// On every page.
const SECTIONS: &str = include_str!("generate/sections.roff");

/// The name of a command's page, and its text. The synopsis is the usage line of the help: clap_mangen would
/// list every option there, without values; and it would run the examples together.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace(['<', '>'], "");
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let page = Man::new(command.clone().override_usage(usage).after_help(Resettable::Reset));
    let page = page.source(concat!("nqueens ", env!("CARGO_PKG_VERSION")));
    let (mut text, mut section) = (Vec::new(), Roff::new());
    page.render(&mut text)?;
    section.control("SH", ["EXAMPLES"]).control("nf", []);
    let examples = examples.lines().skip(1).map(str::trim_start);
    examples.for_each(|line| _ = section.text([roman(line)]));
    section.control("fi", []).to_writer(&mut text)?;
    text.write_all(SECTIONS.as_bytes())?;
    Ok((page.get_filename(), text))
}
