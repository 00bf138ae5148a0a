//! Where finished units are recorded, and what is already recorded there.

use std::fs;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::Folder;
use crate::engine::Pass;
use crate::error::Error;
use crate::journal::{self, Access, Counts, JournalError, Locked, ProcessRun, Recorded};
use crate::merge::{Source, gather};
use crate::plan::{Forecast, Plan};
use crate::shard::Shard;
use crate::size::BoardSize;

/// The pages of counts at the ends of a shard's blocks take at most this many bytes.
const FOLDER_BYTES: u64 = 1 << 20;

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
    pub(super) plan: Arc<Plan>,
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

    /// The memory for plans and counts of finished units, at most. A journal may be read with its own
    /// plan while the count already has one.
    pub(super) fn bytes(&self, forecast: Forecast, shard: Shard) -> u64 {
        let Forecast { list, .. } = forecast;
        match self {
            Self::None => list,
            Self::File(_) => 2 * list + forecast.record(),
            // What was gathered so far, and the journals being read.
            Self::Folder(_) => {
                2 * list + 2 * (forecast.record() / shard.shards() as u64 + FOLDER_BYTES)
            }
        }
    }

    /// What is finished already. In a folder, this is what journals hold of this shard; damaged
    /// journals are left out, and those of the other count are not read.
    pub(super) fn read(
        &self,
        size: BoardSize,
        pass: Pass,
        shard: Shard,
    ) -> Result<(Option<Held>, Vec<Error>), Error> {
        match self {
            Self::None => Ok((None, Vec::new())),
            Self::File(path) => Ok((read_file(path)?, Vec::new())),
            Self::Folder(path) => read_folder(path, size, pass, shard),
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

/// What the journals in a folder hold of a shard.
fn read_folder(
    path: &Path,
    size: BoardSize,
    pass: Pass,
    shard: Shard,
) -> Result<(Option<Held>, Vec<Error>), Error> {
    let folder = Folder::list(path, size, pass, shard)?;
    let Some(named) = folder.plan() else { return Ok((None, folder.errors())) };
    let held = |counts: Counts| Held {
        path: named.path.clone(),
        plan: Arc::clone(&named.plan),
        recorded: counts.into(),
        runs: Vec::new(),
    };
    // A plan that was not asked for is an error, so its units do not matter.
    if named.plan.size() != size {
        return Ok((Some(held(Counts::default())), Vec::new()));
    }
    let units = named.plan.units();
    let sources: Vec<_> = folder.files_of(shard, units).map(Source::whole).collect();
    let own: Vec<_> = shard.ranges(units).collect();
    let gathered = gather(&sources, &named, &own)?;
    Ok((Some(held(gathered.counts)), gathered.left_out))
}

/// Creates the journal that this process writes. Containers may share a host name and a process
/// number, so a number is added if the name is taken.
fn own_journal(folder: &Path, plan: &Plan, shard: Shard) -> Result<PathBuf, Error> {
    let name = journal::file_name(plan.size(), plan.pass(), shard, std::process::id());
    let path = folder.join(name);
    match journal::create_free(once(path.clone()).chain(journal::numbered(&path))) {
        Ok((path, _)) => Ok(path),
        Err(error) => Err(JournalError::cannot_open(error).at(&path)),
    }
}
