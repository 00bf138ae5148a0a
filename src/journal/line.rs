//! The lines of a journal, read and written as text.
//!
//! Reading is strict: a line that would not be written again with the same bytes is damaged, even
//! if its CRC is right.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::time::Duration;

use crate::engine::{Engine, Pass, SplitRows};
use crate::plan::Plan;
use crate::shard::Shard;

/// The first word of every journal.
pub(super) const MAGIC: &str = "nqueens-journal";
/// The format of first counts, and that of second counts. Programs that know nothing of second counts
/// refuse their journals because of this number.
const FORMAT: u32 = 1;
const FORMAT_OF_SECOND: u32 = 2;
/// Both of them.
pub(super) const FORMATS: RangeInclusive<u32> = FORMAT..=FORMAT_OF_SECOND;

/// Who wrote the journal, and for which plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: String,
    pub(super) n: u32,
    pub(super) engine: Engine,
    pub(super) split_rows: Option<SplitRows>,
    pub(super) plan: u32,
    pub(super) units: usize,
    pub(super) pass: Pass,
}

/// The start of a process's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunLine {
    pub(crate) version: String,
    pub(crate) kernel: String,
    pub(crate) threads: usize,
    pub(crate) shard: Shard,
    pub(crate) machine: String,
}

/// Finished units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoneLine {
    pub(crate) units: Range<usize>,
    pub(crate) solutions: u128,
    /// Wall time since the run began, in whole milliseconds.
    pub(crate) elapsed: Duration,
    /// CPU time, in whole microseconds.
    pub(crate) cpu_time: Duration,
    pub(crate) counts: Vec<u64>,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Run(RunLine),
    Done(DoneLine),
    /// Units whose counts, recorded earlier, cannot be trusted.
    Withdrawn(Range<usize>),
}

/// The text of a line with its CRC and line feed.
pub(crate) fn seal(text: &impl fmt::Display) -> String {
    let text = text.to_string();
    let crc = crc32fast::hash(text.as_bytes());
    format!("{text} {crc:08x}\n")
}

/// The first line of a plan's journals.
pub(crate) fn header_of(plan: &Plan) -> String {
    seal(&Header::of(plan))
}

/// The text of a line, given without its line feed, if its CRC is right.
pub(super) fn unseal(line: &[u8]) -> Result<&str, String> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let (text, crc) = line.rsplit_once(' ').ok_or_else(|| "it has no CRC".to_owned())?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_written_so = crc.len() == 8 && crc.bytes().all(is_digit);
    if is_written_so && u32::from_str_radix(crc, 16) == Ok(crc32fast::hash(text.as_bytes())) {
        Ok(text)
    } else {
        Err("its CRC differs".to_owned())
    }
}

/// What is wrong with a line that has its CRC.
const MISWRITTEN: &str = "its CRC is right, but its fields are not";

/// Reads a value, and makes sure that it would be written in the same way. Control characters are
/// refused, so that none can reach a terminal.
fn strictly<T: fmt::Display>(
    text: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    parse(text)
        .filter(|value| !text.contains(char::is_control) && value.to_string() == text)
        .ok_or_else(|| MISWRITTEN.to_owned())
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
            pass: plan.pass(),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        strictly(text, |text| {
            let mut fields = text.split(' ').skip(1);
            let pass = pass_of_format(fields.next()?)?;
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
                pass,
            })
        })
    }
}

/// Which count the journals of a format hold.
pub(super) fn pass_of_format(format: &str) -> Option<Pass> {
    match format.parse() {
        Ok(FORMAT) => Some(Pass::First),
        Ok(FORMAT_OF_SECOND) => Some(Pass::Second),
        _ => None,
    }
}

impl Line {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // Almost all lines are of this kind. Writing each again would take most of the time.
        if let Some(rest) = text.strip_prefix("done ") {
            return DoneLine::parse(rest).map(Self::Done).ok_or_else(|| MISWRITTEN.to_owned());
        }
        strictly(text, |text| match text.split_once(' ')? {
            ("run", rest) => RunLine::parse(rest).map(Self::Run),
            ("withdrawn", rest) => parse_units(rest.strip_prefix("units=")?).map(Self::Withdrawn),
            _ => None,
        })
    }
}

/// One or more units, as `START..END`.
fn parse_units(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once("..")?;
    let units = parse_number(start)?..parse_number(end)?;
    (!units.is_empty()).then_some(units)
}

/// A number without a sign or leading zeros.
fn parse_number<T: FromStr>(text: &str) -> Option<T> {
    let begins = text.bytes().next()?;
    let is_written_so = begins.is_ascii_digit() && (begins != b'0' || text.len() == 1);
    is_written_so.then(|| text.parse().ok()).flatten()
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
    /// Reads only what would be written in the same way.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut field = |name| fields.next()?.strip_prefix(name);
        let line = Self {
            units: parse_units(field("units=")?)?,
            solutions: parse_number(field("solutions=")?)?,
            elapsed: Duration::from_millis(parse_number(field("elapsed-ms=")?)?),
            cpu_time: Duration::from_micros(parse_number(field("busy-us=")?)?),
            counts: field("counts=")?
                .split(',')
                .map(|count| parse_number(count).filter(|count| *count != u64::MAX))
                .collect::<Option<_>>()?,
        };
        let is_whole = fields.next().is_none() && line.units.len() == line.counts.len();
        is_whole.then_some(line)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, n, engine, split_rows, plan, units, pass } = self;
        let (format, count) = match pass {
            Pass::First => (FORMAT, ""),
            Pass::Second => (FORMAT_OF_SECOND, " count=second"),
        };
        let split_rows = split_rows.map_or_else(|| "none".to_owned(), |rows| rows.to_string());
        write!(
            f,
            "{MAGIC} {format} version={version} n={n} engine={engine} split-rows={split_rows} \
             plan={plan:08x} units={units}{count}"
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
