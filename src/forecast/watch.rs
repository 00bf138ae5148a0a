//! Watches a sample: it stops what takes too long, and reports progress.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::Effort;
use super::sample::FEWEST_PARTS;
use super::sampled::Sampled;
use crate::cancel::Cancel;
use crate::observe::{Observer, Sampling};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// After its time, a sample waits at least this long for what has begun, or half of its time.
const LEAST_WAIT: Duration = Duration::from_secs(1);

/// Takes a sample. The cancellation that it is given is raised with the caller's, or if it takes too long
/// and says something already.
pub(super) fn watched<T>(
    (effort, begun): (Effort, Instant),
    sampled: &Mutex<Sampled>,
    observer: &dyn Observer,
    cancel: &Cancel,
    take: impl FnOnce(&Cancel) -> T,
) -> T {
    let stop = Cancel::new();
    let longest = effort.time.saturating_add(LEAST_WAIT.max(effort.time / 2));
    let look = || {
        let counted = sampled.lock().unwrap_or_else(PoisonError::into_inner).finished();
        let elapsed = begun.elapsed();
        if cancel.is_cancelled() || elapsed > longest && counted >= FEWEST_PARTS {
            stop.cancel();
        }
        observer.sampling(&Sampling { elapsed, time: effort.time, counted });
    };
    thread::scope(|scope| {
        let (end, ended) = channel::<()>();
        let watch = move || {
            while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        };
        // Where no thread can be started, only the caller can stop what takes too long.
        let watch = Builder::new().name("nqueens-watch".to_owned()).spawn_scoped(scope, watch);
        let result = take(if watch.is_ok() { &stop } else { cancel });
        drop(end);
        result
    })
}
