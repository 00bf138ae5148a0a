//! The commands that count what is missing and not being counted.

use std::ops::Range;
use std::path::{Path, PathBuf};

use nqueens::Pass;

use super::super::Status;
use crate::cli::html::{grouped, html, put};
use crate::cli::stderr::escaped;

/// Longer lists of shards are cut.
const MOST_RANGES: usize = 200;

pub(super) fn put(page: &mut String, status: &Status, paths: &[PathBuf]) {
    let Some(missing) = status.missing.as_ref().filter(|missing| !missing.is_empty()) else {
        return;
    };
    let plan = &status.journals.record.plan;
    let n = plan.size();
    let second = if plan.pass() == Pass::Second { " --second" } else { "" };
    put!(page, "<h3>What is missing</h3>\n");
    if let (1, [file]) = (missing.shards, &status.journals.record.files[..]) {
        match status.running.0.is_empty() {
            true => {
                let command = format!("nqueens count {n}{second} --journal {}", quoted(&file.path));
                put_command(page, "This resumes it:", &command);
            }
            false => put!(page, "<p>A process counts it now.</p>\n"),
        }
        return;
    }
    let idle = missing.except(&status.running_indices(missing.shards));
    if idle.is_empty() {
        put!(page, "<p>Processes count all missing shards now.</p>\n");
        return;
    }
    let (number, shards, out) = (idle.number(), missing.shards, quoted(&folder(status, paths)));
    let ranges = &idle.ranges()[..idle.ranges().len().min(MOST_RANGES)];
    let shown: usize = ranges.iter().map(Range::len).sum();
    let cut = if shown < number { "; the first are listed" } else { "" };
    let (number, of) = (grouped(number), grouped(shards));
    put!(page, "<p>{number} of {of} shards have missing units and no process{cut}.</p>\n");
    let indices = joined(ranges, ",", |first, last| format!("{first}-{last}"));
    let submit = format!(
        "scripts/slurm/submit.sh {n} --shards {shards} --indices {indices}{second} --out {out}"
    );
    put_command(page, "On a Slurm cluster:", &submit);
    let list = joined(ranges, " ", |first, last| format!("$(seq {first} {last})"));
    let shells = format!(
        "for index in {list}; do\n  nqueens shard {n} --index \"$index\" --shards {shards}{second} \
         --out {out} || break\ndone"
    );
    put_command(page, "On one machine:", &shells);
}

fn put_command(page: &mut String, title: &str, command: &str) {
    // Line feeds stay, whatever else might be in the command.
    let lines: Vec<String> = command.lines().map(html).collect();
    put!(page, "<p>{title}</p>\n<pre><code>{}</code></pre>\n", lines.join("\n"));
}

fn joined(
    ranges: &[Range<usize>],
    separator: &str,
    range: impl Fn(usize, usize) -> String,
) -> String {
    let ranges = ranges.iter().map(|indices| match indices.len() {
        1 => indices.start.to_string(),
        _ => range(indices.start, indices.end - 1),
    });
    ranges.collect::<Vec<_>>().join(separator)
}

/// The folder of the journals: the one that was named, or that of the first journal.
fn folder(status: &Status, paths: &[PathBuf]) -> PathBuf {
    let named = paths.iter().find(|path| path.is_dir());
    let first = status.journals.record.files.first().and_then(|file| file.path.parent());
    let folder = named.map(PathBuf::as_path).or(first).unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// A path as a shell takes it. One that cannot be shown is left to the reader.
fn quoted(path: &Path) -> String {
    let Some(text) = path.to_str().filter(|text| escaped(text) == *text) else {
        return "PATH".to_owned();
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    match text.chars().all(is_plain) && !text.starts_with('-') {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell() {
        let texts = ["/shared/q28", "/a b/it's", "q\u{202e}28"].map(|path| quoted(Path::new(path)));
        assert_eq!(texts, ["/shared/q28", r"'/a b/it'\''s'", "PATH"]);
    }
}
