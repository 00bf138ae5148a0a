//! Ctrl-C, SIGTERM and the signals that job systems send before a limit. The first signal asks the count to stop, and a
//! later one kills the program. SIGXFSZ is an error of a write.
//!
//! One thread hears all of them. After the first signal it also ends the program once an
//! [output](crate::cli::output::stdout) takes nothing any more, because then nothing but a reader keeps the program.
//!
//! Programs that start others may send a signal twice. For example, `timeout` sends it to its child and then to the
//! whole process group. So a signal shortly after the first one is taken for the same signal.

use std::mem::MaybeUninit;
use std::process;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::Cancel;
use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::output::stderr::{self, message};
use crate::cli::output::stdout::{Awaited, vain_wait};
use crate::error::Error;

/// Signals that ask for an end. Slurm sends any of them before a limit, Grid Engine and LSF both SIGUSR,
/// `ulimit -t` SIGXCPU, and `alarm` of Perl SIGALRM.
const STOP: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// Signals within this time of the first one count as the first. A user takes longer to press Ctrl-C again.
const SAME_SIGNAL: Duration = Duration::from_millis(250);
/// The interval at which the thread looks for another signal, and for an output that takes nothing.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the first signal raises. There is none if the command cannot be stopped, only killed.
static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// Returns a cancellation that the first signal raises. A later signal ends the program.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let cancel = CANCEL.get_or_init(Cancel::new).clone();
    start_thread()?;
    Ok(cancel)
}

/// Makes signals end the first process of a container, because for it, Linux has no default.
pub(crate) fn end_first_process() {
    if is_first_process() {
        // If they cannot be caught, they still do nothing.
        let _ = start_thread();
    }
}

fn is_first_process() -> bool {
    process::id() == 1
}

/// Starts the thread that hears signals, unless it runs.
fn start_thread() -> Result<(), Failure> {
    static RUNS: AtomicBool = AtomicBool::new(false);
    if RUNS.load(Ordering::Relaxed) {
        return Ok(());
    }
    let signals = Signals::new(stop_signals())
        .map_err(|error| Exit::Failed.because(format!("cannot catch signals: {error}")))?;
    let thread = Builder::new().name("nqueens-signals".to_owned());
    thread
        .stack_size(stderr::STACK)
        .spawn(move || hear(signals))
        .map_err(Error::thread_not_started)?;
    RUNS.store(true, Ordering::Relaxed);
    Ok(())
}

/// Returns the signals that are to be caught. A signal that is ignored already stays ignored, such as SIGHUP after
/// `nohup`, or SIGINT in the background of a script.
fn stop_signals() -> impl Iterator<Item = i32> {
    STOP.into_iter().filter(|signal| !is_ignored(*signal))
}

/// Hears signals until the program ends.
fn hear(mut signals: Signals) {
    let Some(signal) = signals.forever().next() else { return };
    let Some(cancel) = CANCEL.get() else { end_by(signal) };
    cancel.cancel();
    let first = Instant::now();
    loop {
        for signal in signals.pending() {
            // The operating system repeats SIGXCPU for each second of CPU time, on many cores at once.
            if signal != SIGXCPU && first.elapsed() > SAME_SIGNAL {
                end_by(signal);
            }
        }
        end_if_output_takes_nothing();
        sleep(LOOK_EVERY);
    }
}

/// Ends the program as the signal does by default.
fn end_by(signal: i32) -> ! {
    if !is_first_process() {
        // It fails only for signals that have no default.
        let _ = low_level::emulate_default_handler(signal);
    }
    low_level::exit(128 + signal)
}

/// Ends the program if the command waits in vain for an output.
fn end_if_output_takes_nothing() {
    let Some(wait) = vain_wait() else { return };
    let exit = match wait.awaited {
        Awaited::Answer => {
            message!("stopped before standard output took the answer");
            stderr::flush();
            if vain_wait().is_none() {
                // Somebody has read it at the last moment.
                return;
            }
            wait.exit.and(Exit::Stopped)
        }
        Awaited::Messages => wait.exit,
    };
    low_level::exit(i32::from(exit as u8))
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
