//! Promise: an observer hears of every finished unit once, of what the journals hold when the count begins, and of a
//! journal that was lost. The documentation of `Observer` makes this promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nqueens::record::{JournalError, Records};
use nqueens::{Cancel, Count, Engine, Error, Observer, OnProgress, SoFar, Start, Sum, UnitsDone};
use rayon::prelude::*;

use crate::common::{fresh_folder, journal_in, record_of, size, thread_pool};

#[derive(Default)]
struct Log {
    announced: Mutex<Vec<(usize, usize)>>,
    reports: Mutex<Vec<UnitsDone>>,
}

impl Observer for Log {
    fn started(&self, start: &Start<'_>) {
        self.announced.lock().expect("no panic").push((start.plan.units(), start.threads));
    }

    fn units_done(&self, so_far: &SoFar<'_>) {
        self.reports.lock().expect("no panic").push(so_far.newest.clone());
    }
}

#[test]
fn every_unit_is_reported_once() {
    for &engine in Engine::ALL {
        let log = Log::default();
        let outcome = Count::new(size(10)).engine(engine).threads(3).observer(&log).run();
        let outcome = outcome.expect("a count");
        let reports = log.reports.into_inner().expect("no panic");
        let mut units: Vec<usize> = reports.iter().flat_map(|done| done.units.clone()).collect();
        units.sort_unstable();
        assert!(units.into_iter().eq(0..outcome.units), "{engine}");
        let solutions: u128 = reports.iter().map(|done| done.solutions).sum();
        assert_eq!(Some(solutions), outcome.total, "{engine}");
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
    let note = OnProgress(|so_far: &SoFar<'_>| {
        let newest = so_far.newest.sum();
        reports.lock().expect("no panic").push((newest, so_far.done, so_far.units));
    });
    let outcome = count.observer(&note).run().expect("a count");
    let reports = reports.into_inner().expect("no panic");
    let missing = outcome.units - outcome.units_before;
    assert!(missing > 0 && missing < outcome.units, "{outcome:?}");
    assert_eq!(reports.iter().map(|(newest, ..)| newest.units).sum::<usize>(), missing);
    let whole = Sum { units: outcome.units, solutions: 724 };
    assert!(reports.iter().any(|(_, done, _)| *done == whole), "{reports:?}");
    assert!(reports.iter().all(|(.., units)| *units == outcome.units), "{reports:?}");
}

/// At the end nothing is left, and a resumed count knows the units of its journal at its first report.
#[test]
fn an_observer_learns_the_time_that_is_left() {
    let folder = fresh_folder("observer-time-left");
    let count = Count::new(size(16)).engine(Engine::Subtrees).threads(1).journal(&folder);
    let cancel = Cancel::new();
    let stop_at_half = OnProgress(|so_far: &SoFar<'_>| {
        if 2 * so_far.done.units > so_far.units {
            cancel.cancel();
        }
    });
    let half = count.clone().observer(&stop_at_half).stop_on(&cancel).run().expect("a half");
    assert!(!half.is_complete(), "{half:?}");

    let forecasts = Mutex::new(Vec::new());
    let note = OnProgress(|so_far: &SoFar<'_>| {
        forecasts.lock().expect("no panic").push(so_far.time_left().expect("units are finished"));
    });
    count.observer(&note).run().expect("the rest");
    let forecasts = forecasts.into_inner().expect("no panic");
    let first = forecasts.first().expect("a report").cpu_seconds;
    let took = half.runs[0].cpu_time.as_secs_f64();
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

/// Keeps what a count reports when it starts: the units that are finished, and what is left out.
#[derive(Default)]
struct Beginning(Mutex<Vec<(Sum, Vec<Error>)>>);

impl Observer for Beginning {
    fn started(&self, start: &Start<'_>) {
        let beginning = (start.done, start.left_out.to_vec());
        self.0.lock().expect("no panic").push(beginning);
    }
}

#[test]
fn an_observer_hears_what_the_journals_hold_and_what_is_left_out() {
    let folder = fresh_folder("observer-left-out");
    let count = Count::new(size(9)).engine(Engine::Subtrees).threads(1).journal(&folder);
    count.run().expect("a count");
    damage_one_line(&folder);
    let record = record_of(&[&folder]);
    assert!(record.total().is_none() && record.sum().units > 0, "{record:?}");
    let left_out = Records::read(&[&folder]).expect("readable").left_out().to_vec();
    assert_eq!(left_out.len(), 1);

    let beginning = Beginning::default();
    let outcome = count.observer(&beginning).run().expect("a count");
    assert_eq!(outcome.left_out, left_out);
    let heard = beginning.0.into_inner().expect("no panic");
    assert_eq!(heard, [(record.sum(), left_out)]);
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
    fn units_done(&self, _: &SoFar<'_>) {
        if !self.has_removed.swap(true, Ordering::SeqCst) {
            fs::remove_file(journal_in(&self.folder)).expect("it is there");
        }
    }

    fn journal_lost(&self, lost: &Error) {
        self.lost.lock().expect("no panic").push(lost.clone());
        self.cancel.cancel();
    }
}

#[test]
fn an_observer_hears_once_that_the_journal_was_lost() {
    let folder = fresh_folder("observer-lost");
    let remover = Remover { folder: folder.clone(), ..Remover::default() };
    let count = Count::new(size(22)).threads(2).journal(&folder);
    let stopped = count.observer(&remover).stop_on(&remover.cancel).run().expect("a part");
    assert!(!stopped.is_complete(), "the count takes minutes");
    let saved_in = stopped.journal.expect("a journal");
    let lost = remover.lost.into_inner().expect("no panic");
    let [Error::Journal { path, error: JournalError::Lost { saved_in: told, .. }, .. }] = &lost[..]
    else {
        panic!("{lost:?}")
    };
    assert_eq!([path, told], [&saved_in, &saved_in], "the name was free");
    assert_eq!(record_of(&[&folder]).sum(), stopped.done);
}

/// A count that waits for its own threads takes up no other count of its caller's pool, which would lie on top of it
/// on the stack.
#[test]
fn counts_within_a_pool_do_not_pile_up() {
    let counting = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let caller = thread_pool(2);
    for has_own in [true, false] {
        caller.install(|| {
            (0..200).into_par_iter().for_each(|_| {
                most.fetch_max(counting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let count = Count::new(size(8)).engine(Engine::Colours);
                let count = if has_own { count.threads(2) } else { count };
                assert_eq!(count.run().expect("a count").total, Some(92));
                counting.fetch_sub(1, Ordering::SeqCst);
            });
        });
        let most = most.swap(0, Ordering::SeqCst);
        // On the caller's own pool it only must come to an end.
        assert!(!has_own || most <= 2, "{most} at once");
    }
}
