//! The shards as a grid of squares: each is filled as far as its units are finished, and framed if a
//! process works on it. If there are many, a square stands for several neighbours.

use maud::{Markup, html};
use nqueens::record::{ShardUnits, Units};

use super::Status;
use super::page::{grouped, px};
use crate::cli::format::figures;

/// A browser draws so many squares at once, and a page of them stays below a megabyte.
const MOST_CELLS: usize = 5000;
/// The widest grid, and the largest squares with the space between two, in pixels.
const WIDTH: f64 = 750.0;
const LARGEST: f64 = 24.0;
/// Room for the indices at the left.
const MARGIN: f64 = 58.0;
const LABEL_HEIGHT: f64 = 12.0;

/// Class of the style sheet and name of each state.
const STATES: [(&str, &str); 4] = [
    ("done", "complete"),
    ("run", "running"),
    ("part", "in part, not running"),
    ("none", "missing"),
];

/// Some neighbouring shards, or one.
struct Cell {
    first: usize,
    shards: usize,
    units: usize,
    finished: usize,
    is_running: bool,
}

pub(super) fn section(status: &Status) -> Markup {
    let Some(missing) = &status.missing else {
        return html! {
            h3 { "Shards" }
            p {
                "The journals do not agree on how many there are; with " code { "--shards K" }
                " they are drawn."
            }
        };
    };
    let (number, record) = (missing.shards, &status.journals.record);
    let Some(shards) = record.shard_units(number).ok().filter(|_| number > 1) else {
        return html! {};
    };
    let running = status.running_indices(number);
    let cells = |together: usize| {
        let cells = shards.chunks(together).zip((0..).step_by(together));
        cells.map(|(some, first)| Cell::new(first, some, &running)).collect::<Vec<_>>()
    };
    let (each, together) = (cells(1), shards_a_cell(number));
    let in_state = |class| grouped(each.iter().filter(|cell| cell.class() == class).count());
    let legend = STATES.map(|(class, name)| (class, format!("{} {name}", in_state(class))));
    html! {
        h3 { "Shards" }
        ul.legend { @for (class, text) in &legend { li { i class=(class) {} (text) } } }
        @if together > 1 {
            p.note {
                "Each square stands for " (grouped(together)) " of " (grouped(number)) " shards."
            }
        }
        (grid(&cells(together), together, &legend.map(|(_, text)| text).join("; ")))
    }
}

/// One for each shard if there is room, else the next of 2, 5, 10, 20, 50 and so on.
fn shards_a_cell(shards: usize) -> usize {
    let powers = std::iter::successors(Some(1), |power| Some(10 * power));
    let mut steps = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    steps.find(|step| shards.div_ceil(*step) <= MOST_CELLS).unwrap_or(shards)
}

impl Cell {
    fn new(first: usize, shards: &[ShardUnits], running: &Units) -> Self {
        Self {
            first,
            shards: shards.len(),
            units: shards.iter().map(|shard| shard.units).sum(),
            finished: shards.iter().map(|shard| shard.finished).sum(),
            is_running: (first..first + shards.len()).any(|index| running.contains(index)),
        }
    }

    fn class(&self) -> &'static str {
        match self.finished {
            finished if finished == self.units => "done",
            _ if self.is_running => "run",
            0 => "none",
            _ => "part",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the height of a square")]
    fn part(&self) -> f64 {
        self.finished as f64 / self.units.max(1) as f64
    }

    fn title(&self) -> String {
        let Self { first, shards, units, finished, is_running } = self;
        let name = match shards {
            1 => format!("shard {first}"),
            _ => format!("shards {first} to {}", first + shards - 1),
        };
        let done = match finished {
            _ if finished == units => "complete".to_owned(),
            0 => "nothing finished".to_owned(),
            _ => format!("{} % of {} units", figures(100.0 * self.part(), 3), grouped(units)),
        };
        let running = if *is_running { ", running" } else { "" };
        format!("{name}: {done}{running}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "places in a picture")]
fn grid(cells: &[Cell], together: usize, label: &str) -> Markup {
    let columns = if cells.len() > 1000 { 100 } else { 25 * cells.len().div_ceil(250).clamp(1, 2) };
    let pitch = (WIDTH / columns as f64).min(LARGEST);
    let side = (0.86 * pitch).round();
    let (width, rows) = (px(MARGIN + columns as f64 * pitch), cells.len().div_ceil(columns));
    // Labels of rows need more height than the smallest squares have.
    let step = (1..).find(|step| *step as f64 * pitch >= LABEL_HEIGHT).unwrap_or(1);
    let square = |place: usize, cell: &Cell| {
        let x = px(MARGIN + (place % columns) as f64 * pitch);
        let y = (place / columns) as f64 * pitch;
        let height = px((cell.part() * side).max(1.0));
        let is_partly_filled = matches!(cell.class(), "run" | "part") && cell.finished > 0;
        html! {
            path class=(cell.class()) d={ "M" (x) " " (px(y)) "h" (side) "v" (side) "h-" (side) "z" } {
                title { (cell.title()) }
            }
            @if is_partly_filled {
                path.fill
                    d={ "M" (x) " " (px(y + side - height)) "h" (side) "v" (height) "h-" (side) "z" } {}
            }
        }
    };
    html! {
        svg.grid role="img" aria-label=(label) width=(width)
            viewBox={ "0 0 " (width) " " (px(rows as f64 * pitch)) } {
            @for row in (0..rows).step_by(step) {
                text x=(MARGIN - 8.0) y=(px(row as f64 * pitch + side / 2.0)) {
                    (row * columns * together)
                }
            }
            @for (place, cell) in cells.iter().enumerate() { (square(place, cell)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_shards_share_squares() {
        let together = [1, 5000, 5001, 10_001, 25_001, 1_000_000].map(shards_a_cell);
        assert_eq!(together, [1, 1, 2, 5, 10, 200]);
    }

    #[test]
    fn a_square_says_how_far_its_shards_are() {
        let title = |finished, shards, is_running| {
            Cell { first: 400, shards, units: 3870, finished, is_running }.title()
        };
        assert_eq!(title(3870, 1, false), "shard 400: complete");
        assert_eq!(title(0, 1, true), "shard 400: nothing finished, running");
        let part = "shards 400 to 599: 50.0 % of 3\u{202f}870 units, running";
        assert_eq!(title(1935, 200, true), part);
    }
}
