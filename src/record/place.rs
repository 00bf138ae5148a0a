//! The place where a count keeps its journals: one file, or a folder in which each process makes a file of its own.
//!
//! A file is locked before it is read, and until its process ends. A folder needs no lock.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Record;
use super::folder::read_folder;
use super::from_disk::lock_and_read;
use crate::cancel::Cancel;
use crate::error::{DisputedUnit, Error, JournalError};
use crate::journal::{Journal, LockedJournal, Reading, Run, Wanted, create_in};
use crate::plan::Plan;
use crate::plan::done::Sum;
use crate::plan::shard::Shard;

/// The ending of the names of all journals. Other files in a folder are not read.
const ENDING: &str = "journal";

/// A place for journals that was opened and read.
pub(crate) enum Place {
    /// A journal that this process has locked.
    File(LockedJournal),
    /// The path of a journal that is made when the count begins.
    NewFile(PathBuf),
    /// A folder, which is made when the count begins.
    Folder(PathBuf),
}

impl Place {
    /// Opens a place for journals and reads what it holds of a shard.
    ///
    /// The path stands for a folder if there is one, or if it ends in a slash. Otherwise it stands for a journal. There
    /// is no record if nothing is there yet. `new_plan` makes the plan of a folder in which no journal names one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidValue`] if the name of a journal does not end in `.journal`. [`Error::CountsDiffer`] if a unit
    /// of the shard has two different counts, because counting it once more would not settle which of them is right.
    /// [`Error::Journal`] if the path cannot be followed, or if the journal, or a journal in the folder, cannot be read
    /// at this moment, because its units may be finished. [`Error::StoppedBefore`] if the count is cancelled while
    /// journals are read, or while the disk takes what it does not have yet.
    pub(crate) fn open_and_read(
        path: &Path,
        wanted: &Wanted,
        shard: Shard,
        new_plan: impl FnOnce() -> Result<Plan, Error>,
        cancel: &Cancel,
    ) -> Result<(Self, Option<Record>), Error> {
        let found = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // What cannot be seen may be there, so its units may be finished.
            Err(error) => return Err(JournalError::cannot("open", error).at(path)),
        };
        let (place, record) = if found.as_ref().is_some_and(fs::Metadata::is_dir) {
            let record = read_folder(path, wanted, shard, new_plan, cancel)?;
            (Self::Folder(path.to_owned()), Some(record))
        } else if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            (Self::Folder(path.to_owned()), None)
        } else if path.extension().is_none_or(|ending| ending != ENDING) {
            let advice = "name a file that ends in .journal, or a folder with a slash behind it";
            return Err(Error::invalid("a place for journals", path.display(), advice));
        } else if found.is_none() {
            (Self::NewFile(path.to_owned()), None)
        } else {
            let (journal, record) = lock_and_read(path, wanted.stated_memory, cancel)?;
            (Self::File(journal), record)
        };
        if let Some(record) = &record {
            check_left_out(record, shard, cancel)?;
        }
        Ok((place, record))
    }

    /// Begins to write the journal of this process. `held` is the sum of all that was read at this place.
    pub(crate) fn begin(self, plan: &Arc<Plan>, held: Sum, run: &Run) -> Result<Journal, Error> {
        match self {
            Self::File(journal) => Journal::begin(journal, plan, held, run),
            Self::NewFile(path) => {
                let journal = LockedJournal::create(&path)?;
                Journal::begin(journal, plan, held, run)
            }
            Self::Folder(folder) => {
                let journal = create_in(&folder, plan, run.shard)?;
                // The new file holds nothing, even if other journals in its folder do.
                Journal::begin(journal, plan, Sum::default(), run)
            }
        }
    }
}

/// Checks that nothing was left out of a record that counting the shard again would not mend: a unit of the shard with
/// two different counts, or a journal that the machine could not read at this moment.
fn check_left_out(record: &Record, shard: Shard, cancel: &Cancel) -> Result<(), Error> {
    for error in &record.left_out {
        if let Error::Journal { error: JournalError::Io { reason, .. }, .. } = error
            && reason.lack.is_some()
        {
            return Err(error.clone());
        }
    }
    let units: Vec<Range<usize>> = shard.ranges(record.plan().units()).collect();
    let is_in_shard = |unit: usize| units.iter().any(|range| range.contains(&unit));
    if let Some(unit) = record.disputed().iter().copied().find(|unit| is_in_shard(*unit)) {
        let lines = record.find_in_all(&[unit], &Reading::new(record.plan(), cancel));
        cancel.check("the journals were read")?;
        return Err(Error::CountsDiffer(DisputedUnit { unit, lines }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::{Engine, Kernel};

    /// Opens the journal of a plan at a path.
    fn open(path: &Path, plan: &Plan) -> Result<Place, Error> {
        let wanted = Wanted {
            size: plan.size(),
            which: plan.which_count(),
            engine: None,
            split_rows: None,
            stated_memory: None,
        };
        let new_plan = || unreachable!("the place is not a folder");
        let (place, _) =
            Place::open_and_read(path, &wanted, Shard::WHOLE, new_plan, &Cancel::new())?;
        Ok(place)
    }

    #[test]
    fn a_place_that_cannot_be_seen_may_hold_journals() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let size = BoardSize::new(8).expect("in range");
        let plan = Plan::new(size, Engine::Bitmask, None).expect("a plan");
        let path = folder.path().join("q/");
        assert!(matches!(open(&path, &plan), Ok(Place::Folder(_))), "it is not there");
        let name = folder.path().join("q");
        symlink(&name, &name).expect("a loop");
        assert!(matches!(open(&path, &plan), Err(Error::Journal { .. })));
    }

    /// Where locks do nothing, another process may write between the reading and the first line.
    #[test]
    fn nothing_is_cut_off_that_was_not_read() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let path = folder.path().join("q.journal");
        let size = BoardSize::new(8).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Bitmask, None).expect("a plan"));
        let run = Run::of_this_process(Kernel::PORTABLE, 1, Shard::WHOLE);
        let new = open(&path, &plan).expect("no file yet");
        assert!(!path.exists(), "it is made when the count begins");
        drop(new.begin(&plan, Sum::default(), &run).expect("a journal"));
        let begun = fs::read_to_string(&path).expect("text");
        for read in ["", &begun[..50], &begun[..begun.len() - 3], &begun] {
            fs::write(&path, read).expect("room");
            let place = open(&path, &plan).expect("nobody writes");
            let longer = read.to_owned() + &begun;
            fs::write(&path, &longer).expect("room");
            let refused = place.begin(&plan, Sum::default(), &run).map(drop);
            assert_eq!(refused, Err(JournalError::InUse.at(&path)));
            assert_eq!(fs::read_to_string(&path).expect("text"), longer);
        }
    }
}
