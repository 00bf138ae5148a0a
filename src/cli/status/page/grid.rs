//! The shards as a grid of squares: each is filled as far as its units are finished, and framed if a
//! process works on it. If there are many, a square stands for several neighbours.

use std::collections::HashSet;

use nqueens::record::ShardUnits;

use super::super::Status;
use crate::cli::format::figures;
use crate::cli::html::{Px, grouped, put};

/// A browser draws so many squares at once, and a page of them stays below a megabyte.
const MOST_CELLS: usize = 5000;
/// The widest grid, and the largest squares with the space between two, in pixels.
const WIDTH: f64 = 750.0;
const LARGEST: f64 = 24.0;
/// Room for the indices at the left.
const MARGIN: f64 = 58.0;
const LABEL_HEIGHT: f64 = 12.0;

/// Some neighbouring shards, or one.
struct Cell {
    first: usize,
    shards: usize,
    units: usize,
    finished: usize,
    running: usize,
}

/// How many shards are in each state.
#[derive(Default)]
struct States {
    complete: usize,
    running: usize,
    part: usize,
    missing: usize,
}

pub(super) fn put(page: &mut String, status: &Status) {
    let record = &status.journals.record;
    let Some(missing) = &status.missing else {
        put!(
            page,
            "<h3>Shards</h3>\n<p>The journals do not agree on how many there are; with \
             <code>--shards K</code> they are drawn.</p>\n"
        );
        return;
    };
    if missing.shards == 1 {
        return;
    }
    let Ok(shards) = record.shard_units(missing.shards) else { return };
    let running = status.running_indices(missing.shards);
    let states = States::of(&shards, &running);
    let together = shards_a_cell(shards.len());
    let cells: Vec<Cell> = shards
        .chunks(together)
        .zip((0..).step_by(together))
        .map(|(some, first)| Cell::of(first, some, &running))
        .collect();
    put!(page, "<h3>Shards</h3>\n");
    states.put_legend(page, shards.len(), together);
    put_grid(page, &cells, together, &states);
}

/// One for each shard if there is room, else the next of 2, 5, 10, 20, 50 and so on.
fn shards_a_cell(shards: usize) -> usize {
    let powers = std::iter::successors(Some(1), |power| Some(10 * power));
    let mut steps = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    steps.find(|step| shards.div_ceil(*step) <= MOST_CELLS).unwrap_or(shards)
}

impl Cell {
    fn of(first: usize, shards: &[ShardUnits], running: &HashSet<usize>) -> Self {
        Self {
            first,
            shards: shards.len(),
            units: shards.iter().map(|shard| shard.units).sum(),
            finished: shards.iter().map(|shard| shard.finished).sum(),
            running: (first..first + shards.len()).filter(|index| running.contains(index)).count(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the height of a square")]
    fn part(&self) -> f64 {
        // A shard without units has nothing to do.
        if self.units == 0 { 1.0 } else { self.finished as f64 / self.units as f64 }
    }

    fn title(&self) -> String {
        let Self { first, shards, units, finished, running } = self;
        let name = match shards {
            1 => format!("shard {first}"),
            _ => format!("shards {first} to {}", first + shards - 1),
        };
        let done = match finished {
            _ if finished == units => "complete".to_owned(),
            0 => "nothing finished".to_owned(),
            _ => format!("{} % of {} units", figures(100.0 * self.part(), 3), grouped(units)),
        };
        match (running, shards) {
            (0, _) => format!("{name}: {done}"),
            (_, 1) => format!("{name}: {done}, running"),
            _ => format!("{name}: {done}, {running} running"),
        }
    }
}

impl States {
    fn of(shards: &[ShardUnits], running: &HashSet<usize>) -> Self {
        let mut states = Self::default();
        for (index, shard) in shards.iter().enumerate() {
            let state = match shard.finished {
                finished if finished == shard.units => &mut states.complete,
                _ if running.contains(&index) => &mut states.running,
                0 => &mut states.missing,
                _ => &mut states.part,
            };
            *state += 1;
        }
        states
    }

    fn put_legend(&self, page: &mut String, shards: usize, together: usize) {
        let Self { complete, running, part, missing } = self;
        put!(page, "<ul class=\"legend\">\n");
        let entries = [
            ("done", complete, "complete"),
            ("run", running, "running"),
            ("part", part, "in part, not running"),
            ("none", missing, "missing"),
        ];
        for (class, number, text) in entries {
            put!(page, "<li><i class=\"{class}\"></i>{} {text}</li>\n", grouped(number));
        }
        put!(page, "</ul>\n");
        if together > 1 {
            let (together, shards) = (grouped(together), grouped(shards));
            put!(
                page,
                "<p class=\"note\">Each square stands for {together} of {shards} shards.</p>\n"
            );
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "places in a picture")]
fn put_grid(page: &mut String, cells: &[Cell], together: usize, states: &States) {
    let columns = match cells.len() {
        0..=250 => 25,
        251..=1000 => 50,
        _ => 100,
    };
    let pitch = (WIDTH / columns as f64).min(LARGEST);
    let side = (0.86 * pitch).round();
    let (width, rows) = (MARGIN + columns as f64 * pitch, cells.len().div_ceil(columns));
    put!(
        page,
        "<svg class=\"grid\" role=\"img\" aria-label=\"{} shards complete, {} running, {} in part, \
         {} missing\" width=\"{}\" viewBox=\"0 0 {} {}\">\n",
        states.complete,
        states.running,
        states.part,
        states.missing,
        Px(width),
        Px(width),
        Px(rows as f64 * pitch)
    );
    // Labels of rows need more height than the smallest squares have.
    let step = (1..).find(|step| *step as f64 * pitch >= LABEL_HEIGHT).unwrap_or(1);
    for row in (0..rows).step_by(step) {
        let y = row as f64 * pitch + side / 2.0;
        let index = row * columns * together;
        put!(page, "<text x=\"{}\" y=\"{}\">{index}</text>\n", Px(MARGIN - 8.0), Px(y));
    }
    for (place, cell) in cells.iter().enumerate() {
        let x = MARGIN + (place % columns) as f64 * pitch;
        let y = (place / columns) as f64 * pitch;
        let class = match cell.part() {
            _ if cell.running > 0 => "run",
            1.0.. => "done",
            0.0 => "none",
            _ => "part",
        };
        let (title, left, side) = (cell.title(), Px(x), Px(side));
        put!(
            page,
            "<path class=\"{class}\" d=\"M{left} {}h{side}v{side}h-{side}z\"><title>{title}</title>\
             </path>",
            Px(y)
        );
        if class == "part" || class == "run" && cell.finished > 0 {
            let height = (cell.part() * side.0).max(1.0);
            let (top, height) = (Px(y + side.0 - height), Px(height));
            put!(page, "<path class=\"fill\" d=\"M{left} {top}h{side}v{height}h-{side}z\"/>");
        }
        page.push('\n');
    }
    put!(page, "</svg>\n");
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
        let title = |finished, shards, running| {
            Cell { first: 400, shards, units: 3870, finished, running }.title()
        };
        assert_eq!(title(3870, 1, 0), "shard 400: complete");
        assert_eq!(title(0, 1, 1), "shard 400: nothing finished, running");
        let part = "shards 400 to 599: 50.0 % of 3\u{202f}870 units, 2 running";
        assert_eq!(title(1935, 200, 2), part);
    }
}
