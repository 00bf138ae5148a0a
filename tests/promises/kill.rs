//! Promise: a kill loses the units in progress, and at most 10 s of the finished work of each thread. docs/JOURNAL.md
//! makes this promise under "What is promised". In the first 1000 s no more than 1% of the run so far is lost, or 0.1
//! s. A line that has been written survives its process, so these tests compare what is finished with the lines in the
//! file.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nqueens::{Cancel, Count, Engine, Kernel};
use rustix::time::{ClockId, clock_gettime};

use crate::common::{fresh_folder, record_of, size};

/// The finished work that a kill may lose after a run of this length.
fn allowed_loss(age: Duration) -> Duration {
    (age / 100).clamp(Duration::from_millis(100), Duration::from_secs(10))
}

/// A report that an observer has heard: the finished units, and the CPU time that the one counting thread had used.
struct Report {
    units_done: usize,
    cpu_time: Duration,
}

/// The CPU time that this thread has used.
fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a time")
}

/// A count that takes seconds for each range of units that a thread takes at once, and milliseconds for a unit, so the
/// lines in the middle of a range matter. CPU time is compared, which is never more than the wall time, so a busy
/// machine cannot fail the test.
#[test]
fn a_kill_loses_little_of_the_finished_work() {
    let folder = fresh_folder("kill-little");
    let cancel = Cancel::new();
    let reports: Mutex<Vec<Report>> = Mutex::default();
    let begun = Instant::now();
    let count = Count::new(size(22)).engine(Engine::Colours).kernel(Kernel::PORTABLE).threads(1);
    let count = count.journal(&folder).cancel_on(&cancel).on_progress(|progress| {
        let cpu_time = thread_time();
        let age = begun.elapsed();
        let mut reports = reports.lock().expect("no panic");
        let recorded = record_of(&[&folder]).units_done();
        let is_recorded = |report: &&Report| report.units_done <= recorded;
        // The report that comes just now is not among them, because its units may still be written.
        if let Some(last) = reports.last()
            && !is_recorded(&last)
        {
            let kept =
                reports.iter().rfind(is_recorded).map_or(Duration::ZERO, |kept| kept.cpu_time);
            let lost = last.cpu_time - kept;
            assert!(
                lost <= allowed_loss(age) + Duration::from_millis(20),
                "a kill after {age:?} would lose {lost:?}"
            );
        }
        reports.push(Report { units_done: progress.units_done(), cpu_time });
        if reports.len() == 20 {
            cancel.cancel();
        }
    });
    let stopped = count.run().expect("a part of a count");
    assert!(!stopped.is_complete(), "the count takes minutes");
}

/// A run of hours by the clock that the program sees, which goes on at each look at it and only then. So the time
/// between two lines does not depend on the machine: a unit takes about a third of a second, and a range of units
/// takes up to 20 s.
#[cfg(target_os = "linux")]
#[test]
fn lines_are_written_as_often_as_the_age_of_the_run_asks() {
    use std::fs;

    use crate::common::processes::shim;
    use crate::common::{count_into, journal_in, result, run};

    let folder = fresh_folder("kill-age");
    let args = ["--engine", "subtrees", "--split-rows", "4", "--kernel", "portable", "-t", "1"];
    let mut count = count_into("16", &folder, &args);
    count.env("LD_PRELOAD", shim()).env("SHIM_TICK_MS", "60");
    assert_eq!(result(&run(&mut count)), (Some(0), "14772512\n", ""));

    let text = fs::read_to_string(journal_in(&folder)).expect("text");
    let mut before = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for line in text.lines().filter(|line| line.starts_with("done ")) {
        let field = line.split(' ').find_map(|field| field.strip_prefix("elapsed-ms="));
        let age = Duration::from_millis(field.expect("a time").parse().expect("a number"));
        // The units in progress come on top: those of one report, and some looks at the clock.
        let in_progress = Duration::from_millis(1500);
        let since = age - before;
        assert!(since <= allowed_loss(age) + in_progress, "{since:?} before {line}");
        (before, longest) = (age, longest.max(since));
    }
    // Otherwise the clock did not go on as described, and the test shows nothing.
    assert!(before > Duration::from_secs(3600), "the run took {before:?}");
    assert!(longest > Duration::from_secs(8), "{longest:?} is the longest time between two lines");
}
