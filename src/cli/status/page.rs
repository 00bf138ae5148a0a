//! The page of `status --html`: all that is known of counts, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.
//! Texts from journals and names of files are [`escaped`], because maud does not escape characters that
//! change the direction of writing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use maud::{Markup, PreEscaped, html};
use nqueens::WhichCount;
use nqueens::record::{JournalFile, Record, Run};

use super::grid;
use super::state::{add_facts, percent, resume};
use crate::cli::format::{duration, many, sum, time, utc};
use crate::cli::quote::escaped;
use crate::cli::report::Report;

/// Returns the page of some counts. `paths` are the journals and folders that the user named.
pub(super) fn page(counts: &[Record], paths: &[PathBuf], now: SystemTime) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let titles = counts.iter().map(|count| format!("{}: {} %", board(count), percent(count)));
    let page = html! {
        (PreEscaped("<!doctype html>\n<html lang=\"en\">\n"))
        meta charset="utf-8";
        meta name="color-scheme" content="light dark";
        meta name="viewport" content="width=device-width";
        @if counts.iter().any(|count| count.running().next().is_some()) {
            meta http-equiv="refresh" content="60";
        }
        title { (titles.collect::<Vec<_>>().join("; ")) }
        style { (PreEscaped(include_str!("page.css"))) }
        main { @for count in counts { (section(count, counts, now)) } }
        footer {
            p {
                "Made at " time { (utc(now)) } " by " code { "nqueens status --html" }
                ", version " (env!("CARGO_PKG_VERSION"))
                ", from the journals in " code { (escaped(names.join(", "))) } "."
            }
        }
        (PreEscaped("</html>\n"))
    };
    page.into_string()
}

/// Returns the name of a count: `12 queens`, or `12 queens, second count`.
fn board(record: &Record) -> String {
    let second = match record.plan().which_count() {
        WhichCount::First => "",
        WhichCount::Second => ", second count",
    };
    many(record.plan().size().get() as usize, "queen") + second
}

fn section(record: &Record, counts: &[Record], now: SystemTime) -> Markup {
    let (plan, percent) = (record.plan(), percent(record));
    let (engine, hash, all) = (plan.engine(), plan.hash(), plan.units());
    let mut facts = Report::default();
    add_facts(&mut facts, record, now);
    html! {
        section {
            h2 { (board(record)) }
            p.note { "engine " (engine) ", plan " (format_args!("{hash:08x}")) }
            div.progress {
                p { strong { (percent) " %" } " " (record.sum().units) " of " (all) " units" }
                div.bar role="progressbar" aria-label="finished units" aria-valuemin="0"
                    aria-valuemax="100" aria-valuenow=(percent) {
                    span style={ "width:" (percent) "%" } {}
                }
            }
            dl.facts { @for (term, text) in facts.rows() { div { dt { (term) } dd { (text) } } } }
            (grid::section(record))
            (processes(record))
            (machines(record))
            @if let Some(command) = resume(record, counts) {
                h3 { "What is missing" }
                p { "This counts the units that are missing and that no process counts now:" }
                pre { code { (command) } }
            }
        }
    }
}

/// Returns a table of the processes that write now.
fn processes(record: &Record) -> Markup {
    let row = |file: &JournalFile| {
        let run = file.runs.last()?;
        let row = [
            run.shard.index().to_string(),
            file.host().unwrap_or("not known").to_owned(),
            run.threads.to_string(),
            run.units.to_string(),
            duration(run.elapsed),
            file.modified.map_or_else(String::new, utc),
        ];
        Some((run.shard.index(), row))
    };
    let rows: BTreeSet<_> = record.running().filter_map(row).collect();
    // A plain count has no shards, and the name of its journal no host.
    let unnamed = if record.shards == Some(1) { 2 } else { 0 };
    let rows: Vec<_> = rows.iter().map(|(_, row)| &row[unnamed..]).collect();
    let titles = &["Shard", "Host", "Threads", "Units", "Counts for", "Last sign"][unnamed..];
    html! { @if !rows.is_empty() { h3 { "Running" } (table(titles, &["Host"], &rows)) } }
}

/// Returns a table of what processors of one kind did on one host, the slowest first.
fn machines(record: &Record) -> Markup {
    let mut machines: BTreeMap<[&str; 3], Vec<&Run>> = BTreeMap::new();
    for file in record.files() {
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
        let [runs, units] = [runs.len(), units].map(|number| number.to_string());
        (cost, [host, processor, kernel, runs, units, duration(cpu_time), time(cost)])
    };
    let mut rows: Vec<_> = machines.into_iter().map(row).collect();
    rows.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    let titles = ["Host", "Processor", "Kernel", "Runs", "Units", "CPU time", "CPU time a unit"];
    html! {
        h3 { "Machines" }
        (table(&titles, &titles[..3], &rows))
    }
}

/// Returns a table. On a narrow screen each cell has a line of its own, which begins with the title of its column.
/// `words` are the titles of the columns that hold words; the other columns hold numbers.
fn table(titles: &[&str], words: &[&str], rows: &[impl AsRef<[String]>]) -> Markup {
    let class = |title: &&str| words.contains(title).then_some("text");
    html! {
        div.wide {
            table {
                thead { tr { @for title in titles { th class=[class(title)] { (title) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (title, cell) in titles.iter().zip(row.as_ref()) {
                                td class=[class(title)] data-title=(title) { (escaped(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let rows = [["<script>alert(\"&\")</script>\u{202e}\x1b".to_owned()]];
        let table = table(&["Host"], &["Host"], &rows).into_string();
        let text = "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\\u{202e}\\u{1b}";
        assert!(
            table.contains(&format!("<td class=\"text\" data-title=\"Host\">{text}</td>")),
            "{table}"
        );
    }
}
