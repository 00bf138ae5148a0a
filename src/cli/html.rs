//! Text in pages for a browser.

use std::fmt::{self, Display};

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
