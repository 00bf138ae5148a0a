//! The cores that a process got in the last minute: its CPU time over the wall time.

use std::collections::VecDeque;

use crate::plan::done::UnitsDone;

/// The time, in seconds, over which the cores are averaged. It is long enough for a mean, and short enough that a
/// process that was stopped, continued, or moved to other cores has a true forecast a minute later.
const AVERAGED_SECONDS: f64 = 60.0;

/// What the threads of a process have lately reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores {
    /// The reports that may still matter.
    reports: VecDeque<Report>,
    /// The end of the latest report.
    now: f64,
    /// The largest number of CPU seconds in a report, also in those that were forgotten.
    most_cpu_seconds: f64,
    /// The longest time from one report to the next, in seconds.
    longest_gap: f64,
}

/// The end of a report in seconds since the process began, and its CPU seconds. A thread has spent them just before
/// that moment, at once if it had a core of its own.
#[derive(Clone, Copy, Debug)]
struct Report {
    end: f64,
    cpu_seconds: f64,
}

impl Cores {
    /// Adds a report of finished units, and forgets reports that no longer matter.
    pub(crate) fn record(&mut self, done: &UnitsDone) {
        let end = done.elapsed.as_secs_f64();
        let cpu_seconds = done.cpu_time.as_secs_f64();
        self.reports.push_back(Report { end, cpu_seconds });
        self.longest_gap = self.longest_gap.max(end - self.now);
        self.now = self.now.max(end);
        self.most_cpu_seconds = self.most_cpu_seconds.max(cpu_seconds);
        // The mean is taken of the last minute before the moment until which all is known.
        let earliest_known_until = self.now - self.most_cpu_seconds;
        let needed_from = earliest_known_until - AVERAGED_SECONDS;
        while self.reports.front().is_some_and(|report| report.end < needed_from) {
            self.reports.pop_front();
        }
    }

    /// Returns the moment until which all CPU time is known. A thread that has not reported since may do so now, with
    /// as many CPU seconds as any of the latest reports.
    fn known_until(&self) -> f64 {
        let mut most_lately = 0.0;
        for report in &self.reports {
            most_lately = report.cpu_seconds.max(most_lately);
        }
        self.now - most_lately
    }

    /// Returns the longest time from one report to the next, in seconds.
    pub(crate) fn longest_gap(&self) -> f64 {
        self.longest_gap
    }

    /// Returns how many cores the process got. Returns `None` while too little is known.
    pub(crate) fn mean(&self) -> Option<f64> {
        let end = self.known_until();
        let begin = (end - AVERAGED_SECONDS).max(0.0);
        let mut cpu_seconds = 0.0;
        for report in &self.reports {
            let report_begin = (report.end - report.cpu_seconds).max(begin);
            let report_end = report.end.min(end);
            cpu_seconds += (report_end - report_begin).max(0.0);
        }
        if end <= begin || cpu_seconds <= 0.0 {
            return None;
        }
        Some(cpu_seconds / (end - begin))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn record(cores: &mut Cores, moment: f64, cpu_seconds: f64) {
        cores.record(&UnitsDone {
            elapsed: Duration::from_secs_f64(moment),
            cpu_time: Duration::from_secs_f64(cpu_seconds),
            ..UnitsDone::default()
        });
    }

    /// Two threads that report in turn, each with this share of a core.
    fn after(seconds: usize, share: impl Fn(usize) -> f64) -> f64 {
        let mut cores = Cores::default();
        for second in 0..seconds {
            record(&mut cores, second as f64 + 0.5, share(second));
            record(&mut cores, second as f64 + 1.0, share(second));
        }
        cores.mean().expect("long enough")
    }

    #[test]
    fn a_quiet_machine_gives_all_cores_and_a_busy_one_what_is_left() {
        assert!((after(600, |_| 1.0) - 2.0).abs() < 0.05);
        assert!((after(600, |_| 0.5) - 1.0).abs() < 0.05);
        assert!((after(3, |_| 1.0) - 2.0).abs() < 0.5);
    }

    /// The process was stopped or continued, or lost or won a core.
    #[test]
    fn a_minute_later_the_past_is_forgotten() {
        for (before, since) in [(0.0, 1.0), (1.0, 0.5), (0.5, 1.0)] {
            let cores = after(182, |second| if second < 120 { before } else { since });
            assert!((cores - 2.0 * since).abs() < 0.05, "{before}, {since}: {cores}");
        }
    }

    #[test]
    fn long_reports_and_impossible_times_do_no_harm() {
        let mut cores = Cores::default();
        for hour in 0..10 {
            record(&mut cores, 3600.0 * f64::from(hour + 1), 3600.0);
        }
        assert!((cores.mean().expect("ten hours") - 1.0).abs() < 0.05, "one thread, long units");
        for moment in [1e9, 3.0, 1e15] {
            record(&mut cores, moment, 1e18);
            assert!(cores.mean().is_none_or(|cores| cores >= 0.0));
        }
        assert!(cores.reports.len() < 20);
    }

    /// The last report may hide what another thread has done in its four seconds.
    #[test]
    fn the_mean_is_the_known_cpu_time_over_the_known_time() {
        let mut cores = Cores::default();
        record(&mut cores, 10.0, 4.0);
        assert_eq!(cores.mean(), None, "all of the time before is without a report");
        record(&mut cores, 20.0, 4.0);
        assert_eq!(cores.mean(), Some(4.0 / 16.0));
        record(&mut cores, 21.0, 1.0);
        assert_eq!(cores.mean(), Some(5.0 / 17.0));
        assert_eq!(cores.longest_gap(), 10.0);
        record(&mut cores, 100.0, 2.0);
        assert_eq!(cores.reports.len(), 1, "the others ended more than a minute before");
        assert_eq!(cores.longest_gap(), 79.0);
    }
}
