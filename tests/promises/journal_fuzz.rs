//! Damaged journals of every kind: whatever is read is true, and whatever is saved can be resumed to the
//! exact total.
//!
//! `cargo test` tries some hundreds of them, and `PROPTEST_CASES=50000 cargo test journal_fuzz::` any number.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use nqueens::record::Record;
use nqueens::{Cancel, Count, Engine, Error, Kernel, Plan};
use proptest::prelude::*;

use crate::common::{contents, counts, read, seal, seal_first, size};

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
        let plan = Plan::new(size(N), Engine::Subtrees, None);
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
    let (recorded, counts) = (counts(record), &whole().1);
    counts
        .iter()
        .enumerate()
        .all(|(unit, count)| recorded.get(&unit).is_none_or(|recorded| recorded == count))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A damaged journal is either refused or read without a wrong unit. A count either resumes it to
    /// the exact total or leaves it as it is.
    #[test]
    fn what_is_read_is_true_and_what_is_refused_stays(
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let path = fresh("read");
        let mut bytes = whole().0.clone();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        fs::write(&path, &bytes)?;
        if let Ok(Some(record)) = read(&path) {
            prop_assert!(is_true(&record));
        }
        match count().journal(&path).run() {
            Ok(outcome) => {
                prop_assert_eq!(outcome.total, TOTAL);
                prop_assert_eq!(outcome.journal_fault, None);
            }
            Err(Error::Journal { .. }) => prop_assert_eq!(fs::read(&path)?, bytes),
            Err(error) => panic!("{error}"),
        }
    }

    /// What is saved is true, includes every whole line, and can be resumed to the exact total.
    #[test]
    fn every_whole_line_is_saved(damages in prop::collection::vec(damage(), 1..4)) {
        let (path, new) = (fresh("broken"), fresh("saved"));
        let mut bytes = whole().0.clone();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        fs::write(&path, &bytes)?;
        let record = match Record::read(std::slice::from_ref(&path)) {
            Ok(Some(record)) => record,
            // The first line is damaged, or nothing but the beginning of it is left.
            read => {
                let lost = read.is_err() || bytes.iter().all(|byte| *byte != b'\n');
                prop_assert!(lost, "{read:?}");
                return Ok(());
            }
        };
        prop_assert_eq!(fs::read(&path)?, &bytes[..], "the old file is only read");
        let saved = record.save(&new, &Cancel::new())?;
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for line in whole().0.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"done ")) {
            let text = std::str::from_utf8(line)?;
            let units = text.split(' ').nth(1).and_then(|units| units.strip_prefix("units="));
            let start = units.and_then(|units| units.split_once("..")).map(|(start, _)| start);
            let unit: usize = start.expect("units").parse()?;
            if lines[..lines.len() - 1].contains(&line) {
                prop_assert!(saved.finished().contains(unit), "unit {} of a whole line", unit);
            }
        }
        let held = contents(&new);
        prop_assert!(is_true(&held));
        prop_assert_eq!(&held.finished(), &saved.finished());
        let outcome = count().journal(&new).run()?;
        prop_assert_eq!(outcome.total, TOTAL);
        prop_assert_eq!(outcome.units_before, held.tally().units);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let path = fresh("arbitrary");
        fs::write(&path, &bytes)?;
        let _ = read(&path);
    }

    /// Lines with the right CRC that no program wrote.
    #[test]
    fn arbitrary_sealed_lines_never_panic(
        header in "nqueens-journal [0-9]{1,2} version=[a-z0-9.]{0,4} n=[0-9]{1,3} count=(first|second|x) engine=(colours|subtrees|bitmask|x) split-rows=(none|[0-9]) plan=[0-9a-f]{8} units=[0-9]{1,20}",
        lines in prop::collection::vec("(run|done) (units|version)=[0-9.]{0,25}( [a-z-]{1,10}=[0-9,]{0,30}){0,5}", 0..5),
    ) {
        let path = fresh("sealed");
        let sealed: String = lines.iter().map(|line| seal(&header, line)).collect();
        let text = seal_first(&header) + &sealed;
        fs::write(&path, text)?;
        let _ = read(&path);
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
        fs::write(&path, text)?;
        let outcome = count().threads(2).journal(&path).run();
        prop_assert_eq!(outcome.expect("equal duplicates are harmless").total, TOTAL);
    }
}
