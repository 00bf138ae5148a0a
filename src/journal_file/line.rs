//! The lines of a journal, read and written as text.
//!
//! Reading is strict: if writing a line again would give other bytes, the line is damaged, even if its CRC is right.

use std::fmt::Write;
use std::str::FromStr;
use std::time::Duration;

use super::run::Run;
use crate::plan::Plan;
use crate::plan::done::UnitsDone;

/// The longest line in bytes, with its line feed. The longest line that is written takes a fiftieth of this.
pub(super) const MAX_LINE_LEN: u64 = 1 << 20;

/// A line of a journal after the first one.
pub(super) enum Line {
    /// The start of a process's work.
    Run(Run),
    /// Finished units.
    Done(UnitsDone),
}

/// The number from which the CRC-32 of a line starts: 0 for the first line, and for all other lines the CRC-32 of the
/// plan that the first line names. So a line of another plan or count never has the right CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineCrc(u32);

impl LineCrc {
    pub(super) const FIRST_LINE: Self = Self(0);

    /// Returns the start of the CRC of all lines of a plan after the first one.
    pub(super) fn of(plan: &Plan) -> Self {
        Self::of_text(&plan.to_string())
    }

    /// Returns the start of the CRC of all lines of the plan that is displayed as this text.
    pub(super) fn of_text(plan: &str) -> Self {
        Self(crc32fast::hash(plan.as_bytes()))
    }

    /// Returns the CRC of a text in eight hexadecimal digits.
    fn crc_of(self, text: &str) -> String {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.0);
        hasher.update(text.as_bytes());
        format!("{:08x}", hasher.finalize())
    }

    /// Returns the text of a line with its CRC and a line feed.
    pub(super) fn add_to(self, text: &str) -> String {
        format!("{text} {}\n", self.crc_of(text))
    }

    /// Returns the text of a line if its CRC is right. The line is given without its line feed, but may end with a
    /// carriage return if the file went through Windows.
    pub(super) fn take_from(self, line: &[u8]) -> Option<&str> {
        let bytes = line.strip_suffix(b"\r").unwrap_or(line);
        let (text, crc) = std::str::from_utf8(bytes).ok()?.rsplit_once(' ')?;
        (crc == self.crc_of(text)).then_some(text)
    }
}

impl Line {
    /// Parses a line, given without its CRC. Returns `None` if the plan has no such units, if the sum is wrong, or if
    /// this program would write the line in another way.
    pub(super) fn parse(text: &str, plan: &Plan) -> Option<Self> {
        if let Some(fields) = text.strip_prefix("done ") {
            // Almost all lines are of this kind, so they are not checked by writing them again, which would take most
            // of the time.
            let done = parse_done(fields)?;
            let is_right = done.units.end <= plan.units()
                && plan.solutions(done.units.start, &done.counts) == done.solutions;
            return is_right.then_some(Self::Done(done));
        }
        let run = Run::parse(text.strip_prefix("run ")?)?;
        // Control characters are refused, so that none can reach a terminal.
        let is_right = !text.contains(char::is_control) && run.line() == text;
        is_right.then_some(Self::Run(run))
    }
}

/// Parses the fields of finished units. Returns `None` if this program would write them in another way.
fn parse_done(text: &str) -> Option<UnitsDone> {
    let mut fields = text.split(' ');
    let mut field = |name| fields.next()?.strip_prefix(name);
    let (start, end) = field("units=")?.split_once("..")?;
    let done = UnitsDone {
        units: parse_number(start)?..parse_number(end)?,
        solutions: parse_number(field("solutions=")?)?,
        elapsed: Duration::from_millis(parse_number(field("elapsed-ms=")?)?),
        cpu_time: Duration::from_micros(parse_number(field("busy-us=")?)?),
        counts: parse_counts(field("counts=")?)?,
    };
    let is_whole = fields.next().is_none() && done.units.len() == done.counts.len();
    is_whole.then_some(done)
}

/// Parses the counts of units, which are separated by commas.
fn parse_counts(text: &str) -> Option<Vec<u64>> {
    let mut counts = Vec::new();
    for count in text.split(',') {
        let count = parse_number(count)?;
        // A count of `u64::MAX` would be an overflow.
        if count == u64::MAX {
            return None;
        }
        counts.push(count);
    }
    Some(counts)
}

/// Parses a number without a sign and without leading zeros.
fn parse_number<T: FromStr>(text: &str) -> Option<T> {
    let begins_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
    let has_leading_zero = text.len() > 1 && text.starts_with('0');
    if !begins_with_digit || has_leading_zero {
        return None;
    }
    text.parse().ok()
}

/// Returns the text of finished units, without its CRC. There is at least one unit.
pub(super) fn format_done(done: &UnitsDone) -> String {
    let mut text = format!(
        "done units={}..{} solutions={} elapsed-ms={} busy-us={} counts=",
        done.units.start,
        done.units.end,
        done.solutions,
        done.elapsed.as_millis(),
        done.cpu_time.as_micros()
    );
    for (place, count) in done.counts.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{count}");
    }
    text
}
