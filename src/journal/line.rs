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
    pub(super) fn take_from(self, line: &[u8]) -> Result<&str, &'static str> {
        let bytes = line.strip_suffix(b"\r").unwrap_or(line);
        let text_and_crc = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
        let (text, crc) = text_and_crc.rsplit_once(' ').ok_or("it has no CRC")?;
        if crc == self.crc_of(text) { Ok(text) } else { Err("its CRC differs") }
    }
}

/// The fault of a line with a right CRC that this program would not write.
const MISWRITTEN: &str = "its CRC is right, but its fields are not";

impl Line {
    /// Parses a line, given without its CRC. Checks that the plan has its units, and that its sum is right.
    pub(super) fn parse(text: &str, plan: &Plan) -> Result<Self, &'static str> {
        if let Some(fields) = text.strip_prefix("done ") {
            // Almost all lines are of this kind, so they are not checked by writing them again, which would take most
            // of the time.
            let done = parse_done(fields).ok_or(MISWRITTEN)?;
            if done.units.end > plan.units() {
                return Err("the plan has no such units");
            }
            if plan.solutions(done.units.start, &done.counts) != done.solutions {
                return Err("its sum is not the sum of its counts");
            }
            return Ok(Self::Done(done));
        }
        let fields = text.strip_prefix("run ").ok_or(MISWRITTEN)?;
        let run = Run::parse(fields).ok_or(MISWRITTEN)?;
        // Control characters are refused, so that none can reach a terminal.
        if text.contains(char::is_control) || run.to_string() != text {
            return Err(MISWRITTEN);
        }
        Ok(Self::Run(run))
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

/// Returns whether a last line without a line feed may have been cut off during a write: whether it is the beginning
/// of a line that this module writes. A power cut may leave zeros in place of the rest.
pub(super) fn may_be_cut_off(tail: &[u8]) -> bool {
    let text = trim_zeros(tail);
    let may_be_done = is_beginning_of(b"done units=", is_in_done_line, text);
    // The machine's name may be any text.
    let may_be_run = is_beginning_of(b"run version=", |byte| !byte.is_ascii_control(), text);
    may_be_done || may_be_run
}

/// Returns whether a damaged line may be, or contain, the line that begins a run. A line with finished units is known by
/// its fields, also if one of them is damaged. Zeros and other control characters may have taken the place of lines.
pub(super) fn may_hide_run(damaged: &[u8]) -> bool {
    let text = String::from_utf8_lossy(damaged.trim_ascii_end());
    let number_of =
        |fields: [&str; 4]| fields.iter().filter(|field| text.contains(**field)).count();
    let of_done = number_of(["done units=", " solutions=", " elapsed-ms=", " counts="]);
    let of_run = number_of([" kernel=", " threads=", " shard=", " machine="]);
    of_done < 3 || of_run > 0 || text.contains(|c: char| c.is_control() || c == '\u{fffd}')
}

/// Returns whether a text is the beginning of `start`, or `start` with allowed characters behind it.
fn is_beginning_of(start: &[u8], is_allowed: fn(u8) -> bool, text: &[u8]) -> bool {
    match text.strip_prefix(start) {
        Some(rest) => rest.iter().all(|byte| is_allowed(*byte)),
        None => start.starts_with(text),
    }
}

/// Returns whether a line with finished units may contain a character.
fn is_in_done_line(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b" .,=-".contains(&byte)
}

/// Returns bytes without the zeros at their end.
pub(super) fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    &bytes[..bytes.len() - zeros]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_line_of_units_hides_no_run() {
        let line = "done units=0..2 solutions=9 elapsed-ms=1 busy-us=1 counts=4,5 01234567\n";
        assert!(!may_hide_run(line.as_bytes()));
        assert!(!may_hide_run(line.replace("done units", "dome units").as_bytes()));
        for (field, other) in [
            ("done units=0..2 solutions", "dome units=0..2 solution"),
            ("busy-us=1", "kernel=1"),
            ("busy-us=1", "machine=1"),
            ("busy-us", "busy\0us"),
        ] {
            assert!(may_hide_run(line.replace(field, other).as_bytes()), "{other:?}");
        }
        assert!(may_hide_run(
            b"run version=1 kernel=avx2 threads=1 shard=0/1 machine=m 01234567\n"
        ));
        assert!(may_hide_run(
            b"done units=0..2 solutions=9 elapsed-ms=1 \xff counts=4,5 01234567\n"
        ));
    }

    #[test]
    fn the_beginning_of_a_line_may_be_cut_off() {
        for tail in [
            "",
            "d",
            "done units=0..",
            "done units=0..2 counts=4\0\0",
            "run ver",
            "run version=1 machine=Ä",
        ] {
            assert!(may_be_cut_off(tail.as_bytes()), "{tail:?}");
        }
        for tail in ["x", "done units=X", "run version=1\t", "run-version=1"] {
            assert!(!may_be_cut_off(tail.as_bytes()), "{tail:?}");
        }
        assert_eq!(trim_zeros(b"ab\0c\0\0"), b"ab\0c");
    }
}
