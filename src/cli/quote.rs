//! Names of files, and texts from journals, as they are printed.
//!
//! Two kinds of readers need two kinds of text. What is for eyes is [`escaped`], because a terminal would obey control
//! characters. What is for a shell is [`quoted`], so that a printed command can be pasted and means the same file.

use std::fmt::{Display, Write};
use std::path::Path;

/// Returns a text in which everything that a terminal would obey is escaped: names of files and the contents
/// of journals may come from others.
pub(crate) fn escaped(text: impl Display) -> String {
    let mut escaped = String::new();
    for c in text.to_string().chars() {
        if is_harmful(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Returns whether this is a control character, or an invisible one that hides text or changes its direction.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns a path as a word of a command, for sh, bash and fish.
///
/// A path with characters that cannot be printed as they are, or that is no text, is written with `printf`, because all
/// three shells have it. Shells drop line feeds at the end of what a command prints, so a path that ends in a line feed
/// cannot be written in this way, and is shown as `PATH`.
pub(crate) fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.starts_with(b"-") {
        // A name that begins with a dash would be taken for an option.
        return quoted(&Path::new(".").join(path));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    // Within single quotes, fish gives the backslash a meaning, and the other shells do not.
    let is_quotable = |text: &&str| !text.chars().any(|c| is_harmful(c) || c == '\\');
    if let Some(text) = path.to_str().filter(is_quotable) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    if bytes.ends_with(b"\n") {
        return "PATH".to_owned();
    }
    let mut format = String::new();
    for byte in bytes {
        if is_plain(byte) || *byte == b' ' {
            format.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(format, "\\{byte:03o}");
        }
    }
    format!("\"$(printf '{format}')\"")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

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
        for (path, word) in [
            ("/shared/q28", "/shared/q28"),
            ("/a b/it's", r"'/a b/it'\''s'"),
            ("", "''"),
            ("-q28", "./-q28"),
            ("-q 28", "'./-q 28'"),
            ("q\u{202e}28", r#""$(printf 'q\342\200\25628')""#),
            ("100%\t!", r#""$(printf '100\045\011\041')""#),
            ("q28\n", "PATH"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    /// Skipped for shells that this machine lacks.
    #[test]
    fn every_shell_reads_a_quoted_path_as_it_is() {
        let names: [&[u8]; 10] = [
            b"/shared/q28",
            b"a b",
            b"it's",
            b"-q",
            "zero\u{200c}width\u{200d}joiners".as_bytes(),
            b"tab\there",
            b"line\nfeed",
            b"a\\b\\\\c\\'d",
            b"no text: \xff\xfe",
            b"$HOME `id` !! %s {a,b} ~ * # \"",
        ];
        for shell in ["sh", "bash", "fish"] {
            for name in names {
                let word = quoted(Path::new(OsStr::from_bytes(name)));
                let mut command = Command::new(shell);
                // The last character keeps a line feed at the end of the name.
                command.args(["-c", &format!("printf '%s|' {word}")]);
                let Ok(output) = command.output() else { continue };
                let dashed = [b"./", name].concat();
                let read = if name.starts_with(b"-") { &dashed } else { name };
                assert_eq!(output.stdout, [read, b"|"].concat(), "{shell}: {word}");
            }
        }
    }
}
