//! Messages: lines on standard error.

use std::fmt::{Arguments, Display};
use std::io::{self, Write};

/// Prints a message, formatted as by `format!`.
macro_rules! message {
    ($($text:tt)*) => { $crate::cli::output::stderr::print(format_args!($($text)*)) };
}
pub(crate) use message;

use super::text::with_short_words;

/// Longer words are no names that a file could have.
const WORD: usize = 1000;

/// Prints one line. If stderr is closed or full nobody can be told, and the count continues.
pub(crate) fn print(message: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nqueens: {}", with_short_words(&escaped(message), WORD));
}

/// A text without what a terminal would obey: names of files and the contents of journals may come
/// from others.
pub(crate) fn escaped(text: impl Display) -> String {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut escaped = String::new();
    for c in text.to_string().chars() {
        if is_harmful(c) { escaped.extend(c.escape_unicode()) } else { escaped.push(c) }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        assert_eq!(escaped("q20 ± é 木.journal"), "q20 ± é 木.journal");
        assert_eq!(escaped("a\x1b[2Jb\rc\u{202e}d"), "a\\u{1b}[2Jb\\u{d}c\\u{202e}d");
    }
}
