//! The program's talk: lines on stderr.

use std::fmt::Display;
use std::io::{self, Write};

/// Says one line. If stderr is closed or full nobody can be told, and the count goes on.
pub(super) fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "nqueens: {}", plain(message));
}

/// A text without what a terminal would obey: names of files and the contents of journals may come
/// from others.
pub(super) fn plain(text: impl Display) -> String {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut plain = String::new();
    for c in text.to_string().chars() {
        if is_harmful(c) { plain.extend(c.escape_unicode()) } else { plain.push(c) }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        assert_eq!(plain("q20 ± é 木.journal"), "q20 ± é 木.journal");
        assert_eq!(plain("a\x1b[2Jb\rc\u{202e}d"), "a\\u{1b}[2Jb\\u{d}c\\u{202e}d");
    }
}
