//! Ctrl-C and SIGTERM: the first asks the count to stop, the second kills the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nqueens::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A cancellation that the signals raise.
pub(super) fn cancel_on_signals() -> io::Result<Cancel> {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag still down.
        flag::register_conditional_default(signal, Arc::clone(&raised))?;
        flag::register(signal, Arc::clone(&raised))?;
    }
    Ok(Cancel::from(raised))
}
