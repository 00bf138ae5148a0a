//! Messages: lines on standard error.

use std::fmt::{Arguments, Display};
use std::io::{self, Write};
use std::path::Path;

/// Prints a message, formatted as by `format!`.
macro_rules! message {
    ($($text:tt)*) => { $crate::cli::stderr::print(format_args!($($text)*)) };
}
pub(crate) use message;

/// Prints one line, however long: terminals wrap it, and a command in it can be pasted. If stderr is closed or full
/// nobody can be told, and the count continues.
pub(crate) fn print(message: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nqueens: {}", escaped(message));
}

/// Limit on messages of one kind that are printed one by one.
const MAX_PRINTED: usize = 5;

/// Prints the first of some messages, and how many more there are.
pub(crate) fn print_first(messages: impl ExactSizeIterator<Item = String>) {
    let more = messages.len().saturating_sub(MAX_PRINTED);
    messages.take(MAX_PRINTED).for_each(|text| message!("{text}"));
    if more > 0 {
        message!("and {more} more");
    }
}

/// Prints that a number (`Q(8) = 93`) differs from the published one.
pub(crate) fn print_differs(computed: impl Display, published: u128) {
    message!("{computed} differs from the published {published}: one of them is wrong");
}

/// Returns a text in which everything that a terminal would obey is escaped: names of files and the contents
/// of journals may come from others.
pub(crate) fn escaped(text: impl Display) -> String {
    // Control characters, and invisible ones that hide text or change its direction.
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut escaped = String::new();
    for c in text.to_string().chars() {
        if is_harmful(c) { escaped.extend(c.escape_unicode()) } else { escaped.push(c) }
    }
    escaped
}

/// Returns a path quoted for a shell, or `PATH` for a path that cannot be shown.
pub(crate) fn quoted(path: &Path) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match path.to_str().filter(|text| escaped(text) == *text) {
        // A name that begins with a dash would be taken for an option.
        Some(text) if text.starts_with('-') => quoted(&Path::new(".").join(path)),
        Some(text) if text.chars().all(is_plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => "PATH".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_not_obeyed() {
        assert_eq!(escaped("q20 ± é 木 2\u{202f}602.journal"), "q20 ± é 木 2\u{202f}602.journal");
        assert_eq!(
            escaped("a\x1b[2Jb\rc\u{202e}d\u{61c}"),
            "a\\u{1b}[2Jb\\u{d}c\\u{202e}d\\u{61c}"
        );
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        let texts =
            ["/shared/q28", "/a b/it's", "q\u{202e}28", "-q28"].map(|path| quoted(Path::new(path)));
        assert_eq!(texts, ["/shared/q28", r"'/a b/it'\''s'", "PATH", "./-q28"]);
    }
}
