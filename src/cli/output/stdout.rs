//! Standard output, and writing to a reader that may be asleep.
//!
//! A command writes its answer and its rows by itself, and waits for whoever reads them, as every program does. Only
//! messages and the bar have a [thread](crate::cli::output::stderr), because a board that is being counted waits for
//! nobody.
//!
//! **What ends a wait.** If a signal has come, and the output has taken nothing for a second since the command began to
//! wait for it, the thread that hears signals ends the program, with the exit code that the command has decided.
//!
//! Lines are written whole, as many as a pipe takes at once or not at all. So a list in a pipe that ends early ends with
//! a whole line. Terminals and connections make no such promise.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::{Errno, ioctl_fionread};

use crate::cli::exit::Exit;

/// POSIX guarantees that a pipe takes up to 512 bytes whole or not at all. On Linux it is 4096.
const WHOLE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };
/// The interval at which writing is tried again, if the output is full and does not make its writer wait.
const TRY_EVERY: Duration = Duration::from_millis(20);
/// After a signal, the command waits no longer than this for an output that takes nothing.
const GRACE: Duration = Duration::from_secs(1);

/// The output that the command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// Standard output, which is to take an answer or a row.
    Answer,
    /// Standard error, which is to take the last messages.
    Messages,
}

/// The wait of the command for an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) awaited: Awaited,
    /// The exit code that the command has decided.
    pub(crate) exit: Exit,
    /// When an output took something last, or when the wait began.
    since: Instant,
    /// The bytes that nobody has read yet, if standard output is a pipe.
    unread: Option<u64>,
}

static WAIT: Mutex<Option<Wait>> = Mutex::new(None);

fn current_wait() -> MutexGuard<'static, Option<Wait>> {
    WAIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what waits for an output. `exit` is the exit code that the command has decided.
pub(crate) fn wait_for<T>(awaited: Awaited, exit: Exit, wait: impl FnOnce() -> T) -> T {
    *current_wait() = Some(Wait { awaited, exit, since: Instant::now(), unread: None });
    let result = wait();
    *current_wait() = None;
    result
}

/// Returns the wait of the command if the output has taken nothing for the whole grace.
///
/// Linux lets a pipe take more only when a whole page of it was read. So a slow reader is known by the bytes that are
/// left to be read.
pub(crate) fn vain_wait() -> Option<Wait> {
    let mut current = current_wait();
    let wait = current.as_mut()?;
    let unread = ioctl_fionread(io::stdout()).ok();
    if unread != wait.unread {
        wait.unread = unread;
        wait.since = Instant::now();
    }
    (wait.since.elapsed() > GRACE).then_some(*wait)
}

/// Notes that an output has taken something. Only the output for which the command waits matters.
fn note_progress(output: Awaited) {
    if let Some(wait) = &mut *current_wait()
        && wait.awaited == output
    {
        wait.since = Instant::now();
    }
}

/// Writes all bytes to an output, however long that takes. Other programs may have set it not to wait (`O_NONBLOCK`).
pub(crate) fn write_all(output: Awaited, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match output {
            Awaited::Answer => rustix::io::write(io::stdout(), bytes),
            Awaited::Messages => rustix::io::write(io::stderr(), bytes),
        };
        match written {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                note_progress(output);
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => sleep(TRY_EVERY),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes whole lines to standard output. `exit` is the exit code that the command has decided so far.
pub(crate) fn write_lines(lines: &[u8], exit: Exit) -> io::Result<()> {
    wait_for(Awaited::Answer, exit, || {
        let mut rest = lines;
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(whole_lines_len(rest));
            write_all(Awaited::Answer, piece)?;
            rest = others;
        }
        Ok(())
    })
}

/// Returns the length of the whole lines that a pipe takes at once, or of the first line if that is longer.
fn whole_lines_len(lines: &[u8]) -> usize {
    let is_end = |byte: &u8| *byte == b'\n';
    let fitting = &lines[..lines.len().min(WHOLE)];
    if let Some(last_end) = fitting.iter().rposition(is_end) {
        return last_end + 1;
    }
    match lines.iter().position(is_end) {
        Some(first_end) => first_end + 1,
        None => lines.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_as_long_as_a_pipe_takes() {
        let line = |length: usize| [vec![b'x'; length - 1], b"\n".to_vec()].concat();
        assert_eq!(whole_lines_len(&[line(8), line(8)].concat()), 16);
        assert_eq!(whole_lines_len(&[line(WHOLE - 8), line(8), line(1)].concat()), WHOLE);
        assert_eq!(whole_lines_len(&[line(WHOLE - 8), line(9)].concat()), WHOLE - 8);
        assert_eq!(whole_lines_len(&[line(WHOLE + 1), line(9)].concat()), WHOLE + 1);
        assert_eq!(whole_lines_len(b"no end"), 6);
    }
}
