//! What fuzzing runs on a journal, held in memory: a reading that knows the format from docs/FORMAT.md alone is compared
//! with the record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::{Gathered, Record};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::engine::Engine;
use crate::error::{Error, JournalError};
use crate::journal::fuzz::{line_of_done, line_of_run};
use crate::journal::{DoneLine, FirstLine, Found, JournalFile, Reading};
use crate::plan::Plan;
use crate::plan::done::{Sum, UnitsDone};

/// A path that leads nowhere, because the journals are not files.
const NOWHERE: &str = "/dev/null/journal";

/// The plan of the journals: a small one, with units of different weights.
static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| {
    let size = BoardSize::new(9).expect("in range");
    Arc::new(Plan::new(size, Engine::Subtrees, Some(2)).expect("a plan"))
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
    let bytes = [first.as_bytes(), after_first_line].concat();
    let journal = read(&bytes).expect("the first line is intact");
    let expected = Expected::of(after_first_line);
    assert_eq!(journal.lines, expected.lines, "all intact lines are used, and no others");
    check_record(&journal, &expected);
    check_runs(&journal);
    check_lengths(&journal, &bytes);
    check_that_each_line_is_explained(&journal, after_first_line);
    check_without_first_line(&journal, &first, after_first_line);
    check_written_again(&journal, &first);
    check_resumed(&journal, &bytes);
}

/// A journal that was read.
struct ReadJournal {
    file: JournalFile,
    record: Record,
    /// The lines with finished units, each with its number.
    lines: Vec<(usize, UnitsDone)>,
}

/// Reads a journal of the plan.
fn read(bytes: &[u8]) -> Result<ReadJournal, Error> {
    let path = Path::new(NOWHERE);
    let cancel = Cancel::new();
    let reading = Reading::new(&PLAN, &cancel);
    let mut gathered = Gathered::new(Arc::clone(&PLAN))?;
    let mut lines = Vec::new();
    let found = JournalFile::read(path, bytes, &reading, |line: DoneLine<'_>| {
        gathered.put(&line);
        lines.push((line.number, line.done));
    })?;
    let Found::Journal(file) = &found else { panic!("it is a journal of the plan") };
    let file = file.clone();
    let record = Record::from_journals(gathered, path, vec![Ok(found)], &reading)?;
    Ok(ReadJournal { file, record, lines })
}

/// What a journal holds by the simpler reading.
struct Expected {
    /// The intact lines with finished units, each with its number.
    lines: Vec<(usize, UnitsDone)>,
    /// The counts of each finished unit.
    counts: BTreeMap<usize, Vec<u64>>,
}

impl Expected {
    fn of(after_first_line: &[u8]) -> Self {
        let mut lines = Vec::new();
        let mut counts: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (number, line) in numbered_lines(after_first_line) {
            let Some(done) = done_in(line) else { continue };
            for (unit, count) in done.units.clone().zip(&done.counts) {
                counts.entry(unit).or_default().push(*count);
            }
            lines.push((number, done));
        }
        Self { lines, counts }
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

/// Checks that a unit has the count of its lines, if these agree, that no unit is counted twice, and that the sum is that
/// of the units.
fn check_record(journal: &ReadJournal, expected: &Expected) {
    let record = &journal.record;
    let mut sum = Sum::default();
    let mut repeated = 0;
    for unit in 0..PLAN.units() {
        let counts = expected.counts.get(&unit).map_or(&[][..], Vec::as_slice);
        let agreed = counts.first().filter(|first| counts.iter().all(|count| count == *first));
        assert_eq!(record.count(unit), agreed.copied(), "unit {unit}");
        if let Some(count) = agreed {
            sum.units += 1;
            sum.solutions += u128::from(*count) * u128::from(PLAN.weight(unit));
        }
        repeated += counts.len().saturating_sub(1);
    }
    assert_eq!((record.sum(), record.repeated()), (sum, repeated));
    let is_complete = sum.units == PLAN.units();
    assert_eq!(record.total(), is_complete.then_some(sum.solutions));
    let whole = 0..PLAN.units();
    let missing: usize = record.missing_in(&[whole]).iter().map(ExactSizeIterator::len).sum();
    assert_eq!(missing + sum.units, PLAN.units());
}

/// Checks that the runs have finished the units of all lines, and nothing else.
fn check_runs(journal: &ReadJournal) {
    let runs = &journal.file.runs;
    let units: usize = runs.iter().map(|run| run.units).sum();
    let units_in_lines: usize = journal.lines.iter().map(|(_, done)| done.units.len()).sum();
    assert_eq!(units, units_in_lines);
    let longest = journal.lines.iter().map(|(_, done)| done.elapsed).max();
    assert_eq!(
        runs.iter().map(|run| run.elapsed).max().unwrap_or_default(),
        longest.unwrap_or_default()
    );
}

/// Checks that the complete lines and an incomplete last one are all bytes of the file.
fn check_lengths(journal: &ReadJournal, bytes: &[u8]) {
    let JournalFile { bytes: complete, cut_off, .. } = journal.file;
    assert_eq!(complete + cut_off, bytes.len() as u64);
    let tail = bytes.rsplit(|byte| *byte == b'\n').next().expect("what follows the last line feed");
    let tail_len = tail.len() as u64;
    assert!(cut_off == 0 || cut_off == tail_len, "{cut_off} of {tail_len} bytes");
    // A process that was killed may have written as much as this of a line.
    let is_begun = match tail.strip_prefix(b"done units=") {
        Some(units) => units.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'),
        None => b"done units=".starts_with(tail) || b"run version=".starts_with(tail),
    };
    assert!(cut_off == tail_len || !is_begun, "{}", tail.escape_ascii());
}

/// Checks that every line is used, or reported once as damaged or of another count.
fn check_that_each_line_is_explained(journal: &ReadJournal, after_first_line: &[u8]) {
    let mut explained: BTreeSet<usize> = journal.lines.iter().map(|(number, _)| *number).collect();
    for error in &journal.file.left_out {
        let Error::Journal { error, .. } = error else { panic!("{error}") };
        let (JournalError::Damaged { lines, .. } | JournalError::OfOtherCount { lines, .. }) =
            error
        else {
            panic!("{error}")
        };
        for number in lines.iter().cloned().flatten() {
            assert!(explained.insert(number), "line {number} is explained twice");
        }
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
    }
    let mut run_lines = Vec::new();
    for (number, line) in numbered_lines(after_first_line) {
        if explained.remove(&number) {
            continue;
        }
        if let Some(text) = text_of_own_line(line) {
            assert!(text.starts_with("run version="), "line {number}: {text}");
            assert!(!text.contains(char::is_control), "line {number}: {text:?}");
            run_lines.push(text);
        } else {
            let text = text_with_crc(line, 0).expect("a first line");
            assert!(text.ends_with(&PLAN.to_string()), "line {number}: {text}");
        }
    }
    // A last line without a line feed is damaged, unless it may be cut off.
    let tail = after_first_line.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
    let is_tail_damaged = tail > 0 && journal.file.cut_off == 0;
    assert_eq!(explained.len(), usize::from(is_tail_damaged), "{explained:?}");
    // A run whose own line is lost is called unknown.
    let mut runs = journal.file.runs.iter().map(ToString::to_string);
    for text in run_lines {
        assert!(runs.any(|run| run == text), "{text}");
    }
}

/// Checks that the lines are used without the first line, too, unless none is intact.
fn check_without_first_line(journal: &ReadJournal, first: &str, after_first_line: &[u8]) {
    let damaged = first.replace(" version=", " Version=");
    match read(&[damaged.as_bytes(), after_first_line].concat()) {
        Ok(without) => {
            assert!(!journal.file.runs.is_empty());
            assert_eq!(without.lines, journal.lines);
            assert_eq!(without.record.sum(), journal.record.sum());
        }
        Err(error) => assert!(journal.file.runs.is_empty(), "{error}"),
    }
}

/// Checks that what was read is read in the same way when it is written again.
fn check_written_again(journal: &ReadJournal, first: &str) {
    let mut text = first.to_owned();
    for run in &journal.file.runs {
        text += &line_of_run(run, &PLAN);
    }
    let number_of_runs = journal.file.runs.len();
    for (_, done) in &journal.lines {
        text += &line_of_done(done, &PLAN);
    }
    let again = read(text.as_bytes()).expect("the first line is intact");
    let numbers = number_of_runs + 2..;
    let written = journal.lines.iter().map(|(_, done)| done);
    assert!(again.lines.iter().map(|(number, done)| (*number, done)).eq(numbers.zip(written)));
    assert_eq!(again.file.left_out, []);
    assert_eq!(again.record.sum(), journal.record.sum());
    let texts = |journal: &ReadJournal| journal.file.runs.iter().map(ToString::to_string).collect();
    let (before, after): (Vec<String>, Vec<String>) = (texts(journal), texts(&again));
    assert_eq!(before, after);
}

/// Checks that a process which resumes the count and appends a line adds that line, and changes nothing else.
fn check_resumed(journal: &ReadJournal, bytes: &[u8]) {
    let cut_off = usize::try_from(journal.file.cut_off).expect("a part of the file");
    let mut resumed = bytes[..bytes.len() - cut_off].to_vec();
    if !resumed.ends_with(b"\n") {
        resumed.push(b'\n');
    }
    let counts = vec![1];
    let solutions = u128::from(PLAN.weight(0));
    let done = UnitsDone { units: 0..1, counts, solutions, ..UnitsDone::default() };
    resumed.extend(line_of_done(&done, &PLAN).into_bytes());
    let resumed = read(&resumed).expect("the first line is intact");
    let (last, before) = resumed.lines.split_last().expect("the new line");
    assert_eq!(before, journal.lines);
    assert_eq!(last.1, done);
    assert_eq!(resumed.file.cut_off, 0);
}
