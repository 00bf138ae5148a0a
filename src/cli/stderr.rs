//! Messages and the bar: everything on standard error is written by one thread.
//!
//! Whoever writes to a terminal that Ctrl-S has stopped, to a connection that stalls, or to a pipe that is full, sleeps
//! until somebody reads. A board that is being counted waits for nobody, so all others only hand over what they have to
//! say, and go on. Before a command prints an answer, and before the program ends, it waits for this thread.

use std::convert::Infallible;
use std::fmt::Arguments;
use std::io::{Write, stderr};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use indicatif::ProgressBar;

use crate::cli::quote::escaped;

/// Prints a message, formatted as by `format!`.
macro_rules! message {
    ($($text:tt)*) => { $crate::cli::stderr::print(format_args!($($text)*)) };
}
pub(crate) use message;

/// The stack of a thread that only writes or waits, in bytes. The default of 2 MiB would count under `ulimit -v`.
pub(crate) const STACK: usize = 1 << 18;
/// The interval at which progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// Shows progress: changes the bar, or returns a line where no line can be redrawn.
pub(crate) type Show = Box<dyn FnMut(&ProgressBar) -> Option<String> + Send>;

/// What is handed over to the thread.
enum Talk {
    Line(String),
    /// Shows progress from now on.
    Show(Show),
    /// Takes the bar off. The thread answers by dropping the sender.
    Hide(Sender<Infallible>),
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

/// Takes the bar off, and waits until that is done and all messages so far are written.
pub(crate) fn hide() {
    let (sender, hidden) = channel();
    hand_over(Talk::Hide(sender));
    let _ = hidden.recv();
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
    let mut writer = Writer { bar: ProgressBar::hidden(), show: None };
    match thread.spawn(move || writer.listen(&talks)) {
        Ok(_) => Some(sender),
        Err(_) => None,
    }
}

/// The thread that writes.
struct Writer {
    bar: ProgressBar,
    /// What shows the progress of the work that is under way.
    show: Option<Show>,
}

impl Writer {
    /// Writes what is handed over, until the program ends.
    fn listen(&mut self, talks: &Receiver<Talk>) {
        loop {
            let talk = match self.show {
                Some(_) => talks.recv_timeout(SHOW_EVERY),
                None => talks.recv().map_err(RecvTimeoutError::from),
            };
            match talk {
                Ok(Talk::Line(line)) => self.print(&line),
                Ok(Talk::Show(show)) => {
                    self.bar = ProgressBar::hidden();
                    self.show = Some(show);
                }
                Ok(Talk::Hide(sender)) => {
                    self.show = None;
                    self.bar.finish_and_clear();
                    drop(sender);
                }
                Err(RecvTimeoutError::Timeout) => self.show_progress(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn show_progress(&mut self) {
        if let Some(show) = &mut self.show
            && let Some(line) = show(&self.bar)
        {
            self.print(&line);
        }
    }

    fn print(&self, line: &str) {
        self.bar.suspend(|| write_line(line));
    }
}

/// Writes a line at once, so that the lines of several processes do not mix in one log.
fn write_line(line: &str) {
    let _ = stderr().write_all(format!("nqueens: {line}\n").as_bytes());
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
