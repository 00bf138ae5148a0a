//! `nqueens man`: one page for all commands, made from the definition of the arguments.

use std::io::Write;

use clap::{Args, Command};
use clap_mangen::Man;

use crate::cli::exit::{Exit, Failure};

/// Print the manual page: nqueens man | man -l -
#[derive(Debug, Args)]
pub(crate) struct ManArgs {}

impl ManArgs {
    pub(crate) fn run(self, mut command: Command) -> Result<Exit, Failure> {
        command.build();
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
            let heading = format!(".SH \"NQUEENS {}\"\n", subcommand.get_name().to_uppercase());
            page.extend_from_slice(heading.as_bytes());
            let man = Man::new(subcommand.clone());
            man.render_synopsis_section(&mut page)?;
            man.render_description_section(&mut page)?;
            man.render_options_section(&mut page)?;
        }
        Ok(Exit::Done.print(|out| out.write_all(&page)))
    }
}
