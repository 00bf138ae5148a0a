//! Text in pages for a browser, and pages in files.

use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::stderr::escaped;

/// A text as it stands in a page or in a quoted attribute: nothing in it is markup, and nothing in it
/// turns the direction of writing.
pub(crate) fn html(text: impl Display) -> String {
    let mut html = String::new();
    for c in escaped(text).chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            _ => html.push(c),
        }
    }
    html
}

/// A whole number in groups of three digits: `2 602 198`, with narrow spaces that do not break.
pub(crate) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// A file for a page, which may replace an earlier page of the same kind, but nothing else.
pub(crate) struct PageFile {
    path: PathBuf,
}

impl PageFile {
    /// The file at this path, if it is free or holds a page that begins in this way. The error is the
    /// reason why not.
    pub(crate) fn new(path: PathBuf, beginning: &str) -> Result<Self, String> {
        if path.extension().is_some_and(|extension| extension == "journal") {
            return Err("the names of journals end so; choose another, as status.html".to_owned());
        }
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { path }),
            Err(error) => Err(format!("cannot open it: {error}")),
            Ok(found) if found.is_file() && begins_with(&path, beginning) => Ok(Self { path }),
            Ok(_) => Err("it is there already and no page of this command; \
                 name another file, or remove it"
                .to_owned()),
        }
    }

    /// Writes the page. Until it is whole it has a temporary name, so a browser never shows a part.
    pub(crate) fn write(&self, page: &str) -> io::Result<()> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let part = self.path.with_file_name(name);
        let mut file = File::create_new(&part)?;
        let written = file.write_all(page.as_bytes()).and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn begins_with(path: &Path, beginning: &str) -> bool {
    let mut found = vec![0; beginning.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut found));
    read.is_ok() && found == beginning.as_bytes()
}

/// Writes text to a page that is being made.
macro_rules! put {
    ($page:expr, $($text:tt)*) => {{
        // Memory takes everything.
        let _ = std::fmt::Write::write_fmt($page, format_args!($($text)*));
    }};
}
pub(crate) use put;

/// A number of pixels in an SVG, to the tenth.
pub(crate) struct Px(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (10.0 * self.0).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let name = "<script>alert('&\"')</script>\u{202e}\x1b";
        let text = "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;\\u{202e}\\u{1b}";
        assert_eq!(html(name), text);
    }

    #[test]
    fn long_numbers_are_grouped() {
        let numbers = [0, 12, 123, 1234, 2_602_198].map(grouped);
        let expected = ["0", "12", "123", "1_234", "2_602_198"];
        assert_eq!(numbers, expected.map(|text| text.replace('_', "\u{202f}")));
    }
}
