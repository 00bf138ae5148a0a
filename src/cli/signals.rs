//! Ctrl-C and SIGTERM: the first asks the count to stop, the second kills the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nqueens::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::exit::Failure;

/// A cancellation that the signals raise.
pub(crate) fn cancel_on_signals() -> Result<Cancel, Failure> {
    let raised = Arc::new(AtomicBool::new(false));
    let register = |signal| -> io::Result<()> {
        // In this order: the first signal finds the flag still down.
        flag::register_conditional_default(signal, Arc::clone(&raised))?;
        flag::register(signal, Arc::clone(&raised)).map(|_| ())
    };
    let registered = [SIGINT, SIGTERM].into_iter().try_for_each(register);
    registered.map_err(|error| Failure::Failed(format!("cannot catch signals: {error}")))?;
    Ok(Cancel::from(raised))
}
