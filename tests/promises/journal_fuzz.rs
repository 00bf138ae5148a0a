//! Promise: whatever damage a folder of journals has, whatever is read from it is true, every line that is left as it
//! was is used, and a count ends with the exact total. docs/JOURNAL.md makes this promise under "What is promised". The
//! damage here is random and of every kind.
//!
//! `cargo test` tries some hundreds of folders, and `PROPTEST_CASES=50000 cargo test journal_fuzz::` any number.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nqueens::journal::{JournalErrorKind, Record, Records};
use nqueens::plan::Plan;
use nqueens::{Cancel, Count, Engine, Error, Kernel, Shard};
use proptest::prelude::*;

use super::fuzzed::damaged_lines;
use crate::common::{
    counts, first_line_with_check_digits, fresh_folder, journals_in, plan_of, read, record_of,
    size, units_of_line, with_check_digits,
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

/// The number of shards.
const SHARDS: usize = 3;

/// The journals of all shards by their names, and the true counts of the units.
struct Whole {
    journals: Vec<(PathBuf, Vec<u8>)>,
    counts: Vec<u64>,
}

fn whole() -> &'static Whole {
    static WHOLE: OnceLock<Whole> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let folder = fresh_folder(&format!("journal-fuzz-whole-{}", std::process::id()));
        let mut journals = Vec::new();
        for index in 0..SHARDS {
            let shard = Shard::new(index, SHARDS).expect("in range");
            let outcome = count().shard(shard).journal(&folder).run().expect("a shard");
            let path = outcome.journal.expect("it was written");
            let name = path.file_name().expect("a name");
            journals.push((PathBuf::from(name), fs::read(&path).expect("readable")));
        }
        let plan = plan_of(size(N), Engine::Subtrees, None);
        let counts = (0..plan.units())
            .map(|unit| plan.worker(Kernel::detect()).expect("memory").count(unit, &Cancel::new()));
        let counts = counts.collect::<Result<_, _>>().expect("small units");
        Whole { journals, counts }
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
    /// A line is lost.
    Delete { at: f64 },
    /// A line is copied to another place.
    Duplicate { from: f64, to: f64 },
    /// All lines from a place on are in the opposite order.
    Reverse { at: f64 },
    /// A byte of the first line is replaced.
    First { at: f64, byte: u8 },
    /// All lines end as on Windows.
    Windows,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a small file"
)]
fn place<T>(list: &[T], part: f64) -> usize {
    (list.len() as f64 * part) as usize
}

/// The lines with their line feeds.
fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
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
            Self::Delete { at } => {
                let mut lines = lines_of(bytes);
                let at = place(&lines, *at);
                if at < lines.len() {
                    lines.remove(at);
                }
                *bytes = lines.concat();
            }
            Self::Duplicate { from, to } => {
                let mut lines = lines_of(bytes);
                if let Some(line) = lines.get(place(&lines, *from)).cloned() {
                    lines.insert(place(&lines, *to), line);
                }
                *bytes = lines.concat();
            }
            Self::Reverse { at } => {
                let mut lines = lines_of(bytes);
                let at = place(&lines, *at);
                lines[at..].reverse();
                *bytes = lines.concat();
            }
            Self::First { at, byte } => {
                let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
                let at = place(&bytes[..end], *at);
                if at < end {
                    bytes[at] = *byte;
                }
            }
            Self::Windows => {
                let lines = lines_of(bytes);
                let ends = lines.iter().map(|line| match line.strip_suffix(b"\n") {
                    Some(line) => [line, b"\r\n"].concat(),
                    None => line.clone(),
                });
                *bytes = ends.collect::<Vec<_>>().concat();
            }
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
        at().prop_map(|at| Damage::Delete { at }),
        (at(), at()).prop_map(|(from, to)| Damage::Duplicate { from, to }),
        at().prop_map(|at| Damage::Reverse { at }),
        (at(), byte()).prop_map(|(at, byte)| Damage::First { at, byte }),
        Just(Damage::Windows),
    ]
}

/// All units have their true counts.
fn is_true(record: &Record) -> bool {
    counts(record).into_iter().all(|(unit, count)| count == whole().counts[unit])
}

/// The complete lines of a file, without the ends that Unix and Windows give them.
fn complete_lines(bytes: &[u8]) -> HashSet<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // What follows the last line feed is no line.
    lines.pop();
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// What damage has left of the journals.
#[derive(Default)]
struct Left {
    /// The units of all lines that are as they were.
    units: BTreeSet<usize>,
    /// Whether a first line is as it was.
    has_first: bool,
    /// The files with a complete line that is not as it was.
    damaged: BTreeSet<PathBuf>,
}

impl Left {
    fn of(folder: &Path, files: &[Vec<u8>]) -> Self {
        let mut written = HashSet::new();
        for (_, bytes) in &whole().journals {
            written.extend(complete_lines(bytes));
        }
        let mut left = Self::default();
        for ((name, _), bytes) in whole().journals.iter().zip(files) {
            for line in complete_lines(bytes) {
                if !written.contains(line) {
                    left.damaged.insert(folder.join(name));
                } else if line.starts_with(b"done ") {
                    left.units.extend(units_of_line(std::str::from_utf8(line).expect("text")));
                } else if line.starts_with(b"nqueens-journal ") {
                    left.has_first = true;
                }
            }
        }
        left
    }
}

/// The names of the files of which something is left out.
fn named(left_out: &[Error]) -> BTreeSet<PathBuf> {
    let mut named = BTreeSet::new();
    for error in left_out {
        let Error::Journal(error) = error else { panic!("{error}") };
        let kinds = [JournalErrorKind::Damaged, JournalErrorKind::NotAJournal];
        assert!(kinds.contains(&error.kind()), "{error}");
        assert!(named.insert(error.path().to_owned()), "it is named twice: {error}");
    }
    named
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

    /// Reading and counting use every line that is left as it was, in whatever file it is, and nothing else. They
    /// change no file.
    #[test]
    fn a_count_goes_on_over_any_damage(
        damages in prop::collection::vec((0..SHARDS, damage()), 1..8),
        lost in prop::option::weighted(0.2, 0..SHARDS),
    ) {
        let folder = fresh_folder(&format!("journal-fuzz-damaged-{}", std::process::id()));
        let mut files: Vec<Vec<u8>> =
            whole().journals.iter().map(|(_, bytes)| bytes.clone()).collect();
        damages.iter().for_each(|(file, damage)| damage.apply(&mut files[*file]));
        if let Some(lost) = lost {
            files[lost].clear();
        }
        for ((name, _), bytes) in whole().journals.iter().zip(&files) {
            fs::write(folder.join(name), bytes)?;
        }
        let left = Left::of(&folder, &files);
        let units = whole().counts.len();

        match Records::read(&[&folder]) {
            Ok(records) if records.first().or(records.second()).is_none() => {
                prop_assert!(files.iter().all(Vec::is_empty) && !left.has_first);
            }
            Ok(records) => {
                prop_assert!(left.has_first && records.second().is_none());
                prop_assert_eq!(&named(records.left_out()), &left.damaged);
                let record = records.first().expect("the first pass");
                prop_assert!(is_true(record), "{record:?}");
                prop_assert!(counts(record).keys().eq(&left.units), "{record:?}");
                let total = (left.units.len() == units).then_some(TOTAL);
                prop_assert_eq!((record.total(), record.differences()), (total, &[][..]));
            }
            Err(Error::Journal(error)) if error.kind() == JournalErrorKind::NotAJournal => {
                prop_assert!(!left.has_first);
            }
            Err(error) => panic!("{error}"),
        }

        // Each shard finds what its own journal holds, and then the whole count finds everything.
        let shard = Shard::new(1, SHARDS).expect("in range");
        let of_shard = count().shard(shard).journal(&folder).run()?;
        prop_assert!(of_shard.is_complete());
        let outcome = count().journal(&folder).run()?;
        prop_assert_eq!((outcome.total, outcome.journal_fault), (Some(TOTAL), None));
        prop_assert!(outcome.units_before >= left.units.len());
        prop_assert_eq!(&named(&outcome.left_out), &left.damaged);
        for ((name, _), bytes) in whole().journals.iter().zip(&files) {
            prop_assert_eq!(&fs::read(folder.join(name))?, bytes, "it is only read");
        }
        // The next count finds nothing to do.
        let all = journals_in(&folder);
        prop_assert_eq!(count().journal(&folder).run()?.units_before, units);
        prop_assert_eq!(&journals_in(&folder), &all);
        let after = record_of(&all);
        prop_assert!(is_true(&after));
        prop_assert_eq!(after.total(), Some(TOTAL));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let path = fresh("arbitrary");
        fs::write(&path, &bytes)?;
        let _ = read(&path);
        let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {}", foreign_plan()));
        fs::write(&path, [first.as_bytes(), &bytes].concat())?;
        prop_assert_eq!(record_of(&[&path]).units_done(), 0);
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
    /// used, the others are named as damaged. A unit with different numbers has the one that stands in at least two
    /// different lines, and in more than any other.
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
        let mut votes = BTreeMap::<usize, BTreeMap<u64, BTreeSet<String>>>::new();
        let mut damaged = Vec::new();
        for (number, line) in (2..).zip(&lines) {
            match line {
                Ok(line) => text += &with_check_digits(&header, &line.text()),
                Err(line) => text += &with_check_digits(&header, line),
            }
            match line {
                Ok(line) if line.is_right() => {
                    for (unit, count) in line.units().zip(&line.counts) {
                        let of_unit = votes.entry(unit).or_default();
                        of_unit.entry(*count).or_default().insert(line.text());
                    }
                }
                _ => damaged.push(number),
            }
        }
        fs::write(&path, text)?;
        let record = record_of(&[&path]);
        for unit in 0..foreign_plan().units() {
            let expected = votes.get(&unit).and_then(settled);
            prop_assert_eq!(record.count(unit), expected, "unit {}", unit);
        }
        let records = Records::read(&[&path])?;
        let mut named = Vec::new();
        for error in records.left_out() {
            let Error::Journal(error) = error else { panic!("{error}") };
            named.extend(damaged_lines(error).0);
        }
        prop_assert_eq!(named, damaged);
        let disputed: Vec<usize> = record.differences().iter().map(|dispute| dispute.unit).collect();
        let differing = votes.iter().filter(|(_, votes)| votes.len() > 1);
        prop_assert_eq!(disputed, differing.map(|(unit, _)| *unit).collect::<Vec<_>>());
    }
}

/// The number of a unit whose numbers stand in these lines.
fn settled(votes: &BTreeMap<u64, BTreeSet<String>>) -> Option<u64> {
    let most = votes.values().map(BTreeSet::len).max()?;
    let with_most: Vec<u64> =
        votes.iter().filter(|(_, lines)| lines.len() == most).map(|(count, _)| *count).collect();
    match with_most[..] {
        [count] if most >= 2 || votes.len() == 1 => Some(count),
        _ => None,
    }
}
