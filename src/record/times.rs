//! What the lines of a journal tell of the time that units take, for those who ask for a forecast.

use super::line::Run;
use super::reader::JournalFile;
use crate::done::UnitsDone;
use crate::forecast::{Blocks, Cores};

/// What a reader wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    UnitsAlone,
    TimesToo,
}

/// What units took in the last run of a journal, and in those before it that were like it: times on another
/// machine say nothing of those on this one.
#[derive(Default)]
pub(super) struct Times {
    pub(super) blocks: Blocks,
    /// The cores that the last run got.
    pub(super) cores: Cores,
    /// The number of runs so far.
    runs: usize,
}

impl Times {
    /// Adds a line of the last run.
    pub(super) fn add(&mut self, file: &JournalFile, done: &UnitsDone) {
        self.begin(file);
        self.blocks.add(done.units.start, done.tally(), done.cpu_time);
        self.cores.record(done.elapsed.as_secs_f64(), done.cpu_time.as_secs_f64());
    }

    /// Forgets what the runs that have begun since the last line make useless.
    pub(super) fn begin(&mut self, file: &JournalFile) {
        let runs = &file.runs[self.runs.saturating_sub(1)..];
        if self.runs == 0 || !runs.is_sorted_by(Run::is_like) {
            self.blocks = Blocks::new(file.named.plan.units());
        }
        if file.runs.len() > self.runs {
            self.cores = Cores::default();
            self.runs = file.runs.len();
        }
    }
}
