//! The page of `status --html`: the text of `status`, and a square for each shard.
//!
//! The page is one file without scripts, and without anything from elsewhere. It shows a moment. The signs of the
//! squares differ, so that they can be told apart without colours. Rows of a report are escaped already. What else
//! comes from names of files is [`escaped`] here, because maud does not escape characters that change the direction of
//! writing.

use std::path::{self, PathBuf};
use std::time::SystemTime;

use crate::Pass;
use crate::record::ShardUnits;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::percent_done;
use crate::cli::commands::journals::CountState;
use crate::cli::print::format::utc;
use crate::cli::print::report::Report;
use crate::cli::quote::escaped;

/// With this many squares the page has one megabyte. If there are more shards, it has only the text.
const MAX_SQUARES: usize = 10_000;

/// How far a shard is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Complete,
    Running,
    InPart,
    Missing,
}

impl State {
    const ALL: [Self; 4] = [Self::Complete, Self::Running, Self::InPart, Self::Missing];

    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Running => "running",
            Self::InPart => "in part, not running",
            Self::Missing => "missing",
        }
    }

    /// Returns the square, in the class of its colour.
    fn square(self, title: Option<String>) -> Markup {
        let (sign, class) = match self {
            Self::Complete => ("■", "complete"),
            Self::Running => ("▣", "running"),
            Self::InPart => ("◧", "complete"),
            Self::Missing => ("□", "missing"),
        };
        html! { span class=(class) title=[title] { (sign) } }
    }
}

/// Returns the page of a report on some counts. `paths` are the journals and folders that the user named.
pub(super) fn page(
    report: &Report,
    counts: &[CountState<'_>],
    paths: &[PathBuf],
    now: SystemTime,
) -> String {
    let size = counts[0].record.plan().size();
    let percents: Vec<String> =
        counts.iter().map(|count| format!("{} %", percent_done(count))).collect();
    let mut names = Vec::new();
    for path in paths {
        // A page may be read far from the folder in which the command ran.
        let path = path::absolute(path).unwrap_or_else(|_| path.clone());
        names.push(path.display().to_string());
    }
    let rows: Vec<_> = report.rows().collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width";
            title { "n = " (size) ": " (percents.join(", ")) }
            style { (PreEscaped(include_str!("page.css"))) }
            // An empty row stands between the counts.
            @for rows in rows.split(|(label, _)| label.is_empty()) {
                dl { @for (label, text) in rows { dt { (label) } dd { (text) } } }
            }
            @for count in counts { (squares(count)) }
            footer {
                "Made at " (utc(now)) " by nqueens " (crate::version::VERSION) " from the journals in "
                (escaped(names.join(", ")))
            }
        }
    };
    page.into_string()
}

/// Returns a square for each shard, with a legend, if the plan is cut into shards.
fn squares(count: &CountState<'_>) -> Markup {
    let number = count.shards.number;
    if number == 1 || number > MAX_SQUARES {
        return html! {};
    }
    let units = count.record.shard_units(number);
    let mut states = Vec::new();
    for (index, shard) in units.iter().enumerate() {
        states.push(if count.shards.complete.binary_search(&index).is_ok() {
            State::Complete
        } else if count.shards.running.binary_search(&index).is_ok() {
            State::Running
        } else if shard.finished > 0 {
            State::InPart
        } else {
            State::Missing
        });
    }
    let is_second = count.record.plan().pass() == Pass::Second;
    html! {
        h2 { @if is_second { "Shards of the second pass" } @else { "Shards" } }
        p {
            @for state in State::ALL {
                (state.square(None)) " "
                (states.iter().filter(|other| **other == state).count()) " " (state.name()) "\u{2003}"
            }
        }
        p.squares {
            @for (index, (shard, state)) in units.iter().zip(&states).enumerate() {
                (state.square(Some(title(index, number, *shard, *state))))
            }
        }
    }
}

/// Returns what a browser shows beside a square under the pointer.
fn title(index: usize, number: usize, shard: ShardUnits, state: State) -> String {
    let ShardUnits { units, finished } = shard;
    format!("shard {index}/{number}: {}, {finished} of {units} units", state.name())
}
