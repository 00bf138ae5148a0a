//! Ctrl-C, SIGTERM and the signals that job systems send before a limit. The first signal asks the count to stop, and a
//! later one kills the program. SIGXFSZ is an error of a write.
//!
//! Programs that start others may send a signal twice. For example, `timeout` sends it to its child and then to the
//! whole process group. So a signal shortly after the first one is taken for the same signal.

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::Cancel;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::flag::register_conditional_shutdown;
use signal_hook::low_level::{emulate_default_handler, exit, register};

use super::exit::{Exit, Failure};

/// Signals that ask for an end. Slurm sends any of them before a limit, Grid Engine and LSF both SIGUSR,
/// `ulimit -t` SIGXCPU, and `alarm` of Perl SIGALRM.
const STOP: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// Signals within this time of the first one count as the first. A user takes longer to press Ctrl-C again.
const SAME_SIGNAL_MS: u64 = 250;

/// In place of the time of the first signal, until it comes.
const NO_SIGNAL: u64 = u64::MAX;
/// When the first signal came, in milliseconds since [`BEGUN`].
static FIRST_SIGNAL: AtomicU64 = AtomicU64::new(NO_SIGNAL);
/// Whether signals do not stop a count yet, but end the first process of a container.
static IS_UNCAUGHT: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// When the program began to catch signals.
static BEGUN: OnceLock<Instant> = OnceLock::new();

/// After the first signal, output that nobody takes is waited for no longer than this.
const GRACE: Duration = Duration::from_secs(1);
/// The interval at which a wait looks for a signal.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Returns a cancellation that the first signal raises. A later signal ends the program.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let cancel = Cancel::new();
    let begun = *BEGUN.get_or_init(Instant::now);
    if let Some(is_uncaught) = IS_UNCAUGHT.get() {
        is_uncaught.store(false, Ordering::Relaxed);
    }
    for signal in stop_signals() {
        let cancel = cancel.clone();
        let handler = move || {
            cancel.cancel();
            let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(NO_SIGNAL);
            let first = FIRST_SIGNAL.fetch_min(now, Ordering::Relaxed);
            // The operating system repeats SIGXCPU for each second of CPU time, on many cores at once.
            if signal != SIGXCPU && now > first.saturating_add(SAME_SIGNAL_MS) {
                if std::process::id() == 1 {
                    // The first process of a container: for it, Linux has no default.
                    exit(128 + signal);
                }
                // It fails only for signals that have no default.
                let _ = emulate_default_handler(signal);
            }
        };
        // SAFETY: the handler uses atomics, the monotonic clock, the process's number (POSIX lists
        // `clock_gettime` and `getpid` as safe there), `exit` and `emulate_default_handler`, which are
        // made for handlers. It neither allocates nor locks nor panics.
        #[expect(unsafe_code, reason = "flags alone do not say when a signal came")]
        let registered = unsafe { register(signal, handler) };
        if let Err(error) = registered {
            return Err(Exit::Failed.because(format!("cannot catch signals: {error}")));
        }
    }
    Ok(cancel)
}

/// Returns the signals that are to be caught. A signal that is ignored already stays ignored, such as SIGHUP after
/// `nohup`, or SIGINT in the background of a script.
fn stop_signals() -> impl Iterator<Item = i32> {
    STOP.into_iter().filter(|signal| !is_ignored(*signal))
}

/// Returns whether a signal has asked the program to stop.
pub(crate) fn has_come() -> bool {
    FIRST_SIGNAL.load(Ordering::Relaxed) != NO_SIGNAL
}

/// Makes signals end the first process of a container, because for it, Linux has no default. This holds until signals
/// are caught to stop a count.
pub(crate) fn end_first_process() {
    if std::process::id() != 1 {
        return;
    }
    let is_uncaught = IS_UNCAUGHT.get_or_init(|| Arc::new(AtomicBool::new(true)));
    for signal in stop_signals() {
        // If it cannot be caught, it still does nothing.
        let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(is_uncaught));
    }
}

/// Returns whether a signal came longer ago than the grace. Then nothing is waited for any more.
pub(crate) fn is_grace_over() -> bool {
    if !has_come() {
        return false;
    }
    let Some(begun) = BEGUN.get() else { return false };
    let first = Duration::from_millis(FIRST_SIGNAL.load(Ordering::Relaxed));
    begun.elapsed() > first + GRACE
}

/// Waits until the sender of a channel is dropped, but not longer than `patience`, and after a signal not longer than
/// the grace. Returns whether the sender was dropped.
pub(crate) fn wait_for_end(end: &Receiver<Infallible>, patience: Duration) -> bool {
    let begun = Instant::now();
    loop {
        match end.recv_timeout(LOOK_EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return true,
        }
        if begun.elapsed() >= patience || is_grace_over() {
            return false;
        }
    }
}

#[expect(unsafe_code, reason = "the standard library does not say what happens to a signal")]
fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, `sigaction` only writes the present one. If it fails, zeros are left,
    // which are an action as well: the default.
    unsafe {
        libc::sigaction(signal, null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Makes a write beyond `ulimit -f` fail, like a write to a full disk, rather than kill the program.
pub(crate) fn survive_file_size_limit() {
    // If the signal is caught, the write fails. If it cannot be caught, it still kills the program.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}
