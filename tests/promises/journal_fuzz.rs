//! Promise: whatever is read from a damaged journal is true, and whatever happens after line 1, a count ends with the
//! exact total. docs/JOURNAL.md makes this promise under "Damage". The damage here is random and of every kind.
//!
//! `cargo test` tries some hundreds of journals, and `PROPTEST_CASES=50000 cargo test journal_fuzz::` any number.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use nqueens::record::{JournalError, Record};
use nqueens::{Cancel, Count, Engine, Error, Kernel, Plan};
use proptest::prelude::*;

use crate::common::{
    counts, first_line_with_check_digits, plan_of, read, size, units_of_line, with_check_digits,
};

/// A small board with many units, and lines of one and of several.
const N: u32 = 10;
const TOTAL: u128 = 724;

fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("journal-fuzz-{name}-{}.journal", std::process::id()))
}

fn count() -> Count<'static> {
    Count::new(size(N)).engine(Engine::Subtrees).threads(1)
}

/// A finished journal, and the true counts of its units.
fn whole() -> &'static (Vec<u8>, Vec<u64>) {
    static WHOLE: OnceLock<(Vec<u8>, Vec<u64>)> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let path = fresh("whole");
        count().journal(&path).run().expect("a count");
        let plan = plan_of(size(N), Engine::Subtrees, None);
        let counts =
            (0..plan.units()).map(|unit| plan.worker(Kernel::detect()).count(unit, &Cancel::new()));
        let counts = counts.collect::<Result<_, _>>().expect("small units");
        (fs::read(&path).expect("it was written"), counts)
    })
}

/// Something that happens to a file. Places are fractions of its length.
#[derive(Clone, Debug)]
enum Damage {
    /// A block is overwritten with one byte.
    Fill { at: f64, length: usize, byte: u8 },
    /// A block is overwritten with another block of the file.
    Copy { from: f64, to: f64, length: usize },
    /// A block is lost, and what follows moves up.
    Remove { at: f64, length: usize },
    /// Bytes are inserted.
    Insert { at: f64, bytes: Vec<u8> },
    /// A bit is flipped.
    Flip { at: f64, bit: u8 },
    /// From a place on, every byte of one value is replaced.
    Replace { at: f64, from: u8, to: u8 },
    /// The file ends early.
    Cut { at: f64 },
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a small file"
)]
fn place(bytes: &[u8], part: f64) -> usize {
    (bytes.len() as f64 * part) as usize
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let block = |bytes: &[u8], at: f64, length: usize| {
            let start = place(bytes, at);
            start..bytes.len().min(start + length)
        };
        match self {
            Self::Fill { at, length, byte } => {
                let block = block(bytes, *at, *length);
                bytes[block].fill(*byte);
            }
            Self::Copy { from, to, length } => {
                let source = bytes[block(bytes, *from, *length)].to_vec();
                let target = block(bytes, *to, source.len());
                let length = target.len();
                bytes[target].copy_from_slice(&source[..length]);
            }
            Self::Remove { at, length } => drop(bytes.drain(block(bytes, *at, *length))),
            Self::Insert { at, bytes: new } => {
                let at = place(bytes, *at);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Flip { at, bit } => {
                let at = place(bytes, *at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Replace { at, from, to } => {
                let at = place(bytes, *at);
                bytes[at..].iter_mut().filter(|byte| *byte == from).for_each(|byte| *byte = *to);
            }
            Self::Cut { at } => bytes.truncate(place(bytes, *at)),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0.0..1.0f64;
    let length = || prop_oneof![1..64usize, Just(512), Just(4096)];
    let byte =
        || prop_oneof![Just(0), Just(b'\n'), Just(b'\r'), Just(b' '), Just(0xff), any::<u8>()];
    prop_oneof![
        (at(), length(), byte()).prop_map(|(at, length, byte)| Damage::Fill { at, length, byte }),
        (at(), at(), length()).prop_map(|(from, to, length)| Damage::Copy { from, to, length }),
        (at(), length()).prop_map(|(at, length)| Damage::Remove { at, length }),
        (at(), prop::collection::vec(byte(), 1..40))
            .prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        (at(), 0..8u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (at(), byte(), byte()).prop_map(|(at, from, to)| Damage::Replace { at, from, to }),
        at().prop_map(|at| Damage::Cut { at }),
    ]
}

/// All units have their true counts.
fn is_true(record: &Record) -> bool {
    let true_counts = &whole().1;
    counts(record).into_iter().all(|(unit, count)| count == true_counts[unit])
}

/// A line without its line feed, and without the carriage return that Windows adds.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The units of the lines that damage has left as they were.
fn units_in_intact_lines(damaged: &[u8]) -> BTreeSet<usize> {
    let mut lines: Vec<&[u8]> = damaged.split(|byte| *byte == b'\n').map(without_return).collect();
    // What follows the last line feed is no line.
    lines.pop();
    let lines: HashSet<&[u8]> = lines.into_iter().collect();
    let mut units = BTreeSet::new();
    for line in whole().0.split(|byte| *byte == b'\n') {
        if line.starts_with(b"done ") && lines.contains(line) {
            units.extend(units_of_line(std::str::from_utf8(line).expect("text")));
        }
    }
    units
}

/// What is left of the first line after some damage.
#[derive(PartialEq, Eq)]
enum First {
    Intact,
    /// The file is a part of the first line, perhaps with zeros behind it: such a file has not begun.
    NotBegun,
    Damaged,
}

fn first_line(damaged: &[u8]) -> First {
    let first = whole().0.split(|byte| *byte == b'\n').next().expect("a line");
    match damaged.iter().position(|byte| *byte == b'\n') {
        Some(end) if without_return(&damaged[..end]) == first => First::Intact,
        Some(_) => First::Damaged,
        None => {
            let zeros = damaged.iter().rev().take_while(|byte| **byte == 0).count();
            let text = &damaged[..damaged.len() - zeros];
            let magic = b"nqueens-journal";
            let is_beginning = text.starts_with(magic) || magic.starts_with(text);
            let has_control = text.iter().any(u8::is_ascii_control);
            if is_beginning && !has_control { First::NotBegun } else { First::Damaged }
        }
    }
}

/// The plan of the journals with lines that no program wrote.
fn foreign_plan() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| plan_of(size(N), Engine::Subtrees, None))
}

/// A line with the right CRC. Each field may be right or wrong.
#[derive(Clone, Debug)]
struct ForgedLine {
    start: usize,
    counts: Vec<u64>,
    /// How much the end of the units and the sum are too large.
    end_error: usize,
    sum_error: u128,
    times: [u64; 2],
}

impl ForgedLine {
    fn units(&self) -> Range<usize> {
        self.start..self.start + self.counts.len()
    }

    /// Whether a program may have written the line. `u64::MAX` would be an overflow.
    fn is_right(&self) -> bool {
        let is_in_plan = self.units().end <= foreign_plan().units();
        let is_counted = self.counts.iter().all(|count| *count != u64::MAX);
        is_in_plan && is_counted && self.end_error == 0 && self.sum_error == 0
    }

    fn text(&self) -> String {
        let Self { counts, end_error, sum_error, times: [elapsed, busy], .. } = self;
        let Range { start, end } = self.units();
        let mut sum = *sum_error;
        for (unit, count) in self.units().zip(counts) {
            let weight =
                if unit < foreign_plan().units() { foreign_plan().weight(unit) } else { 1 };
            sum += u128::from(*count) * u128::from(weight);
        }
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        format!(
            "done units={start}..{} solutions={sum} elapsed-ms={elapsed} busy-us={busy} counts={}",
            end + end_error,
            counts.join(",")
        )
    }
}

fn forged_line() -> impl Strategy<Value = ForgedLine> {
    let number = || prop_oneof![4 => 0..9u64, 1 => Just(u64::MAX - 1), 1 => any::<u64>()];
    let count = prop_oneof![8 => 0..3u64, 1 => Just(u64::MAX), 1 => number()];
    let sum_error = prop_oneof![6 => Just(0), 1 => 1..9u128];
    let end_error = prop_oneof![6 => Just(0), 1 => 1..3usize];
    let counts = prop::collection::vec(count, 1..6);
    let start = 0..foreign_plan().units() + 3;
    (start, counts, end_error, sum_error, [number(), number()]).prop_map(
        |(start, counts, end_error, sum_error, times)| ForgedLine {
            start,
            counts,
            end_error,
            sum_error,
            times,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens after line 1, a count ends with the exact total, and every line that is left as it was is used
    /// and stays. If line 1 is damaged, the file is refused and left as it is.
    #[test]
    fn a_count_goes_on_over_any_damage_after_line_1(
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let path = fresh("damaged");
        let mut bytes = whole().0.clone();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        fs::write(&path, &bytes)?;
        let first = first_line(&bytes);

        let read = Record::read(&[&path]);
        prop_assert_eq!(&fs::read(&path)?, &bytes, "reading changes nothing");
        let intact = units_in_intact_lines(&bytes);
        if first == First::Intact {
            let record = read?.expect("it has begun");
            prop_assert!(is_true(&record));
            prop_assert!(record.finished().eq(intact.iter().copied()), "{record:?}");
        }

        let counted = count().journal(&path).run();
        if first == First::Damaged {
            prop_assert!(matches!(counted, Err(Error::Journal { .. })), "{counted:?}");
            prop_assert_eq!(fs::read(&path)?, bytes);
            return Ok(());
        }
        let outcome = counted?;
        prop_assert_eq!((outcome.total, outcome.journal_fault), (Some(TOTAL), None));
        let held = if first == First::Intact { intact } else { BTreeSet::new() };
        prop_assert_eq!(outcome.units_before, held.len());
        let after = Record::read(&[&path])?.expect("it has begun");
        prop_assert!(is_true(&after));
        prop_assert_eq!(after.total(), Some(TOTAL));
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        prop_assert!(fs::read(&path)?.starts_with(&bytes[..complete]), "no line is taken out");
        // The next count finds nothing to do.
        let written = fs::read(&path)?;
        prop_assert_eq!(count().journal(&path).run()?.units_before, outcome.units);
        prop_assert_eq!(fs::read(&path)?, written);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let path = fresh("arbitrary");
        fs::write(&path, &bytes)?;
        let _ = read(&path);
        let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {}", foreign_plan()));
        fs::write(&path, [first.as_bytes(), &bytes].concat())?;
        let record = Record::read(&[&path])?.expect("it has begun");
        prop_assert_eq!(record.sum().units, 0);
    }

    /// First lines with the right CRC, almost none of which names a plan.
    #[test]
    fn arbitrary_first_lines_with_check_digits_never_panic(
        header in "nqueens-journal [0-9]{1,2} version=[a-z0-9.]{0,4} n=[0-9]{1,3} count=(first|second|x) engine=(colours|subtrees|bitmask|x) split-rows=(none|[0-9]) plan=[0-9a-f]{8} units=[0-9]{1,20}",
    ) {
        let path = fresh("forged-first");
        fs::write(&path, first_line_with_check_digits(&header))?;
        let _ = read(&path);
    }

    /// Lines with the right CRC that no program wrote: those whose fields agree with each other and with the plan are
    /// used, the others are named as damaged. A unit with two different counts is left out.
    #[test]
    fn arbitrary_lines_with_check_digits_are_used_or_named(
        lines in prop::collection::vec(
            prop_oneof![
                3 => forged_line().prop_map(Ok),
                1 => "(run|done) (units|version)=[0-9.]{0,25}( [a-z-]{1,10}=[0-9,]{0,30}){0,5}"
                    .prop_map(Err),
            ],
            0..8,
        ),
    ) {
        let path = fresh("forged");
        let header = format!("nqueens-journal 2 version=0.1.0 {}", foreign_plan());
        let mut text = first_line_with_check_digits(&header);
        let mut counts = BTreeMap::<usize, BTreeSet<u64>>::new();
        let mut damaged = Vec::new();
        for (number, line) in (2..).zip(&lines) {
            match line {
                Ok(line) => text += &with_check_digits(&header, &line.text()),
                Err(line) => text += &with_check_digits(&header, line),
            }
            match line {
                Ok(line) if line.is_right() => {
                    for (unit, count) in line.units().zip(&line.counts) {
                        counts.entry(unit).or_default().insert(*count);
                    }
                }
                _ => damaged.push(number),
            }
        }
        fs::write(&path, text)?;
        let record = Record::read(&[&path])?.expect("it has begun");
        for unit in 0..foreign_plan().units() {
            let expected = match counts.get(&unit) {
                Some(counts) if counts.len() == 1 => counts.first().copied(),
                _ => None,
            };
            prop_assert_eq!(record.count(unit), expected, "unit {}", unit);
        }
        let mut named = Vec::new();
        let mut disputed = Vec::new();
        for error in record.left_out() {
            match error {
                Error::Journal { error: JournalError::Damaged { lines, .. }, .. } => {
                    named.extend(lines.iter().cloned().flatten());
                }
                Error::CountsDiffer(unit) => disputed.push(unit.unit()),
                other => panic!("{other}"),
            }
        }
        prop_assert_eq!(named, damaged);
        let differing = counts.iter().filter(|(_, counts)| counts.len() > 1);
        prop_assert_eq!(disputed, differing.map(|(unit, _)| *unit).collect::<Vec<_>>());
    }

    /// Lines of a good journal removed, duplicated and moved: never a wrong total.
    #[test]
    fn shuffled_and_duplicate_lines_are_resumed(
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..25),
    ) {
        let path = fresh("shuffled");
        let whole = std::str::from_utf8(&whole().0)?;
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let text: String =
            lines[..2].iter().copied().chain(order.iter().map(|index| *index.get(&lines[1..]))).collect();
        fs::write(&path, &text)?;
        let outcome = count().threads(2).journal(&path).run().expect("equal duplicates are harmless");
        prop_assert_eq!(outcome.total, Some(TOTAL));
        prop_assert_eq!(outcome.units_before, units_in_intact_lines(text.as_bytes()).len());
    }
}
