//! What fuzzing runs on a journal: a reading that knows the format from docs/FORMAT.md alone is compared with the record.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::Record;
use crate::board::size::BoardSize;
use crate::engine::Engine;
use crate::error::{Error, JournalError};
use crate::journal::FirstLine;
use crate::journal::fuzz::{line_of_done, line_of_run};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

/// The plan of the journals: a small one, with units of different weights.
static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| {
    let size = BoardSize::new(9).expect("in range");
    Arc::new(Plan::new(size, Engine::Subtrees, Some(2)).expect("a plan"))
});

/// The file that holds the journal, because units with different numbers are looked up in it once more.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::temp_dir().join(format!("nqueens-fuzz-{}.journal", std::process::id()))
});

/// Returns the plan of the journals that [`journal`] reads.
pub fn plan() -> &'static Plan {
    &PLAN
}

/// Reads what follows the first line of a journal, and compares it with a simpler reading.
///
/// # Panics
///
/// If the two readings differ, or if what was read is not read in the same way when it is written again.
pub fn journal(after_first_line: &[u8]) {
    let first = FirstLine::format(&PLAN);
    let expected = Expected::of(after_first_line);
    let record = read(&[first.as_bytes(), after_first_line].concat());
    check_record(&record, &expected);
    check_runs(&record, &expected);
    check_that_each_line_is_explained(&record, after_first_line);

    // The lines are used without the first line, too.
    let damaged = first.replace(" version=", " Version=");
    check_record(&read(&[damaged.as_bytes(), after_first_line].concat()), &expected);

    // What was read is read in the same way when it is written again.
    let mut again = first;
    for run in record.runs() {
        again += &line_of_run(run, &PLAN);
    }
    for (_, done) in &expected.lines {
        again += &line_of_done(done, &PLAN);
    }
    let again = read(again.as_bytes());
    assert_eq!(again.left_out(), []);
    check_record(&again, &expected);
    let _ = fs::remove_file(&*FILE);
}

/// Reads a journal of the plan.
fn read(bytes: &[u8]) -> Record {
    fs::write(&*FILE, bytes).expect("room");
    Record::read(&PLAN, &[Path::new(&*FILE)]).expect("memory")
}

/// What a journal holds by the simpler reading.
struct Expected<'a> {
    /// The intact lines with finished units, each with its text.
    lines: Vec<(&'a str, UnitsDone)>,
    /// For each unit the numbers that its lines hold, each with the texts of the lines.
    votes: BTreeMap<usize, BTreeMap<u64, BTreeSet<&'a str>>>,
}

impl<'a> Expected<'a> {
    fn of(after_first_line: &'a [u8]) -> Self {
        let mut lines = Vec::new();
        let mut votes: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
        for (_, line) in numbered_lines(after_first_line) {
            let Some(done) = done_in(line) else { continue };
            let text = text_of_own_line(line).expect("an intact line");
            for (unit, count) in done.units.clone().zip(&done.counts) {
                votes.entry(unit).or_default().entry(*count).or_default().insert(text);
            }
            lines.push((text, done));
        }
        Self { lines, votes }
    }

    /// Returns the count of a unit: the only number, or the one with at least two lines and more than any other.
    fn count(&self, unit: usize) -> Option<u64> {
        let votes = self.votes.get(&unit)?;
        let mut numbers: Vec<_> =
            votes.iter().map(|(count, texts)| (texts.len(), *count)).collect();
        numbers.sort_unstable();
        match numbers[..] {
            [(_, only)] => Some(only),
            [.., (before, _), (most, count)] if most >= 2 && most > before => Some(count),
            _ => None,
        }
    }
}

/// Returns the complete lines after the first one without their line feeds, each with its number.
fn numbered_lines(after_first_line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = after_first_line.split_inclusive(|byte| *byte == b'\n');
    (2..).zip(lines).filter_map(|(number, line)| Some((number, line.strip_suffix(b"\n")?)))
}

/// Returns the text of a line if its CRC, which starts from this number, is right.
fn text_with_crc(line: &[u8], start: u32) -> Option<&str> {
    let line = str::from_utf8(line).ok()?;
    let (text, crc) = line.strip_suffix('\r').unwrap_or(line).rsplit_once(' ')?;
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(text.as_bytes());
    (crc == format!("{:08x}", hasher.finalize())).then_some(text)
}

/// Returns the text of a line of the plan after the first one, if its CRC is right.
fn text_of_own_line(line: &[u8]) -> Option<&str> {
    text_with_crc(line, crc32fast::hash(PLAN.to_string().as_bytes()))
}

/// Returns the finished units of an intact line. Whatever is written in another way than a program writes it is found
/// by writing it again.
fn done_in(line: &[u8]) -> Option<UnitsDone> {
    let text = text_of_own_line(line)?;
    let values: Vec<&str> =
        text.split(' ').filter_map(|field| Some(field.split_once('=')?.1)).collect();
    let [units, solutions, elapsed, busy, counts] = values[..] else { return None };
    let (start, end) = units.split_once("..")?;
    let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
    let (elapsed, busy): (u64, u64) = (elapsed.parse().ok()?, busy.parse().ok()?);
    let counts: Vec<u64> = counts.split(',').map_while(|count| count.parse().ok()).collect();
    let mut sum: u128 = 0;
    let mut list = String::new();
    for (unit, count) in (start..end.min(PLAN.units())).zip(&counts) {
        sum += u128::from(*count) * u128::from(PLAN.weight(unit));
        list += &format!(",{count}");
    }
    let written = format!(
        "done units={start}..{end} solutions={sum} elapsed-ms={elapsed} busy-us={busy} counts={}",
        list.strip_prefix(',')?
    );
    // A count of `u64::MAX` would be an overflow.
    let is_right =
        end <= PLAN.units() && start + counts.len() == end && !counts.contains(&u64::MAX);
    (is_right && written == text && solutions == sum.to_string()).then(|| UnitsDone {
        units: start..end,
        counts,
        solutions: sum,
        elapsed: Duration::from_millis(elapsed),
        cpu_time: Duration::from_micros(busy),
    })
}

/// Checks that a unit has the count of its lines, if these agree or settle it, and that the sum is that of the units.
fn check_record(record: &Record, expected: &Expected<'_>) {
    let mut sum = Sum::default();
    for unit in 0..PLAN.units() {
        let count = expected.count(unit);
        assert_eq!(record.count(unit), count, "unit {unit}");
        if let Some(count) = count {
            sum.units += 1;
            sum.solutions += u128::from(count) * u128::from(PLAN.weight(unit));
        }
    }
    assert_eq!(record.sum(), sum);
    let is_complete = sum.units == PLAN.units();
    assert_eq!(record.total(), is_complete.then_some(sum.solutions));
    let disputed: Vec<usize> = record.disputes().iter().map(|dispute| dispute.unit).collect();
    let several = expected.votes.iter().filter(|(_, votes)| votes.len() > 1);
    assert_eq!(disputed, Vec::from_iter(several.map(|(unit, _)| *unit)));
}

/// Checks that the runs have finished the units of all lines, and nothing else.
fn check_runs(record: &Record, expected: &Expected<'_>) {
    let units: usize = record.runs().map(|run| run.units).sum();
    let units_in_lines: usize = expected.lines.iter().map(|(_, done)| done.units.len()).sum();
    assert_eq!(units, units_in_lines);
    let longest = expected.lines.iter().map(|(_, done)| done.elapsed).max();
    assert_eq!(
        record.runs().map(|run| run.elapsed).max().unwrap_or_default(),
        longest.unwrap_or_default()
    );
}

/// Checks that every line is used, or of another count that a first line names, or reported once as damaged.
fn check_that_each_line_is_explained(record: &Record, after_first_line: &[u8]) {
    let mut damaged = BTreeSet::new();
    for error in record.left_out() {
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
        let Error::Journal { error, .. } = error else { panic!("{error}") };
        match error {
            JournalError::Damaged { lines } => damaged.extend(lines.iter().cloned().flatten()),
            JournalError::UnknownFormat { .. } => {}
            _ => panic!("{error}"),
        }
    }
    let mut run_lines = Vec::new();
    let mut other_crcs = Vec::new();
    for (number, line) in numbered_lines(after_first_line) {
        if damaged.contains(&number) {
            assert!(done_in(line).is_none(), "line {number} is intact");
        } else if let Some(text) =
            text_with_crc(line, 0).filter(|text| text.starts_with("nqueens-"))
        {
            if let Some(at) = text.find(" n=") {
                other_crcs.push(crc32fast::hash(&text.as_bytes()[at + 1..]));
            }
        } else if let Some(text) = text_of_own_line(line) {
            if done_in(line).is_none() {
                assert!(text.starts_with("run version="), "line {number}: {text}");
                assert!(!text.contains(char::is_control), "line {number}: {text:?}");
                run_lines.push(text);
            }
        } else {
            let is_other = |crc: &u32| text_with_crc(line, *crc).is_some();
            assert!(other_crcs.iter().any(is_other), "line {number} is passed over");
        }
    }
    let mut runs = record.runs().map(ToString::to_string);
    for text in run_lines {
        assert!(runs.any(|run| run == text), "{text}");
    }
}
