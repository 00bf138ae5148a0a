//! Promise: whatever fuzzing has found, a journal is read as docs/FORMAT.md says. A reading that knows the format from
//! that page alone is compared with the record.
//!
//! The functions [`journal`] and [`first_line`] are what the targets in `fuzz/fuzz_targets` run. They take any bytes
//! and panic if something that must hold does not. The test runs them on the inputs in `fuzz/corpus`, which together
//! reach whatever the fuzzing has reached. The package in `fuzz` compiles this file too, so it uses nothing of the
//! other tests.

use std::collections::{BTreeMap, BTreeSet};
use std::env::temp_dir;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::LazyLock;
use std::time::Duration;

use nqueens::journal::{JournalError, JournalErrorKind, Record, Records, Run};
use nqueens::plan::{Pass, Plan};
use nqueens::{BoardSize, Engine, Error};

/// The plan of the journals that [`journal`] reads: a small one, with units of different weights.
pub static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let size = BoardSize::new(9).expect("in range");
    Plan::new(size, Engine::Subtrees, Some(2)).expect("a plan")
});

/// The largest board whose plan is made: the units of larger ones take seconds.
const MAX_SIZE: u32 = 10;

/// Reads what follows the first line of a journal, and compares it with a simpler reading.
///
/// # Panics
///
/// If the two readings differ, or if what was read is not read in the same way when it is written again.
pub fn journal(after_first_line: &[u8]) {
    let first = first_line_of_plan();
    let expected = Expected::of(after_first_line);
    let Some(records) = read(&[&first, after_first_line].concat()) else {
        assert!(names_another_plan(after_first_line), "the journals are of one plan");
        return;
    };
    let record = first_pass(&records);
    check_record(record, &expected);
    check_runs(record, &expected);
    check_that_each_line_is_explained(&records, after_first_line);

    // What was read is read in the same way when it is written again.
    let mut again = first;
    for run in record.runs() {
        again.extend(line_with_crc(&text_of_run(run), own_crc()));
    }
    for (text, _) in &expected.lines {
        again.extend(line_with_crc(text, own_crc()));
    }
    let again = read(&again).expect("one plan");
    assert_eq!(again.left_out(), []);
    check_record(first_pass(&again), &expected);
}

/// Returns the first line of the plan's journals, with its line feed.
fn first_line_of_plan() -> Vec<u8> {
    line_with_crc(&format!("nqueens-journal 2 version=1.0.0 {}", *PLAN), 0)
}

/// Reads a journal of the plan. Returns `None` if it names another plan, too.
fn read(bytes: &[u8]) -> Option<Records> {
    let path = file("journal");
    fs::write(&path, bytes).expect("room");
    let records = Records::read(&[&path]);
    let _ = fs::remove_file(path);
    match records {
        Ok(records) => Some(records),
        Err(Error::Journal(error)) if error.kind() == JournalErrorKind::OtherPlan => None,
        Err(error) => panic!("{error}"),
    }
}

/// Returns what the first line of the journal stands for.
fn first_pass(records: &Records) -> &Record {
    records.first().expect("its first line is there")
}

/// Returns whether an intact first line among these lines names a plan with other units.
fn names_another_plan(lines: &[u8]) -> bool {
    let own = PLAN.to_string();
    numbered_lines(lines).any(|(_, line)| {
        let text = text_with_crc(line, 0).and_then(|text| text.strip_prefix("nqueens-journal 2 "));
        let plan = text.map(|text| text.split_once(' ').map_or("", |(_, plan)| plan));
        plan.is_some_and(|plan| plan.replacen("count=second", "count=first", 1) != own)
    })
}

/// Returns the text of the line that begins a run.
fn text_of_run(run: &Run) -> String {
    let date = run.date().map_or(String::new(), |date| format!("date={date} "));
    let [version, kernel, machine] = [run.version(), run.kernel(), run.machine()];
    let (threads, shard) = (run.threads(), run.shard());
    format!(
        "run version={version} {date}kernel={kernel} threads={threads} shard={shard} machine={machine}"
    )
}

/// Returns the path of the file that a target reads.
fn file(target: &str) -> PathBuf {
    temp_dir().join(format!("nqueens-{target}-{}.journal", process::id()))
}

/// Reads a journal that has only a first line, and makes the plan that it names.
///
/// # Panics
///
/// If the line is taken, and a program would write another one for the plan that is made.
pub fn first_line(bytes: &[u8]) {
    let line = bytes.split(|byte| *byte == b'\n').next().expect("a line");
    let text = String::from_utf8_lossy(line);
    let sizes = text.split(' ').filter_map(|field| field.strip_prefix("n=")?.parse().ok());
    if sizes.max().is_some_and(|size: BoardSize| size.get() > MAX_SIZE) {
        return;
    }
    let path = file("first-line");
    fs::write(&path, [line, b"\n"].concat()).expect("room");
    let records = Records::read(&[&path]);
    let _ = fs::remove_file(path);
    let records = match records {
        Ok(records) => records,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
            return;
        }
    };
    assert_eq!(records.left_out(), []);
    let (record, pass) = match (records.first(), records.second()) {
        (Some(first), None) => (first, Pass::First),
        (None, Some(second)) => (second, Pass::Second),
        found => panic!("{found:?}"),
    };
    assert_eq!(record.plan().pass(), pass);
    let text = text_with_crc(line, 0).expect("a CRC");
    assert!(!text.contains(char::is_control), "{text:?}");
    let fields = text.strip_prefix("nqueens-journal 2 version=").expect("the format");
    let (_, plan) = fields.split_once(' ').expect("a plan");
    assert_eq!(plan, record.plan().to_string());
}

/// The finished units of a line.
struct DoneLine {
    units: Range<usize>,
    counts: Vec<u64>,
    elapsed: Duration,
}

/// What a journal holds by the simpler reading.
struct Expected<'a> {
    /// The intact lines with finished units, each with its text.
    lines: Vec<(&'a str, DoneLine)>,
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
    text_with_crc(line, own_crc())
}

/// Returns the number from which the CRCs of lines of the plan start.
fn own_crc() -> u32 {
    crc32fast::hash(PLAN.to_string().as_bytes())
}

/// Returns a line with its CRC, which starts from this number, and its line feed.
fn line_with_crc(text: &str, start: u32) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(text.as_bytes());
    format!("{text} {:08x}\n", hasher.finalize()).into_bytes()
}

/// Returns the finished units of an intact line. Whatever is written in another way than a program writes it is found
/// by writing it again.
fn done_in(line: &[u8]) -> Option<DoneLine> {
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
    (is_right && written == text && solutions == sum.to_string()).then(|| DoneLine {
        units: start..end,
        counts,
        elapsed: Duration::from_millis(elapsed),
    })
}

/// Checks that a unit has the count of its lines, if these agree or settle it, and that the sum is that of the units.
fn check_record(record: &Record, expected: &Expected<'_>) {
    let mut units_done = 0;
    let mut solutions = 0;
    for unit in 0..PLAN.units() {
        let count = expected.count(unit);
        assert_eq!(record.count(unit), count, "unit {unit}");
        if let Some(count) = count {
            units_done += 1;
            solutions += u128::from(count) * u128::from(PLAN.weight(unit));
        }
    }
    assert_eq!((record.units_done(), record.solutions()), (units_done, solutions));
    let is_complete = units_done == PLAN.units();
    assert_eq!(record.total(), is_complete.then_some(solutions));
    let disputed: Vec<usize> = record.differences().iter().map(|found| found.unit).collect();
    let several = expected.votes.iter().filter(|(_, votes)| votes.len() > 1);
    assert_eq!(disputed, Vec::from_iter(several.map(|(unit, _)| *unit)));
}

/// Checks that the runs have finished the units of all lines, and nothing else.
fn check_runs(record: &Record, expected: &Expected<'_>) {
    let units: usize = record.runs().map(Run::units).sum();
    let units_in_lines: usize = expected.lines.iter().map(|(_, done)| done.units.len()).sum();
    assert_eq!(units, units_in_lines);
    let longest = expected.lines.iter().map(|(_, done)| done.elapsed).max();
    assert_eq!(
        record.runs().map(Run::elapsed).max().unwrap_or_default(),
        longest.unwrap_or_default()
    );
}

/// Returns the numbers of the damaged lines that a message names, and whether it says that there are others.
pub fn damaged_lines(error: &JournalError) -> (Vec<usize>, bool) {
    let message = error.to_string();
    let path = format!("{}: ", error.path().display());
    // Such as `lines 3,7-9 and others are damaged`.
    let text = message.strip_prefix(&path).expect("the path in front");
    let ranges = text.split(' ').nth(1).expect("numbers");
    let mut lines = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| -> usize { text.parse().expect("a number of a line") };
        lines.extend(number(first)..=number(last));
    }
    (lines, text.contains(" and others "))
}

/// Checks that every line is used, or of another count that a first line names, or reported once as damaged.
fn check_that_each_line_is_explained(records: &Records, after_first_line: &[u8]) {
    let mut damaged = BTreeSet::new();
    let mut are_others_damaged = false;
    for error in records.left_out() {
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
        let Error::Journal(error) = error else { panic!("{error}") };
        match error.kind() {
            JournalErrorKind::Damaged => {
                let (lines, others) = damaged_lines(error);
                damaged.extend(lines);
                are_others_damaged = others;
            }
            JournalErrorKind::UnknownFormat => {}
            _ => panic!("{error}"),
        }
    }
    let mut rest = Vec::new();
    for (number, line) in numbered_lines(after_first_line) {
        if damaged.contains(&number) {
            assert!(done_in(line).is_none(), "line {number} is intact");
        } else {
            rest.extend([line, b"\n"].concat());
        }
    }
    if are_others_damaged {
        // Without the lines that the message names, it names the next ones.
        let records = read(&[&first_line_of_plan(), &rest[..]].concat()).expect("one plan");
        return check_that_each_line_is_explained(&records, &rest);
    }
    let mut run_lines = Vec::new();
    let mut other_crcs = Vec::new();
    for (number, line) in numbered_lines(after_first_line) {
        if damaged.contains(&number) {
            continue;
        }
        if let Some(text) = text_with_crc(line, 0).filter(|text| text.starts_with("nqueens-")) {
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
    let mut runs = first_pass(records).runs().map(text_of_run);
    for text in run_lines {
        assert!(runs.any(|run| run == text), "{text}");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::path::Path;

    use super::*;

    type Target = fn(&[u8]);

    /// The targets, with the names by which `cargo fuzz` knows them.
    const TARGETS: [(&str, Target); 2] = [("journal", journal), ("first_line", first_line)];

    #[test]
    fn what_fuzzing_has_reached_holds() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
        if !corpus.exists() {
            // A published package lacks this folder, because it is a package of its own.
            return;
        }
        for (name, target) in TARGETS {
            let inputs = fs::read_dir(corpus.join(name)).expect("a folder");
            let mut number = 0;
            for input in inputs {
                let path = input.expect("a file").path();
                let bytes = fs::read(&path).expect("readable");
                let outcome = catch_unwind(|| target(&bytes));
                assert!(outcome.is_ok(), "{}", path.display());
                number += 1;
            }
            assert!(number > 0, "{name} has no inputs");
        }
    }
}
