//! Reads the counts of some units from several journals.

use std::ops::Range;
use std::path::Path;
use std::slice::from_ref;

use rayon::prelude::*;

use crate::error::Error;
use crate::journal::{Counts, JournalError, NamedPlan, SomeCounts, begins_header_of, read_counts};

/// Journals whose counts are in memory at once.
const AT_ONCE: usize = 64;

/// A journal, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    path: &'a Path,
    length: Option<u64>,
}

/// The counts of some units.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) counts: Counts,
    /// The weighted sum of the solutions in units that a journal holds after an earlier one.
    pub(super) repeated: u128,
    /// Why journals could not be read.
    pub(crate) left_out: Vec<Error>,
}

impl<'a> Source<'a> {
    pub(crate) fn whole(path: &'a Path) -> Self {
        Self { path, length: None }
    }

    /// The first bytes of a journal.
    pub(super) fn beginning(path: &'a Path, length: u64) -> Self {
        Self { path, length: Some(length) }
    }

    fn read(
        &self,
        named: &NamedPlan,
        wanted: &[Range<usize>],
    ) -> Result<Option<SomeCounts>, Error> {
        read_counts(self.path, named, self.length, wanted)
    }
}

/// Reads the counts of some units, in increasing order, from journals of one plan. Units that
/// several journals hold must have the same count in each.
///
/// # Errors
///
/// [`Error::PlansDiffer`] and [`Error::CountsDiffer`]. Journals that cannot be read are left out.
pub(crate) fn gather(
    sources: &[Source<'_>],
    named: &NamedPlan,
    wanted: &[Range<usize>],
) -> Result<Gathered, Error> {
    let mut gathered = Gathered::default();
    for (chunk, first) in sources.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE)) {
        let read: Vec<_> = chunk.par_iter().map(|source| source.read(named, wanted)).collect();
        for (place, some) in (first..).zip(read) {
            let path = sources[place].path;
            match some {
                Ok(Some(some)) => {
                    let added = gathered.add(some.counts, named);
                    added.map_err(|(unit, counts)| {
                        conflict(&sources[..=place], named, unit, counts)
                    })?;
                }
                Ok(None) if path.exists() => {}
                Ok(None) => gathered.left_out.push(JournalError::missing().at(path)),
                // The journal of a process that was killed, or has only just begun.
                Err(Error::Journal { error: JournalError::HeaderCutOff { text }, .. })
                    if begins_header_of(&text, &named.plan) => {}
                Err(error @ Error::Journal { .. }) => gathered.left_out.push(error),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(gathered)
}

impl Gathered {
    /// Adds the counts of a journal. The error is a unit with its two counts.
    fn add(&mut self, counts: Counts, named: &NamedPlan) -> Result<(), (usize, [u64; 2])> {
        if self.counts.iter().next().is_none() {
            self.counts = counts;
            return Ok(());
        }
        for (unit, count) in counts.iter() {
            match self.counts.add(unit, &[count]) {
                Ok(1..) => {}
                Ok(0) => self.repeated += u128::from(count) * u128::from(named.plan.weight(unit)),
                Err(_) => {
                    return Err((unit, [self.counts.get(unit).unwrap_or_default(), count]));
                }
            }
        }
        Ok(())
    }
}

/// The error that the last of these journals and an earlier one hold different counts of a unit.
fn conflict(sources: &[Source<'_>], named: &NamedPlan, unit: usize, counts: [u64; 2]) -> Error {
    let holds = |source: &&Source<'_>| {
        let read = source.read(named, from_ref(&(unit..unit + 1)));
        read.ok().flatten().is_some_and(|some| some.counts.get(unit).is_some())
    };
    let path = |source: Option<&Source<'_>>| source.map(|source| source.path.to_owned());
    let ([first_count, second_count], second) = (counts, path(sources.last()).unwrap_or_default());
    let first = path(sources.iter().find(holds)).unwrap_or_default();
    Error::CountsDiffer { unit, first, first_count, second, second_count }
}
