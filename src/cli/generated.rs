//! `nqueens completions SHELL` and `nqueens man`: made from the same definition as the arguments.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::CommandLine;
use super::exit::{Exit, Failure};

pub(super) fn completions(shell: Shell) -> Result<Exit, Failure> {
    // Written at once: the generator would panic if nobody reads.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "nqueens", &mut script);
    print(&script)
}

/// All subcommands on one page.
pub(super) fn man() -> Result<Exit, Failure> {
    let mut command = CommandLine::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        let heading = format!(".SH \"NQUEENS {}\"\n", subcommand.get_name().to_uppercase());
        page.extend_from_slice(heading.as_bytes());
        let man = Man::new(subcommand.clone());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(&page)
}

fn print(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Done)
}
