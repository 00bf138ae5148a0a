//! The shards as a grid of squares: each is filled as far as its units are finished, and framed if a
//! process works on it.

use maud::{Markup, html};
use nqueens::record::{Record, ShardUnits};

use super::state::running_indices;

/// A browser draws a grid of up to this many squares at once, and its page stays below two megabytes. A larger grid
/// is left out.
const MAX_CELLS: usize = 10_000;
/// If there are more, the squares are small.
const LARGE: usize = 1000;

/// Class of the style sheet and name of each state.
type State = (&'static str, &'static str);
const DONE: State = ("done", "complete");
const RUNNING: State = ("run", "running");
const PART: State = ("part", "in part, not running");
const MISSING: State = ("none", "missing");

pub(super) fn section(record: &Record) -> Markup {
    let Some(number) = record.shards.filter(|number| *number > 1) else { return html! {} };
    let Ok(shards) = record.shard_units(number) else { return html! {} };
    let running = running_indices(record, number);
    let states = shards.iter().zip(0..).map(|(shard, index)| state(*shard, &running, index));
    let states: Vec<State> = states.collect();
    let legend = [DONE, RUNNING, PART, MISSING].map(|state| {
        let number = states.iter().filter(|one| **one == state).count();
        (state.0, format!("{} {}", number, state.1))
    });
    html! {
        h3 { "Shards" }
        ul.legend { @for (class, text) in &legend { li { i class=(class) {} (text) } } }
        @if number <= MAX_CELLS {
            div.grid.small[number > LARGE] {
                @for (index, (shard, state)) in shards.iter().zip(&states).enumerate() {
                    (cell(index, *shard, *state))
                }
            }
        }
    }
}

fn state(ShardUnits { units, finished }: ShardUnits, running: &[usize], index: usize) -> State {
    match finished {
        _ if finished == units => DONE,
        _ if running.contains(&index) => RUNNING,
        0 => MISSING,
        _ => PART,
    }
}

/// Returns a square that is filled from below as far as its units are finished. The browser sets the rows.
fn cell(index: usize, ShardUnits { units, finished }: ShardUnits, (class, name): State) -> Markup {
    // Rounded down, so that a square is full only if no unit is missing.
    let part = 100 * finished / units.max(1);
    let [done, all] = [finished, units];
    html! {
        i class=(class) title={ "shard " (index) ": " (name) ", " (done) " of " (all) " units" }
            style={ "--part:" (part) "%" } {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_says_how_far_its_shard_is() {
        let shard = ShardUnits { units: 1935, finished: 1 };
        let cell = cell(4, shard, state(shard, &[3], 4)).into_string();
        let title = "title=\"shard 4: in part, not running, 1 of 1935 units\"";
        assert!(cell.contains(title) && cell.contains("style=\"--part:0%\""), "{cell}");
        for (finished, part) in [(1934, 99), (1935, 100)] {
            let shard = ShardUnits { units: 1935, finished };
            let square = super::cell(4, shard, state(shard, &[], 4)).into_string();
            assert!(square.contains(&format!("style=\"--part:{part}%\"")), "{square}");
        }
    }
}
