//! The page of `status --html`: all that is known of a count, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.
//! Texts from journals and names of files are [`escaped`]: maud leaves what turns the direction of
//! writing.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use nqueens::Pass;
use nqueens::record::{JournalFile, Run};

use super::{Status, grid, history, units_per_second};
use crate::cli::format::{duration, figures, many, sum};
use crate::cli::journals::MissingShards;
use crate::cli::stderr::escaped;

/// How every such page begins: nothing else is ever overwritten.
pub(super) const BEGINNING: &str = "<!doctype html>\n<html lang=\"en\">\n\
     <meta name=\"generator\" content=\"nqueens status\">\n";

/// Longer tables and lists of shards are cut.
const MOST_ROWS: usize = 40;
const MOST_RANGES: usize = 200;

/// The page of the first count, the second, or both; `paths` as they were named.
pub(super) fn page(counts: &[&Status], paths: &[PathBuf], now: SystemTime) -> String {
    let Some(first) = counts.first() else { return String::new() };
    let plan = &first.journals.record.plan;
    let queens = many(plan.size().get() as usize, "queen");
    let is_running = counts.iter().any(|count| !count.running.0.is_empty());
    let (engine, hash, units) = (plan.engine(), plan.hash(), grouped(plan.units()));
    let page = html! {
        (PreEscaped(BEGINNING))
        meta charset="utf-8";
        meta name="color-scheme" content="light dark";
        meta name="viewport" content="width=device-width";
        @if is_running { meta http-equiv="refresh" content="60"; }
        title { (queens) ": " (first.percent()) " % counted" }
        style { (PreEscaped(include_str!("page.css"))) }
        header {
            h1 { (queens) }
            p {
                "engine " (engine) ", plan " (format_args!("{hash:08x}")) ", " (units)
                " units; as of " time { (utc(since_1970(now), DATE)) }
            }
        }
        main { @for count in counts { (count.section(paths, now)) } }
        footer {
            p {
                "Made by " code { "nqueens status --html" } ", version " (env!("CARGO_PKG_VERSION"))
                ", from the journals in "
                @for (place, path) in paths.iter().enumerate() {
                    @if place > 0 { ", " }
                    code { (escaped(path.display())) }
                }
                ". What runs is told by locks."
            }
        }
        (PreEscaped("</html>\n"))
    };
    page.into_string()
}

impl Status {
    #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
    fn section(&self, paths: &[PathBuf], now: SystemTime) -> Markup {
        let (id, title) = match self.journals.record.plan.pass() {
            Pass::First => ("first", "First count"),
            Pass::Second => ("second", "Second count"),
        };
        let (done, all) = (self.journals.units_done, self.journals.record.plan.units());
        let width = figures(100.0 * done as f64 / all.max(1) as f64, 3);
        html! {
            section aria-labelledby=(id) {
                h2 id=(id) { (title) }
                div.progress {
                    p { strong { (self.percent()) " %" } " " (grouped(done)) " of " (grouped(all)) " units" }
                    div.bar role="progressbar" aria-label="finished units" aria-valuemin="0"
                        aria-valuemax="100" aria-valuenow=(width) {
                        span style={ "width:" (width) "%" } {}
                    }
                }
                dl.facts {
                    @for (term, text) in self.report().rows().skip(2) { div { dt { (term) } dd { (text) } } }
                }
                (grid::section(self))
                (history::section(self, now))
                (self.processes())
                (self.machines())
                @if let Some(missing) = self.missing.as_ref().filter(|missing| !missing.is_empty()) {
                    h3 { "What is missing" }
                    (self.missing(missing, paths))
                }
            }
        }
    }

    /// Those that write now.
    fn processes(&self) -> Markup {
        let row = |file: &JournalFile| {
            let run = file.runs.last()?;
            let row = [
                run.shard.index().to_string(),
                file.host().unwrap_or("not known").to_owned(),
                run.threads.to_string(),
                grouped(run.units),
                figures(units_per_second(run), 3),
                duration(run.elapsed),
                file.modified.map_or_else(String::new, |seen| utc(since_1970(seen), DATE)),
            ];
            Some((run.shard.index(), row))
        };
        let mut rows: Vec<_> = self.running.0.iter().filter_map(row).collect();
        rows.sort();
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        let titles = ["Shard", "Host", "Threads", "Units", "Units/s", "Counts for", "Last sign"];
        html! { @if !rows.is_empty() { h3 { "Running" } (table(titles, &["Host"], &rows)) } }
    }

    /// What processors of one kind did on one host: the slowest first.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn machines(&self) -> Markup {
        let mut machines: BTreeMap<[&str; 3], Vec<&Run>> = BTreeMap::new();
        for file in &self.journals.record.files {
            let host = file.host().unwrap_or("not known");
            for run in &file.runs {
                machines.entry([host, &run.machine, &run.kernel]).or_default().push(run);
            }
        }
        let row = |(names, runs): ([&str; 3], Vec<&Run>)| {
            let [host, processor, kernel] = names.map(str::to_owned);
            let units = runs.iter().map(|run| run.units).sum::<usize>();
            let cpu_time = sum(runs.iter().map(|run| run.cpu_time));
            let cost = (units > 0).then(|| cpu_time.as_secs_f64() / units as f64);
            let [runs, units] = [runs.len(), units].map(grouped);
            let shown = cost.map_or_else(String::new, |seconds| figures(seconds, 3));
            (cost, [host, processor, kernel, runs, units, duration(cpu_time), shown])
        };
        let mut rows: Vec<_> = machines.into_iter().map(row).collect();
        rows.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        let words = ["Host", "Processor", "Kernel"];
        let [host, processor, kernel] = words;
        let titles = [host, processor, kernel, "Runs", "Units", "CPU time", "CPU seconds a unit"];
        html! {
            h3 { "Machines" }
            @if rows.len() > 1 {
                p.note {
                    "The slowest first. The cost of units scatters, so compare those with many."
                }
            }
            (table(titles, &words, &rows))
        }
    }

    /// The commands that count what is missing and not being counted.
    fn missing(&self, missing: &MissingShards, paths: &[PathBuf]) -> Markup {
        let plan = &self.journals.record.plan;
        let n = plan.size();
        let second = if plan.pass() == Pass::Second { " --second" } else { "" };
        if let (1, [file]) = (missing.shards, &self.journals.record.files[..]) {
            return html! {
                @if self.running.0.is_empty() {
                    p { "This resumes it:" }
                    pre { code { "nqueens count " (n) (second) " --journal " (quoted(&file.path)) } }
                } @else {
                    p { "A process counts it now." }
                }
            };
        }
        let idle = missing.except(&self.running_indices(missing.shards));
        if idle.is_empty() {
            return html! { p { "Processes count all missing shards now." } };
        }
        let (shards, out) = (missing.shards, quoted(&self.folder(paths)));
        let indices = idle.indices();
        let cut = indices.match_indices(',').nth(MOST_RANGES - 1).map(|(place, _)| place);
        let indices = &indices[..cut.unwrap_or(indices.len())];
        let sequence = |range: &str| match range.split_once('-') {
            Some((first, last)) => format!("$(seq {first} {last})"),
            None => range.to_owned(),
        };
        let sequences = indices.split(',').map(sequence).collect::<Vec<_>>().join(" ");
        html! {
            p {
                (grouped(idle.number())) " of " (grouped(shards))
                " shards have missing units and no process"
                @if cut.is_some() { "; the first are listed" } "."
            }
            p { "On a Slurm cluster:" }
            pre { code {
                "scripts/slurm/submit.sh " (n) " --shards " (shards) " --indices " (indices) (second)
                " --out " (out)
            } }
            p { "On one machine:" }
            pre { code {
                "for index in " (sequences) "; do\n  nqueens shard " (n)
                " --index \"$index\" --shards " (shards) (second) " --out " (out) " || break\ndone"
            } }
        }
    }

    /// The folder of the journals: the one that was named, or that of the first journal.
    fn folder(&self, paths: &[PathBuf]) -> PathBuf {
        let named = paths.iter().find(|path| path.is_dir()).map(PathBuf::as_path);
        let first = || self.journals.record.files.first()?.path.parent();
        let folder = named.or_else(first).filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }
}

/// A table, with the columns of these titles for words and the others for numbers.
fn table<const N: usize>(titles: [&str; N], words: &[&str], rows: &[[String; N]]) -> Markup {
    let class = |title: &&str| words.contains(title).then_some("text");
    html! {
        div.wide {
            table {
                thead { tr { @for title in &titles { th class=[class(title)] { (title) } } } }
                tbody {
                    @for row in rows.iter().take(MOST_ROWS) {
                        tr {
                            @for (title, cell) in titles.iter().zip(row) {
                                td class=[class(title)] { (escaped(cell)) }
                            }
                        }
                    }
                }
            }
        }
        @if rows.len() > MOST_ROWS {
            p.note { (many(rows.len() - MOST_ROWS, "row")) " more not shown." }
        }
    }
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

/// A whole number in groups of three digits: `2 602 198`, with narrow spaces that do not break.
pub(super) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join("\u{202f}")
}

/// A number of pixels, to the tenth.
pub(super) fn px(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

/// As `2026-11-22 05:45:12 UTC`.
pub(super) const DATE: &str = "%F %T UTC";

/// Seconds since 1970, 0 before.
pub(super) fn since_1970(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Seconds since 1970 as a date or a time of day. Files tell any time: it is cut to the calendar, 1970
/// to 9999.
#[expect(clippy::cast_possible_truncation, reason = "cut to the calendar")]
pub(super) fn utc(seconds: f64, format: &str) -> String {
    let second = (seconds as i64).clamp(0, Timestamp::MAX.as_second());
    Timestamp::from_second(second).unwrap_or_default().strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell() {
        let texts = ["/shared/q28", "/a b/it's", "q\u{202e}28"].map(|path| quoted(Path::new(path)));
        assert_eq!(texts, ["/shared/q28", r"'/a b/it'\''s'", "PATH"]);
    }

    #[test]
    fn markup_in_names_is_text() {
        let rows = [["<script>alert(\"&\")</script>\u{202e}\x1b".to_owned()]];
        let table = table(["Host"], &["Host"], &rows).into_string();
        let text = "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\\u{202e}\\u{1b}";
        assert!(table.contains(&format!("<td class=\"text\">{text}</td>")), "{table}");
    }

    #[test]
    fn long_numbers_are_grouped() {
        let numbers = [0, 12, 123, 1234, 2_602_198].map(grouped);
        let expected = ["0", "12", "123", "1_234", "2_602_198"];
        assert_eq!(numbers, expected.map(|text| text.replace('_', "\u{202f}")));
    }

    #[test]
    fn times_of_files_are_cut_to_the_calendar() {
        let dates = [-1.8e19, 1_795_326_312.0, 9.3e18].map(|time| utc(time, DATE));
        assert_eq!(dates[..2], ["1970-01-01 00:00:00 UTC", "2026-11-22 05:45:12 UTC"]);
        assert!(dates[2].starts_with("9999-12-30"), "{}", dates[2]);
    }
}
