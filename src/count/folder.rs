//! Which journals of a folder a shard reads before it starts.
//!
//! A folder may hold the journals of a million shards, and each shard must start at once. So it reads
//! only journals that may hold its own units. The name of a journal says which shard its process
//! counted, as `n28-0007-of-1000000.HOST.PID.journal`. A process records no other units than those of
//! its shard, so a journal is passed over if its name belongs to the same board and to a shard that
//! has no units in common with this one, or to the other count. All others are read, whatever they
//! are called, unless their first line belongs to the other count.
//!
//! **What if a name is wrong?** Users may rename files, and pack many into one. A journal that is
//! passed over although it holds units of this shard costs time: they are counted again, and
//! [`merge`](crate::merge), which reads everything, compares both counts. A journal that is read
//! although it holds none changes nothing. So no name can make a number wrong.
//!
//! **What is not noticed.** Damage in the journals of other shards is found by `merge`, `status` and
//! `verify`, not by a shard that starts. The plan is taken from the first journal that can be read;
//! of those that are passed over, only a few are tried.

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::Pass;
use crate::error::Error;
use crate::journal::{JournalError, NamedPlan, named_shard, pass_of, read_plan};
use crate::shard::Shard;
use crate::size::BoardSize;

/// How many of the journals that are passed over may be asked for their plan.
const SAMPLES: usize = 16;

/// The journals in a folder.
pub(super) struct Folder {
    pass: Pass,
    /// Those that may hold units of the shard, with the shards in their names, in order of names.
    files: Vec<(PathBuf, Option<Shard>)>,
    /// Some of the others.
    samples: Vec<PathBuf>,
}

impl Folder {
    /// Lists what matters to a shard of a board.
    pub(super) fn list(
        path: &Path,
        size: BoardSize,
        pass: Pass,
        shard: Shard,
    ) -> Result<Self, Error> {
        let cannot_open = |error| JournalError::cannot_open(error).at(path);
        let (mut files, mut samples) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).map_err(cannot_open)? {
            let name = entry.map_err(cannot_open)?.file_name();
            let file = Path::new(&name);
            if file.extension().is_none_or(|extension| extension != "journal") {
                continue;
            }
            let named = name.to_str().and_then(named_shard).filter(|(n, ..)| *n == size.get());
            if named.is_some_and(|(_, other, _)| other != pass) {
                continue;
            }
            let named = named.map(|(.., shard)| shard);
            match named {
                Some(other) if other.shards() == shard.shards() && other != shard => {
                    if samples.len() < SAMPLES {
                        samples.push(path.join(file));
                    }
                }
                _ => files.push((path.join(file), named)),
            }
        }
        // Whatever its name says, a journal of the other count is of no use.
        files.retain(|(file, _)| !matches!(pass_of(file), Ok(Some(other)) if other != pass));
        files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Self { pass, files, samples })
    }

    /// The plan of the folder, if a journal names one.
    pub(super) fn plan(&self) -> Option<NamedPlan> {
        let files = self.files.iter().map(|(path, _)| path).chain(&self.samples);
        let mut plans = files.filter_map(|path| read_plan(path).ok().flatten());
        plans.find(|named| named.plan.pass() == self.pass)
    }

    /// Why the journals that matter name no plan.
    pub(super) fn errors(&self) -> Vec<Error> {
        self.files.iter().filter_map(|(path, _)| read_plan(path).err()).collect()
    }

    /// The journals that may hold units of the shard, in a plan of `units` units.
    pub(super) fn files_of(&self, shard: Shard, units: usize) -> impl Iterator<Item = &Path> {
        let may_hold = move |(_, named): &&(PathBuf, Option<Shard>)| {
            named.is_none_or(|other| other.shares_units_with(shard, units))
        };
        self.files.iter().filter(may_hold).map(|(path, _)| path.as_path())
    }
}
