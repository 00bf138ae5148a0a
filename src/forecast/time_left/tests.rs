//! Tests forecasts on simulated counts, with the recorded times of units and the ranges of the driver.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::slice;
use std::time::Duration;

use super::*;
use crate::count::ranges::{REPORT_EVERY, cut_into_ranges};

/// The size of each board, its number of units, and the mean microseconds of a unit in each of 256 parts of the plan.
const UNIT_TIMES: &str = include_str!("../../../tests/data/unit-times.csv");

/// The relative scatter of the times of neighbouring units.
const SCATTER: f64 = 0.3;

/// The shortest time of a simulated count in seconds: short counts are slowed down as if the machine were slower.
const SHORTEST: f64 = 30.0;

struct Board {
    n: usize,
    units: usize,
    means: Vec<f64>,
}

fn boards() -> impl Iterator<Item = Board> {
    UNIT_TIMES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.split(',');
        let mut field = || fields.next().expect("a field").parse().expect("a number");
        let n = field();
        let units = field();
        Board { n, units, means: fields.map(|mean| mean.parse().expect("a number")).collect() }
    })
}

impl Board {
    /// Makes the time of each unit, as if the plan began at another part of it.
    fn times(&self, first_part: usize, seed: u64, threads: usize) -> Vec<Duration> {
        let mut random = fastrand::Rng::with_seed(seed);
        // Nearly normal: the sum of twelve numbers with a variance of 1/12 each.
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let microseconds = (0..self.units).map(|unit| {
            let part = (unit * self.means.len() / self.units + first_part) % self.means.len();
            self.means[part].max(1.0) * (SCATTER * normal()).exp()
        });
        let microseconds: Vec<f64> = microseconds.collect();
        let seconds = microseconds.iter().sum::<f64>() / 1e6 / threads as f64;
        let slower = (SHORTEST / seconds).max(1.0) / 1e6;
        microseconds.into_iter().map(|time| Duration::from_secs_f64(time * slower)).collect()
    }
}

/// The units that a thread counts until its next report, and the report.
struct Job {
    rest: Range<usize>,
    report: UnitsDone,
}

impl Job {
    fn new(units: Range<usize>, times: &[Duration]) -> Self {
        let mut report = UnitsDone::none_from(units.start);
        while report.cpu_time < REPORT_EVERY && report.units.end < units.end {
            report.cpu_time += times[report.units.end];
            report.units.end += 1;
        }
        Self { rest: report.units.end..units.end, report }
    }
}

/// Makes the forecast of a count of this many units that begins.
fn of_all(units: usize, threads: usize) -> TimeLeft {
    TimeLeft::new(Sample::new(units), Rest { units, solutions: None }, threads)
}

/// Counts units with these times on a core for each thread. Returns the estimates with their times, and the time of the
/// end.
fn simulate(times: &[Duration], threads: usize) -> (Vec<(Duration, Approximate)>, Duration) {
    let all = 0..times.len();
    let ranges = cut_into_ranges(slice::from_ref(&all), threads, |unit| unit..unit + 1);
    let mut ranges = ranges.into_iter();
    let mut left = of_all(times.len(), threads);
    let mut jobs: Vec<Option<Job>> = Vec::new();
    let mut reports = BinaryHeap::new();
    for thread in 0..threads {
        let job = ranges.next().map(|units| Job::new(units, times));
        reports.extend(job.as_ref().map(|job| Reverse((job.report.cpu_time, thread))));
        jobs.push(job);
    }
    let mut estimates = Vec::new();
    let mut end = Duration::ZERO;
    let mut next_estimate = Duration::ZERO;
    let about = times.iter().sum::<Duration>().div_f64(threads as f64);
    while let Some(Reverse((now, thread))) = reports.pop() {
        let Job { rest, report } = jobs[thread].take().expect("it reports what it counted");
        left.record(&UnitsDone { elapsed: now, ..report });
        left.cores.add(now, now * u32::try_from(threads).expect("few threads"));
        if now >= next_estimate
            && let Some(forecast) = left.estimate()
            && let Some(seconds) = forecast.wall_seconds
            && seconds.standard_error.is_finite()
        {
            estimates.push((now, seconds));
            next_estimate = now + about / 200;
        }
        let units = if rest.is_empty() { ranges.next() } else { Some(rest) };
        let job = units.map(|units| Job::new(units, times));
        reports.extend(job.as_ref().map(|job| Reverse((now + job.report.cpu_time, thread))));
        jobs[thread] = job;
        end = now;
    }
    (estimates, end)
}

#[test]
fn what_is_finished_is_not_left() {
    let all = Rest { units: 100, solutions: Some(1000.0) };
    let mut left = TimeLeft::new(Sample::new(all.units), all, 1);
    left.record(&UnitsDone { units: 0..40, solutions: 300, ..UnitsDone::none_from(0) });
    assert_eq!((left.rest.units, left.rest.solutions), (60, Some(700.0)));
}

/// Checks the interval from the first estimate until shortly before the end.
#[test]
#[ignore = "takes ten seconds"]
fn the_interval_covers_the_truth_in_nine_of_ten_runs() {
    const PARTS_OF_RUN: [f64; 8] = [0.0, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95];
    for board in boards() {
        let mut runs = 0;
        let mut covered = [0; PARTS_OF_RUN.len()];
        for threads in [1, 2, 8, 32] {
            for run in 0..6 {
                let times = board.times(43 * run, run as u64, threads);
                let (estimates, end) = simulate(&times, threads);
                runs += 1;
                for (covered, part) in covered.iter_mut().zip(PARTS_OF_RUN) {
                    let at = end.mul_f64(part);
                    let (now, left) = estimates.iter().find(|(now, _)| *now >= at).expect("one");
                    let off = left.value - (end - *now).as_secs_f64();
                    *covered += u32::from(off.abs() <= 2.0 * left.standard_error);
                }
            }
        }
        let is_honest = covered.iter().all(|covered| 10 * covered >= 9 * runs);
        assert!(is_honest, "n = {}: {covered:?} of {runs} runs at {PARTS_OF_RUN:?}", board.n);
    }
}

/// An interval that covers everything would be of no use.
#[test]
fn the_interval_is_narrow_when_a_tenth_is_done() {
    for board in boards() {
        for threads in [2, 8] {
            let (estimates, end) = simulate(&board.times(0, 0, threads), threads);
            let after = |at: &Duration| *at >= end / 10;
            let (_, left) = estimates.iter().find(|(now, _)| after(now)).expect("an estimate");
            let part = 2.0 * left.standard_error / left.value;
            assert!(part < 0.3, "n = {}, {threads} threads: within {:.0} %", board.n, 100.0 * part);
        }
    }
}

#[test]
fn the_whole_is_what_is_finished_and_what_is_left() {
    let mut left = of_all(1000, 1);
    for unit in 0..100 {
        let units = 10 * unit..10 * unit + 1;
        let cpu_time = Duration::from_secs(2);
        left.record(&UnitsDone { units, solutions: 3, cpu_time, ..UnitsDone::default() });
    }
    let all = left.estimate_whole().expect("a hundred units").cpu_seconds;
    let rest = left.estimate().expect("a hundred units").cpu_seconds;
    assert_eq!((all.value, rest.value), (2000.0, 1800.0));
    assert_eq!(left.estimate_total().value, 3000.0);
}

/// What the process did before the count is not part of its cores.
#[test]
fn the_clock_is_read_from_the_beginning_of_the_count() {
    let mut left = of_all(1000, 1);
    left.cpu_time_before = Duration::MAX;
    left.read_clock();
    assert_eq!(left.cores.mean(), None, "no CPU time since then");
    let mut left = of_all(1000, 1);
    let before = process_time();
    while process_time() < before + Duration::from_millis(20) {}
    left.read_clock();
    let cores = left.cores.mean().expect("the clock runs");
    let seconds = left.cores.elapsed().as_secs_f64();
    assert!(cores * seconds > 0.019 || cores == 1.0, "{cores} cores in {seconds} s");
}

#[test]
fn a_reading_is_as_old_as_a_second_at_most() {
    let mut left = of_all(1000, 1);
    let begun = Instant::now().checked_sub(Duration::from_secs(20)).expect("the clock runs");
    left.begun = begun;
    left.read_clock();
    let first = left.cores.elapsed();
    assert!(first >= Duration::from_secs(20));
    left.begun = begun.checked_sub(READ_EVERY).expect("the clock runs");
    left.read_clock();
    assert!(left.cores.elapsed() >= first + READ_EVERY);
}
