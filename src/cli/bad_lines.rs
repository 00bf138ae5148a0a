//! Lines of journals that are damaged or hold wrong counts, and the commands that take them out.
//!
//! All bad lines of a journal are in one command: after two commands for one journal, the second would meet other lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Error;
use crate::record::{JournalError, RecordedCount};

use super::quote::quoted;
use super::stderr::print_first;

/// The numbers of lines, by the paths of their journals.
pub(crate) type BadLines<'a> = BTreeMap<&'a Path, BTreeSet<usize>>;

/// Returns the damaged lines.
pub(crate) fn damaged_lines(left_out: &[Error]) -> BadLines<'_> {
    let mut bad = BadLines::new();
    for error in left_out {
        if let Error::Journal { path, error: JournalError::Damaged { lines, .. } } = error {
            bad.entry(path).or_default().extend(lines.iter().cloned().flatten());
        }
    }
    bad
}

/// Returns the lines that hold different counts of one unit.
pub(crate) fn disputed_lines(left_out: &[Error]) -> BadLines<'_> {
    let mut disputed = Vec::new();
    for error in left_out {
        if let Error::CountsDiffer { lines } = error {
            disputed.extend(lines);
        }
    }
    lines_of(disputed)
}

/// Returns the lines that hold these counts.
pub(crate) fn lines_of<'a>(counts: impl IntoIterator<Item = &'a RecordedCount>) -> BadLines<'a> {
    let mut bad = BadLines::new();
    for count in counts {
        bad.entry(&count.path).or_default().insert(count.line);
    }
    bad
}

/// Returns the commands that take lines out of their journals, one for each journal: `sed -i '17d;20,25d' q20.journal`.
pub(crate) fn removal_commands(bad: &BadLines<'_>) -> Vec<String> {
    let mut commands = Vec::new();
    for (path, numbers) in bad {
        let numbers: Vec<usize> = numbers.iter().copied().collect();
        let mut deletions = Vec::new();
        for consecutive in numbers.chunk_by(|one, next| one + 1 == *next) {
            deletions.push(match consecutive {
                [first, .., last] => format!("{first},{last}d"),
                _ => format!("{}d", consecutive[0]),
            });
        }
        commands.push(format!("sed -i '{}' {}", deletions.join(";"), quoted(path)));
    }
    commands
}

/// Prints the commands that take lines out of their journals.
pub(crate) fn print_commands<'a>(mut bad: BadLines<'a>, others: BadLines<'a>) {
    for (path, numbers) in others {
        bad.entry(path).or_default().extend(numbers);
    }
    let mut messages = Vec::new();
    for command in removal_commands(&bad) {
        messages.push(format!(
            "to take these lines out, so that their units are counted again: {command}"
        ));
    }
    print_first(messages.into_iter());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_of_a_journal_are_in_one_command() {
        let mut bad = BadLines::new();
        bad.entry(Path::new("b c.journal")).or_default().extend([17]);
        bad.entry(Path::new("a.journal")).or_default().extend([25, 3, 24, 23, 9]);
        let commands = ["sed -i '3d;9d;23,25d' a.journal", "sed -i '17d' 'b c.journal'"];
        assert_eq!(removal_commands(&bad), commands);
    }
}
