//! The one driver: units x engine on a rayon pool, reduced to a sum.
//!
//! Units are handed out in ranges, so that units of microseconds cost no scheduling. The ranges
//! are taken in a scattered order, the same at every run: neighbouring units are alike, and with
//! the order scattered those done at any time are a fair sample of all. That is what makes an
//! estimate of the remaining time from the time measured so far an honest one.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::observe::{Observer, UnitsDone};
use crate::plan::{Plan, PreparedPlan, UnitCounter};

/// Ranges for each thread: enough that the last one to finish is short.
const RANGES_PER_THREAD: usize = 256;

/// A range reports at least this often, between two units.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The sum over some units.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    units: usize,
    solutions: u128,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self { units: self.units + other.units, solutions: self.solutions + other.solutions }
    }
}

/// Counts all units of a plan on the current rayon pool; returns the total.
pub(crate) fn run(
    plan: &Plan,
    prepared: &PreparedPlan<'_>,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<u128, Error> {
    let units = plan.units();
    let threads = rayon::current_num_threads();
    let range_len = (units / (threads * RANGES_PER_THREAD)).max(1);
    let ranges = units.div_ceil(range_len);
    let stride = scattering_stride(ranges);
    // Scratch memory goes from range to range: each thread takes a set and brings it back.
    let idle_counters: Mutex<Vec<UnitCounter<'_>>> = Mutex::default();
    observer.started(plan, threads);

    let tally = (0..ranges)
        .into_par_iter()
        .with_max_len(1)
        .map(|turn| {
            let start = turn * stride % ranges * range_len;
            let range = start..units.min(start + range_len);
            let idle = idle_counters.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut counter = idle.unwrap_or_else(|| prepared.counter());
            let tally = count_range(plan, &mut counter, range, observer, cancel);
            idle_counters.lock().unwrap_or_else(PoisonError::into_inner).push(counter);
            tally
        })
        .try_reduce(Tally::default, |one, other| Ok(one.plus(other)))?;

    if tally.units < units {
        return Err(Error::Stopped { done: tally.units, units, solutions: tally.solutions });
    }
    Ok(tally.solutions)
}

/// Counts the units of a range up to its end or to a cancellation, and reports them now and then.
fn count_range(
    plan: &Plan,
    counter: &mut UnitCounter<'_>,
    range: Range<usize>,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<Tally, Error> {
    let mut whole = Tally::default();
    let mut rest = range;
    while !rest.is_empty() && !cancel.is_cancelled() {
        let begun = Instant::now();
        let mut tally = Tally::default();
        for unit in rest.clone() {
            match counter.count(unit, cancel) {
                Ok(count) => {
                    let solutions = u128::from(count) * u128::from(plan.weight(unit));
                    tally = tally.plus(Tally { units: 1, solutions });
                }
                Err(Error::UnitStopped { .. }) => break,
                Err(error) => return Err(error),
            }
            if begun.elapsed() >= REPORT_EVERY {
                break;
            }
        }
        if tally.units == 0 {
            break; // cancelled
        }
        let done = rest.start..rest.start + tally.units;
        rest.start = done.end;
        let Tally { solutions, .. } = tally;
        observer.units_done(&UnitsDone { units: done, solutions, busy: begun.elapsed() });
        whole = whole.plus(tally);
    }
    Ok(whole)
}

/// A step that visits all of `0..len` when taken `len` times modulo `len`, and whose first steps
/// are spread evenly: the golden section of the length, or the next number that shares no factor
/// with it.
fn scattering_stride(len: usize) -> usize {
    let golden = len * 618 / 1000;
    (golden.max(1)..).find(|stride| greatest_common_divisor(*stride, len) == 1).unwrap_or(1)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scattered_order_visits_every_range_once() {
        for len in 1..200 {
            let stride = scattering_stride(len);
            let mut visited: Vec<usize> = (0..len).map(|turn| turn * stride % len).collect();
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..len), "{len} ranges, stride {stride}");
        }
    }
}
