//! The picture, as SVG: time against n on the fewest threads, or speed-up against threads if there are several numbers
//! of threads and at most two boards.
//!
//! There is a line for each engine with each kernel. Engines differ in colour, kernels in dashes. The background is
//! white, whatever the page around it.
//!
//! Both axes are divided into whole steps: boards, powers of ten, or powers of two for a speed-up. Places along an axis
//! are given in these steps, and [`Axes`] turns them into pixels.

use std::collections::{BTreeMap, BTreeSet};

use crate::{BoardSize, Engine, Kernel};
use maud::{Markup, PreEscaped, html};

use super::statistics::{Configuration, Timings, least_cpu_share};
use crate::cli::print::format::{many, rounded};
use crate::machine::date::today;

/// The width of the picture, in pixels, as all lengths here.
const WIDTH: f64 = 960.0;
/// The least height. A long legend makes the picture higher.
const MIN_HEIGHT: f64 = 480.0;
/// The ends of the axes.
const LEFT: f64 = 60.0;
const TOP: f64 = 62.0;
const RIGHT: f64 = 690.0;
const BOTTOM: f64 = 380.0;
/// The room for the exponent of a power of ten before an axis.
const EXPONENT: f64 = 22.0;
/// The left end of the legend, which is at the right.
const LEGEND: f64 = 706.0;
/// The height of a line of the legend.
const LEGEND_LINE: f64 = 22.0;
/// The most labels on an axis.
const MAX_LABELS: f64 = 18.0;
/// A longer line of the caption would leave the picture.
const CAPTION_CHARACTERS: usize = 105;

/// The colour of each engine, in the order of [`Engine::ALL`]. They differ for colour-blind readers too
/// (M. Okabe, K. Ito, "Color Universal Design", 2008), a little darker for thin lines on white.
const COLOURS: [&str; Engine::ALL.len()] =
    ["#404040", "#b05a8c", "#b37a00", "#2f97d0", "#00805c", "#0066a6", "#c44a00"];

/// The dashes of each kernel, in the order of [`Kernel::NAMES`].
const DASHES: [&str; Kernel::NAMES.len()] = ["2 3", "5 3", "9 4", "none"];

/// The colour inside the points of the second board.
const HOLLOW: &str = "#fff";

/// What is drawn.
#[derive(Clone, Copy)]
enum Kind {
    /// Time against n.
    Time,
    /// Speed-up over the fewest threads, against threads.
    SpeedUp { fewest: usize },
}

/// An engine with a kernel, for a speed-up on one board.
struct Line {
    name: String,
    colour: &'static str,
    dashes: &'static str,
    /// The colour inside the points.
    filling: &'static str,
    points: Vec<Point>,
}

/// The timings of a configuration on a board, in steps along the axes.
struct Point {
    x: f64,
    /// By the least, the median and the greatest time.
    ys: [f64; 3],
}

/// The ends of the axes, in whole steps.
struct Axes {
    kind: Kind,
    /// Along.
    first: f64,
    last: f64,
    /// Upwards.
    low: f64,
    high: f64,
}

/// Draws timings, one at least, in the order of their boards.
pub(super) fn picture(all: &[Timings], version: &str, cpu: &str) -> String {
    let threads: BTreeSet<usize> =
        all.iter().map(|timings| timings.configuration.threads).collect();
    let boards: BTreeSet<BoardSize> = all.iter().map(|timings| timings.size).collect();
    let fewest = threads.first().copied().unwrap_or(1);
    let is_speed_up = threads.len() > 1 && boards.len() <= 2;
    let kind = if is_speed_up { Kind::SpeedUp { fewest } } else { Kind::Time };
    let lines = match kind {
        Kind::Time => lines_of_time(all, fewest),
        Kind::SpeedUp { fewest } => lines_of_speed_up(all, fewest),
    };
    let axes = Axes::around(&lines, kind);
    let height = MIN_HEIGHT.max(TOP + LEGEND_LINE * (lines.len() + 3) as f64);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } {
            title { (kind.title()) }
            rect width=(WIDTH) height=(height) fill="#fff" {}
            g font-family="sans-serif" font-size="15" fill="#202020" {
                text x="14" y="28" font-size="20" { (kind.title()) }
                text x="14" y="50" { (kind.y_name()) }
                (axes.draw())
                text x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 44.0) text-anchor="middle" { (kind.x_name()) }
                text x="14" y=(height - 32.0) { (caption(all, kind, fewest, cpu)) }
                text x="14" y=(height - 12.0) { (caption_of_origin(all, version)) }
                @for (line, place) in lines.iter().zip(1..) {
                    (line.draw(&axes, TOP + LEGEND_LINE * f64::from(place)))
                }
            }
        }
        (PreEscaped("\n"))
    };
    picture.into_string()
}

/// Returns the first line of text below the picture.
fn caption(all: &[Timings], kind: Kind, fewest: usize, cpu: &str) -> String {
    let runs = many(all[0].seconds.len(), "run");
    let basis = match kind {
        Kind::Time => "",
        Kind::SpeedUp { .. } => "speed-up to ",
    };
    let threads = many(fewest, "thread");
    let caption = format!("median of {runs}; bars: least to greatest; {basis}{threads}, {cpu}");
    caption.chars().take(CAPTION_CHARACTERS).collect()
}

/// Returns the second line: when and by which build the picture was made, and how busy the machine was, if the runs
/// were long enough to show that.
fn caption_of_origin(all: &[Timings], version: &str) -> String {
    let mut caption = today();
    if let Some((share, _)) = least_cpu_share(all) {
        let percent = 100.0 * share;
        caption += &format!("; each thread had a CPU for at least {percent:.0}% of the time");
    }
    caption += &format!("; nqueens {version}");
    caption.chars().take(CAPTION_CHARACTERS).collect()
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Time => "Counting n queens: engines compared",
            Self::SpeedUp { .. } => "Counting n queens: speed-up",
        }
    }

    fn x_name(self) -> &'static str {
        match self {
            Self::Time => "n",
            Self::SpeedUp { .. } => "threads",
        }
    }

    fn y_name(self) -> &'static str {
        match self {
            Self::Time => "seconds",
            Self::SpeedUp { .. } => "speed-up (grey: perfect scaling)",
        }
    }
}

/// Returns the lines of time against n, on the fewest threads, in the order of the legend.
fn lines_of_time(all: &[Timings], fewest: usize) -> Vec<Line> {
    let mut lines = BTreeMap::new();
    for timings in all {
        let configuration = timings.configuration;
        if configuration.threads == fewest {
            let style = Style::of(configuration);
            let line = lines.entry(style).or_insert_with(|| Line::new(configuration.name(), style));
            line.points.push(Point::of_time(timings));
        }
    }
    lines.into_values().collect()
}

/// Returns the lines of speed-up against threads, in the order of the legend.
fn lines_of_speed_up(all: &[Timings], fewest: usize) -> Vec<Line> {
    let first_board = all[0].size;
    let mut lines = BTreeMap::new();
    for timings in all {
        let Some(point) = Point::of_speed_up(timings, all, fewest) else { continue };
        let style = Style::of(timings.configuration);
        let line = lines.entry((style, timings.size)).or_insert_with(|| {
            let name = format!("{}, n = {}", timings.configuration.name(), timings.size);
            Line::new(name, style)
        });
        if timings.size != first_board {
            line.filling = HOLLOW;
        }
        line.points.push(point);
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    for line in &mut lines {
        line.points.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    lines
}

/// The index of an engine in [`COLOURS`], and of a kernel in [`DASHES`]. Lines are in this order in the legend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Style {
    engine: usize,
    kernel: usize,
}

impl Style {
    fn of(configuration: Configuration) -> Self {
        let engine = Engine::ALL.iter().position(|engine| *engine == configuration.engine);
        let kernel = Kernel::NAMES.iter().position(|name| *name == configuration.kernel.name());
        Self {
            engine: engine.expect("all engines are there"),
            kernel: kernel.expect("all kernels are there"),
        }
    }
}

impl Point {
    fn of_time(timings: &Timings) -> Self {
        Self { x: f64::from(timings.size.get()), ys: timings.times().map(f64::log10) }
    }

    /// Returns `None` if the same engine and kernel were left out on the fewest threads.
    fn of_speed_up(timings: &Timings, all: &[Timings], fewest: usize) -> Option<Self> {
        let threads = timings.configuration.threads as f64;
        let on_fewest = Configuration { threads: fewest, ..timings.configuration };
        let is_basis =
            |other: &&Timings| other.size == timings.size && other.configuration == on_fewest;
        let basis = all.iter().find(is_basis)?.median();
        let ys = timings.times().map(|seconds| (basis / seconds).log2());
        Some(Self { x: threads.log2(), ys })
    }

    /// Draws a bar from the least to the greatest time, and a circle at the median.
    fn draw(&self, axes: &Axes, filling: &str) -> Markup {
        let x = axes.x(self.x);
        let [least, median, greatest] = self.ys.map(|y| axes.y(y));
        html! {
            path d={ "M" (x - 3.0) " " (least) "h6m-3 0V" (greatest) "m-3 0h6" } {}
            circle cx=(x) cy=(median) r="4" fill=(filling) {}
        }
    }
}

impl Axes {
    /// Returns axes with room for all points.
    fn around(lines: &[Line], kind: Kind) -> Self {
        let mut first = f64::MAX;
        let mut last = f64::MIN;
        let mut low = f64::MAX;
        let mut high = f64::MIN;
        for point in lines.iter().flat_map(|line| &line.points) {
            first = first.min(point.x);
            last = last.max(point.x);
            for y in point.ys {
                low = low.min(y);
                high = high.max(y);
            }
        }
        // Some room below, because there must be at least one step upwards.
        let low = low - 0.05;
        Self { kind, first: first.floor(), last: last.ceil(), low: low.floor(), high: high.ceil() }
    }

    /// Returns the pixel of a step along the axis.
    fn x(&self, step: f64) -> f64 {
        let part = (step - self.first + 0.5) / (self.last - self.first + 1.0);
        rounded(LEFT + (RIGHT - LEFT) * part, 1)
    }

    /// Returns the pixel of a step up the axis.
    fn y(&self, step: f64) -> f64 {
        let part = (step - self.low) / (self.high - self.low);
        rounded(BOTTOM - (BOTTOM - TOP) * part, 1)
    }

    /// Draws the grid, its labels, the line of perfect scaling, and the axes.
    fn draw(&self) -> Markup {
        html! {
            @for step in marks(self.first, self.last) { (self.draw_column(step)) }
            @for step in marks(self.low, self.high) { (self.draw_row(step)) }
            @if let Kind::SpeedUp { fewest } = self.kind { (self.draw_perfect_scaling(fewest)) }
            path d={ "M" (LEFT) " " (TOP) "V" (BOTTOM) "H" (RIGHT) } fill="none" stroke="#202020" {}
        }
    }

    /// Draws a line of the grid from top to bottom, with its label.
    fn draw_column(&self, step: f64) -> Markup {
        let x = self.x(step);
        let label = match self.kind {
            Kind::Time => step,
            Kind::SpeedUp { .. } => step.exp2(),
        };
        html! {
            path d={ "M" (x) " " (TOP) "V" (BOTTOM) } stroke="#e2e2e2" {}
            text x=(x) y=(BOTTOM + 22.0) text-anchor="middle" { (label) }
        }
    }

    /// Draws a line of the grid from left to right, with its label.
    fn draw_row(&self, step: f64) -> Markup {
        let y = self.y(step);
        html! {
            path d={ "M" (LEFT) " " (y) "H" (RIGHT) } stroke="#e2e2e2" {}
            @match self.kind {
                Kind::Time => {
                    // Two texts, because Qt does not raise a part of one.
                    text x=(LEFT - EXPONENT) y=(y + 5.0) text-anchor="end" { "10" }
                    text x=(LEFT - EXPONENT) y=(y - 1.0) font-size="11" { (step) }
                }
                Kind::SpeedUp { .. } => {
                    text x=(LEFT - 8.0) y=(y + 5.0) text-anchor="end" {
                        @if step < 0.0 { "1/" (step.exp2().recip()) } @else { (step.exp2()) }
                    }
                }
            }
        }
    }

    /// Draws the line on which twice as many threads are twice as fast, as far as it is within the axes.
    fn draw_perfect_scaling(&self, fewest: usize) -> Markup {
        let threads_of_speed_up_1 = (fewest as f64).log2();
        let from = self.first;
        let to = self.last.min(self.high + threads_of_speed_up_1);
        let from_y = self.y(from - threads_of_speed_up_1);
        let to_y = self.y(to - threads_of_speed_up_1);
        html! {
            path d={ "M" (self.x(from)) " " (from_y) "L" (self.x(to)) " " (to_y) } stroke="#909090" stroke-width="2" {}
        }
    }
}

/// Returns whole numbers that leave room for their labels.
fn marks(first: f64, last: f64) -> Vec<f64> {
    let distance = ((last - first) / MAX_LABELS).ceil().max(1.0);
    let mut marks = Vec::new();
    let mut mark = first;
    while mark <= last {
        marks.push(mark);
        mark += distance;
    }
    marks
}

impl Line {
    fn new(name: String, style: Style) -> Self {
        let colour = COLOURS[style.engine];
        let dashes = DASHES[style.kernel];
        Self { name, colour, dashes, filling: colour, points: Vec::new() }
    }

    /// Draws the line, for each point a bar from the least to the greatest time, and at this height the name in the
    /// legend.
    fn draw(&self, axes: &Axes, legend: f64) -> Markup {
        let mut corners = Vec::new();
        for point in &self.points {
            let [_, median, _] = point.ys;
            corners.push(format!("{} {}", axes.x(point.x), axes.y(median)));
        }
        html! {
            g stroke=(self.colour) fill="none" {
                g stroke-width="2" stroke-dasharray=(self.dashes) {
                    path d={ "M" (corners.join("L")) } {}
                    path d={ "M" (LEGEND) " " (legend) "h32" } {}
                }
                @for point in &self.points { (point.draw(axes, self.filling)) }
                circle cx=(LEGEND + 16.0) cy=(legend) r="4" fill=(self.filling) {}
            }
            text x=(LEGEND + 40.0) y=(legend + 5.0) { (self.name) }
        }
    }
}

#[cfg(test)]
mod tests;
