//! The line on the terminal, redrawn until it is dropped.
//!
//! A thread redraws it ten times a second. indicatif can start one too, but stops the program with a panic
//! where it cannot (`pids.max`, `ulimit -u`). Without the thread the line is drawn whenever something is
//! finished.

use std::fmt::Write;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};

use super::state::{State, lock};

/// What ends sooner draws nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// How often the line is drawn; indicatif draws it 20 times a second at most.
const TICK: Duration = Duration::from_millis(100);

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// Columns that stay free for the `^C` that the terminal shows for Ctrl-C: it would begin a new line
/// and leave half of the bar behind.
const FREE_COLUMNS: usize = 2;
/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 58;

/// The columns that a line on standard error may take now: users change the size of windows.
pub(super) fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS).saturating_sub(FREE_COLUMNS).max(1)
}

/// A line on the terminal, until this is dropped.
pub(super) struct Bar {
    line: ProgressBar,
    /// Nothing is sent: the thread ends when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    pub(super) fn start(name: &str, [done, all]: [usize; 2], state: &Arc<Mutex<State>>) -> Self {
        let bar = if columns() < BAR_FROM_COLUMNS { "" } else { "[{bar:10}] " };
        let template = format!("{{prefix}} {bar}{{text}}");
        let before_text = name.chars().count() + 1 + if bar.is_empty() { 0 } else { 13 };
        let shown = Arc::clone(state);
        let text = move |_: &ProgressState, out: &mut dyn Write| {
            let text = lock(&shown).text(columns().saturating_sub(before_text));
            // A line that cannot be formatted is drawn empty, and the count continues.
            let _ = out.write_str(&text);
        };
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("text", text)
            .progress_chars("=> ");
        let line = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::hidden());
        let line = line.with_style(style).with_prefix(name.to_owned()).with_position(done as u64);
        let (end, ended) = channel();
        let drawn = line.clone();
        let draw = move || {
            let mut pause = QUIET_START;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                show(&drawn);
                drawn.tick();
                pause = TICK;
            }
        };
        let thread = Builder::new().name("nqueens-bar".to_owned()).spawn(draw).ok();
        Self { line, end: Some(end), thread }
    }

    /// Takes the line off the terminal while something else is printed.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.line.suspend(print)
    }

    /// Something is done.
    pub(super) fn update(&self, done: u64, all: u64, elapsed: Duration) {
        if self.thread.is_none() && elapsed >= QUIET_START {
            show(&self.line);
        }
        self.line.update(|state| {
            state.set_len(all);
            state.set_pos(done);
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It draws and waits, and has no result; the message of a panic was printed already.
            let _ = thread.join();
        }
        self.line.finish_and_clear();
    }
}

/// Puts a line on the terminal, if it is not there yet.
fn show(line: &ProgressBar) {
    if line.is_hidden() {
        let terminal = Box::new(Narrowed(Term::buffered_stderr()));
        line.set_draw_target(ProgressDrawTarget::term_like(terminal));
    }
}

/// The terminal on standard error without its last columns: indicatif fills them with spaces.
#[derive(Debug)]
struct Narrowed(Term);

macro_rules! as_terminal {
    ($($name:ident($($argument:ident: $kind:ty)?),)*) => {
        $(fn $name(&self, $($argument: $kind)?) -> io::Result<()> { self.0.$name($($argument)?) })*
    };
}

impl TermLike for Narrowed {
    fn width(&self) -> u16 {
        columns().try_into().unwrap_or(u16::MAX)
    }

    as_terminal! {
        move_cursor_up(lines: usize),
        move_cursor_down(lines: usize),
        move_cursor_right(columns: usize),
        move_cursor_left(columns: usize),
        write_line(line: &str),
        write_str(text: &str),
        clear_line(),
        flush(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::Work;
    use super::*;

    #[test]
    fn a_bar_ends_when_it_is_dropped() {
        drop(Bar::start("count", [1, 2], &Arc::new(Mutex::new(State::new(1, 2, Work::Verify)))));
    }
}
