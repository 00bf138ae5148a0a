//! The line of a terminal on which the bar is drawn.
//!
//! A window that becomes narrower wraps the line into several, or cuts it, and no program hears how many there are. So
//! the cursor stays at the beginning of the line. The next drawing goes over it, and clears the screen behind its text.
//! While the text is written, the terminal does not wrap but cuts it, so it is one line in windows of any width.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// Returns whether standard error is a terminal on which a line can be drawn again.
pub(crate) fn can_be_drawn() -> bool {
    !ProgressDrawTarget::stderr().is_hidden()
}

/// Puts a bar of this name and this number of steps on the terminal.
pub(crate) fn begin(bar: &ProgressBar, name: &str, steps: u64) {
    let style = ProgressStyle::with_template("{prefix} [{bar:10}] {msg}").expect("a template");
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(name.to_owned());
    bar.set_length(steps);
    bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(Line::default())));
}

/// The line, which indicatif writes piece by piece.
#[derive(Debug, Default)]
struct Line(Mutex<String>);

impl Line {
    /// Returns what the terminal is sent for this text of the line.
    fn drawing(text: &str) -> String {
        let [do_not_wrap, clear_behind, wrap] = ["\x1b[?7l", "\x1b[J", "\x1b[?7h"];
        // Behind the space, because tmux takes clearing from the first column of the first row for a clear screen, and
        // keeps what was there in its history.
        format!("\r{do_not_wrap}{text} {clear_behind}{wrap}\r")
    }
}

impl TermLike for Line {
    /// Returns the longest width, because the terminal cuts the line.
    fn width(&self) -> u16 {
        u16::MAX
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        // Spaces fill the line up to its width.
        let text = text.trim_end();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let text = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        io::stderr().write_all(Self::drawing(&text).as_bytes())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    // The cursor is where it has to be.

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
}
