//! The shards as a grid of squares. Each square is filled as far as the units of its shard are finished, and framed if a
//! process works on it.

use crate::record::ShardUnits;
use maud::{Markup, html};

use super::state::CountState;

/// A browser draws a grid of up to this many squares at once, and its page stays below two megabytes. A larger grid
/// is left out.
const MAX_CELLS: usize = 10_000;
/// The squares of a grid with more shards are small.
const LARGE: usize = 1000;

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

    /// Returns the class of the style sheet.
    fn class(self) -> &'static str {
        match self {
            Self::Complete => "done",
            Self::Running => "run",
            Self::InPart => "part",
            Self::Missing => "none",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Running => "running",
            Self::InPart => "in part, not running",
            Self::Missing => "missing",
        }
    }
}

/// Returns the grid with its legend, if the plan is cut into shards.
pub(super) fn section(count: &CountState<'_>) -> Markup {
    let record = count.record;
    let number = count.shards.number;
    if number == 1 {
        return html! {};
    }
    let shards = record.shard_units(number);
    let running = &count.shards.running;
    let mut states = Vec::new();
    for (index, shard) in shards.iter().enumerate() {
        states.push(state(*shard, running.binary_search(&index).is_ok()));
    }
    html! {
        h3 { "Shards" }
        ul.legend { @for state in State::ALL { (legend_entry(state, &states)) } }
        @if number <= MAX_CELLS {
            div.grid.small[number > LARGE] {
                @for (index, (shard, state)) in shards.iter().zip(&states).enumerate() {
                    (cell(&format!("{index}/{number}"), *shard, *state))
                }
            }
        }
    }
}

fn state(shard: ShardUnits, is_running: bool) -> State {
    if shard.finished == shard.units {
        State::Complete
    } else if is_running {
        State::Running
    } else if shard.finished == 0 {
        State::Missing
    } else {
        State::InPart
    }
}

/// Returns a state with the number of shards that are in it.
fn legend_entry(state: State, states: &[State]) -> Markup {
    let number = states.iter().filter(|one| **one == state).count();
    html! { li { i class=(state.class()) {} (number) " " (state.name()) } }
}

/// A square of which this much is filled looks full, in percent.
const NEARLY_FULL: usize = 90;

/// Returns a square that is filled from below as far as its units are finished. The browser sets the rows.
fn cell(name: &str, shard: ShardUnits, state: State) -> Markup {
    let ShardUnits { units, finished, .. } = shard;
    // A square looks full only if no unit is missing.
    let percent = if finished == units { 100 } else { NEARLY_FULL * finished / units.max(1) };
    html! {
        i class=(state.class())
            title={ "shard " (name) ": " (state.name()) ", " (finished) " of " (units) " units" }
            style={ "--part:" (percent) "%" } {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_says_how_far_its_shard_is() {
        let shard = ShardUnits { units: 1935, finished: 1 };
        let cell = cell("4/40", shard, state(shard, false)).into_string();
        let title = "title=\"shard 4/40: in part, not running, 1 of 1935 units\"";
        assert!(cell.contains(title) && cell.contains("style=\"--part:0%\""), "{cell}");
        for (finished, part) in [(1934, 89), (1935, 100)] {
            let shard = ShardUnits { units: 1935, finished };
            let square = super::cell("4/40", shard, state(shard, false)).into_string();
            assert!(square.contains(&format!("style=\"--part:{part}%\"")), "{square}");
        }
    }
}
