//! Where finished units are recorded, and what is recorded there already.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use super::budget::Journals;
use crate::error::Error;
use crate::journal::{self, Access, JournalError, Locked, ProcessRun, Recorded};
use crate::merge::{journals_in, merge_readable};
use crate::plan::Plan;
use crate::shard::Shard;

/// Where the finished units of a count are recorded.
#[derive(Debug)]
pub(super) enum Records {
    /// Nowhere.
    None,
    /// In one journal.
    File(PathBuf),
    /// In a folder that many processes share, each with a journal of its own.
    Folder(PathBuf),
}

/// What was recorded before.
#[derive(Debug)]
pub(super) struct Held {
    /// A journal that holds some of it.
    pub(super) path: PathBuf,
    pub(super) plan: Plan,
    pub(super) recorded: Recorded,
    /// The processes that recorded it, if it is one journal.
    pub(super) runs: Vec<ProcessRun>,
}

impl Records {
    /// The journal of a whole count, if there is to be one.
    pub(super) fn of_count(journal: Option<&Path>) -> Self {
        journal.map_or(Self::None, |path| Self::File(path.to_owned()))
    }

    /// The journal or the folder of a shard. A folder is made if it is not there.
    pub(super) fn of_shard(path: &Path) -> Result<Self, Error> {
        if path.is_file() || path.extension().is_some_and(|name| name == "journal") {
            return Ok(Self::File(path.to_owned()));
        }
        fs::create_dir_all(path).map_err(|error| JournalError::cannot_open(error).at(path))?;
        Ok(Self::Folder(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::None => Path::new(""),
            Self::File(path) | Self::Folder(path) => path,
        }
    }

    /// What of journals is in memory at the same time.
    pub(super) fn journals(&self) -> Journals {
        match self {
            Self::None => Journals::None,
            Self::File(_) => Journals::One,
            Self::Folder(_) => Journals::Merged,
        }
    }

    /// What is finished already. In a folder, damaged journals of other processes are left out.
    pub(super) fn read(&self) -> Result<(Option<Held>, Vec<Error>), Error> {
        match self {
            Self::None => Ok((None, Vec::new())),
            Self::File(path) => Ok((read_file(path)?, Vec::new())),
            Self::Folder(path) => {
                let (merged, left_out) = merge_readable(&journals_in(from_ref(path))?)?;
                let held = merged.map(|merged| Held {
                    path: merged.files[0].path.clone(),
                    plan: merged.plan,
                    recorded: merged.finished.into(),
                    runs: Vec::new(),
                });
                Ok((held, left_out))
            }
        }
    }

    /// Opens the journal that this process is to write, and updates what is recorded, which another
    /// process may have changed since it was read. `None` if nothing is recorded.
    pub(super) fn open(
        &self,
        plan: &Plan,
        shard: Shard,
        recorded: &mut Recorded,
    ) -> Result<Option<Locked>, Error> {
        match self {
            Self::None => Ok(None),
            Self::File(path) => Locked::open(path, plan, Access::Named, recorded).map(Some),
            Self::Folder(folder) => {
                let path = own_journal(folder, plan, shard)?;
                Locked::open(&path, plan, Access::Own, &mut Recorded::default()).map(Some)
            }
        }
    }
}

/// What one journal holds. One that ends within its first line may have been begun just before a
/// kill: whether it may be begun anew is found out when it is opened for writing.
fn read_file(path: &Path) -> Result<Option<Held>, Error> {
    let contents = match journal::read(path) {
        Err(Error::Journal { error: JournalError::HeaderCutOff { .. }, .. }) => None,
        read => read?,
    };
    Ok(contents.map(|mut contents| {
        let runs = std::mem::take(&mut contents.runs);
        let (plan, recorded) = contents.into_parts();
        Held { path: path.to_owned(), plan, recorded, runs }
    }))
}

/// Makes the journal that this process is to write. No other one has its name: containers may
/// share host name and process number, so the name is only taken if it is free.
fn own_journal(folder: &Path, plan: &Plan, shard: Shard) -> Result<PathBuf, Error> {
    let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".to_owned());
    let host = host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
    let (n, index, shards) = (plan.size(), shard.index(), shard.shards());
    let process = std::process::id();
    let name = format!("n{n}-{index:04}-of-{shards:04}.{host}.{process}");
    let mut path = folder.join(format!("{name}.journal"));
    for attempt in 2.. {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = folder.join(format!("{name}.{attempt}.journal"));
            }
            Err(error) => return Err(JournalError::cannot_open(error).at(&path)),
        }
    }
    Ok(path)
}
