//! The page of `status --html`: all that is known of a count, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.
//! Texts from journals and names of files are [`escaped`]: maud leaves what turns the direction of
//! writing.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use nqueens::{Pass, Published};

use super::{Process, Status, grid, history};
use crate::cli::journals::MissingShards;
use crate::cli::stderr::escaped;
use crate::cli::text::{duration, figures, many};

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
        let width = figures(100.0 * done as f64 / all.max(1) as f64);
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
                    @for (term, text) in self.facts() { div { dt { (term) } dd { (escaped(text)) } } }
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

    fn facts(&self) -> Vec<(&'static str, String)> {
        let (journals, record) = (&self.journals, &self.journals.record);
        let solutions = grouped(record.solutions);
        let files = many(record.files.len(), "journal");
        let threads = many(self.running.threads(), "thread");
        let rate = figures(self.running.units_per_second());
        let mut facts = vec![
            match (journals.total, journals.published) {
                (None, _) => ("Solutions", format!("{solutions} in the finished units")),
                (_, Published::Agrees) => ("Total", format!("{solutions}, as published")),
                (_, Published::Unknown) => ("Total", format!("{solutions}, nothing is published")),
                (_, Published::Differs { expected }) => {
                    let expected = grouped(expected);
                    ("Total", format!("{solutions}, DIFFERS from the published {expected}"))
                }
            },
            ("End", self.end()),
            ("Running", format!("{} of {files}, {threads}, {rate} units/s", self.running.0.len())),
            ("CPU time", format!("{} measured", duration(journals.cpu_time))),
        ];
        if journals.total.is_none() {
            facts.push(("CPU time to go", format!("about {}", self.to_go())));
        }
        facts.extend(self.wall_time().map(|wall_time| ("Wall time", wall_time)));
        if record.repeated > 0 {
            let units = many(record.repeated, "unit");
            facts.push(("Counted again", format!("{units}, with equal counts")));
        }
        facts
    }

    /// Those that write now.
    fn processes(&self) -> Markup {
        let mut processes: Vec<&Process> = self.running.0.iter().collect();
        processes.sort_by_key(|process| process.run.shard.index());
        let row = |process: &&Process| {
            let Process { run, host, seen } = process;
            [
                run.shard.index().to_string(),
                host.clone().unwrap_or_else(|| "not known".to_owned()),
                run.threads.to_string(),
                grouped(run.units),
                figures(process.units_per_second()),
                duration(run.elapsed),
                seen.map_or_else(String::new, |seen| utc(since_1970(seen), DATE)),
            ]
        };
        let rows: Vec<_> = processes.iter().map(row).collect();
        let titles = ["Shard", "Host", "Threads", "Units", "Units/s", "Counts for", "Last sign"];
        html! { @if !rows.is_empty() { h3 { "Running" } (table(titles, &["Host"], &rows)) } }
    }

    /// What processors of one kind did on one host: the slowest first.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn machines(&self) -> Markup {
        /// Runs, units, and the CPU time that they took.
        #[derive(Default)]
        struct Work {
            runs: usize,
            units: usize,
            cpu_time: Duration,
        }
        let mut machines: BTreeMap<[&str; 3], Work> = BTreeMap::new();
        for file in &self.journals.record.files {
            for run in &file.runs {
                let host = file.host().unwrap_or("not known");
                let work = machines.entry([host, &run.machine, &run.kernel]).or_default();
                work.runs += 1;
                work.units += run.units;
                work.cpu_time = work.cpu_time.saturating_add(run.cpu_time);
            }
        }
        let seconds_a_unit = |work: &Work| match work.units {
            0 => None,
            units => Some(work.cpu_time.as_secs_f64() / units as f64),
        };
        let mut machines: Vec<_> = machines.into_iter().collect();
        let cost = |work: &Work| seconds_a_unit(work).unwrap_or(-1.0);
        machines.sort_by(|(_, one), (_, other)| cost(other).total_cmp(&cost(one)));
        let row = |(names, work): &([&str; 3], Work)| {
            let [host, processor, kernel] = names.map(str::to_owned);
            let cost = seconds_a_unit(work).map_or_else(String::new, figures);
            let (runs, units) = (grouped(work.runs), grouped(work.units));
            [host, processor, kernel, runs, units, duration(work.cpu_time), cost]
        };
        let rows: Vec<_> = machines.iter().map(row).collect();
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
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
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
