//! Promise: a file that is no journal, a journal of another format or plan, and a line of another count are refused or
//! left out, and the file stays as it is. docs/JOURNAL.md makes this promise under "Damage", and docs/FORMAT.md
//! under "Format 2".

use std::fs;

use nqueens::record::JournalError;
use nqueens::{COMMIT, Count, Engine, WhichCount};

use super::journal::{error_in, finished_journal, fresh};
use crate::common::{
    first_line_with_check_digits, fresh_folder, journal_error, plan_of, read, size,
    without_check_digits,
};

#[test]
fn foreign_files_are_refused_and_left_as_they_are() {
    for text in [
        "a letter\n",
        "x",
        "nqueens\n",
        "nqueens-journalist 1 n=8\n",
        "\0\u{5}\u{16}\u{7}\0\0Mac OS X",
    ] {
        let path = fresh("foreign");
        fs::write(&path, text).expect("the folder can be written");
        let refused = Count::new(size(8)).journal(&path).run();
        assert_eq!(journal_error(refused), JournalError::NotAJournal, "{text:?}");
        assert_eq!(fs::read_to_string(&path).expect("still there"), text);
    }
    let nowhere = Count::new(size(8)).journal(fresh("no-such-folder").join("x.journal")).run();
    assert!(matches!(journal_error(nowhere), JournalError::Io { action: "open", .. }));
}

#[test]
fn journals_of_other_formats_and_plans_are_refused() {
    let whole = String::from_utf8(finished_journal("formats", 8, Engine::Subtrees)).expect("text");
    let header = without_check_digits(whole.lines().next().expect("a line"));
    let newer = header.replace("nqueens-journal 2", "nqueens-journal 3");
    let format_in = |first: &str| match error_in("formats", first_line_with_check_digits(first)) {
        JournalError::UnknownFormat { format, .. } => format,
        other => panic!("{other:?}"),
    };
    assert_eq!(format_in(&newer), "3");
    let older =
        "nqueens-journal 1 version=0.1.0 n=8 engine=bitmask split-rows=none plan=0a84c9f3 units=8";
    assert_eq!(format_in(older), "1");

    let plan = plan_of(size(8), Engine::Subtrees, None);
    let hash = format!("plan={:08x}", plan.hash());
    assert!(header.contains(&hash), "{header}");
    for (field, bad) in [
        (&*hash, "plan=00000007"),
        ("n=8", "n=33"),
        ("split-rows=1", "split-rows=none"),
        ("engine=subtrees", "engine=bitmask"),
        ("engine=subtrees", "engine=x"),
    ] {
        let other = header.replace(field, bad);
        let JournalError::OtherPlan { version, holds, has, .. } =
            error_in("formats", first_line_with_check_digits(&other))
        else {
            panic!("{bad}: this plan exists");
        };
        // It names the build that began the journal, and what differs, nothing else.
        assert_eq!(version, format!("{}+{COMMIT}", env!("CARGO_PKG_VERSION")));
        assert_ne!(holds, has);
        if field == hash {
            assert_eq!(holds.replace(bad, field), has);
        }
    }
    // In a folder, too, a count does not begin anew beside a journal that another build began.
    let in_folder = |first: &str| {
        let folder = fresh_folder("formats-folder");
        let first = first_line_with_check_digits(first);
        fs::write(folder.join("begun.journal"), first).expect("the folder can be written");
        journal_error(Count::new(size(8)).journal(&folder).run())
    };
    let other_plan = header.replace(&*hash, "plan=00000007");
    assert!(matches!(in_folder(&newer), JournalError::UnknownFormat { .. }));
    assert!(matches!(in_folder(&other_plan), JournalError::OtherPlan { .. }));
    let error = error_in("formats", header.to_owned() + " 00000000\n");
    assert!(matches!(error, JournalError::NoPlan { what: "its CRC differs", .. }), "{error:?}");
}

/// A journal: its first line, and all lines behind it.
struct Lines {
    first: String,
    rest: String,
}

impl Lines {
    fn of(count: Count<'_>) -> Self {
        let path = fresh("foreign-journal");
        count.threads(1).journal(&path).run().expect("a count");
        let text = fs::read_to_string(&path).expect("text");
        let (first, rest) = text.split_once('\n').expect("lines");
        Self { first: first.to_owned(), rest: rest.to_owned() }
    }
}

/// No two plans, and no two counts of one, have lines with the same CRC.
#[test]
fn whole_lines_of_other_counts_are_never_taken() {
    let mut journals = Vec::new();
    for which in [WhichCount::First, WhichCount::Second] {
        let count = |n| Count::new(size(n)).which_count(which);
        journals.push(Lines::of(count(8).engine(Engine::Colours)));
        journals.push(Lines::of(count(9).engine(Engine::Colours)));
        journals.push(Lines::of(count(8).engine(Engine::Subtrees).split_rows(1)));
        journals.push(Lines::of(count(8).engine(Engine::Subtrees).split_rows(2)));
    }
    let path = fresh("foreign-lines");
    for (number, own) in journals.iter().enumerate() {
        for (other_number, other) in journals.iter().enumerate() {
            if other_number == number {
                continue;
            }
            for line in other.rest.lines().take(3) {
                fs::write(&path, format!("{}\n{}{line}\n", own.first, own.rest)).expect("room");
                let number_of_line = 2 + own.rest.lines().count();
                let error = journal_error(read(&path));
                let JournalError::Damaged { lines, what, .. } = error else { panic!("{error:?}") };
                assert_eq!(lines, [number_of_line..=number_of_line]);
                assert_eq!(what, "its CRC differs");
            }
        }
    }
}
