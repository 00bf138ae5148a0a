//! Passes finished units to the journal, the observer and the self-check.
//!
//! Now and then it also checks the journal on disk.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::error::Error;
use crate::journal::{Journal, JournalError, State};
use crate::observe::{Observer, UnitsDone};
use crate::plan::UnitCounter;
use crate::self_check::SelfCheck;

/// How often the state of the journal is checked.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// Receives the finished units of all threads.
pub(crate) struct Reporter<'a> {
    observer: &'a dyn Observer,
    journal: Option<Journal>,
    self_check: Option<&'a SelfCheck<'a>>,
    begun: Instant,
    watch: Mutex<Watch>,
}

/// The last check. Whichever thread reports when the next one is due makes it.
struct Watch {
    checked: Instant,
    has_reported_change: bool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(
        observer: &'a dyn Observer,
        journal: Option<Journal>,
        self_check: Option<&'a SelfCheck<'a>>,
    ) -> Self {
        let now = Instant::now();
        let watch = Watch { checked: now, has_reported_change: false };
        Self { observer, journal, self_check, begun: now, watch: Mutex::new(watch) }
    }

    /// A recounter for one thread, if there is a self-check.
    pub(crate) fn recounter(&self) -> Option<UnitCounter<'a>> {
        self.self_check.map(SelfCheck::recounter)
    }

    /// Whether there is no point in continuing: a journal that ended early has failed. Its error is
    /// reported when it is finished.
    pub(crate) fn has_failed(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::has_ended)
    }

    /// How long the run has taken so far.
    pub(crate) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Tells the observer about finished units. They are recorded later.
    pub(crate) fn progress(&self, done: &UnitsDone) {
        if !done.units.is_empty() {
            self.observer.units_done(done);
        }
    }

    /// Records finished units.
    pub(crate) fn record(&self, done: &UnitsDone) {
        if done.units.is_empty() {
            return;
        }
        if let Some(journal) = &self.journal {
            journal.record(done);
        }
    }

    /// Checks the journal if it is time, and recounts one of the units just recorded if it is time for
    /// that.
    pub(crate) fn check(
        &self,
        done: &UnitsDone,
        recounter: Option<&mut UnitCounter<'_>>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        if done.units.is_empty() {
            return Ok(());
        }
        self.check_journal();
        let (Some(check), Some(recounter)) = (self.self_check, recounter) else { return Ok(()) };
        let Some(chosen) = check.choose(done) else { return Ok(()) };
        check.recount(recounter, chosen, cancel).inspect_err(|error| {
            if let Error::UnitsDiffer { unit, .. } = error {
                self.withdraw(*unit..unit + 1);
            }
        })
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_journal(&self) {
        let mut watch = self.watch();
        if watch.checked.elapsed() >= CHECK_EVERY {
            watch.checked = Instant::now();
            self.report_change(&mut watch);
        }
    }

    fn report_change(&self, watch: &mut Watch) {
        let fault = self.journal.as_ref().and_then(|journal| journal.state().fault);
        if let Some(fault) = fault.filter(|_| !watch.has_reported_change) {
            watch.has_reported_change = true;
            self.observer.journal_changed(&fault);
        }
    }

    fn withdraw(&self, units: Range<usize>) {
        if let Some(journal) = &self.journal {
            journal.withdraw(units);
        }
    }

    /// Ends the journal, if there is one.
    pub(crate) fn finish(self) -> Option<(State, Result<(), JournalError>)> {
        let Self { journal, observer, .. } = self;
        journal.map(|journal| journal.finish(&|waited| observer.file_system_hangs(waited)))
    }
}
