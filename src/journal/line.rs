//! The lines of a journal, read and written as text.
//!
//! Reading is strict: a line that would not be written again with the same bytes is damaged, even
//! if its CRC is right.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::engine::{Engine, SplitRows};
use crate::plan::Plan;
use crate::shard::Shard;

/// The first word of every journal.
pub(super) const MAGIC: &str = "nqueens-journal";
/// The number of the format that this module reads and writes.
pub(super) const FORMAT: u32 = 1;

/// Who wrote the journal, and for which plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: String,
    pub(super) n: u32,
    pub(super) engine: Engine,
    pub(super) split_rows: Option<SplitRows>,
    pub(super) plan: u32,
    pub(super) units: usize,
}

/// The start of a process's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunLine {
    pub(super) version: String,
    pub(super) kernel: String,
    pub(super) threads: usize,
    pub(super) shard: Shard,
    pub(super) machine: String,
}

/// Finished units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoneLine {
    pub(super) units: Range<usize>,
    pub(super) solutions: u128,
    /// Wall time since the run began, in whole milliseconds.
    pub(super) elapsed: Duration,
    /// CPU time, in whole microseconds.
    pub(super) cpu_time: Duration,
    pub(super) counts: Vec<u64>,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Run(RunLine),
    Done(DoneLine),
    /// Units whose counts, recorded earlier, cannot be trusted.
    Withdrawn(Range<usize>),
}

/// The text of a line with its CRC and line feed.
pub(super) fn seal(text: &impl fmt::Display) -> String {
    let text = text.to_string();
    let crc = crc32fast::hash(text.as_bytes());
    format!("{text} {crc:08x}\n")
}

/// The text of a line, given without its line feed, if its CRC is right.
pub(super) fn unseal(line: &[u8]) -> Result<&str, String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let (text, crc) = line.rsplit_once(' ').ok_or_else(|| "it has no CRC".to_owned())?;
    if crc == format!("{:08x}", crc32fast::hash(text.as_bytes())) {
        Ok(text)
    } else {
        Err("its CRC differs".to_owned())
    }
}

/// Reads a value, and makes sure that it would be written in the same way. Control characters are
/// refused, so that none can reach a terminal.
fn strictly<T: fmt::Display>(
    text: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    parse(text)
        .filter(|value| !text.contains(char::is_control) && value.to_string() == text)
        .ok_or_else(|| "its CRC is right, but its fields are not".to_owned())
}

impl Header {
    /// The header that this version writes.
    pub(super) fn of(plan: &Plan) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            n: plan.size().get(),
            engine: plan.engine(),
            split_rows: plan.split_rows(),
            plan: plan.hash(),
            units: plan.units(),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        strictly(text, |text| {
            let mut fields = text.split(' ').skip(2);
            let mut field = |name| fields.next()?.strip_prefix(name);
            Some(Self {
                version: field("version=")?.to_owned(),
                n: field("n=")?.parse().ok()?,
                engine: field("engine=")?.parse().ok()?,
                split_rows: match field("split-rows=")? {
                    "none" => None,
                    rows => Some(rows.parse().ok()?),
                },
                plan: u32::from_str_radix(field("plan=")?, 16).ok()?,
                units: field("units=")?.parse().ok()?,
            })
        })
    }
}

impl Line {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        strictly(text, |text| match text.split_once(' ')? {
            ("run", rest) => RunLine::parse(rest).map(Self::Run),
            ("done", rest) => DoneLine::parse(rest).map(Self::Done),
            ("withdrawn", rest) => parse_units(rest.strip_prefix("units=")?).map(Self::Withdrawn),
            _ => None,
        })
    }
}

/// One or more units, as `START..END`.
fn parse_units(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once("..")?;
    let units = start.parse().ok()?..end.parse().ok()?;
    (!units.is_empty()).then_some(units)
}

/// Whether a line without an end may have been cut off in the middle of a write: whether it is the
/// beginning of a line that this module writes. A power cut may leave zeros in place of the rest.
pub(super) fn may_be_cut_off(tail: &[u8]) -> bool {
    let zeros = tail.iter().rev().take_while(|byte| **byte == 0).count();
    let text = &tail[..tail.len() - zeros];
    let is_of = |start: &[u8], allowed: fn(u8) -> bool| {
        let common = start.len().min(text.len());
        text[..common] == start[..common] && text[common..].iter().copied().all(allowed)
    };
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b" .,=-".contains(&byte);
    // The machine's name may be any text.
    let is_text = |byte: u8| !byte.is_ascii_control();
    is_of(b"done units=", is_plain)
        || is_of(b"withdrawn units=", is_plain)
        || is_of(b"run version=", is_text)
}

impl RunLine {
    fn parse(text: &str) -> Option<Self> {
        // The machine's name comes last, because it may contain spaces.
        let mut fields = text.splitn(5, ' ');
        let mut field = |name| fields.next()?.strip_prefix(name);
        Some(Self {
            version: field("version=")?.to_owned(),
            kernel: field("kernel=")?.to_owned(),
            threads: field("threads=")?.parse().ok()?,
            shard: field("shard=")?.parse().ok()?,
            machine: field("machine=")?.to_owned(),
        })
    }
}

impl DoneLine {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut field = |name| fields.next()?.strip_prefix(name);
        let line = Self {
            units: parse_units(field("units=")?)?,
            solutions: field("solutions=")?.parse().ok()?,
            elapsed: Duration::from_millis(field("elapsed-ms=")?.parse().ok()?),
            cpu_time: Duration::from_micros(field("busy-us=")?.parse().ok()?),
            counts: field("counts=")?
                .split(',')
                .map(|count| count.parse().ok().filter(|count| *count != u64::MAX))
                .collect::<Option<_>>()?,
        };
        (line.units.start.checked_add(line.counts.len()) == Some(line.units.end)).then_some(line)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, n, engine, split_rows, plan, units } = self;
        let split_rows = split_rows.map_or_else(|| "none".to_owned(), |rows| rows.to_string());
        write!(
            f,
            "{MAGIC} {FORMAT} version={version} n={n} engine={engine} split-rows={split_rows} \
             plan={plan:08x} units={units}"
        )
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(RunLine { version, kernel, threads, shard, machine }) => write!(
                f,
                "run version={version} kernel={kernel} threads={threads} shard={shard} \
                 machine={machine}"
            ),
            Self::Done(DoneLine { units, solutions, elapsed, cpu_time, counts }) => {
                let Range { start, end } = units;
                let (elapsed, cpu_time) = (elapsed.as_millis(), cpu_time.as_micros());
                write!(
                    f,
                    "done units={start}..{end} solutions={solutions} elapsed-ms={elapsed} \
                     busy-us={cpu_time} counts="
                )?;
                for (index, count) in counts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{count}")?;
                }
                Ok(())
            }
            Self::Withdrawn(Range { start, end }) => write!(f, "withdrawn units={start}..{end}"),
        }
    }
}
