//! A bar on the terminal.
//!
//! ```text
//! verify [====>     ] 84/200 units, 1.8s, ETA 2.5s
//! ```
//!
//! It is redrawn ten times a second by a thread of its own. indicatif can do that too, but stops the
//! program with a panic where no thread can be started (`pids.max`, `ulimit -u`). Without the thread
//! a bar is drawn whenever it advances.
//!
//! indicatif fills the line with spaces up to the edge of the terminal, where the `^C` that the
//! terminal shows for Ctrl-C would begin a new line and leave half of the bar behind. So it is told
//! that the terminal is a little narrower.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use clap::ValueEnum;
use console::{Term, is_dumb};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};

/// How often a bar is drawn, and how often at most.
const TICK: Duration = Duration::from_millis(100);
const DRAWS_A_SECOND: u8 = 20;

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// Columns that stay free for `^C`.
const FREE_COLUMNS: usize = 2;
/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 58;
/// The columns of a bar without its brackets.
const BAR_CELLS: usize = 10;

/// The longest time between two lines of progress in a file, and on a terminal that cannot redraw
/// a line.
const GAP_IN_FILE: Duration = Duration::from_secs(60);
const GAP_ON_TERMINAL: Duration = Duration::from_secs(10);

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressWhen {
    /// Not at all
    Never,
    /// As a bar, if standard error is a terminal
    Auto,
    /// As a bar on a terminal, as lines elsewhere
    Always,
}

/// What takes the place of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    Nothing,
    Bar,
    /// Lines, at most this long after one another.
    Lines(Duration),
}

impl ProgressWhen {
    /// What is shown on the standard error of this process.
    pub(crate) fn display(self) -> Display {
        let is_terminal = io::stderr().is_terminal();
        match (self, is_terminal && !is_dumb()) {
            (Self::Never, _) | (Self::Auto, false) => Display::Nothing,
            (Self::Always, false) if is_terminal => Display::Lines(GAP_ON_TERMINAL),
            (Self::Always, false) => Display::Lines(GAP_IN_FILE),
            (_, true) => Display::Bar,
        }
    }
}

/// The columns that a line on standard error may take now: users change the size of windows.
pub(crate) fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS).saturating_sub(FREE_COLUMNS).max(1)
}

/// A bar, its prefix before it and its text behind it.
pub(crate) struct Bar {
    bar: ProgressBar,
    prefix: Arc<Mutex<String>>,
    /// While the bar is on the terminal.
    ticker: Mutex<Option<Ticker>>,
}

impl Bar {
    /// A bar that is not on the terminal yet. `text` is asked for whenever it is drawn, and told
    /// how many columns it may take; what is longer is cut off.
    pub(crate) fn new(
        prefix: &str,
        length: usize,
        text: impl Fn(&ProgressState, usize) -> String + Clone + Send + Sync + 'static,
    ) -> Self {
        let prefix = Arc::new(Mutex::new(prefix.to_owned()));
        let shown = Arc::clone(&prefix);
        let write_line = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let prefix = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let text = |columns| text(state, columns);
            // A line that cannot be formatted is drawn empty, and the count continues.
            let _ = out.write_str(&line(&prefix, state.fraction(), columns(), text));
        };
        let style = ProgressStyle::with_template("{line}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("line", write_line);
        let target = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        bar.set_style(style);
        Self { bar, prefix, ticker: Mutex::default() }
    }

    /// Sets what is shown.
    pub(crate) fn restart(&self, prefix: String, length: usize, done: usize) {
        *self.prefix.lock().unwrap_or_else(PoisonError::into_inner) = prefix;
        self.bar.set_length(length as u64);
        self.bar.set_position(done as u64);
    }

    pub(crate) fn advance(&self, by: usize) {
        self.bar.inc(by as u64);
    }

    /// Puts the bar on the terminal, if it is not there yet.
    pub(crate) fn show(&self) {
        let mut ticker = self.ticker();
        if self.bar.is_hidden() {
            let terminal = Box::new(Narrowed(Term::buffered_stderr()));
            let target = ProgressDrawTarget::term_like_with_hz(terminal, DRAWS_A_SECOND);
            self.bar.set_draw_target(target);
            *ticker = Ticker::start(&self.bar);
        }
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        drop(self.ticker().take());
        self.bar.finish_and_clear();
    }

    fn ticker(&self) -> MutexGuard<'_, Option<Ticker>> {
        self.ticker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The whole line. On narrow terminals it has no bar.
fn line(prefix: &str, fraction: f32, columns: usize, text: impl FnOnce(usize) -> String) -> String {
    let mut line = format!("{prefix} ");
    if columns >= BAR_FROM_COLUMNS {
        let is_full = |cell: &usize| fraction * BAR_CELLS as f32 >= *cell as f32;
        let full = (1..=BAR_CELLS).filter(is_full).count();
        let tip = if full < BAR_CELLS { ">" } else { "" };
        line += &format!("[{:<BAR_CELLS$}] ", "=".repeat(full) + tip);
    }
    let rest = columns.saturating_sub(line.chars().count());
    line += &text(rest);
    line.chars().take(columns).collect()
}

/// The terminal on standard error without its last columns.
#[derive(Debug)]
struct Narrowed(Term);

impl TermLike for Narrowed {
    fn width(&self) -> u16 {
        columns().try_into().unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.0.write_line(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A thread that redraws a bar until this is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    /// Nothing is sent: the thread ends when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread; `None` if there can be none.
    pub(crate) fn start(bar: &ProgressBar) -> Option<Self> {
        let (end, ended) = channel();
        let bar = bar.clone();
        let draw = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
        };
        let thread = Builder::new().name("nqueens-bar".to_owned()).spawn(draw).ok()?;
        Some(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    /// The bar may be taken off the terminal afterwards: it is not drawn again.
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It draws and waits, and has no result; the message of a panic was printed already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticker_ends_when_it_is_dropped() {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        let ticker = Ticker::start(&bar).expect("a thread");
        drop(ticker);
        bar.finish_and_clear();
    }

    #[test]
    fn lines_fit_and_narrow_ones_have_no_bar() {
        let text = |columns: usize| "51%, 6.1s, ETA 6.0s".chars().take(columns).collect();
        assert_eq!(line("halves 20", 0.51, 78, text), "halves 20 [=====>    ] 51%, 6.1s, ETA 6.0s");
        assert_eq!(line("halves 20", 1.0, 58, text), "halves 20 [==========] 51%, 6.1s, ETA 6.0s");
        assert_eq!(line("halves 20", 0.51, 38, text), "halves 20 51%, 6.1s, ETA 6.0s");
        assert_eq!(line("halves 20 shard 123456", 0.51, 20, text), "halves 20 shard 1234");
    }
}
