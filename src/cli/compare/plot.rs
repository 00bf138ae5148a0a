//! The picture of a comparison: time against n, and speed-up against threads, as SVG.
//!
//! ```text
//!  seconds, median of 5 runs                speed-up against 1 thread
//!  10 |            /  --x-- bitmask         4 |       .
//!   1 |         x /                         2 |    .o   --o-- halves, n = 18
//! 0.1 |      x   o    --o-- halves          1 |  o
//!     +-------------  n                       +----------  threads
//! ```
//!
//! It is made for paper: black on white, and lines differ in dash and marker as well as in colour.
//! [`figure`] chooses what is shown, `scale` where values and ticks stand, `panel` draws one pair
//! of axes with its lines, and `style` is how an engine's line looks.

mod panel;
mod scale;
mod style;

use std::fmt::{self, Write as _};

use nqueens::Engine;

use super::statistics::Row;
use panel::{Axis, Line, Panel, Point};
use scale::Scale;

/// Sizes in points.
const HEIGHT: f64 = 440.0;
const TIME_WIDTH: f64 = 420.0;
const SPEED_UP_WIDTH: f64 = 300.0;

/// The picture of all rows.
pub(super) fn picture(rows: &[Row]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_picture(&mut text, &figure(rows));
    text
}

fn write_picture(out: &mut String, panels: &[Panel]) -> fmt::Result {
    let width: f64 = panels.iter().map(Panel::outer_width).sum();
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {HEIGHT:.0}\" \
         width=\"{width:.0}\" height=\"{HEIGHT:.0}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"{}\" fill=\"none\">",
        panel::FONT_SIZE
    )?;
    writeln!(out, "<title>Counting n queens: engines compared</title>")?;
    // A ground of its own: the picture reads the same on light and on dark pages.
    writeln!(out, "<rect width=\"{width:.0}\" height=\"{HEIGHT:.0}\" fill=\"#ffffff\"/>")?;
    let mut left = 0.0;
    for panel in panels {
        panel.write(out, left, HEIGHT)?;
        left += panel.outer_width();
    }
    writeln!(out, "</svg>")
}

/// One panel, or two if an engine ran on several numbers of threads.
fn figure(rows: &[Row]) -> Vec<Panel> {
    let mut engines: Vec<Engine> = Vec::new();
    for row in rows {
        if !engines.contains(&row.engine) {
            engines.push(row.engine);
        }
    }
    let panels = [Some(time_panel(rows, &engines)), speed_up_panel(rows, &engines)];
    panels.into_iter().flatten().collect()
}

fn time_panel(rows: &[Row], engines: &[Engine]) -> Panel {
    let threads = rows.iter().map(|row| row.threads).min().unwrap_or(1);
    let shown = || rows.iter().filter(move |row| row.threads == threads);
    let point = |row: &Row| Point {
        x: f64::from(row.n),
        y: row.seconds.median,
        low: row.seconds.min,
        high: row.seconds.max,
    };
    let line = |engine: &Engine| Line {
        engine: *engine,
        label: engine.to_string(),
        points: shown().filter(|row| row.engine == *engine).map(point).collect(),
    };
    let lines: Vec<Line> =
        engines.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let (first, last) = range(shown().map(|row| f64::from(row.n)));
    let (low, high) = range(shown().flat_map(|row| [row.seconds.min, row.seconds.max]));
    let repeats = rows.iter().map(|row| row.repeats).max().unwrap_or(0);
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    let time = scale::time_axis(low, high);
    Panel {
        class: "time",
        width: TIME_WIDTH,
        x: Axis {
            title: "n".to_owned(),
            scale: Scale::linear(first - 0.5, last + 0.5),
            ticks: scale::integers(first, last, TIME_WIDTH),
            minor: Vec::new(),
        },
        y: Axis {
            title: format!(
                "seconds, median of {repeats} run{} on {threads} thread{}",
                plural(repeats),
                plural(threads)
            ),
            ..time
        },
        lines,
        ideal: None,
    }
}

/// Each engine on its largest board that several numbers of threads have counted.
fn speed_up_panel(rows: &[Row], engines: &[Engine]) -> Option<Panel> {
    let fewest = rows.iter().map(|row| row.threads).min()?;
    let line = |engine: &Engine| {
        let of_engine = || rows.iter().filter(|row| row.engine == *engine);
        let base = of_engine()
            .filter(|base| base.threads == fewest)
            .filter(|base| of_engine().any(|row| row.n == base.n && row.threads > fewest))
            .max_by_key(|base| base.n)?;
        let mut on_board: Vec<&Row> = of_engine().filter(|row| row.n == base.n).collect();
        on_board.sort_unstable_by_key(|row| row.threads);
        // Of medians, without whiskers: both times vary, and many lines meet here.
        let point = |row: &&Row| {
            let speed_up = base.seconds.median / row.seconds.median;
            Point { x: threads(row), y: speed_up, low: speed_up, high: speed_up }
        };
        let label = format!("{engine}, n = {}", base.n);
        Some(Line { engine: *engine, label, points: on_board.iter().map(point).collect() })
    };
    let lines: Vec<Line> = engines.iter().filter_map(line).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    if lines.is_empty() {
        return None;
    }
    let mut counts: Vec<f64> = points().map(|point| point.x).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    let (first, last) = range(counts.iter().copied());
    let (low, high) = range(points().map(|point| point.y));
    let plural = if fewest == 1 { "" } else { "s" };
    Some(Panel {
        class: "speed-up",
        width: SPEED_UP_WIDTH,
        x: Axis {
            title: "threads".to_owned(),
            scale: Scale::logarithmic(first / 1.15, last * 1.15),
            ticks: scale::numbers_apart(&counts, SPEED_UP_WIDTH),
            minor: Vec::new(),
        },
        y: Axis {
            title: format!("speed-up against {fewest} thread{plural}"),
            ..scale::doubling_axis(low.min(1.0), high.max(last / first))
        },
        lines,
        ideal: Some([(first, 1.0), (last, last / first)]),
    })
}

#[expect(clippy::cast_precision_loss, reason = "at most 4096 threads")]
fn threads(row: &Row) -> f64 {
    row.threads as f64
}

/// The smallest and the largest of some values; 1 and 1 of none.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    });
    ends.unwrap_or((1.0, 1.0))
}

#[cfg(test)]
mod tests;
