//! The page of `status --html`: all that is known of a count, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.
//! Texts from journals and names of files are [`escaped`]: maud leaves what turns the direction of
//! writing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use maud::{Markup, PreEscaped, html};
use nqueens::WhichCount;
use nqueens::record::{JournalFile, Record, Run};

use super::grid;
use super::state::{Resume, percent, report};
use crate::cli::format::{duration, grouped, many, sum, time, utc};
use crate::cli::stderr::escaped;

/// The page of the first count, the second, or both; `paths` as they were named.
pub(super) fn page(counts: &[Record], paths: &[PathBuf], now: SystemTime) -> String {
    let first = &counts[0];
    let plan = first.plan();
    let queens = many(plan.size().get() as usize, "queen");
    let (engine, hash, units) = (plan.engine(), plan.hash(), grouped(plan.units()));
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let page = html! {
        (PreEscaped("<!doctype html>\n<html lang=\"en\">\n"))
        meta charset="utf-8";
        meta name="color-scheme" content="light dark";
        meta name="viewport" content="width=device-width";
        @if counts.iter().any(|count| count.running().next().is_some()) {
            meta http-equiv="refresh" content="60";
        }
        title { (queens) ": " (percent(first)) " % counted" }
        style { (PreEscaped(include_str!("page.css"))) }
        header {
            h1 { (queens) }
            p {
                "engine " (engine) ", plan " (format_args!("{hash:08x}")) ", " (units)
                " units; as of " time { (utc(now)) }
            }
        }
        main { @for count in counts { (section(count, counts.len() > 1, now)) } }
        footer {
            p {
                "Made by " code { "nqueens status --html" } ", version " (env!("CARGO_PKG_VERSION"))
                ", from the journals in " code { (escaped(names.join(", "))) } "."
            }
        }
        (PreEscaped("</html>\n"))
    };
    page.into_string()
}

fn section(record: &Record, is_one_of_two: bool, now: SystemTime) -> Markup {
    let which = record.plan().which_count();
    let (percent, all) = (percent(record), grouped(record.plan().units()));
    html! {
        section {
            @if is_one_of_two || which == WhichCount::Second { h2 { (which) " count" } }
            div.progress {
                p { strong { (percent) " %" } " " (grouped(record.tally().units)) " of " (all) " units" }
                div.bar role="progressbar" aria-label="finished units" aria-valuemin="0"
                    aria-valuemax="100" aria-valuenow=(percent) {
                    span style={ "width:" (percent) "%" } {}
                }
            }
            dl.facts {
                @for (term, text) in report(record, now).rows().skip(2).filter(|(term, _)| *term != "resume") { div { dt { (term) } dd { (text) } } }
            }
            (grid::section(record))
            (processes(record))
            (machines(record))
            @if let Some(resume) = Resume::of(record) {
                h3 { "What is missing" }
                p { "This counts what is missing and no process counts now:" }
                pre { code { (resume.command) } }
                @if let Some(slurm) = resume.slurm {
                    p { "On a Slurm cluster:" }
                    pre { code { (slurm) } }
                }
            }
        }
    }
}

/// Those that write now.
fn processes(record: &Record) -> Markup {
    let row = |file: &JournalFile| {
        let run = file.runs.last()?;
        let row = [
            grouped(run.shard.index()),
            file.host().unwrap_or("not known").to_owned(),
            grouped(run.threads),
            grouped(run.units),
            duration(run.elapsed),
            file.modified.map_or_else(String::new, utc),
        ];
        Some((run.shard.index(), row))
    };
    let rows: BTreeSet<_> = record.running().filter_map(row).collect();
    // A plain count has no shards, and the name of its journal no host.
    let is_plain = record.shards == Some(1);
    let unnamed = if is_plain { 2 } else { 0 };
    let rows: Vec<_> = rows.iter().map(|(_, row)| &row[unnamed..]).collect();
    let titles = &["Shard", "Host", "Threads", "Units", "Counts for", "Last sign"][unnamed..];
    html! { @if !rows.is_empty() { h3 { "Running" } (table(titles, &["Host"], &rows)) } }
}

/// What processors of one kind did on one host: the slowest first.
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
        let [runs, units] = [runs.len(), units].map(grouped);
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

/// A table, with the columns of these titles for words and the others for numbers.
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
                                td class=[class(title)] { (escaped(cell)) }
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
        assert!(table.contains(&format!("<td class=\"text\">{text}</td>")), "{table}");
    }
}
