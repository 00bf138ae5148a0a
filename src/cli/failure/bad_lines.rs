//! Lines of journals that are damaged or hold wrong counts, and the commands that take them out.
//!
//! All bad lines of a journal are in one command: after two commands for one journal, the second would meet other lines.
//! There is no command for a journal that is being written, because the process would go on in a file without a name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use crate::Error;
use crate::journal::is_being_written;
use crate::record::{JournalError, RecordedCount};

use crate::cli::output::quote::quoted;
use crate::cli::output::stderr::print_first;

/// The numbers of lines as ranges, by the paths of their journals. A file may have many millions of damaged lines.
pub(crate) type BadLines<'a> = BTreeMap<&'a Path, Vec<RangeInclusive<usize>>>;

/// Returns the damaged lines.
pub(crate) fn damaged_lines(left_out: &[Error]) -> BadLines<'_> {
    let mut bad = BadLines::new();
    for error in left_out {
        if let Error::Journal { path, error: JournalError::Damaged { lines, .. } } = error {
            bad.entry(path).or_default().extend_from_slice(lines);
        }
    }
    bad
}

/// Returns the lines that hold these counts.
pub(crate) fn lines_of<'a>(counts: impl IntoIterator<Item = &'a RecordedCount>) -> BadLines<'a> {
    let mut bad = BadLines::new();
    for count in counts {
        bad.entry(&count.path).or_default().push(count.line..=count.line);
    }
    bad
}

/// Prints the commands that take lines out of their journals. For a journal that is being written, prints that it is.
pub(crate) fn print_commands(bad: BadLines<'_>) {
    let mut messages = Vec::new();
    for (path, lines) in bad {
        messages.push(if is_being_written(path) {
            format!(
                "{} is being written: to take these lines out, wait until its process has ended, then run this command \
                 again",
                path.display()
            )
        } else {
            let command = removal_command(path, lines);
            format!("to take these lines out, so that their units are counted again: {command}")
        });
    }
    print_first(messages.into_iter());
}

/// Returns whether lines were left out because they belong to another count.
pub(crate) fn is_of_other_count(error: &Error) -> bool {
    matches!(error, Error::Journal { error: JournalError::OfOtherCount { .. }, .. })
}

/// Prints the commands that take journals with lines of several counts apart. For a journal that is being written, prints
/// that it is, because the parts would lack what comes from then on.
pub(crate) fn print_commands_that_take_apart(left_out: &[Error]) {
    let mut paths = BTreeSet::new();
    for error in left_out {
        if let Error::Journal { path, error: JournalError::OfOtherCount { .. } } = error {
            paths.insert(path);
        }
    }
    let mut messages = Vec::new();
    for path in paths {
        let joined = format!("several counts were joined in {}", path.display());
        messages.push(if is_being_written(path) {
            format!(
                "{joined}, which is being written: to take them apart, wait until its process has ended, then run this \
                 command again"
            )
        } else {
            let command = command_that_takes_apart(path);
            format!("{joined}: this makes a folder with a journal of each of them, to be used in its place: {command}")
        });
    }
    print_first(messages.into_iter());
}

/// Returns the command that writes the lines of each count to a file of their own. Line 1 of each of the joined journals
/// names the board, the count and the plan, which are the name of the file.
///
/// The files are in a new folder, so none that exists is written. The path is absolute, because awk takes a relative one
/// like `n=8.journal` for a variable.
fn command_that_takes_apart(path: &Path) -> String {
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = file.with_extension("apart");
    let script = r#"mkdir "$1" && cd "$1" && awk "$2" "$0""#;
    let program =
        r#"BEGIN{f="rest.journal"}/^nqueens-journal /{f=$4"-"$5"-"$8".journal"}{print>f}"#;
    format!("sh -c '{script}' {} {} '{program}'", quoted(&file), quoted(&folder))
}

/// Returns the command that takes lines out of a journal: `sed -i.bak '17d;20,25d' q20.journal`. Every sed keeps the old
/// file then, and no sed writes through a link.
fn removal_command(path: &Path, lines: Vec<RangeInclusive<usize>>) -> String {
    let mut deletions = Vec::new();
    for range in joined(lines) {
        let first = range.start();
        let last = range.end();
        deletions.push(if first == last {
            format!("{first}d")
        } else {
            format!("{first},{last}d")
        });
    }
    format!("sed -i.bak '{}' {}", deletions.join(";"), quoted(&behind_link(path)))
}

/// Returns ranges in increasing order, of which those that overlap or touch are one.
fn joined(mut ranges: Vec<RangeInclusive<usize>>) -> Vec<RangeInclusive<usize>> {
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= *last.end() + 1 => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the path of the file to which a symbolic link leads, or else this path.
fn behind_link(path: &Path) -> Cow<'_, Path> {
    if path.is_symlink()
        && let Ok(file) = path.canonicalize()
    {
        return file.into();
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_of_a_journal_are_in_one_command() {
        for (path, lines, command) in [
            (
                "a.journal",
                &[25..=25, 3..=3, 23..=24, 9..=9, 24..=24][..],
                "sed -i.bak '3d;9d;23,25d' a.journal",
            ),
            ("b c.journal", &[17..=17], "sed -i.bak '17d' 'b c.journal'"),
            ("d.journal", &[2..=usize::MAX - 1], "sed -i.bak '2,18446744073709551614d' d.journal"),
        ] {
            assert_eq!(removal_command(Path::new(path), lines.to_vec()), command);
        }
    }
}
