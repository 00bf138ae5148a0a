//! Promise: whatever damage a journal has, the total is exact or there is a clear error. docs/JOURNAL.md makes this
//! promise under "Damage", and README.md under "How we know that it is right".

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use nqueens::record::{JournalError, Record};
use nqueens::{Count, Engine, Error};

use crate::common::{
    contents, first_line_with_check_digits, journal_error, read, size, units_of_line,
    with_check_digits, without_check_digits,
};

pub(crate) fn fresh(name: &str) -> PathBuf {
    crate::common::fresh(&format!("{name}.journal"))
}

/// The bytes of a finished journal of a small board.
pub(crate) fn finished_journal(name: &str, n: u32, engine: Engine) -> Vec<u8> {
    let path = fresh(name);
    // Many threads take many short ranges, so the journal has many lines.
    Count::new(size(n)).engine(engine).threads(16).journal(&path).run().expect("a count");
    fs::read(path).expect("it was written")
}

/// The error of reading some bytes as a journal.
pub(crate) fn error_in(name: &str, bytes: impl AsRef<[u8]>) -> JournalError {
    let path = fresh(name);
    fs::write(&path, bytes).expect("the folder can be written");
    journal_error(read(&path))
}

/// A power failure may cut the file anywhere: the count resumes from the whole lines.
#[test]
fn a_journal_cut_off_at_any_byte_is_resumed() {
    let whole = finished_journal("cut-whole", 8, Engine::Subtrees);
    let path = fresh("cut");
    let mut resumed = 0;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).expect("the folder can be written");
        let outcome = Count::new(size(8)).engine(Engine::Subtrees).threads(1).journal(&path).run();
        let outcome = outcome.unwrap_or_else(|error| panic!("{length} bytes: {error}"));
        assert_eq!(outcome.total, Some(92), "{length} bytes");
        resumed += usize::from((1..outcome.units).contains(&outcome.units_before));
        let contents = contents(&path);
        assert!(contents.total().is_some() && contents.files()[0].cut_off == 0, "{length} bytes");
        assert_eq!(contents.sum().solutions, 92, "{length} bytes");
    }
    assert!(resumed > whole.len() / 2, "most cuts leave units to count");
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
fn a_changed_byte_costs_its_own_line_and_in_line_1_the_journal_is_refused() {
    changed_bytes_cost_their_own_line("changed", |place| vec![1 << (place % 8)]);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes 21 s"]
    fn a_flipped_bit_costs_its_own_line_and_in_line_1_the_journal_is_refused() {
        changed_bytes_cost_their_own_line("flipped", |_| {
            (0..8).map(|bit| 1 << bit).chain([0xff]).collect()
        });
    }
}

/// Flips bits of each byte in turn, and counts.
fn changed_bytes_cost_their_own_line(name: &str, masks: fn(usize) -> Vec<u8>) {
    let whole = finished_journal(&format!("{name}-whole"), 8, Engine::Subtrees);
    let first_line_len = whole.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    let path = fresh(name);
    for place in 0..whole.len() {
        for mask in masks(place) {
            let change = format!("byte {place} ^ {mask}");
            let mut damaged = whole.clone();
            damaged[place] ^= mask;
            fs::write(&path, &damaged).expect("the folder can be written");
            let count = Count::new(size(8)).engine(Engine::Subtrees).threads(1).journal(&path);
            if place < first_line_len {
                let error = journal_error(count.run());
                let is_refused =
                    matches!(error, JournalError::NoPlan { .. } | JournalError::NotAJournal);
                assert!(is_refused, "{change}: {error:?}");
                let left = fs::read(&path).expect("it is still there");
                assert_eq!(left, damaged, "{change}: a refused file is left as it is");
                continue;
            }
            let outcome = count.run().unwrap_or_else(|error| panic!("{change}: {error}"));
            assert_eq!((outcome.total, outcome.journal_fault), (Some(92), None), "{change}");
            let intact = units_in_intact_lines(&whole, &damaged);
            assert_eq!(outcome.units_before, intact, "{change}");
            // The damaged line stays in the file, unless it looks like a last line that was cut off.
            let after = fs::read(&path).expect("it is still there");
            let is_cut_off = outcome.left_out.is_empty();
            assert!(!is_cut_off || place == whole.len() - 1, "{change}: {:?}", outcome.left_out);
            assert!(is_cut_off || after.starts_with(&damaged), "{change}: lines were taken out");
            let record = Record::read(&[&path]).expect("a plan").expect("lines");
            assert_eq!(record.total(), Some(92), "{change}");
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

#[test]
fn what_is_not_as_it_was_written_is_named() {
    let whole = finished_journal("named-whole", 8, Engine::Bitmask);
    let whole = String::from_utf8(whole).expect("text");
    let lines: Vec<&str> = whole.lines().map(without_check_digits).collect();
    let header = lines[0];
    let run = lines[1];
    let done = &lines[2..];
    let first = done.iter().find(|line| line.contains("units=0..1")).expect("the first unit");
    assert!(first.contains("solutions=4 ") && first.ends_with("counts=4"), "{first}");

    let damages = [
        (journal(&[header, run, &first.replace("counts=4", "counts=5")]), "sum"),
        (journal(&[header, run, &first.replace("units=0..1", "units=8..9")]), "no such units"),
        (journal(&[header, run, &first.replace("units=0..1", "units=0..2")]), "fields"),
        (journal(&[header, run, &first.replace("solutions=4", "solutions=+4")]), "fields"),
        (
            journal(&[header, run, &first.replace("counts=4", "counts=18446744073709551615")]),
            "fields",
        ),
        (journal(&[header, run, &first.replace("units=0..1", "units=1..0")]), "fields"),
        (journal(&[header, run, "done"]), "fields"),
        (journal(&[header, run, "note hello"]), "fields"),
        (journal(&[header, run]) + "\n", "no CRC"),
        (journal(&[header, run]) + first + "\n", "CRC differs"),
    ];
    for (bytes, reason) in damages {
        match error_in("named", &bytes) {
            JournalError::Damaged { lines, what, .. } => {
                assert_eq!(lines, [3..=3], "{reason}");
                assert!(what.contains(reason), "{what}");
            }
            other => panic!("{reason}: {other:?}"),
        }
    }
    // A lost line of a run takes no units with it.
    let path = fresh("named");
    fs::write(&path, journal(&[header, first])).expect("the folder can be written");
    let early = contents(&path);
    assert_eq!((early.sum().solutions, &*early.files()[0].runs[0].machine), (4, "unknown"));
}

/// A copy of these bytes, with zeros at a place.
fn with_zeros(bytes: &[u8], place: Range<usize>) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    copy[place].fill(0);
    copy
}

/// Damage that leaves no line feed in the first block: such a file may hold weeks of work.
#[test]
fn a_file_whose_first_line_has_no_end_is_refused_and_left_as_it_is() {
    let whole = finished_journal("no-end-whole", 16, Engine::Subtrees);
    assert!(whole.len() > 8192);
    let header = whole.iter().position(|byte| *byte == b'\n').expect("a line");
    let carriage_returns: Vec<u8> =
        whole.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
    let files = [
        ("zeros over the first block", with_zeros(&whole, 0..4096)),
        ("zeros after the first line", with_zeros(&whole, header..5000)),
        ("other line ends in a short file", carriage_returns[..300].to_vec()),
        ("other line ends", carriage_returns),
    ];
    let path = fresh("no-end");
    for (damage, bytes) in files {
        fs::write(&path, &bytes).expect("the folder can be written");
        let refused = Count::new(size(16)).engine(Engine::Subtrees).journal(&path).run();
        let error = journal_error(refused);
        assert!(
            matches!(error, JournalError::NotAJournal | JournalError::NoPlan { .. }),
            "{damage}: {error:?}"
        );
        assert_eq!(fs::read(&path).expect("still there"), bytes, "{damage}");
        assert!(matches!(read(&path), Err(Error::Journal { .. })), "{damage}: merge");
    }
}

/// After a power cut a new file may have its length, but not its contents.
#[test]
fn a_file_of_zeros_has_not_begun() {
    let first = b"nqueens-journal 2 version=0.1.0 n=12".as_slice();
    for (begins, zeros) in [(&[][..], 1), (&[], 5000), (&[], 3 << 20), (first, 100), (first, 5000)]
    {
        let path = fresh("zeros");
        let zeros = vec![0; zeros];
        fs::write(&path, [begins, &zeros].concat()).expect("the folder can be written");
        assert!(read(&path).expect("nothing is damaged").is_none(), "{begins:?}");
        let outcome = Count::new(size(8)).journal(&path).run().expect("a count");
        assert_eq!((outcome.total, outcome.units_before), (Some(92), 0));
        assert!(contents(&path).total().is_some());
    }
}

/// Such a line is not kept in memory, and what a count writes behind it begins a line of its own.
#[test]
fn a_line_without_end_is_damaged() {
    let whole = finished_journal("long-whole", 8, Engine::Bitmask);
    let last_line_len =
        whole.split_inclusive(|byte| *byte == b'\n').next_back().expect("lines").len();
    let short = &whole[..whole.len() - last_line_len];
    let path = fresh("long");
    for (length, byte) in [(100, 0xff), (1 << 20, b'1'), (5 << 20, b'1'), (5 << 20, 0)] {
        let case = format!("{length} times {byte}");
        let tail = vec![byte; length];
        fs::write(&path, [short, b"done units=", &tail].concat()).expect("room");
        let error = journal_error(read(&path));
        let JournalError::Damaged { what: "it has no end", .. } = error else {
            panic!("{case}: {error:?}");
        };
        let outcome = Count::new(size(8)).threads(1).journal(&path).run().expect("a count");
        assert_eq!((outcome.total, outcome.left_out.len()), (Some(92), 1), "{case}");
        assert_eq!(outcome.units_before, units_in_intact_lines(&whole, short), "{case}");
        let record = Record::read(&[&path]).expect("a plan").expect("lines");
        assert_eq!(record.total(), Some(92), "{case}");
        // The line of the new run is not a part of the damaged one.
        let machines: Vec<&str> = record.runs().map(|run| &*run.machine).collect();
        assert!(machines.len() == 2 && !machines.contains(&"unknown"), "{case}: {machines:?}");

        let rest = &whole[whole.len() / 2..];
        fs::write(&path, [&whole[..], &tail, b"\n", rest].concat()).expect("room");
        assert!(matches!(journal_error(read(&path)), JournalError::Damaged { .. }), "{case}");
    }
}

/// If the last line has lost its end in another way, its contents are not dropped.
#[test]
fn only_a_line_that_was_cut_off_is_dropped() {
    let whole = finished_journal("tail-whole", 9, Engine::Subtrees);
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let last = lines[lines.len() - 2] + 1;
    let path = fresh("tail");
    let mut zeros = whole[..last + 10].to_vec();
    zeros.resize(last + 5000, 0);
    fs::write(&path, &zeros).expect("the folder can be written");
    let outcome = Count::new(size(9)).journal(&path).run().expect("zeros after a power cut");
    assert_eq!(outcome.total, Some(352));

    let mut other_ends = whole.clone();
    for byte in &mut other_ends[lines[lines.len() / 2]..] {
        if *byte == b'\n' {
            *byte = b'\r';
        }
    }
    let error = error_in("tail", &other_ends);
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
    let mut appended = whole.clone();
    appended.extend_from_slice(b"A LETTER");
    let error = error_in("tail", &appended);
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
}

/// The format is documented in two places with the same example.
#[test]
fn the_documented_example_is_a_journal() {
    for document in [include_str!("../../docs/FORMAT.md"), include_str!("../../src/record.rs")] {
        let lines = document.lines().map(|line| line.trim_start_matches("//! "));
        let example = lines.skip_while(|line| !line.starts_with("nqueens-journal 2 version="));
        let example: String =
            example.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        let path = fresh("documented");
        fs::write(&path, &example).expect("the folder can be written");
        let contents = contents(&path);
        assert_eq!((contents.sum().units, contents.files()[0].cut_off), (4, 0));
        let outcome = Count::new(size(8)).journal(&path).run().expect("a count");
        assert_eq!((outcome.total, outcome.engine), (Some(92), Engine::Bitmask));
    }
}
