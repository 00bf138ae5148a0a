//! Where finished units are recorded, and what is already recorded there.

use std::fs;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

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
    /// In a folder shared by many processes, each with its own journal.
    Folder(PathBuf),
}

/// What was recorded before the count.
#[derive(Debug)]
pub(super) struct Held {
    /// The journal, or the first of several.
    pub(super) path: PathBuf,
    pub(super) plan: Plan,
    pub(super) recorded: Recorded,
    /// The processes that recorded it, if there is only one journal.
    pub(super) runs: Vec<ProcessRun>,
}

impl Records {
    /// The journal of a whole count, if one was named.
    pub(super) fn of_count(journal: Option<&Path>) -> Self {
        journal.map_or(Self::None, |path| Self::File(path.to_owned()))
    }

    /// The journal or the folder of a shard. A missing folder is created.
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

    /// How many plans, and how many records of finished units, are in memory at once, at most. A
    /// journal is read with its own plan while the count already has one.
    pub(super) fn copies(&self) -> (u64, u64) {
        match self {
            Self::None => (1, 0),
            Self::File(_) => (2, 1),
            // What has been merged so far, and the journal being read.
            Self::Folder(_) => (2, 2),
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

    /// Opens the journal that this process writes. Updates `recorded`, because another process may
    /// have written to the journal since it was read. `None` if there is no journal.
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

/// What one journal holds. A process that was killed as it began may have left only part of the
/// first line. Whether the journal may be started again is decided when it is opened for writing.
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

/// Creates the journal that this process writes. Containers may share a host name and a process
/// number, so a number is added if the name is taken.
fn own_journal(folder: &Path, plan: &Plan, shard: Shard) -> Result<PathBuf, Error> {
    let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".to_owned());
    let host = host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
    let (n, index, shards) = (plan.size(), shard.index(), shard.shards());
    let process = std::process::id();
    let path = folder.join(format!("n{n}-{index:04}-of-{shards:04}.{host}.{process}.journal"));
    match journal::create_free(once(path.clone()).chain(journal::numbered(&path))) {
        Ok((path, _)) => Ok(path),
        Err(error) => Err(JournalError::cannot_open(error).at(&path)),
    }
}
