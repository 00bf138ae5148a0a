//! The processes that write now, and the machines that have counted.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::{Process, Status};
use crate::cli::date::Utc;
use crate::cli::format::{duration, figures, many};
use crate::cli::html::{grouped, html, put};

/// Longer tables are cut.
const MOST_ROWS: usize = 40;

pub(super) fn put_running(page: &mut String, status: &Status) {
    let mut processes: Vec<&Process> = status.running.0.iter().collect();
    if processes.is_empty() {
        return;
    }
    processes.sort_by_key(|process| process.run.shard.index());
    put!(page, "<h3>Running</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>Shard</th>");
    put!(page, "<th>Host</th><th>Threads</th><th>Units</th><th>Units/s</th><th>Counts for</th>");
    put!(page, "<th>Last sign</th></tr></thead>\n<tbody>\n");
    for process in processes.iter().take(MOST_ROWS) {
        let Process { run, host, seen } = process;
        put!(
            page,
            "<tr><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td></tr>\n",
            run.shard.index(),
            html(host.as_deref().unwrap_or("not known")),
            run.threads,
            grouped(run.units),
            figures(process.units_per_second(), 3),
            duration(run.elapsed),
            seen.map_or_else(String::new, |seen| Utc::from(seen).to_string())
        );
    }
    put_end(page, processes.len());
}

/// Processors of one kind on one host.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Machine<'a> {
    host: Option<&'a str>,
    processor: &'a str,
    kernel: &'a str,
}

/// What processes did there.
#[derive(Default)]
struct Work {
    runs: usize,
    units: usize,
    cpu_time: Duration,
}

impl Work {
    /// `None` before the first unit.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn seconds_a_unit(&self) -> Option<f64> {
        (self.units > 0).then(|| self.cpu_time.as_secs_f64() / self.units as f64)
    }
}

pub(super) fn put_machines(page: &mut String, status: &Status) {
    let mut machines: BTreeMap<Machine<'_>, Work> = BTreeMap::new();
    for file in &status.journals.record.files {
        for run in &file.runs {
            let machine =
                Machine { host: file.host(), processor: &run.machine, kernel: &run.kernel };
            let work = machines.entry(machine).or_default();
            work.runs += 1;
            work.units += run.units;
            work.cpu_time = work.cpu_time.saturating_add(run.cpu_time);
        }
    }
    let mut machines: Vec<_> = machines.into_iter().collect();
    let cost = |work: &Work| work.seconds_a_unit().unwrap_or(-1.0);
    machines.sort_by(|(_, one), (_, other)| cost(other).total_cmp(&cost(one)));
    put!(page, "<h3>Machines</h3>\n");
    if machines.len() > 1 {
        put!(
            page,
            "<p class=\"note\">The slowest first. The cost of units scatters, so compare those with \
             many.</p>\n"
        );
    }
    put!(page, "<div class=\"wide\"><table>\n<thead><tr><th class=\"text\">Host</th>");
    put!(page, "<th class=\"text\">Processor</th><th class=\"text\">Kernel</th><th>Runs</th>");
    put!(
        page,
        "<th>Units</th><th>CPU time</th><th>CPU seconds a unit</th></tr></thead>\n<tbody>\n"
    );
    for (Machine { host, processor, kernel }, work) in machines.iter().take(MOST_ROWS) {
        put!(
            page,
            "<tr><td class=\"text\">{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td>\
             <td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            html(host.unwrap_or("not known")),
            html(processor),
            html(kernel),
            grouped(work.runs),
            grouped(work.units),
            duration(work.cpu_time),
            work.seconds_a_unit().map_or_else(String::new, |seconds| figures(seconds, 3))
        );
    }
    put_end(page, machines.len());
}

/// Ends a table, and says how much of it is left out.
fn put_end(page: &mut String, rows: usize) {
    put!(page, "</tbody>\n</table></div>\n");
    if rows > MOST_ROWS {
        put!(page, "<p class=\"note\">{} more not shown.</p>\n", many(rows - MOST_ROWS, "row"));
    }
}
