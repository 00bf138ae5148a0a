//! The page of `status --html`: all that is known of counts, to look at in a browser.
//!
//! The page is one file without scripts, and without anything from elsewhere. It shows a moment, and has a link that
//! loads the file anew. It does not do so by itself, because a reader could not stop that, and would lose the place.
//! Texts from journals and names of files are [`escaped`], because maud does not escape characters that change the
//! direction of writing.

use std::collections::BTreeMap;
use std::path::{self, PathBuf};
use std::time::Duration;

use crate::WhichCount;
use crate::record::{JournalFile, Record, Running};
use maud::{Markup, PreEscaped, html};

use super::grid;
use super::resume::Resume;
use super::state::CountState;
use crate::cli::output::format::{duration, many, time, utc};
use crate::cli::output::quote::escaped;
use crate::cli::output::report::Report;

/// Returns the page of some counts. `paths` are the journals and folders that the user named.
pub(super) fn page(counts: &[CountState<'_>], paths: &[PathBuf]) -> String {
    let mut names = Vec::new();
    for path in paths {
        // A page may be read far from the folder in which the command ran.
        let path = path::absolute(path).unwrap_or_else(|_| path.clone());
        names.push(path.display().to_string());
    }
    let mut titles = Vec::new();
    for count in counts {
        titles.push(format!("{}: {} %", name(count.record), count.percent()));
    }
    let page = html! {
        (PreEscaped("<!doctype html>\n<html lang=\"en\">\n"))
        meta charset="utf-8";
        meta name="color-scheme" content="light dark";
        meta name="viewport" content="width=device-width";
        title { (titles.join("; ")) }
        style { (PreEscaped(include_str!("page.css"))) }
        main { @for count in counts { (section(count)) } }
        footer {
            p {
                "Made at " time { (utc(counts[0].now)) } " by " code { "nqueens status --html" }
                ", version " (crate::VERSION)
                ", from the journals in " code { (escaped(names.join(", "))) } ". "
                // A link without an address leads to the page itself.
                a href="" { "Load the page again" }
            }
        }
        (PreEscaped("</html>\n"))
    };
    page.into_string()
}

/// Returns the name of a count: `12 queens`, or `12 queens, second count`.
fn name(record: &Record) -> String {
    let queens = many(record.plan().size().get() as usize, "queen");
    match record.plan().which_count() {
        WhichCount::First => queens,
        WhichCount::Second => format!("{queens}, second count"),
    }
}

/// Returns the part of the page on one count.
fn section(count: &CountState<'_>) -> Markup {
    let record = count.record;
    let plan = record.plan();
    let hash = format!("{:08x}", plan.hash());
    let percent = count.percent();
    let done = record.sum().units;
    let mut facts = Report::default();
    count.add_facts(&mut facts, Vec::new());
    html! {
        section {
            h2 { (name(record)) }
            p.note { "engine " (plan.engine()) ", plan " (hash) }
            div.progress {
                p { strong { (percent) " %" } " " (done) " of " (plan.units()) " units" }
                div.bar role="progressbar" aria-label="finished units" aria-valuemin="0"
                    aria-valuemax="100" aria-valuenow=(percent) {
                    span style={ "width:" (percent) "%" } {}
                }
            }
            dl.facts { @for (term, text) in facts.rows() { div { dt { (term) } dd { (text) } } } }
            (grid::section(count))
            (processes(&count.running, count.shards.number > 1))
            (machines(record))
            @match Resume::of(count) {
                Resume::Finished | Resume::Running => {}
                Resume::Command(command) => {
                    h3 { "What is missing" }
                    p { "This counts the units that are missing and that no process counts now:" }
                    pre { code { (command) } }
                }
                Resume::Obstacle(reason) => {
                    h3 { "What is missing" }
                    p { "There is no command that counts it: " (escaped(reason)) "." }
                }
            }
        }
    }
}

/// Returns a table of the processes that write now.
fn processes(running: &Running<'_>, has_shards: bool) -> Markup {
    if running.is_empty() {
        return html! {};
    }
    // The name of a journal that a user has chosen has no host.
    let has_hosts = running.files().any(|file| file.host().is_some());
    let mut titles = Vec::new();
    if has_shards {
        titles.push("Shard");
    }
    if has_hosts {
        titles.push("Host");
    }
    titles.extend(["Threads", "Units", "Counts for", "Last sign"]);
    let mut rows = Vec::new();
    for file in running.files() {
        let Some(run) = file.runs.last() else { continue };
        let mut row = Vec::new();
        if has_shards {
            row.push(run.shard.index().to_string());
        }
        if has_hosts {
            row.push(host(file));
        }
        row.push(run.threads.to_string());
        row.push(run.units.to_string());
        row.push(duration(run.elapsed));
        row.push(file.modified.map_or_else(String::new, utc));
        rows.push((run.shard.index(), row));
    }
    // Two processes may look alike, and both are shown.
    rows.sort();
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_shard, row)| row).collect();
    html! { h3 { "Running" } (table(&titles, &["Host"], &rows)) }
}

/// Returns the host that wrote a journal, as far as the name of the journal says it.
fn host(file: &JournalFile) -> String {
    file.host().unwrap_or("not known").to_owned()
}

/// What processors of one kind did on one host, with one kernel.
#[derive(Default)]
struct Machine {
    runs: usize,
    units: usize,
    cpu_time: Duration,
}

impl Machine {
    /// Returns the CPU time for a unit, in seconds.
    fn unit_seconds(&self) -> f64 {
        self.cpu_time.as_secs_f64() / self.units as f64
    }
}

/// Returns a table of what processors of one kind did on one host, the slowest first.
fn machines(record: &Record) -> Markup {
    let mut machines: BTreeMap<[String; 3], Machine> = BTreeMap::new();
    for file in record.files() {
        for run in file.runs.iter().filter(|run| run.units > 0) {
            let names = [host(file), run.machine.to_string(), run.kernel.to_string()];
            let machine = machines.entry(names).or_default();
            machine.runs += 1;
            machine.units += run.units;
            machine.cpu_time = machine.cpu_time.saturating_add(run.cpu_time);
        }
    }
    let mut machines: Vec<_> = machines.into_iter().collect();
    machines.sort_by(|(_, one), (_, other)| other.unit_seconds().total_cmp(&one.unit_seconds()));
    let mut rows = Vec::new();
    for ([host, processor, kernel], machine) in machines {
        rows.push([
            host,
            processor,
            kernel,
            machine.runs.to_string(),
            machine.units.to_string(),
            duration(machine.cpu_time),
            time(machine.unit_seconds()),
        ]);
    }
    let titles = ["Host", "Processor", "Kernel", "Runs", "Units", "CPU time", "CPU time a unit"];
    html! {
        h3 { "Machines" }
        (table(&titles, &titles[..3], &rows))
    }
}

/// Returns a table. On a narrow screen each cell has a line of its own, which begins with the title of its column.
/// `words` are the titles of the columns that hold words; the other columns hold numbers.
fn table(titles: &[&str], words: &[&str], rows: &[impl AsRef<[String]>]) -> Markup {
    let class = |title: &&str| if words.contains(title) { Some("text") } else { None };
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
