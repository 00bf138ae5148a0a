//! Writing to a reader that may be asleep. The threads for standard output and standard error share this.

use std::io;
use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};

/// The stack of a thread that writes, in bytes. The default of 2 MiB would count under `ulimit -v`.
pub(crate) const STACK: usize = 1 << 18;

/// The interval at which writing is tried again, if the output is full and does not make its writer wait.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Writes all bytes, however long that takes. Other programs may have set the output not to wait (`O_NONBLOCK`).
pub(crate) fn write_all(output: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&output, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => sleep(TRY_EVERY),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns whether the output is a terminal on which another job is in the foreground.
pub(crate) fn is_in_background(output: impl AsFd) -> bool {
    tcgetpgrp(output).is_ok_and(|foreground| foreground != getpgrp())
}

/// Returns whether the operating system would stop the process if it wrote to this output now: in the background of a
/// terminal after `stty tostop`.
pub(crate) fn would_stop(output: impl AsFd) -> bool {
    is_in_background(&output)
        && tcgetattr(output).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP))
}
