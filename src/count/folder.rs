//! Where the journals of shards are.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use crate::error::Error;
use crate::journal::Problem;
use crate::merge::{Merged, journals_in, merge, merge_readable};
use crate::plan::Plan;
use crate::shard::Shard;

/// A folder that many processes share, or one file.
#[derive(Debug)]
pub(super) struct ShardFolder {
    path: PathBuf,
    is_file: bool,
}

impl ShardFolder {
    /// A folder is made if it is not there.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let is_file = path.is_file() || path.extension().is_some_and(|name| name == "journal");
        if !is_file {
            fs::create_dir_all(path).map_err(|error| cannot_open(path, &error))?;
        }
        Ok(Self { path: path.to_owned(), is_file })
    }

    pub(super) fn is_one_file(&self) -> bool {
        self.is_file
    }

    /// What is finished already. In a folder, damaged journals of other processes are left out.
    pub(super) fn read(&self) -> Result<(Option<Merged>, Vec<Error>), Error> {
        if !self.is_file {
            return merge_readable(&journals_in(from_ref(&self.path))?);
        }
        if !self.path.exists() {
            return Ok((None, Vec::new()));
        }
        match merge(from_ref(&self.path)) {
            // Whether this process may begin it anew is found out when it opens the file.
            Err(Error::Journal { problem: Problem::HeaderCutOff { .. }, .. }) => {
                Ok((None, Vec::new()))
            }
            merged => Ok((merged?, Vec::new())),
        }
    }

    /// Makes the journal that this process is to write. No other one has its name: containers may
    /// share host name and process number, so the name is only taken if it is free.
    pub(super) fn own_journal(&self, plan: &Plan, shard: Shard) -> Result<PathBuf, Error> {
        if self.is_file {
            return Ok(self.path.clone());
        }
        let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".to_owned());
        let host = host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
        let (n, index, of) = (plan.size(), shard.index(), shard.of());
        let process = std::process::id();
        let name = format!("n{n}-{index:04}-of-{of:04}.{host}.{process}");
        let mut path = self.path.join(format!("{name}.journal"));
        for attempt in 2.. {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    path = self.path.join(format!("{name}.{attempt}.journal"));
                }
                Err(error) => return Err(cannot_open(&path, &error)),
            }
        }
        Ok(path)
    }
}

fn cannot_open(path: &Path, error: &io::Error) -> Error {
    let problem = Problem::CannotOpen { reason: error.to_string() };
    Error::Journal { path: path.to_owned(), problem }
}
