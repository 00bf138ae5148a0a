//! Journals of several counts, which commands of the command line read together.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::engine::WhichCount;
use crate::journal::FirstLine;

/// Groups journals by their plans, in the order in which the plans first appear.
///
/// Each group has the journals of the first count and the journals of the second count. Files without a readable
/// first line go to the first plan.
pub(crate) fn split_by_plan(files: Vec<PathBuf>) -> Vec<[Vec<PathBuf>; 2]> {
    let first_lines: Vec<Option<FirstLine>> =
        files.par_iter().map(|path| FirstLine::read_at(path).ok().flatten()).collect();
    let first_readable = first_lines.iter().flatten().next();
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut groups: Vec<[Vec<PathBuf>; 2]> = Vec::new();
    for (path, line) in files.into_iter().zip(&first_lines) {
        let line = line.as_ref().or(first_readable);
        let name = line.and_then(name_of_plan);
        let group = match names.iter().position(|known| *known == name) {
            Some(group) => group,
            None => {
                names.push(name);
                groups.push([Vec::new(), Vec::new()]);
                groups.len() - 1
            }
        };
        let is_second = line.is_some_and(|line| line.which_count() == WhichCount::Second);
        groups[group][usize::from(is_second)].push(path);
    }
    groups
}

/// Returns the hash and the number of units of a plan, which do not depend on the count.
fn name_of_plan(line: &FirstLine) -> Option<&str> {
    let (_settings, name) = line.plan.split_once(" plan=")?;
    Some(name)
}
