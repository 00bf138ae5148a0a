//! Which engines are too slow for a board: predicted from what is known of smaller ones, and found
//! out by a run with a deadline.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nqueens::{BoardSize, Cancel, Engine};

/// From one board to the next all engines take at least about this many times as long, over a few
/// boards: backtrackers 6 to 8 times, `halves` 4.6 to 6. The small figure is on the safe side. A
/// prediction that is too low costs one run that is cut off at the limit; one that is too high
/// would leave out an engine that fits.
const GROWTH: f64 = 5.0;

/// What one thread takes for [`Engine::largest_sensible`], in the middle of 1 to 7 s.
const SENSIBLE_SECONDS: f64 = 3.0;

/// The time of one count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) size: BoardSize,
    pub(super) seconds: f64,
}

/// The seconds that an engine will take for a board, at least, judged by the time of a smaller
/// board on the same threads; without one by what is sensible for a textbook engine. `None` if
/// nothing is known.
pub(super) fn predicted_seconds(
    engine: Engine,
    threads: usize,
    size: BoardSize,
    before: Option<Known>,
) -> Option<f64> {
    let (n, seconds) = match (before, engine.largest_sensible()) {
        (Some(Known { size, seconds }), _) => (size.get(), seconds),
        #[expect(clippy::cast_precision_loss, reason = "at most 4096 threads")]
        (None, Some(largest)) => (largest, SENSIBLE_SECONDS / threads as f64),
        (None, None) => return None,
    };
    Some(seconds * GROWTH.powf(f64::from(size.get()) - f64::from(n)))
}

/// How often the deadline and the signals are looked at.
const POLL: Duration = Duration::from_millis(20);

/// Counts with a cancellation that is raised when the limit has passed, or when `signals` is.
pub(super) fn with_deadline<T>(
    limit: Duration,
    signals: &Cancel,
    count: impl FnOnce(&Cancel) -> T,
) -> io::Result<T> {
    let stop = Cancel::new();
    thread::scope(|scope| {
        let (count_runs, ended) = channel::<()>();
        let begun = Instant::now();
        let raise = stop.clone();
        thread::Builder::new().spawn_scoped(scope, move || {
            // Nothing is ever sent: the channel closes when the count has ended.
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if signals.is_cancelled() || begun.elapsed() >= limit {
                    raise.cancel();
                }
            }
        })?;
        let counted = count(&stop);
        drop(count_runs);
        Ok(counted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> BoardSize {
        BoardSize::new(n).expect("in range")
    }

    #[test]
    fn a_board_is_predicted_from_a_smaller_one() {
        let before = Some(Known { size: size(16), seconds: 0.5 });
        let predicted = |n, engine| predicted_seconds(engine, 1, size(n), before);
        assert_eq!(predicted(17, Engine::Halves), Some(2.5));
        assert_eq!(predicted(18, Engine::Bitmask), Some(12.5));
    }

    #[test]
    fn textbook_engines_are_predicted_without_one_and_the_others_are_not() {
        let predicted = |engine, n| predicted_seconds(engine, 1, size(n), None);
        for engine in Engine::ALL {
            let Some(largest) = engine.largest_sensible() else {
                assert_eq!(predicted(engine, 16), None);
                continue;
            };
            assert_eq!(predicted(engine, largest), Some(SENSIBLE_SECONDS), "{engine}");
            assert!(predicted(engine, 32) > Some(1e6), "{engine}");
            assert!(predicted(engine, 0) < Some(0.01), "{engine}");
        }
    }

    #[test]
    fn the_deadline_raises_the_cancellation_and_so_do_signals() {
        let waits = |limit: Duration, signals: &Cancel| {
            let wait = |cancel: &Cancel| {
                while !cancel.is_cancelled() {
                    thread::sleep(Duration::from_millis(1));
                }
            };
            with_deadline(limit, signals, wait).expect("a thread");
        };
        waits(Duration::from_millis(30), &Cancel::new());
        let raised = Cancel::new();
        raised.cancel();
        waits(Duration::from_secs(3600), &raised);
        let at_once = with_deadline(Duration::from_secs(3600), &Cancel::new(), |_| 5);
        assert_eq!(at_once.expect("a thread"), 5);
    }
}
