//! Which engines are too slow for a board: predicted from their times on smaller boards, and found
//! by a run with a deadline.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nqueens::{Cancel, Engine};

/// From one board to the next every engine takes at least about this many times as long:
/// backtrackers 6 to 8 times, `halves` 4.5 to 6. The small figure is on the safe side: a prediction
/// that is too low costs one run that is cut off at the limit, one that is too high would leave out
/// an engine that fits.
const GROWTH: f64 = 4.0;

/// Shorter runs predict nothing: their times grow more slowly.
const SHORTEST: f64 = 0.1;

/// What one thread takes for [`Engine::largest_sensible`], at most.
const SENSIBLE_SECONDS: f64 = 10.0;

/// The least seconds that an engine will take for a board: judged by its last board and the time that
/// this took or, without one, by the largest board that is sensible for a textbook engine. `None` if
/// neither is known.
pub(super) fn predicted_seconds(engine: Engine, n: u32, last: Option<(u32, f64)>) -> Option<f64> {
    let sensible = engine.largest_sensible().filter(|largest| n > *largest);
    let sensible = sensible.map(|largest| (largest, SENSIBLE_SECONDS));
    let (known, seconds) = last.filter(|(_, seconds)| *seconds >= SHORTEST).or(sensible)?;
    Some(seconds * GROWTH.powf(f64::from(n) - f64::from(known)))
}

/// How often the deadline and the signals are checked.
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

    #[test]
    fn a_board_is_predicted_from_a_smaller_one() {
        let predicted = |n, last| predicted_seconds(Engine::Halves, n, last);
        assert_eq!(predicted(17, Some((16, 0.5))), Some(2.0));
        assert_eq!(predicted(18, Some((16, 0.5))), Some(8.0));
        assert_eq!(predicted(20, Some((8, 0.01))), None, "a hundredth of a second says little");
        assert_eq!(predicted(20, None), None);
    }

    #[test]
    fn textbook_engines_are_predicted_from_what_is_sensible() {
        assert_eq!(predicted_seconds(Engine::Bitmask, 18, Some((15, 0.5))), Some(32.0));
        for engine in Engine::ALL {
            let predicted = |n| predicted_seconds(engine, n, None);
            assert_eq!(predicted(engine.largest_sensible().unwrap_or(32)), None, "{engine}");
            if let Some(largest) = engine.largest_sensible() {
                assert_eq!(predicted(largest + 1), Some(40.0), "{engine}");
            }
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
