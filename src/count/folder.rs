//! Where the journals of shards are.

use std::fs;
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
            fs::create_dir_all(path).map_err(|error| Error::Journal {
                path: path.to_owned(),
                problem: Problem::CannotOpen { reason: error.to_string() },
            })?;
        }
        Ok(Self { path: path.to_owned(), is_file })
    }

    /// What is finished already. In a folder, damaged journals of other processes are left out.
    pub(super) fn read(&self) -> Result<(Option<Merged>, Vec<Error>), Error> {
        if !self.is_file {
            return merge_readable(&journals_in(from_ref(&self.path))?);
        }
        if !self.path.exists() {
            return Ok((None, Vec::new()));
        }
        Ok((merge(from_ref(&self.path))?, Vec::new()))
    }

    /// The journal that this process is to write: no other one has its name.
    pub(super) fn own_journal(&self, plan: &Plan, shard: Shard) -> PathBuf {
        if self.is_file {
            return self.path.clone();
        }
        let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".to_owned());
        let host = host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
        let (n, index, of) = (plan.size(), shard.index(), shard.of());
        let process = std::process::id();
        self.path.join(format!("n{n}-{index:04}-of-{of:04}.{host}.{process}.journal"))
    }
}
