//! The page of `status --html`: all that is known of a count, to look at in a browser.
//!
//! One file without scripts, and without anything from elsewhere. It shows a moment; while processes
//! write, a browser loads the file anew once a minute, so it is worth writing it again and again.

mod grid;
mod history;
mod resume;
mod tables;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nqueens::{Pass, Published};

use super::Status;
use crate::cli::date::Utc;
use crate::cli::format::{duration, figures, many};
use crate::cli::html::{grouped, html, put};

/// How every such page begins: nothing else is ever overwritten.
pub(super) const BEGINNING: &str = "<!doctype html>\n<html lang=\"en\">\n\
     <meta name=\"generator\" content=\"nqueens status\">\n";

const STYLE: &str = include_str!("page/style.css");

/// What a page shows.
pub(super) struct Page<'a> {
    /// The first count, the second, or both.
    pub(super) counts: Vec<&'a Status>,
    /// The files and folders as they were named.
    pub(super) paths: &'a [PathBuf],
    pub(super) now: SystemTime,
}

impl Page<'_> {
    /// The whole file.
    pub(super) fn html(&self) -> String {
        let Some(first) = self.counts.first() else { return String::new() };
        let plan = &first.journals.record.plan;
        let (queens, percent) = (many(plan.size().get() as usize, "queen"), first.percent());
        let is_running = self.counts.iter().any(|count| !count.running.0.is_empty());
        let mut page = String::from(BEGINNING);
        put!(
            &mut page,
            "<meta charset=\"utf-8\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        );
        put!(&mut page, "<meta name=\"viewport\" content=\"width=device-width\">\n");
        if is_running {
            put!(&mut page, "<meta http-equiv=\"refresh\" content=\"60\">\n");
        }
        put!(&mut page, "<title>{queens}: {percent} % counted</title>\n<style>\n{STYLE}</style>\n");
        let (engine, hash) = (plan.engine(), plan.hash());
        let units = grouped(plan.units());
        put!(
            &mut page,
            "<header>\n<h1>{queens}</h1>\n<p>engine {engine}, plan {hash:08x}, {units} units; as of \
             <time>{}</time></p>\n</header>\n<main>\n",
            Utc::from(self.now)
        );
        for count in &self.counts {
            count.put_section(&mut page, self);
        }
        put!(
            &mut page,
            "</main>\n<footer><p>Made by <code>nqueens status --html</code>, version {}, from the \
             journals in {}. What runs is told by locks.</p></footer>\n</html>\n",
            env!("CARGO_PKG_VERSION"),
            self.paths.iter().map(|path| html_path(path)).collect::<Vec<_>>().join(", "),
        );
        page
    }
}

fn html_path(path: &Path) -> String {
    format!("<code>{}</code>", html(path.display()))
}

impl Status {
    fn put_section(&self, page: &mut String, all: &Page<'_>) {
        let (id, title) = match self.journals.record.plan.pass() {
            Pass::First => ("first", "First count"),
            Pass::Second => ("second", "Second count"),
        };
        put!(page, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n");
        self.put_progress(page);
        self.put_facts(page);
        grid::put(page, self);
        history::put(page, self, all.now);
        tables::put_running(page, self);
        tables::put_machines(page, self);
        resume::put(page, self, all.paths);
        put!(page, "</section>\n");
    }

    #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
    fn put_progress(&self, page: &mut String) {
        let (done, all) = (self.journals.units_done, self.journals.record.plan.units());
        let width = figures(100.0 * done as f64 / all.max(1) as f64, 3);
        put!(
            page,
            "<div class=\"progress\">\n<p><strong>{} %</strong> {} of {} units</p>\n<div \
             class=\"bar\" role=\"progressbar\" aria-label=\"finished units\" aria-valuemin=\"0\" \
             aria-valuemax=\"100\" aria-valuenow=\"{width}\"><span style=\"width:{width}%\"></span>\
             </div>\n</div>\n",
            self.percent(),
            grouped(done),
            grouped(all)
        );
    }

    fn put_facts(&self, page: &mut String) {
        let journals = &self.journals;
        let record = &journals.record;
        let files = many(record.files.len(), "journal");
        let threads = many(self.running.threads(), "thread");
        let rate = figures(self.running.units_per_second(), 3);
        put!(page, "<dl class=\"facts\">\n");
        let mut fact = |term: &str, text: &str| {
            put!(page, "<div><dt>{term}</dt><dd>{}</dd></div>\n", html(text));
        };
        let solutions = grouped(record.solutions);
        match journals.total {
            None => fact("Solutions", &format!("{solutions} in the finished units")),
            Some(_) => {
                let published = match journals.published {
                    Published::Agrees => "as published".to_owned(),
                    Published::Differs { expected } => {
                        format!("DIFFERS from the published {}", grouped(expected))
                    }
                    Published::Unknown => "nothing is published".to_owned(),
                };
                fact("Total", &format!("{solutions}, {published}"));
            }
        }
        fact("End", &self.end());
        let running = self.running.0.len();
        fact("Running", &format!("{running} of {files}, {threads}, {rate} units/s"));
        fact("CPU time", &format!("{} measured", duration(journals.cpu_time)));
        if journals.total.is_none() {
            fact("CPU time to go", &format!("about {}", self.to_go()));
        }
        if let Some(wall_time) = self.wall_time() {
            fact("Wall time", &wall_time);
        }
        if record.repeated > 0 {
            let units = many(record.repeated, "unit");
            fact("Counted again", &format!("{units}, with equal counts"));
        }
        put!(page, "</dl>\n");
    }
}
