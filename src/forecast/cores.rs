//! The number of cores that a count gets: CPU seconds for each second of wall time.
//!
//! A count gets fewer cores than it has threads if other programs run, or if it has more threads than the machine has
//! cores. Time is cut into slices. A new slice lasts a quarter of a second. Later, two neighbouring slices are joined
//! into one, so that there are at most about eight slices of each length. So the recent past has short slices.
//!
//! The forecast looks back as far as it looks ahead: for the next minute it uses the last minute, for the next day
//! the last day. But it does not look back beyond a moment at which the number of cores changed by a third. There a
//! process may have been stopped or continued, or may have lost a part of its cores.
//!
//! The standard error comes from the differences between the slices. It is small for a count that has always had its
//! cores for itself, and large if other work comes and goes. A second part stands for what was never seen: other
//! programs may begin, and programs that take cores may end. That becomes more likely, the longer the time ahead is
//! in relation to the time that was seen.

use super::ratio::Approximate;
use crate::done::UnitsDone;

/// The length of a new slice, in seconds.
const SLICE_SECONDS: f64 = 0.25;
/// The largest number of slices of one length.
const MAX_ALIKE: usize = 8;
/// The smallest number of slices for a forecast.
const MIN_SLICES: usize = 4;
/// The shortest time that a forecast looks back, in seconds, if that much was seen.
const MIN_SECONDS: f64 = 10.0;
/// The shortest time, in seconds, that is compared with the time before it.
const MIN_COMPARED_SECONDS: f64 = 5.0;
/// The relative difference between the cores of two successive times beyond which the earlier time does not count.
const CHANGE: f64 = 1.0 / 3.0;
/// After this many seconds without a report, everything earlier is forgotten.
const MAX_GAP_SECONDS: f64 = 10_000.0;
/// The factor from the variance of the slices to that of the forecast. Neighbouring slices are alike, so they differ
/// less from each other than from what comes later.
const MORE_VARIANCE: f64 = 2.25;
/// Parts of the standard error if the time ahead is long in relation to the time that was seen: `TAKEN` is the part
/// of the own cores that others may take, `GIVEN_BACK` the part of the others' cores that they may give back.
const TAKEN: f64 = 0.06;
const GIVEN_BACK: f64 = 0.3;

/// The cores that one process gets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores {
    /// The slices, the oldest first, without gaps.
    slices: Vec<Slice>,
    /// The time at which the first slice begins, in seconds.
    begun: f64,
    /// The CPU seconds of the longest report.
    longest: f64,
}

/// The time from `start` to `end`, in seconds since the process began, and the CPU time used in it.
#[derive(Clone, Copy, Debug)]
struct Slice {
    start: f64,
    end: f64,
    cpu_seconds: f64,
}

impl Slice {
    fn length(&self) -> f64 {
        self.end - self.start
    }
}

impl Cores {
    /// Adds the CPU time of a report. The thread spent it just before the moment of the report. If the thread had a
    /// core of its own, it spent it without a pause.
    pub(crate) fn record(&mut self, done: &UnitsDone) {
        // Journals may hold any time. Beyond this limit, floating-point numbers are too coarse for slices.
        let moment = done.elapsed.as_secs_f64().min(1e12);
        let cpu_seconds = done.cpu_time.as_secs_f64();
        self.longest = self.longest.max(cpu_seconds);
        if moment > self.end() + MAX_GAP_SECONDS {
            self.slices.clear();
            // Lengths are exact multiples of the shortest length, so they can be compared.
            self.begun = (moment / SLICE_SECONDS).floor() * SLICE_SECONDS;
        }
        while self.end() < moment {
            let (start, end) = (self.end(), self.end() + SLICE_SECONDS);
            self.slices.push(Slice { start, end, cpu_seconds: 0.0 });
            self.merge_old();
        }
        let begun = moment - cpu_seconds;
        for slice in self.slices.iter_mut().rev().take_while(|slice| slice.end > begun) {
            slice.cpu_seconds += (slice.end.min(moment) - slice.start.max(begun)).max(0.0);
        }
    }

    fn end(&self) -> f64 {
        self.slices.last().map_or(self.begun, |slice| slice.end)
    }

    /// Joins the two oldest slices of each length that has too many.
    fn merge_old(&mut self) {
        let mut last = self.slices.len() - 1;
        while let Some(first) = last.checked_sub(MAX_ALIKE) {
            if self.slices[first].length() != self.slices[last].length() {
                return;
            }
            let second = self.slices.remove(first + 1);
            self.slices[first].end = second.end;
            self.slices[first].cpu_seconds += second.cpu_seconds;
            last = first;
        }
    }

    /// Estimates how many of at most `most` cores the process gets in the next seconds. Returns `None` while too
    /// little is known.
    pub(crate) fn forecast(&self, seconds: f64, most: f64) -> Option<Approximate> {
        // The CPU time since the last report of each thread is not known yet.
        let known = self.end() - SLICE_SECONDS - self.longest;
        let (mut time, mut late) = (0.0, Vec::new());
        for slice in self.slices.iter().rev().skip_while(|slice| slice.end > known) {
            if time >= seconds.max(MIN_SECONDS) && late.len() >= MIN_SLICES {
                break;
            }
            time += slice.length();
            late.push(slice);
        }
        let mean = mean_since_change(&late);
        let deviation = |slice: &&Slice| slice.cpu_seconds / slice.length() - mean;
        let variance =
            late.iter().map(|slice| slice.length() * deviation(slice).powi(2)).sum::<f64>() / time;
        let unseen = TAKEN * mean + GIVEN_BACK * (most - mean).max(0.0);
        let unseen = unseen * seconds / (seconds + time);
        let standard_error = (MORE_VARIANCE * variance).sqrt().hypot(unseen);
        (late.len() >= MIN_SLICES && mean > 0.0)
            .then_some(Approximate { value: mean, standard_error })
    }
}

/// Returns the mean number of cores in the latest slices, the newest first, back to the moment at which it changed.
/// Each time span is compared with an equally long one before it.
fn mean_since_change(late: &[&Slice]) -> f64 {
    let (mut time, mut cpu_seconds) = (0.0, 0.0);
    let (mut before, mut cpu_before) = (0.0, 0.0);
    for (place, slice) in late.iter().enumerate() {
        before += slice.length();
        cpu_before += slice.cpu_seconds;
        if before < MIN_COMPARED_SECONDS.max(time) && place + 1 < late.len() {
            continue;
        }
        let (now, then) = (cpu_seconds / time, cpu_before / before);
        if time > 0.0 && (now - then).abs() > CHANGE * now.max(then) {
            break;
        }
        (time, cpu_seconds) = (time + before, cpu_seconds + cpu_before);
        (before, cpu_before) = (0.0, 0.0);
    }
    cpu_seconds / time
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn record(cores: &mut Cores, moment: f64, cpu_seconds: f64) {
        let [elapsed, cpu_time] = [moment, cpu_seconds].map(Duration::from_secs_f64);
        cores.record(&UnitsDone { elapsed, cpu_time, ..UnitsDone::default() });
    }

    /// Simulates two threads that report in turn, each with this share of a core.
    fn after(seconds: usize, share: impl Fn(usize) -> f64) -> Cores {
        let mut cores = Cores::default();
        for second in 0..seconds {
            record(&mut cores, second as f64 + 0.5, share(second));
            record(&mut cores, second as f64 + 1.0, share(second));
        }
        cores
    }

    #[test]
    fn a_quiet_machine_gives_all_cores_and_a_busy_one_what_is_left() {
        let is_near = |found: Option<Approximate>, value: f64| {
            let found = found.expect("a minute is enough");
            assert!((found.value - value).abs() < 0.1 && found.standard_error < 0.3, "{found:?}");
        };
        is_near(after(60, |_| 1.0).forecast(60.0, 2.0), 2.0);
        is_near(after(60, |_| 0.5).forecast(60.0, 2.0), 1.0);
        assert_eq!(after(1, |_| 1.0).forecast(60.0, 2.0), None, "too early");
    }

    #[test]
    fn gaps_and_impossible_times_do_no_harm() {
        let mut cores = Cores::default();
        for moment in [1.0, 1e5 + 0.1, 1e5 + 700.3, 1e9, 1e9 + 900.7, 1e15, 1e17, 1e17 + 64.0, 3.0]
        {
            record(&mut cores, moment, 0.5);
            assert!(cores.slices.len() < 100, "{} slices at {moment}", cores.slices.len());
        }
        record(&mut cores, 4.0, 1e18);
        assert_eq!(cores.forecast(1.0, 2.0), None, "nothing is known of so long a report");
    }

    /// In half of the earlier time there is no work: the process was stopped, and continued at the end.
    #[test]
    fn a_pause_or_fewer_cores_count_for_twenty_seconds_at_most() {
        for (before, since) in [(0.0, 1.0), (1.0, 0.5), (0.5, 1.0)] {
            for ahead in [10.0, 60.0, 600.0, 6000.0] {
                let share = |second| if (60..120).contains(&second) { before } else { since };
                let forecast = after(135, share).forecast(ahead, 2.0).expect("long enough");
                assert!(
                    (forecast.value - 2.0 * since).abs() < 0.1,
                    "{before} {ahead}: {forecast:?}"
                );
            }
        }
    }

    #[test]
    fn the_time_that_lies_ahead_decides_how_much_of_the_past_counts() {
        let cores = after(1000, |second| if second < 900 { 1.0 } else { 0.5 });
        let of = |seconds| cores.forecast(seconds, 2.0).expect("long enough");
        assert!((of(50.0).value - 1.0).abs() < 0.1 && of(50.0).standard_error < 0.3);
        assert!((of(1000.0).value - 1.0).abs() < 0.05 && of(1000.0).standard_error > 0.2);
        assert!(cores.slices.len() < 100, "{} slices", cores.slices.len());
        let all: f64 = cores.slices.iter().map(|slice| slice.cpu_seconds).sum();
        assert!((all - 1900.0).abs() < 1.0, "{all} CPU seconds");
    }
}
