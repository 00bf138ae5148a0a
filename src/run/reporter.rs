//! Passes finished units to the journal, the observer and the self-check.
//!
//! Now and then it also checks what the count depends on: the journal on disk, and the lists that
//! the threads share.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::error::Error;
use crate::journal::{Journal, JournalError, State};
use crate::observe::{Observer, UnitsDone};
use crate::plan::{PreparedPlan, UnitCounter};
use crate::self_check::SelfCheck;

/// How often the state of the journal is checked.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// How often the checksum of the lists that the threads share is checked.
const INSPECT_EVERY: Duration = Duration::from_secs(60);

/// Receives the finished units of all threads.
pub(crate) struct Reporter<'a> {
    prepared: &'a PreparedPlan<'a>,
    observer: &'a dyn Observer,
    journal: Option<Journal>,
    self_check: Option<&'a SelfCheck<'a>>,
    begun: Instant,
    watch: Mutex<Watch>,
}

/// The last checks. Whichever thread reports when the next ones are due makes them.
struct Watch {
    checked: Instant,
    inspected: Instant,
    /// Units recorded since the shared lists were last found good.
    uninspected: Vec<Range<usize>>,
    has_reported_change: bool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(
        prepared: &'a PreparedPlan<'a>,
        observer: &'a dyn Observer,
        journal: Option<Journal>,
        self_check: Option<&'a SelfCheck<'a>>,
    ) -> Self {
        let now = Instant::now();
        let (uninspected, has_reported_change) = (Vec::new(), false);
        let watch = Watch { checked: now, inspected: now, uninspected, has_reported_change };
        Self { prepared, observer, journal, self_check, begun: now, watch: Mutex::new(watch) }
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
        self.watch().add(&done.units);
    }

    /// Checks the journal and the shared lists if it is time, and recounts one of the units just
    /// recorded if it is time for that.
    pub(crate) fn check(
        &self,
        done: &UnitsDone,
        recounter: Option<&mut UnitCounter<'_>>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        if done.units.is_empty() {
            return Ok(());
        }
        self.make_checks()?;
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

    fn make_checks(&self) -> Result<(), Error> {
        let mut watch = self.watch();
        if watch.checked.elapsed() >= CHECK_EVERY {
            watch.checked = Instant::now();
            self.report_change(&mut watch);
        }
        if watch.inspected.elapsed() < INSPECT_EVERY {
            return Ok(());
        }
        watch.inspected = Instant::now();
        drop(watch);
        self.inspect()
    }

    fn report_change(&self, watch: &mut Watch) {
        let fault = self.journal.as_ref().and_then(|journal| journal.state().fault);
        if let Some(fault) = fault.filter(|_| !watch.has_reported_change) {
            watch.has_reported_change = true;
            self.observer.journal_changed(&fault);
        }
    }

    /// Makes sure that the lists that the threads share are unchanged. Otherwise it withdraws what
    /// was recorded since they were last found good.
    pub(crate) fn inspect(&self) -> Result<(), Error> {
        // Units recorded from here on are left to the next inspection.
        let mut inspected = std::mem::take(&mut self.watch().uninspected);
        if self.prepared.shared_is_intact() {
            return Ok(());
        }
        inspected.append(&mut self.watch().uninspected);
        inspected.iter().for_each(|units| self.withdraw(units.clone()));
        let units = inspected.iter().map(Range::len).sum();
        Err(Error::SharedListsChanged { units })
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

impl Watch {
    fn add(&mut self, units: &Range<usize>) {
        match self.uninspected.last_mut().filter(|last| last.end == units.start) {
            Some(last) => last.end = units.end,
            None => self.uninspected.push(units.clone()),
        }
    }
}
