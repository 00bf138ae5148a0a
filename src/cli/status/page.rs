//! The page of `status --html`: all that is known of a count, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.
//! Texts from journals and names of files are [`escaped`]: maud leaves what turns the direction of
//! writing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use maud::{Markup, PreEscaped, html};
use nqueens::Pass;
use nqueens::record::{JournalFile, Run};

use super::state::{Status, units_per_second};
use super::{grid, history};
use crate::cli::format::{DATE, duration, figures, grouped, many, since_1970, sum, utc};
use crate::cli::journals::{MissingShards, joined, number};
use crate::cli::stderr::escaped;

/// How every such page begins: nothing else is ever overwritten.
pub(super) const BEGINNING: &str = "<!doctype html>\n<html lang=\"en\">\n\
     <meta name=\"generator\" content=\"nqueens status\">\n";

/// Longer tables and lists of shards are cut.
const MOST_ROWS: usize = 40;
const MOST_RANGES: usize = 200;

/// The page of the first count, the second, or both; `paths` as they were named.
pub(super) fn page(counts: &[Option<Status>; 2], paths: &[PathBuf]) -> String {
    let counts = || counts.iter().flatten();
    let Some(first) = counts().next() else { return String::new() };
    let plan = &first.journals.record.plan;
    let queens = many(plan.size().get() as usize, "queen");
    let (engine, hash, units) = (plan.engine(), plan.hash(), grouped(plan.units()));
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let page = html! {
        (PreEscaped(BEGINNING))
        meta charset="utf-8";
        meta name="color-scheme" content="light dark";
        meta name="viewport" content="width=device-width";
        @if counts().any(|count| !count.running.is_empty()) {
            meta http-equiv="refresh" content="60";
        }
        title { (queens) ": " (first.percent()) " % counted" }
        style { (PreEscaped(include_str!("page.css"))) }
        header {
            h1 { (queens) }
            p {
                "engine " (engine) ", plan " (format_args!("{hash:08x}")) ", " (units)
                " units; as of " time { (utc(since_1970(first.now), DATE)) }
            }
        }
        main { @for count in counts() { (section(count)) } }
        footer {
            p {
                "Made by " code { "nqueens status --html" } ", version " (env!("CARGO_PKG_VERSION"))
                ", from the journals in " code { (escaped(names.join(", "))) }
                ". What runs is told by locks."
            }
        }
        (PreEscaped("</html>\n"))
    };
    page.into_string()
}

fn section(status: &Status) -> Markup {
    let pass = status.journals.record.plan.pass();
    let (percent, all) = (status.percent(), grouped(status.journals.record.plan.units()));
    html! {
        section aria-labelledby=(pass) {
            h2 id=(pass) { (pass) " count" }
            div.progress {
                p { strong { (percent) " %" } " " (grouped(status.journals.units_done)) " of " (all) " units" }
                div.bar role="progressbar" aria-label="finished units" aria-valuemin="0"
                    aria-valuemax="100" aria-valuenow=(percent) {
                    span style={ "width:" (percent) "%" } {}
                }
            }
            dl.facts {
                @for (term, text) in status.report().rows().skip(2) { div { dt { (term) } dd { (text) } } }
            }
            (grid::section(status))
            (history::section(status))
            (processes(status))
            (machines(status))
            @if let Some(missing) = status.journals.missing.as_ref().filter(|missing| !missing.indices.is_empty()) {
                h3 { "What is missing" }
                (commands(status, missing))
            }
        }
    }
}

/// Those that write now.
fn processes(status: &Status) -> Markup {
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
    let rows: BTreeSet<_> = status.running.iter().filter_map(row).collect();
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    let titles = ["Shard", "Host", "Threads", "Units", "Units/s", "Counts for", "Last sign"];
    html! { @if !rows.is_empty() { h3 { "Running" } (table(titles, &["Host"], &rows)) } }
}

/// What processors of one kind did on one host: the slowest first.
fn machines(status: &Status) -> Markup {
    let mut machines: BTreeMap<[&str; 3], Vec<&Run>> = BTreeMap::new();
    for file in &status.journals.record.files {
        let host = file.host().unwrap_or("not known");
        for run in file.runs.iter().filter(|run| run.units > 0) {
            machines.entry([host, &run.machine, &run.kernel]).or_default().push(run);
        }
    }
    let row = |([host, processor, kernel], runs): ([&str; 3], Vec<&Run>)| {
        let units = runs.iter().map(|run| run.units).sum::<usize>();
        let cpu_time = sum(runs.iter().map(|run| run.cpu_time));
        let cost = cpu_time.as_secs_f64() / units as f64;
        let [host, processor, kernel] = [host, processor, kernel].map(str::to_owned);
        let [runs, units] = [runs.len(), units].map(grouped);
        (cost, [host, processor, kernel, runs, units, duration(cpu_time), figures(cost, 3)])
    };
    let mut rows: Vec<_> = machines.into_iter().map(row).collect();
    rows.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    let titles = ["Host", "Processor", "Kernel", "Runs", "Units", "CPU time", "CPU seconds a unit"];
    html! {
        h3 { "Machines" }
        @if rows.len() > 1 {
            p.note { "The slowest first. The cost of units scatters, so compare those with many." }
        }
        (table(titles, &titles[..3], &rows))
    }
}

/// The commands that count what is missing and not being counted.
fn commands(status: &Status, missing: &MissingShards) -> Markup {
    let plan = &status.journals.record.plan;
    let n = plan.size();
    let second = if plan.pass() == Pass::Second { " --second" } else { "" };
    let shards = missing.shards;
    let idle = &missing.indices - &status.running_indices(shards);
    let (indices, is_cut) = (joined(&idle, ",", MOST_RANGES), idle.ranges_len() > MOST_RANGES);
    let sequence = |range: &str| match range.split_once('-') {
        Some((first, last)) => format!("$(seq {first} {last})"),
        None => range.to_owned(),
    };
    let sequences = indices.split(',').map(sequence).collect::<Vec<_>>().join(" ");
    let folder = status.journals.record.files.first().and_then(|file| file.path.parent());
    let folder = Path::new(".").join(folder.unwrap_or(Path::new("")));
    let folder = folder.canonicalize().unwrap_or(folder);
    let options = format!("{second} --out {}", quoted(&folder));
    html! {
        @if idle.is_empty() {
            p { "Processes count all of it now." }
        } @else if let (1, [file]) = (shards, &status.journals.record.files[..]) {
            p { "This resumes it:" }
            pre { code { "nqueens count " (n) (second) " --journal " (quoted(&file.path)) } }
        } @else {
            p {
                (grouped(number(&idle))) " of " (grouped(shards))
                " shards have missing units and no process"
                @if is_cut { "; the first are listed" } "."
            }
            p { "On a Slurm cluster:" }
            pre { code {
                "scripts/slurm/submit.sh " (n) " --shards " (shards) " --indices " (indices) (options)
            } }
            p { "On one machine:" }
            pre { code {
                "for index in " (sequences) "; do\n  nqueens shard " (n)
                " --index \"$index\" --shards " (shards) (options) " || break\ndone"
            } }
        }
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
    match path.to_str().filter(|text| escaped(text) == *text) {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => "PATH".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell() {
        let texts = ["/shared/q28", "/a b/it's", "q\u{202e}28"].map(|path| quoted(Path::new(path)));
        assert_eq!(texts, ["'/shared/q28'", r"'/a b/it'\''s'", "PATH"]);
    }

    #[test]
    fn markup_in_names_is_text() {
        let rows = [["<script>alert(\"&\")</script>\u{202e}\x1b".to_owned()]];
        let table = table(["Host"], &["Host"], &rows).into_string();
        let text = "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\\u{202e}\\u{1b}";
        assert!(table.contains(&format!("<td class=\"text\">{text}</td>")), "{table}");
    }
}
