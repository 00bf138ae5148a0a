//! The progress of a sample for an estimate.
//!
//! ```text
//! estimate [==>       ] 2.6s of 10.0s, 318 counted
//! ```

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nqueens::{Observer, Sampling};

use super::bar::{Bar, Display, ProgressWhen, columns};
use super::stderr::message;
use super::text::duration;

const NAME: &str = "estimate";
/// Shorter samples show nothing.
const SHORTEST: Duration = Duration::from_secs(1);

/// Shows how far a sample is: its bar is the time.
pub(crate) struct SampleProgress {
    display: Display,
    bar: Bar,
    state: Arc<State>,
    next_line: Mutex<Duration>,
}

#[derive(Debug, Default)]
struct State {
    /// Milliseconds.
    elapsed: AtomicU64,
    time: AtomicU64,
    counted: AtomicUsize,
}

impl SampleProgress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let state = Arc::new(State::default());
        let shown = Arc::clone(&state);
        let bar = Bar::new(NAME, 0, move |_, columns| shown.text(columns));
        Self { display: when.display(), bar, state, next_line: Mutex::default() }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        self.bar.clear();
    }
}

impl Observer for SampleProgress {
    fn sampling(&self, sampling: &Sampling) {
        let milliseconds = |time: Duration| time.as_millis().try_into().unwrap_or(u64::MAX);
        self.state.elapsed.store(milliseconds(sampling.elapsed), Relaxed);
        self.state.time.store(milliseconds(sampling.time), Relaxed);
        self.state.counted.store(sampling.counted, Relaxed);
        match self.display {
            Display::Nothing => {}
            _ if sampling.time < SHORTEST => {}
            Display::Bar => {
                let [done, all] = [sampling.elapsed.min(sampling.time), sampling.time]
                    .map(|time| time.as_millis().try_into().unwrap_or(usize::MAX));
                self.bar.restart(NAME.to_owned(), all, done);
                self.bar.show();
            }
            Display::Lines(longest_gap) => {
                let mut next = self.next_line.lock().unwrap_or_else(PoisonError::into_inner);
                if sampling.elapsed >= *next {
                    *next = sampling.elapsed + sampling.elapsed.max(SHORTEST).min(longest_gap);
                    let columns = columns().saturating_sub("nqueens: ".len());
                    message!("{NAME} {}", self.state.text(columns));
                }
            }
        }
    }
}

impl State {
    fn text(&self, columns: usize) -> String {
        let [elapsed, time] = [&self.elapsed, &self.time]
            .map(|time| duration(Duration::from_millis(time.load(Relaxed))));
        let short = format!("{elapsed} of {time}");
        let long = format!("{short}, {} counted", self.counted.load(Relaxed));
        if long.chars().count() <= columns { long } else { short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_tell_the_time() {
        let state = State::default();
        state.elapsed.store(2600, Relaxed);
        state.time.store(10_000, Relaxed);
        state.counted.store(318, Relaxed);
        assert_eq!(state.text(28), "2.6s of 10.0s, 318 counted");
        assert_eq!(state.text(25), "2.6s of 10.0s");
    }
}
