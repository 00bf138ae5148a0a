//! Ctrl-C, SIGTERM and the signals that job systems send before a limit. The first signal asks the count to stop, and a
//! later one ends the program, whatever it waits for: a disk, or a reader. SIGXFSZ is an error of a write.
//!
//! Programs that start others may send a signal twice. For example, `timeout` sends it to its child and then to the
//! whole process group. So a signal shortly after the first one is taken for the same signal.

use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::Cancel;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::stderr;
use crate::error::Error;

/// Signals that ask for an end. Slurm sends any of them before a limit, Grid Engine and LSF both SIGUSR,
/// `ulimit -t` SIGXCPU, and `alarm` of Perl SIGALRM.
const STOP: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// Signals within this time of the first one count as the first. A user takes longer to press Ctrl-C again.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// Returns a cancellation that the first signal raises. A later signal ends the program.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let cancel = Cancel::new();
    let signals = Signals::new(stop_signals())
        .map_err(|error| Exit::Failed.because(format!("cannot catch signals: {error}")))?;
    let raised = cancel.clone();
    let thread = Builder::new().name("nqueens-signals".to_owned());
    thread
        .stack_size(stderr::STACK)
        .spawn(move || hear(signals, &raised))
        .map_err(Error::thread_not_started)?;
    Ok(cancel)
}

/// Returns the signals that are to be caught. A signal that is ignored already stays ignored, such as SIGHUP after
/// `nohup`, or SIGINT in the background of a script.
fn stop_signals() -> impl Iterator<Item = i32> {
    STOP.into_iter().filter(|signal| !is_ignored(*signal))
}

/// Hears signals until the program ends.
fn hear(mut signals: Signals, cancel: &Cancel) {
    let mut heard = None;
    for signal in signals.forever() {
        let Some(first) = heard else {
            heard = Some(Instant::now());
            cancel.cancel();
            continue;
        };
        // The operating system repeats SIGXCPU for each second of CPU time, on many cores at once.
        if signal != SIGXCPU && first.elapsed() > SAME_SIGNAL {
            end_by(signal);
        }
    }
}

/// Ends the program by the default of a signal. Where that does nothing, as in the first process of a container, the
/// program exits with the code that shells show for the signal.
#[expect(unsafe_code, reason = "the standard library does not change what a signal does")]
fn end_by(signal: i32) -> ! {
    // SAFETY: it only resets the signal to its default.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let _ = low_level::raise(signal);
    low_level::exit(128 + signal)
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
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
