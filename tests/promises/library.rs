//! Promise: what the library gives out can be sent to other threads, a count has threads of its own, and what does not
//! belong together is never added up. The documentation of `Count` and of `journal` makes this promise.

use std::fs;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use nqueens::journal::{BothPasses, Difference, JournalError, Record, Records, Run, Verdict};
use nqueens::plan::{Pass, Plan, RowDomains, Worker};
use nqueens::{
    BoardSize, Cancel, Count, Engine, Error, Forecast, Kernel, Observer, Outcome, Progress, Shard,
    Solution, Solutions,
};

use crate::common::{fresh_folder, journals_in, only, raise_first_count, size};

fn is_sent_and_shared<T: Send + Sync>() {}
fn survives_panics<T: UnwindSafe + RefUnwindSafe>() {}
fn is_an_error<T: std::error::Error + Send + Sync + 'static>() {}

/// Whoever keeps a value of the library in a struct relies on it.
#[test]
fn values_go_to_other_threads() {
    is_sent_and_shared::<Count<'_>>();
    is_sent_and_shared::<Outcome>();
    is_sent_and_shared::<Cancel>();
    is_sent_and_shared::<Plan>();
    is_sent_and_shared::<RowDomains>();
    is_sent_and_shared::<Records>();
    is_sent_and_shared::<(Record, Run, BothPasses, Verdict, Difference)>();
    is_sent_and_shared::<(Solution, Solutions, BoardSize, Engine, Kernel, Shard, Pass, Forecast)>();
    is_sent_and_shared::<Progress<'_>>();
    fn is_sent<T: Send>() {}
    is_sent::<Worker<'_>>();
    survives_panics::<Count<'_>>();
    survives_panics::<Plan>();
    survives_panics::<Record>();
    survives_panics::<Outcome>();
    fn is_whole_after_a_panic<T: UnwindSafe>() {}
    is_whole_after_a_panic::<Worker<'_>>();
    is_an_error::<Error>();
    is_an_error::<JournalError>();
}

/// Hears how many units are finished.
#[derive(Default)]
struct Most(AtomicUsize);

impl Observer for Most {
    fn progress(&self, progress: &Progress<'_>) {
        self.0.fetch_max(progress.units_done(), Ordering::Relaxed);
    }
}

#[test]
fn a_count_runs_on_a_thread_with_its_observer() {
    let most = Arc::new(Most::default());
    let count = Count::new(size(12)).observer(Arc::clone(&most));
    let outcome = thread::spawn(move || count.run()).join().expect("no panic").expect("a count");
    assert_eq!(most.0.load(Ordering::Relaxed), outcome.units);

    let reports = Arc::new(Mutex::new(0));
    let of_thread = Arc::clone(&reports);
    let count =
        Count::new(size(12)).on_progress(move |_| *of_thread.lock().expect("no panic") += 1);
    thread::spawn(move || count.run()).join().expect("no panic").expect("a count");
    assert!(*reports.lock().expect("no panic") > 0);
}

#[test]
fn an_observer_may_be_borrowed_shared_or_boxed() {
    let most = Most::default();
    let shared: Arc<dyn Observer> = Arc::new(Most::default());
    let boxed: Box<dyn Observer> = Box::new(Most::default());
    Count::new(size(10)).observer(&most).run().expect("a count");
    Count::new(size(10)).observer(shared).run().expect("a count");
    Count::new(size(10)).observer(boxed).run().expect("a count");
    assert!(most.0.load(Ordering::Relaxed) > 0);
}

/// The units of two engines are different parts of the board: the solutions of shard 0 by one and of shard 1 by the
/// other are 14644 for n = 12, where 14200 is right.
#[test]
fn shards_of_different_plans_are_not_added_up() {
    let mut folders = Vec::new();
    let mut sum = 0;
    for (index, engine) in [Engine::Colours, Engine::Subtrees].into_iter().enumerate() {
        let folder = fresh_folder(&format!("library-{engine}"));
        let shard = Shard::new(index, 2).expect("in range");
        let count = Count::new(size(12)).engine(engine).shard(shard).journal(&folder);
        let outcome = count.run().expect("a shard");
        assert_eq!(outcome.total, None);
        sum += outcome.solutions;
        folders.push(folder);
    }
    assert_ne!(sum, 14_200);
    let refused = Records::read(&folders).expect_err("two plans");
    for engine in ["engine=colours", "engine=subtrees"] {
        assert!(refused.to_string().contains(engine), "{refused}");
    }
}

/// The comparison is of what was read, and reads nothing.
#[test]
fn a_comparison_is_that_of_the_journals_as_they_were() {
    let folder = fresh_folder("library-compared");
    let count = Count::new(size(8)).engine(Engine::Bitmask).journal(&folder);
    for pass in [Pass::First, Pass::Second] {
        count.clone().pass(pass).run().expect("a pass");
    }
    let unit = raise_first_count(&journals_in(&folder)[0]);
    let records = Records::read(&[&folder]).expect("good journals");
    let both = records.compare().expect("two passes");
    assert_eq!((&both.differing[..], records.total()), (&[unit][..], None));
    fs::remove_dir_all(&folder).expect("it is there");
    assert_eq!(records.compare(), Some(both));
}

/// Each pass has finished another half of the units, and then one of them has finished all. A total takes each unit
/// once.
#[test]
fn a_total_of_two_passes_takes_each_unit_once() {
    let folder = fresh_folder("library-passes");
    let count = Count::new(size(8)).engine(Engine::Bitmask).journal(&folder);
    let half = |index| Shard::new(index, 2).expect("in range");
    count.clone().shard(half(0)).run().expect("a shard");
    let first = only(Records::read(&[&folder]).expect("good journals")).expect("a shard");
    assert_eq!((first.total(), first.0.total()), (None, None));
    count.clone().pass(Pass::Second).shard(half(1)).run().expect("a shard");
    let records = Records::read(&[&folder]).expect("good journals");
    assert_eq!(records.total(), Some(92), "each unit is finished in one pass");
    let both = records.compare().expect("two passes");
    assert_eq!((both.counted_twice, both.is_complete()), (0, false));
    count.pass(Pass::Second).run().expect("a pass");
    let records = Records::read(&[&folder]).expect("good journals");
    assert_eq!(records.total(), Some(92), "some units are finished twice");
}
