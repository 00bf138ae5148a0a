//! `nqueens completions SHELL` and `nqueens man`: made from the definition of the arguments.

use std::io::Write;
use std::path::PathBuf;
use std::{fs, iter};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;
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
        let script = with_lists(self.shell, String::from_utf8_lossy(&script).into_owned());
        Ok(Exit::Done.print(|out| out.write_all(script.as_bytes())))
    }
}

/// clap_complete offers no second name after a comma, in bash none after `--engine=`, and in fish
/// files where a number is meant.
fn with_lists(shell: Shell, script: String) -> String {
    let names = [&["all"][..], &Engine::ALL.map(Engine::name)].concat();
    match shell {
        Shell::Bash => {
            let names = names.join(" ");
            let first = format!(r#"compgen -W "{names}" -- "${{cur}}""#);
            let each =
                format!(r#"compgen -P "${{cur%"${{cur##*,}}"}}" -W "{names}" -- "${{cur##*,}}""#);
            let before = r#"prev="$3"; [[ $3 == = ]] && prev="${COMP_WORDS[COMP_CWORD-2]}""#;
            script.replace(&first, &each).replace("prev=\"$3\"", before)
        }
        Shell::Zsh => {
            let after_comma = "[[ $words[CURRENT-1] == --engines ]] && compset -P '*,'";
            script.replace("(compare)\n", &format!("(compare)\n{after_comma}\n"))
        }
        _ => script + &FISH.replace("NAMES", &names.join(",")),
    }
}

const FISH: &str = "\
complete -c nqueens -n '__fish_seen_subcommand_from count table list compare estimate shard' -f
complete -c nqueens -n '__fish_seen_subcommand_from completions' -f -a 'bash fish zsh'
complete -c nqueens -n '__fish_seen_subcommand_from compare' -l engines -r -f \
  -a '(commandline -ct | string match -r \"[^=]*,\"){NAMES}'
";

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
                commands.try_for_each(|command| page(command).generate_to(folder).map(drop))
            });
            written.map_err(|error| {
                Exit::Failed
                    .because(format!("--out: cannot write to {}: {error}", folder.display()))
            })?;
            message!("the pages are written into {}", folder.display());
            return Ok(Exit::Done);
        }
        let command = match &self.command {
            None => &program,
            Some(name) => program.find_subcommand(name).ok_or_else(|| {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                Exit::Usage
                    .because(format!("there is no such page: choose one of {}", names.join(", ")))
            })?,
        };
        let mut text = Vec::new();
        page(command).render(&mut text)?;
        Ok(Exit::Done.print(|out| out.write_all(&text)))
    }
}

/// The page of a command. Its synopsis is the usage line of the help: clap_mangen would list every
/// option there, without values.
fn page(command: &Command) -> Man {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace(['<', '>'], "");
    let page = Man::new(command.clone().override_usage(usage));
    page.source(concat!("nqueens ", env!("CARGO_PKG_VERSION")))
}
