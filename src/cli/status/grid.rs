//! The shards as a grid of squares: each is filled as far as its units are finished, and framed if a
//! process works on it. If there are many, a square stands for several neighbours.

use maud::{Markup, html};
use nqueens::record::{Record, ShardUnits};

use super::state::running_indices;
use crate::cli::format::grouped;

/// A browser draws so many squares at once, and a page of them stays below a megabyte.
const MOST_CELLS: usize = 5000;
/// If there are more, the squares are small.
const LARGE: usize = 1000;

/// Class of the style sheet and name of each state.
type State = (&'static str, &'static str);
const DONE: State = ("done", "complete");
const RUNNING: State = ("run", "running");
const PART: State = ("part", "in part, not running");
const MISSING: State = ("none", "missing");

/// Some neighbouring shards, or one.
struct Cell {
    title: String,
    state: State,
    units: usize,
    finished: usize,
}

pub(super) fn section(record: &Record) -> Markup {
    let Some(number) = record.shards.filter(|number| *number > 1) else { return html! {} };
    let Ok(shards) = record.shard_units(number) else { return html! {} };
    let running = running_indices(record, number);
    let cells = |together: usize| {
        let cells = shards.chunks(together).zip((0..).step_by(together));
        cells.map(|(some, first)| Cell::new(first, some, &running)).collect::<Vec<_>>()
    };
    let (each, together) = (cells(1), number.div_ceil(MOST_CELLS));
    let in_state = |state| grouped(each.iter().filter(|cell| cell.state == state).count());
    let legend = [DONE, RUNNING, PART, MISSING]
        .map(|state| (state.0, format!("{} {}", in_state(state), state.1)));
    html! {
        h3 { "Shards" }
        ul.legend { @for (class, text) in &legend { li { i class=(class) {} (text) } } }
        @if together > 1 {
            p.note {
                "Each square stands for " (grouped(together)) " of " (grouped(number)) " shards."
            }
        }
        (grid(&cells(together)))
    }
}

impl Cell {
    fn new(first: usize, shards: &[ShardUnits], running: &[usize]) -> Self {
        let last = first + shards.len() - 1;
        let units = shards.iter().map(|shard| shard.units).sum();
        let finished = shards.iter().map(|shard| shard.finished).sum();
        let state = match finished {
            _ if finished == units => DONE,
            _ if (first..=last).any(|index| running.contains(&index)) => RUNNING,
            0 => MISSING,
            _ => PART,
        };
        let name = match shards.len() {
            1 => format!("shard {first}"),
            _ => format!("shards {first} to {last}"),
        };
        let [of_all, all] = [finished, units].map(grouped);
        let title = format!("{name}: {}, {of_all} of {all} units", state.1);
        Self { title, state, units, finished }
    }
}

/// Each square is filled from below as far as its units are finished. The browser sets the rows.
fn grid(cells: &[Cell]) -> Markup {
    let filled = |cell: &Cell| 100.0 * cell.finished as f64 / cell.units.max(1) as f64;
    html! {
        div.grid.small[cells.len() > LARGE] {
            @for cell in cells {
                @let part = cell.state != DONE && cell.finished > 0;
                i class=(cell.state.0) title=(cell.title)
                    style=[part.then(|| format!("--part:{:.0}%", filled(cell)))] {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_says_how_far_its_shards_are() {
        let cell = Cell::new(4, &[ShardUnits { units: 1935, finished: 1 }], &[3]);
        assert_eq!(cell.title, "shard 4: in part, not running, 1 of 1\u{202f}935 units");
    }
}
