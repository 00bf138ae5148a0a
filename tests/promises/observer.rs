//! Promise: an observer hears of every finished unit once, of what the journals hold when the count begins, and of a
//! journal that was lost. The documentation of `Observer` makes this promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nqueens::journal::{JournalErrorKind, Records};
use nqueens::{Cancel, Count, Engine, Error, Observer, Progress};
use rayon::prelude::*;

use crate::common::{fresh_folder, journal_in, record_of, size, thread_pool};

#[derive(Default)]
struct Log {
    announced: Mutex<Vec<(usize, usize)>>,
    reports: Mutex<Vec<(usize, u128)>>,
}

impl Observer for Log {
    fn started(&self, progress: &Progress<'_>) {
        let announced = (progress.units(), progress.threads());
        self.announced.lock().expect("no panic").push(announced);
    }

    fn progress(&self, progress: &Progress<'_>) {
        let report = (progress.units_done(), progress.solutions());
        self.reports.lock().expect("no panic").push(report);
    }
}

/// Each report adds the units that were just finished, so no two have the same number, and the last one has all.
#[test]
fn every_unit_is_reported_once() {
    for &engine in Engine::ALL {
        let log = Log::default();
        let outcome = Count::new(size(10)).engine(engine).threads(3).observer(&log).run();
        let outcome = outcome.expect("a count");
        let mut reports = log.reports.into_inner().expect("no panic");
        reports.sort_unstable();
        assert!(reports.windows(2).all(|pair| pair[0].0 < pair[1].0), "{engine}: {reports:?}");
        assert!(reports.is_sorted_by_key(|(_, solutions)| *solutions), "{engine}: {reports:?}");
        assert_eq!(reports.last(), Some(&(outcome.units, 724)), "{engine}");
        assert_eq!(log.announced.into_inner().expect("no panic"), [(outcome.units, 3)]);
    }
}

#[test]
fn a_closure_hears_how_far_the_count_has_come() {
    let folder = fresh_folder("observer-closure");
    let count = Count::new(size(10)).engine(Engine::Subtrees).threads(2).journal(&folder);
    count.run().expect("a count");
    // The second run counts the units of one line again.
    damage_one_line(&folder);

    let reports = Mutex::new(Vec::new());
    let count = count.on_progress(|progress| {
        let done = progress.units_done();
        reports.lock().expect("no panic").push((done, progress.units(), progress.fraction()));
    });
    let outcome = count.run().expect("a count");
    let mut reports = reports.lock().expect("no panic").clone();
    reports.sort_by_key(|(done, ..)| *done);
    assert!((1..outcome.units).contains(&outcome.units_before), "{outcome:?}");
    assert!(reports.iter().all(|(done, ..)| *done > outcome.units_before), "{reports:?}");
    assert!(reports.iter().all(|(_, units, _)| *units == outcome.units), "{reports:?}");
    assert_eq!(reports.last(), Some(&(outcome.units, outcome.units, 1.0)));
    let before_last = &reports[..reports.len() - 1];
    assert!(before_last.iter().all(|(.., fraction)| (0.0..1.0).contains(fraction)), "{reports:?}");
}

/// At the end nothing is left, and a resumed count knows the units of its journal at its first report.
#[test]
fn an_observer_learns_the_time_that_is_left() {
    let folder = fresh_folder("observer-time-left");
    let count = Count::new(size(16)).engine(Engine::Subtrees).threads(1).journal(&folder);
    let cancel = Cancel::new();
    let stop_at_half = |progress: &Progress<'_>| {
        if progress.fraction() > 0.5 {
            cancel.cancel();
        }
    };
    let half = count.clone().on_progress(stop_at_half).cancel_on(&cancel).run().expect("a half");
    assert!(!half.is_complete(), "{half:?}");

    let forecasts = Mutex::new(Vec::new());
    let count = count.on_progress(|progress| {
        forecasts.lock().expect("no panic").push(progress.time_left().expect("units are finished"));
    });
    count.run().expect("the rest");
    let forecasts = forecasts.lock().expect("no panic").clone();
    let first = forecasts.first().expect("a report").cpu_seconds;
    let took = half.runs[0].cpu_time().as_secs_f64();
    assert!(first.standard_error.is_finite(), "{first:?}");
    assert!((0.1..2.0).contains(&(first.value / took)), "{first:?}, the other half took {took} s");
    let last = forecasts.last().expect("a report");
    assert_eq!(last.cpu_seconds.value, 0.0);
    let seconds = last.wall_seconds.expect("the clock runs");
    assert_eq!((seconds.value, seconds.standard_error), (0.0, 0.0));
}

/// Damages the first line with units in the only journal of a folder.
fn damage_one_line(folder: &Path) {
    let path = journal_in(folder);
    let text = fs::read_to_string(&path).expect("text").replacen("done ", "gone ", 1);
    fs::write(&path, text).expect("room");
}

/// Keeps what a count reports until it starts: what is left out, and then the units that are finished.
#[derive(Default)]
struct Beginning {
    warnings: Mutex<Vec<Error>>,
    started: Mutex<Vec<(usize, u128, usize)>>,
}

impl Observer for Beginning {
    fn started(&self, progress: &Progress<'_>) {
        let warnings = self.warnings.lock().expect("no panic").len();
        let started = (progress.units_done(), progress.solutions(), warnings);
        self.started.lock().expect("no panic").push(started);
    }

    fn warned(&self, warning: &Error) {
        self.warnings.lock().expect("no panic").push(warning.clone());
    }
}

#[test]
fn an_observer_hears_what_the_journals_hold_and_what_is_left_out() {
    let folder = fresh_folder("observer-left-out");
    let count = Count::new(size(9)).engine(Engine::Subtrees).threads(1).journal(&folder);
    count.run().expect("a count");
    damage_one_line(&folder);
    let record = record_of(&[&folder]);
    assert!(record.total().is_none() && record.units_done() > 0, "{record:?}");
    let left_out = Records::read(&[&folder]).expect("readable").left_out().to_vec();
    assert_eq!(left_out.len(), 1);

    let beginning = Beginning::default();
    let outcome = count.observer(&beginning).run().expect("a count");
    assert_eq!(outcome.left_out, left_out);
    assert_eq!(beginning.warnings.into_inner().expect("no panic"), left_out);
    let started = beginning.started.into_inner().expect("no panic");
    assert_eq!(started, [(record.units_done(), record.solutions(), 1)]);
}

/// Hears that the journal was lost. Removes it when the first units are finished.
#[derive(Default)]
struct Remover {
    folder: PathBuf,
    has_removed: AtomicBool,
    lost: Mutex<Vec<Error>>,
    cancel: Cancel,
}

impl Observer for Remover {
    fn progress(&self, _: &Progress<'_>) {
        if !self.has_removed.swap(true, Ordering::SeqCst) {
            fs::remove_file(journal_in(&self.folder)).expect("it is there");
        }
    }

    fn warned(&self, lost: &Error) {
        self.lost.lock().expect("no panic").push(lost.clone());
        self.cancel.cancel();
    }
}

#[test]
fn an_observer_hears_once_that_the_journal_was_lost() {
    let folder = fresh_folder("observer-lost");
    let remover = Remover { folder: folder.clone(), ..Remover::default() };
    let count = Count::new(size(22)).threads(2).journal(&folder);
    let stopped = count.observer(&remover).cancel_on(&remover.cancel).run().expect("a part");
    assert!(!stopped.is_complete(), "the count takes minutes");
    let saved_in = stopped.journal.expect("a journal");
    let lost = remover.lost.into_inner().expect("no panic");
    let [Error::Journal(error)] = &lost[..] else { panic!("{lost:?}") };
    // The name was free.
    assert_eq!((error.kind(), error.path()), (JournalErrorKind::Lost, &*saved_in));
    assert!(error.to_string().contains(&format!("is in {}, ", saved_in.display())), "{error}");
    let record = record_of(&[&folder]);
    let held = (record.units_done(), record.solutions());
    assert_eq!(held, (stopped.units_done, stopped.solutions));
}

/// A count that waits for its own threads takes up no other count of its caller's pool, which would lie on top of it
/// on the stack.
#[test]
fn counts_within_a_pool_do_not_pile_up() {
    let counting = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let caller = thread_pool(2);
    for names_threads in [true, false] {
        caller.install(|| {
            (0..200).into_par_iter().for_each(|_| {
                most.fetch_max(counting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let count = Count::new(size(8)).engine(Engine::Colours);
                let count = if names_threads { count.threads(2) } else { count };
                assert_eq!(count.run().expect("a count").total, Some(92));
                counting.fetch_sub(1, Ordering::SeqCst);
            });
        });
        let most = most.swap(0, Ordering::SeqCst);
        assert!(most <= 2, "{most} at once");
    }
}
