//! Messages and the bar: everything on standard error is written by one thread.
//!
//! Whoever writes to a terminal that Ctrl-S has stopped, to a connection that stalls, or to a pipe that is full, sleeps
//! until somebody reads. So all others only hand over what they have to say, and go on. If nobody reads, messages wait,
//! and the bar is not drawn.
//!
//! A process in the background of a terminal draws no bar, because the bar would be drawn over what the user types.
//! After `stty tostop` it would even be stopped by its first line, so messages wait until it is in the foreground, or
//! until the program ends.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Arguments;
use std::io::stderr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use indicatif::ProgressBar;

use super::patient::{STACK, is_in_background, would_stop, write_all};
use super::quote::escaped;
use super::signals::{has_come, wait_for_end};

/// Prints a message, formatted as by `format!`.
macro_rules! message {
    ($($text:tt)*) => { $crate::cli::stderr::print(format_args!($($text)*)) };
}
pub(crate) use message;

/// The interval at which progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(100);
/// The time for which work waits until the bar is off and messages are written, before it prints an answer or goes on.
const PATIENCE: Duration = Duration::from_millis(200);

/// Shows progress: changes the bar, or returns a line where no line can be redrawn.
pub(crate) type Show = Box<dyn FnMut(&ProgressBar) -> Option<String> + Send>;

/// What is handed over to the thread.
enum Talk {
    Line(String),
    /// Shows progress from now on.
    Show(Show),
    /// Takes the bar off.
    Hide,
    /// Asks whether everything before it is written. The thread answers by dropping the sender.
    End(Sender<Infallible>),
}

/// Prints one line, however long, because terminals wrap it, and a command in it can be pasted. If stderr is closed or
/// full, nobody can be told, and the count continues.
pub(crate) fn print(message: Arguments<'_>) {
    hand_over(Talk::Line(escaped(message)));
}

/// Shows the progress of some work from now on.
pub(crate) fn show(show: Show) {
    hand_over(Talk::Show(show));
}

/// Takes the bar off, and waits for that and for all messages so far, if somebody reads them.
pub(crate) fn hide() {
    hand_over(Talk::Hide);
    wait(PATIENCE);
}

/// Waits until all messages are written, before the program ends.
pub(crate) fn finish() {
    IS_ENDING.store(true, Ordering::Relaxed);
    wait(Duration::MAX);
}

/// Whether the program is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Waits until everything that was handed over is written, but not longer than this.
fn wait(patience: Duration) {
    let (sender, end) = channel();
    hand_over(Talk::End(sender));
    wait_for_end(&end, patience);
}

/// Hands something over to the thread that writes. Without a thread, it is written here.
fn hand_over(talk: Talk) {
    static THREAD: OnceLock<Option<Sender<Talk>>> = OnceLock::new();
    let unsent = match THREAD.get_or_init(start_thread) {
        Some(thread) => thread.send(talk).err().map(|error| error.0),
        None => Some(talk),
    };
    if let Some(Talk::Line(line)) = unsent {
        write_line(&line);
    }
}

/// Starts the thread that writes. Returns `None` if the operating system starts no thread.
fn start_thread() -> Option<Sender<Talk>> {
    let (sender, talks) = channel();
    let thread = Builder::new().name("nqueens-stderr".to_owned()).stack_size(STACK);
    match thread.spawn(move || listen(&talks)) {
        Ok(_) => Some(sender),
        Err(_) => None,
    }
}

/// Writes what is handed over, until the program ends.
fn listen(talks: &Receiver<Talk>) {
    let mut bar = ProgressBar::hidden();
    let mut show: Option<Show> = None;
    // They wait here while writing them would stop the process.
    let mut lines = VecDeque::new();
    loop {
        let is_idle = show.is_none() && lines.is_empty();
        let talk = if is_idle {
            talks.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            talks.recv_timeout(SHOW_EVERY)
        };
        let mut ended = None;
        match talk {
            Ok(Talk::Line(line)) => lines.push_back(line),
            Ok(Talk::Show(next)) => {
                bar = ProgressBar::hidden();
                show = Some(next);
            }
            Ok(Talk::Hide) => {
                show = None;
                if !is_in_background(stderr()) {
                    bar.finish_and_clear();
                }
            }
            Ok(Talk::End(sender)) => ended = Some(sender),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(show) = &mut show
                    && !is_in_background(stderr())
                {
                    lines.extend(show(&bar));
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if would_stop(stderr()) {
            if has_come() {
                // The process would be stopped in place of ending.
                lines.clear();
            } else if !IS_ENDING.load(Ordering::Relaxed) {
                continue;
            }
        }
        for line in lines.drain(..) {
            if is_in_background(stderr()) {
                write_line(&line);
            } else {
                bar.suspend(|| write_line(&line));
            }
        }
        drop(ended);
    }
}

/// Writes a line at once, so that the lines of several processes do not mix in one log.
fn write_line(line: &str) {
    let _ = write_all(stderr(), format!("nqueens: {line}\n").as_bytes());
}

/// Limit on messages of one kind that are printed one by one.
const MAX_PRINTED: usize = 5;

/// Prints the first of some messages, and how many more there are.
pub(crate) fn print_first(messages: impl ExactSizeIterator<Item = String>) {
    let more = messages.len().saturating_sub(MAX_PRINTED);
    for text in messages.take(MAX_PRINTED) {
        message!("{text}");
    }
    if more > 0 {
        message!("and {more} more");
    }
}
