//! Standard output: answers, rows and lists, written by a thread of its own.
//!
//! A reader that is asleep stops whoever writes to it. So rows wait here while the next board is being counted, and
//! the main thread sees signals while it waits for the last ones. If a signal comes and nobody reads, the rest is
//! dropped.
//!
//! What was put here waits for more, so that a long list takes few writes, but not longer than a moment: whoever reads
//! along sees every line. Lines are written whole, as many as a pipe takes at once or not at all. So a list in a pipe
//! that ends early ends with a whole line. Terminals and connections make no such promise.
//!
//! In the background of a terminal after `stty tostop`, rows wait as well, and only the last answer stops the process.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::patient::{STACK, would_stop, write_all};
use super::signals::{has_come, is_grace_over};

/// A block of this many bytes is written at once.
const BLOCK: usize = 1 << 16;
/// Whoever has put this much waits until some of it is written.
const MAX_WAITING: usize = 1 << 18;
/// What was put here is written after this time, even if it is little.
const MOMENT: Duration = Duration::from_millis(50);
/// POSIX guarantees that a pipe takes up to 512 bytes whole or not at all. On Linux it is 4096.
const WHOLE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };
/// The interval at which a wait looks for a signal.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is to be written, and how the writing goes.
struct Output {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: Vec<u8>,
    /// Whether a block is being written.
    is_writing: bool,
    /// Whether somebody waits until everything is written.
    is_wanted: bool,
    /// Whether nothing more is to be done before everything is written.
    is_last: bool,
    error: Option<io::Error>,
}

static OUTPUT: Output = Output {
    state: Mutex::new(State {
        waiting: Vec::new(),
        is_writing: false,
        is_wanted: false,
        is_last: false,
        error: None,
    }),
    changed: Condvar::new(),
};

/// Puts whole lines in front of the thread that writes.
///
/// # Errors
///
/// The first error of the writing so far. [`io::ErrorKind::Interrupted`] if a signal came while nobody read.
pub(crate) fn put(lines: &[u8]) -> io::Result<()> {
    let mut state = OUTPUT.lock();
    state.check()?;
    if !OUTPUT.start_thread() {
        drop(state);
        return write_lines(lines);
    }
    state.waiting.extend_from_slice(lines);
    // The thread sleeps while nothing waits, and then waits for more.
    if state.waiting.len() == lines.len() || state.waiting.len() >= BLOCK {
        OUTPUT.changed.notify_all();
    }
    let has_room = |state: &State| state.waiting.len() < MAX_WAITING;
    OUTPUT.wait(state, Duration::MAX, has_room)
}

/// Waits until everything is written, but not longer than `patience`.
///
/// # Errors
///
/// The errors of [`put`].
pub(crate) fn settle(patience: Duration) -> io::Result<()> {
    let mut state = OUTPUT.lock();
    state.is_wanted = true;
    state.is_last = patience == Duration::MAX;
    OUTPUT.changed.notify_all();
    let is_written = |state: &State| state.waiting.is_empty() && !state.is_writing;
    OUTPUT.wait(state, patience, is_written)
}

impl State {
    /// Returns a copy of the error of the writing so far. The error stays, because whatever is put later cannot be
    /// written either.
    fn check(&self) -> io::Result<()> {
        let Some(error) = &self.error else { return Ok(()) };
        match error.raw_os_error() {
            Some(code) => Err(io::Error::from_raw_os_error(code)),
            None => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state is as it should be, the writing has failed, or time is up.
    fn wait(
        &self,
        mut state: MutexGuard<'_, State>,
        patience: Duration,
        is_good: impl Fn(&State) -> bool,
    ) -> io::Result<()> {
        let begun = Instant::now();
        loop {
            state.check()?;
            if is_good(&state) || begun.elapsed() >= patience {
                return Ok(());
            }
            if is_grace_over() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            state = self.sleep(state);
        }
    }

    /// Sleeps until the state changes, or it is time to look for a signal.
    fn sleep<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let (state, _) =
            self.changed.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
        state
    }

    /// Starts the thread that writes, unless it runs. Returns false if no thread can be started.
    fn start_thread(&'static self) -> bool {
        static IS_STARTED: OnceLock<bool> = OnceLock::new();
        *IS_STARTED.get_or_init(|| {
            let thread = Builder::new().name("nqueens-stdout".to_owned()).stack_size(STACK);
            thread.spawn(|| self.write_what_is_put()).is_ok()
        })
    }

    /// Writes what is put here, until the program ends.
    fn write_what_is_put(&self) {
        let mut state = self.lock();
        loop {
            if state.waiting.is_empty() {
                state.is_wanted = false;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let is_little = |state: &mut State| !state.is_wanted && state.waiting.len() < BLOCK;
            let waited = self.changed.wait_timeout_while(state, MOMENT, is_little);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if would_stop(io::stdout()) && (has_come() || !state.is_last) {
                state = self.sleep(state);
                continue;
            }
            let lines = std::mem::take(&mut state.waiting);
            state.is_writing = true;
            drop(state);
            self.changed.notify_all();
            let written = write_lines(&lines);
            state = self.lock();
            state.is_writing = false;
            if let Err(error) = written {
                state.error = Some(error);
            }
            self.changed.notify_all();
        }
    }
}

/// Writes lines, as many at once as a pipe takes whole.
fn write_lines(mut lines: &[u8]) -> io::Result<()> {
    while !lines.is_empty() {
        let (piece, rest) = lines.split_at(whole_lines_len(lines));
        write_all(io::stdout(), piece)?;
        lines = rest;
    }
    Ok(())
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
