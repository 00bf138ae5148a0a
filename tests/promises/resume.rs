//! Promise: a stopped count resumes, with other threads and another kernel, and one file is never written by two
//! counts. README.md makes this promise under "Use it" (Run a long count).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use nqueens::journal::{JournalErrorKind, Run};
use nqueens::plan::Plan;
use nqueens::{Cancel, Count, Engine, Error, Observer, Progress};

use crate::common::{
    as_folder, contents, cpu_time, fresh_folder, journal_error, journal_in, journals_in, json,
    kernels, nqueens, record_of, run, size, stdout, units_of_line,
};

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("resume-{name}"))
}

/// Cancels a count after some reports.
struct StopAfter<'a> {
    reports: AtomicUsize,
    cancel: &'a Cancel,
}

impl Observer for StopAfter<'_> {
    fn progress(&self, _: &Progress<'_>) {
        if self.reports.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancel.cancel();
        }
    }
}

/// Panics after some reports, as a faulty counting thread would.
struct PanicAfter(AtomicUsize);

impl Observer for PanicAfter {
    fn progress(&self, _: &Progress<'_>) {
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        assert_ne!(before, 1, "this panic is part of a test");
    }
}

#[test]
fn a_panic_loses_no_finished_unit() {
    let path = fresh("panic");
    let observer = PanicAfter(20.into());
    // Seconds of work, so the other thread is still counting.
    let count = Count::new(size(19)).threads(2).journal(&path).observer(&observer);
    let ended = std::panic::catch_unwind(|| count.run());
    assert!(ended.is_err(), "the panic reaches the caller");
    let contents = contents(&path);
    assert!(contents.units_done() >= 20, "{}", contents.units_done());
    assert!(contents.total().is_none(), "the other thread stops");
}

#[test]
fn colours_resume_with_other_threads_and_kernels() {
    resumes_with_other_threads_and_kernels(Engine::Colours, 16, 14_772_512);
}

#[test]
fn subtrees_resume_with_other_threads_and_kernels() {
    resumes_with_other_threads_and_kernels(Engine::Subtrees, 13, 73_712);
}

fn resumes_with_other_threads_and_kernels(engine: Engine, n: u32, total: u128) {
    let kernels = kernels();
    let path = fresh(&format!("again-{engine}"));
    let mut stops = 0;
    let mut before = 0;
    let outcome = loop {
        let cancel = Cancel::new();
        let stop = StopAfter { reports: 2.into(), cancel: &cancel };
        let kernel = kernels[stops % kernels.len()];
        let count = Count::new(size(n)).kernel(kernel);
        // Only the first run names the engine; the others find it in the journal.
        let count = if stops == 0 { count.engine(engine) } else { count };
        let count = count.threads(1 + stops % 3).journal(&path).observer(&stop).cancel_on(&cancel);
        let outcome = count.run().expect("a count, or a part of it");
        let units_of_runs: usize = outcome.runs.iter().map(Run::units).sum();
        assert_eq!(outcome.kernel, kernel);
        assert_eq!((outcome.runs.len(), units_of_runs), (stops + 1, outcome.units_done));
        if outcome.is_complete() {
            break outcome;
        }
        assert!(before < outcome.units_done && outcome.total.is_none(), "{outcome:?}");
        let held = contents(&path);
        let found = (held.units_done(), held.solutions());
        assert_eq!(found, (outcome.units_done, outcome.solutions), "nothing is lost");
        before = outcome.units_done;
        stops += 1;
    };
    assert!(stops >= 2, "{stops}");
    assert_eq!(
        (outcome.total, outcome.engine, outcome.units_before),
        (Some(total), engine, before)
    );
    let contents = contents(&path);
    assert_eq!(journals_in(&path).len(), stops + 1, "a file for each run");
    assert_eq!(contents.runs().map(Run::units).sum::<usize>(), outcome.units);
}

/// A reader would take the time of the last run for that of the whole count, and cite it.
#[test]
fn a_resumed_count_says_what_all_its_runs_took() {
    let folder = fresh_folder("resumed-time");
    for place in [folder.join("q"), as_folder(&folder.join("r"))] {
        let count =
            |args: &[&str]| run(nqueens(&["count", "12"]).args(args).arg("--journal").arg(&place));
        let record = || record_of(&[&place]);
        let once = count(&[]);
        assert!(!stdout(&once).contains("all runs") && !stdout(&once).contains(" units\ntime"));
        let path = journals_in(&place)[0].clone();
        let text = fs::read_to_string(&path).expect("text");
        let (kept, last) = text.trim_end().rsplit_once('\n').expect("lines");
        fs::write(&path, format!("{kept}\n")).expect("room");
        let units = units_of_line(last).len();
        let all = record().plan().units();

        let resumed = count(&[]);
        let rows = stdout(&resumed);
        assert!(rows.contains(&format!(" for {units} of {all} units\nall runs ")), "{rows}");
        assert!(rows.contains(" of CPU time in 2 runs\n"), "{rows}");

        let object = json(&count(&["--json"]));
        assert_eq!(object["journal"]["runs"], 2, "nothing was left to count: {object}");
        let cpu_seconds = object["journal"]["cpu_seconds"].as_f64().expect("a number");
        let of_all = cpu_time(&record()).as_secs_f64();
        assert!((cpu_seconds - of_all).abs() < 1e-5 && of_all > 0.0, "{object}, not {of_all}");
    }
}

/// Split rows mean nothing to other engines: so the same settings resume.
#[test]
fn settings_that_count_also_resume() {
    let path = fresh("other");
    let count = Count::new(size(9)).engine(Engine::Bitmask).split_rows(2).journal(&path);
    assert_eq!([(); 2].map(|()| count.run().expect("a count").total), [Some(352); 2]);
}

#[test]
fn impossible_settings_are_refused_before_a_journal_is_made() {
    let path = fresh("impossible");
    for rows in [0, 5] {
        let refused = Count::new(size(9)).split_rows(rows).journal(&path).run();
        assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
        let refused = Plan::new(size(9), Engine::Subtrees, Some(rows));
        assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
    }
    let refused = Plan::new(size(31), Engine::Colours, None);
    assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
    assert!(!path.exists());
}

#[test]
fn two_writers_are_kept_apart() {
    struct Second<'a>(&'a Path, AtomicUsize);
    impl Observer for Second<'_> {
        fn progress(&self, _: &Progress<'_>) {
            let second = Count::new(size(14)).engine(Engine::Bitmask).threads(1).journal(self.0);
            match second.run() {
                // Once the last unit is recorded, nothing is left to count.
                Ok(outcome) => {
                    assert_eq!((outcome.units_before, outcome.total), (14, Some(365_596)));
                }
                refused => {
                    let error = journal_error(refused);
                    assert_eq!(error.kind(), JournalErrorKind::InUse);
                    assert_eq!(error.path(), journal_in(self.0));
                    let message = error.to_string();
                    assert!(message.contains("another count of the same shard"), "{message}");
                    self.1.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
    let path = fresh("two-writers");
    let observer = Second(&path, AtomicUsize::new(0));
    let first = Count::new(size(14)).engine(Engine::Bitmask).threads(1).journal(&path);
    assert_eq!(first.observer(&observer).run().expect("a count").total, Some(365_596));
    assert!(observer.1.into_inner() > 0, "the second was never refused");
}
