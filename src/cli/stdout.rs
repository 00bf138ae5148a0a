//! Standard output, if the program was started with it.
//!
//! Before `main`, Rust opens descriptors that are closed on /dev/null, and afterwards it takes writing
//! to a descriptor that is not open for writing for success: an answer would be lost without a word.
//! Nothing tells that /dev/null from one that a caller has opened because he wants no answer, as Python
//! does for `DEVNULL`. So on Linux the descriptor is looked at even before, by a function in
//! `.init_array`, which the loader calls.

use std::io::{self, StdoutLock};
use std::sync::atomic::{AtomicBool, Ordering};

static IS_MISSING: AtomicBool = AtomicBool::new(false);

/// Standard output. To be asked for before the first write.
pub(crate) fn stdout() -> io::Result<StdoutLock<'static>> {
    match IS_MISSING.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is not open for writing")),
        false => Ok(io::stdout().lock()),
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "std has no say before `main`")]
mod before_main {
    use super::{IS_MISSING, Ordering};

    // SAFETY: the loader expects functions in this section. This one needs nothing of std that is not
    // there before `main`: an atomic.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: to ask for the mode of a descriptor, open or not, changes nothing.
        let mode = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
        let is_missing = mode == -1 || mode & libc::O_ACCMODE == libc::O_RDONLY;
        IS_MISSING.store(is_missing, Ordering::Relaxed);
    }
}
