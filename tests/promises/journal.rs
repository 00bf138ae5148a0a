//! Promise: whatever damage a journal has, the total is exact. docs/JOURNAL.md makes this promise under "What is
//! promised", and README.md under "How we know that it is right".

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use nqueens::journal::{JournalError, JournalErrorKind, Run};
use nqueens::{Count, Engine};

use crate::common::{
    contents, first_line_with_check_digits, fresh_folder, journal_error, journals_in, read,
    record_of, size, units_of_line, with_check_digits, without_check_digits,
};

pub(crate) fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("{name}.journal"))
}

/// The bytes of a finished journal of a small board.
pub(crate) fn finished_journal(name: &str, n: u32, engine: Engine) -> Vec<u8> {
    let folder = fresh_folder(&format!("{name}-finished"));
    // Many threads take many short ranges, so the journal has many lines.
    let count = Count::new(size(n)).engine(engine).threads(16).journal(&folder);
    fs::read(count.run().expect("a count").journal.expect("it was written")).expect("readable")
}

/// The error of reading some bytes as a journal.
pub(crate) fn error_in(name: &str, bytes: impl AsRef<[u8]>) -> JournalError {
    let path = fresh(name);
    fs::write(&path, bytes).expect("the folder can be written");
    journal_error(read(&path))
}

/// A folder with one journal of board 8 that is damaged again and again.
struct Damaged {
    folder: PathBuf,
    path: PathBuf,
}

impl Damaged {
    fn new(name: &str) -> Self {
        let folder = fresh_folder(name);
        let path = folder.join("q.journal");
        Self { folder, path }
    }

    /// Counts in a folder in which a file with these bytes is all that there is, and expects the exact total. Returns
    /// the number of units that the file held, and whether something was left out.
    fn count(&self, bytes: &[u8], engine: Engine, case: &str) -> (usize, bool) {
        for path in journals_in(&self.folder) {
            fs::remove_file(path).expect("the folder can be written");
        }
        fs::write(&self.path, bytes).expect("the folder can be written");
        let outcome = Count::new(size(8)).engine(engine).threads(1).journal(&self.folder).run();
        let outcome = outcome.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!((outcome.total, outcome.journal_fault), (Some(92), None), "{case}");
        assert_eq!(fs::read(&self.path).expect("still there"), bytes, "{case}: it is only read");
        if let Some(new) = outcome.journal {
            assert_eq!(record_of(&[&self.path, &new]).total(), Some(92), "{case}");
        }
        (outcome.units_before, !outcome.left_out.is_empty())
    }
}

/// A power failure may cut the file anywhere: the count resumes from the whole lines.
#[test]
fn a_journal_cut_off_at_any_byte_is_resumed() {
    let whole = finished_journal("cut-whole", 8, Engine::Subtrees);
    let damaged = Damaged::new("cut");
    let mut resumed = 0;
    for length in 0..=whole.len() {
        let case = format!("{length} bytes");
        let bytes = &whole[..length];
        let (held, warned) = damaged.count(bytes, Engine::Subtrees, &case);
        assert_eq!((held, warned), (units_in_intact_lines(&whole, bytes), false), "{case}");
        resumed += usize::from(held > 0);
    }
    assert!(resumed > whole.len() / 2, "most cuts leave some units");
}

/// The units of all `done` lines of a journal that another file still has, whole and with their line feed.
fn units_in_intact_lines(whole: &[u8], damaged: &[u8]) -> usize {
    let intact: HashSet<&[u8]> = damaged.split_inclusive(|byte| *byte == b'\n').collect();
    let mut units = 0;
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"done ") && intact.contains(line) {
            units += units_of_line(std::str::from_utf8(line).expect("text")).len();
        }
    }
    units
}

#[test]
fn a_changed_byte_costs_its_own_line() {
    changed_bytes_cost_their_own_line("changed", |place| vec![1 << (place % 8)]);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes a minute"]
    fn a_flipped_bit_costs_its_own_line() {
        changed_bytes_cost_their_own_line("flipped", |_| {
            (0..8).map(|bit| 1 << bit).chain([0xff]).collect()
        });
    }
}

/// Changes each byte in turn, the first line included, and counts.
fn changed_bytes_cost_their_own_line(name: &str, masks: fn(usize) -> Vec<u8>) {
    let whole = finished_journal(&format!("{name}-whole"), 8, Engine::Subtrees);
    let damaged = Damaged::new(name);
    for place in 0..whole.len() {
        for mask in masks(place) {
            let change = format!("byte {place} ^ {mask}");
            let mut bytes = whole.clone();
            bytes[place] ^= mask;
            let (held, warned) = damaged.count(&bytes, Engine::Subtrees, &change);
            assert_eq!(held, units_in_intact_lines(&whole, &bytes), "{change}");
            // Without its line feed, the last line is one that was cut off.
            assert!(warned || place == whole.len() - 1, "{change}: no warning");
        }
    }
}

/// The text of a journal with these lines, each with its check digits.
fn journal(lines: &[&str]) -> String {
    let mut text = first_line_with_check_digits(lines[0]);
    for line in &lines[1..] {
        text += &with_check_digits(lines[0], line);
    }
    text
}

/// A right CRC is not enough: what a line says must fit the plan, and be written as the program writes it.
#[test]
fn a_line_that_no_program_wrote_is_damaged() {
    let whole = finished_journal("named-whole", 8, Engine::Bitmask);
    let whole = String::from_utf8(whole).expect("text");
    let lines: Vec<&str> = whole.lines().map(without_check_digits).collect();
    let header = lines[0];
    let run = lines[1];
    let done = &lines[2..];
    let first = done.iter().find(|line| line.contains("units=0..1")).expect("the first unit");
    assert!(first.contains("solutions=4 ") && first.ends_with("counts=4"), "{first}");

    for text in [
        journal(&[header, run, &first.replace("counts=4", "counts=5")]),
        journal(&[header, run, &first.replace("units=0..1", "units=8..9")]),
        journal(&[header, run, &first.replace("units=0..1", "units=0..2")]),
        journal(&[header, run, &first.replace("solutions=4", "solutions=+4")]),
        journal(&[header, run, &first.replace("counts=4", "counts=18446744073709551615")]),
        journal(&[header, run, &first.replace("units=0..1", "units=1..0")]),
        journal(&[header, run, "done"]),
        journal(&[header, run, "note hello"]),
        journal(&[header, run]) + "\n",
        journal(&[header, run]) + first + "\n",
    ] {
        let error = error_in("named", &text);
        assert_eq!(error.kind(), JournalErrorKind::Damaged, "{text}: {error}");
        assert!(error.to_string().ends_with(": line 3 is damaged"), "{text}: {error}");
    }
    // A lost line of a run takes no units with it.
    let path = fresh("named");
    fs::write(&path, journal(&[header, first])).expect("the folder can be written");
    let early = contents(&path);
    let machines: Vec<&str> = early.runs().map(Run::machine).collect();
    assert_eq!((early.solutions(), &machines[..]), (4, &["unknown"][..]));
}

/// After a power cut a new file may have its length, but not its contents.
#[test]
fn a_file_of_zeros_is_in_the_way_of_nothing() {
    let first = b"nqueens-journal 2 version=0.1.0 n=12".as_slice();
    let damaged = Damaged::new("zeros");
    for (begins, zeros) in [(&[][..], 1), (&[], 5000), (&[], 3 << 20), (first, 100), (first, 5000)]
    {
        let case = format!("{zeros} zeros behind {} bytes", begins.len());
        let bytes = [begins, &vec![0; zeros]].concat();
        let (held, warned) = damaged.count(&bytes, Engine::Bitmask, &case);
        // A line that is longer than any line of a journal is no line that was cut off.
        assert_eq!((held, warned), (0, zeros > 1 << 20), "{case}");
    }
}

/// The format is documented in two places with the same example.
#[test]
fn the_documented_example_is_a_journal() {
    for document in [include_str!("../../docs/FORMAT.md"), include_str!("../../src/journal.rs")] {
        let lines = document.lines().map(|line| line.trim_start_matches("//! "));
        let example = lines.skip_while(|line| !line.starts_with("nqueens-journal 2 version="));
        let example: String =
            example.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        let folder = fresh_folder("documented");
        fs::write(folder.join("example.journal"), &example).expect("the folder can be written");
        assert_eq!(contents(&folder).units_done(), 4);
        let outcome = Count::new(size(8)).journal(&folder).run().expect("a count");
        assert_eq!((outcome.total, outcome.units_before), (Some(92), 4));
        assert_eq!(outcome.engine, Engine::Bitmask);
    }
}
