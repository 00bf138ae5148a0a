//! The cores that a process got in the last minute: its CPU time over the wall time.
//!
//! A running count reads the CPU clock of its process. Other processes see only the lines of its journal, each with the
//! CPU time of some finished units. What the threads have spent on other units is not known then, but it is about as
//! much at the end of one line as at the end of another. So the CPU time of the lines between these two moments is
//! divided by the time between them.

use std::collections::VecDeque;
use std::time::Duration;

/// The wall time over which the cores are averaged. It is long enough for a mean, and short enough that a process that
/// was stopped, continued, or moved to other cores has a true forecast a minute later.
const AVERAGED: Duration = Duration::from_secs(60);

/// From lines, a mean is taken of at least this many times the CPU time that all threads together may hold back at its
/// beginning or at its end, which is that of the longest line for each of them.
const LINES_OF_THREAD: f64 = 4.0;

/// How much CPU time a process had used at some moments. Only the moments that matter are kept.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    /// The number of threads that count. The process cannot use more cores to count.
    threads: f64,
    /// The number of lines that a mean needs. It is 0 if the CPU clock is known.
    lines: f64,
    /// The most CPU time between two moments.
    longest: Duration,
    moments: VecDeque<Moment>,
}

/// The time since the count began, and the CPU time that the process had used by then.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    elapsed: Duration,
    cpu_time: Duration,
}

impl Moment {
    fn cpu_seconds_since(&self, other: &Self) -> f64 {
        self.cpu_time.saturating_sub(other.cpu_time).as_secs_f64()
    }
}

impl Cores {
    /// Prepares for a process that reads its own CPU clock.
    pub(crate) fn by_clock(threads: usize) -> Self {
        Self {
            threads: threads as f64,
            lines: 0.0,
            longest: Duration::ZERO,
            moments: VecDeque::new(),
        }
    }

    /// Prepares for a process of which the lines of its journal are known.
    pub(crate) fn by_lines(threads: usize) -> Self {
        Self { lines: LINES_OF_THREAD * threads as f64, ..Self::by_clock(threads) }
    }

    /// Adds a moment, and forgets moments that no longer matter.
    pub(crate) fn add(&mut self, elapsed: Duration, cpu_time: Duration) {
        if let Some(last) = self.moments.back() {
            self.longest = self.longest.max(cpu_time.saturating_sub(last.cpu_time));
        }
        let now = Moment { elapsed, cpu_time };
        self.moments.push_back(now);
        // The mean begins at the last moment that is old enough.
        while let Some(second) = self.moments.get(1)
            && elapsed.saturating_sub(second.elapsed) >= AVERAGED
            && self.is_enough(now.cpu_seconds_since(second))
        {
            self.moments.pop_front();
        }
    }

    /// Returns whether a mean can be taken of this CPU time.
    fn is_enough(&self, cpu_seconds: f64) -> bool {
        cpu_seconds >= self.lines * self.longest.as_secs_f64()
    }

    /// Returns the time of the last moment since the count began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.moments.back().map_or(Duration::ZERO, |last| last.elapsed)
    }

    /// Returns how many cores the process got. Returns `None` while too little is known, or if the CPU clock stands
    /// still.
    pub(crate) fn mean(&self) -> Option<f64> {
        let first = self.moments.front()?;
        let last = self.moments.back()?;
        let cpu_seconds = last.cpu_seconds_since(first);
        let seconds = last.elapsed.saturating_sub(first.elapsed).as_secs_f64();
        if !self.is_enough(cpu_seconds) || cpu_seconds == 0.0 || seconds == 0.0 {
            return None;
        }
        Some((cpu_seconds / seconds).min(self.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(cores: &mut Cores, elapsed: f64, cpu_seconds: f64) {
        cores.add(Duration::from_secs_f64(elapsed), Duration::from_secs_f64(cpu_seconds));
    }

    /// Returns the mean after this many seconds. Each of two threads gets a share of a core, and writes a line every
    /// ten seconds, but not at the same time.
    fn by_lines(seconds: usize, share: impl Fn(usize) -> f64) -> Option<f64> {
        let mut cores = Cores::by_lines(2);
        let mut cpu_seconds = 0.0;
        let mut of_threads = [0.0; 2];
        for second in 1..=seconds {
            for (thread, of_thread) in of_threads.iter_mut().enumerate() {
                *of_thread += share(second);
                if second % 10 == 7 * thread {
                    cpu_seconds += *of_thread;
                    *of_thread = 0.0;
                    add(&mut cores, second as f64, cpu_seconds);
                }
            }
        }
        cores.mean()
    }

    #[test]
    fn a_quiet_machine_gives_all_cores_and_a_busy_one_what_is_left() {
        for seconds in [47, 60, 107, 3600, 3607] {
            for share in [1.0, 0.5, 0.25] {
                let cores = by_lines(seconds, |_| share).expect("four lines of each");
                assert!((cores / (2.0 * share) - 1.0).abs() < 0.1, "{seconds} s, {share}: {cores}");
            }
        }
    }

    #[test]
    fn a_few_lines_say_nothing() {
        let is_known = |seconds| by_lines(seconds, |_| 1.0).is_some();
        assert_eq!([0, 7, 40, 47].map(is_known), [false, false, false, true]);
        // The first units of a thread took a moment, and another one takes long.
        let mut cores = Cores::by_lines(1);
        for second in 0..10 {
            add(&mut cores, f64::from(second), 0.5 * f64::from(second));
        }
        assert_eq!(cores.mean(), Some(0.5));
        add(&mut cores, 19.0, 9.5);
        assert_eq!(cores.mean(), None, "9.5 s, of which a line has 5 s");
        add(&mut cores, 49.0, 24.5);
        assert_eq!(cores.mean(), None, "24.5 s, of which a line has 15 s");
        add(&mut cores, 50.0, 25.0);
        assert_eq!(cores.mean(), None, "whatever the last line has");
    }

    #[test]
    fn long_lines_are_averaged_over_more_than_a_minute() {
        let mut cores = Cores::by_lines(1);
        for line in 1..=10 {
            add(&mut cores, 100.0 * f64::from(line), 50.0 * f64::from(line));
            assert_eq!(cores.mean(), if line > 4 { Some(0.5) } else { None }, "{line}");
        }
    }

    /// The process was stopped, continued, or lost or won a core.
    #[test]
    fn a_minute_later_the_past_is_forgotten() {
        for (before, since) in [(0.0, 1.0), (1.0, 0.5), (0.5, 1.0)] {
            let share = |second| if second <= 120 { before } else { since };
            let cores = by_lines(200, share).expect("three minutes");
            assert!((cores - 2.0 * since).abs() < 0.05, "{before}, {since}: {cores}");
        }
        let mut stopped = Cores::by_clock(1);
        for (elapsed, cpu_seconds) in [(0.0, 0.0), (10.0, 10.0), (3600.0, 10.0)] {
            add(&mut stopped, elapsed, cpu_seconds);
        }
        for second in 1..=60 {
            add(&mut stopped, 3600.0 + f64::from(second), 10.0 + f64::from(second));
        }
        assert_eq!(stopped.mean(), Some(1.0));
    }

    #[test]
    fn the_mean_is_the_cpu_time_over_the_wall_time() {
        let mut cores = Cores::by_clock(3);
        add(&mut cores, 0.0, 0.0);
        assert_eq!(cores.mean(), None, "no time has passed");
        add(&mut cores, 0.5, 0.0);
        assert_eq!(cores.mean(), None, "the clock stands still");
        add(&mut cores, 4.0, 1.0);
        assert_eq!(cores.mean(), Some(0.25));
        add(&mut cores, 64.5, 101.0);
        assert_eq!(cores.mean(), Some(100.0 / 60.5), "from 4 s on");
        add(&mut cores, 65.5, 1e6);
        assert_eq!(cores.mean(), Some(3.0), "no more than the threads can use");
        add(&mut cores, 200.0, 1e6);
        assert_eq!((cores.moments.len(), cores.elapsed()), (2, Duration::from_secs(200)));
    }

    /// Lines may pretend any number of threads and any time.
    #[test]
    fn impossible_numbers_do_no_harm() {
        let mut cores = Cores::by_lines(usize::MAX);
        for moment in [Duration::MAX, Duration::ZERO, Duration::MAX] {
            cores.add(moment, Duration::MAX);
            assert_eq!(cores.mean(), None);
        }
        let mut cores = Cores::by_clock(1);
        for moment in [Duration::MAX, Duration::ZERO] {
            cores.add(moment, moment);
            assert_eq!(cores.mean(), None);
        }
    }
}
