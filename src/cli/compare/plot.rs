//! The picture, as SVG: time against n on the fewest threads; or speed-up against threads, if there are
//! several numbers of threads and at most two boards.
//!
//! There is a line for each engine with each kernel. Engines differ in colour, kernels in dashes. The
//! background is white, whatever the page around it.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use nqueens::{Engine, Kernel};

use super::statistics::{Contestant, Runs};
use crate::cli::format::{many, rounded};

/// Width and least height, in pixels, as all lengths here.
const SIZE: [f64; 2] = [960.0, 460.0];
/// The ends of the axes.
const LEFT: f64 = 60.0;
const TOP: f64 = 62.0;
const RIGHT: f64 = 690.0;
const BOTTOM: f64 = 380.0;
/// The room for the exponent of a power of ten before an axis.
const EXPONENT: f64 = 22.0;
/// The legend at the right.
const LEGEND: f64 = 706.0;
const LEGEND_LINE: f64 = 22.0;
/// The most labels on an axis.
const MAX_LABELS: f64 = 18.0;
/// A longer caption would leave the picture.
const CAPTION_CHARACTERS: usize = 105;

/// The colour of each engine, in the order of [`Engine::ALL`]. They differ for colour-blind readers too
/// (M. Okabe, K. Ito, "Color Universal Design", 2008), a little darker for thin lines on white.
const COLOURS: [&str; Engine::ALL.len()] =
    ["#404040", "#b05a8c", "#b37a00", "#2f97d0", "#00805c", "#0066a6", "#c44a00"];

/// The dashes of each kernel, in the order of [`Kernel::NAMES`].
const DASHES: [&str; Kernel::NAMES.len()] = ["2 3", "5 3", "9 4", "none"];

/// An engine with a kernel, for a speed-up on one board.
struct Line {
    name: String,
    colour: &'static str,
    dashes: &'static str,
    /// The colour inside the points, white for the second board.
    filling: &'static str,
    points: Vec<Point>,
}

/// Runs, where they are in steps along the axes: boards, powers of ten, or for a speed-up powers of two.
struct Point {
    /// The name of the line.
    name: String,
    x: f64,
    /// By the least, the median and the greatest time.
    ys: [f64; 3],
}

/// The ends of the axes, in whole steps.
struct Axes {
    /// For a speed-up, where the fewest threads are.
    base: Option<f64>,
    first: f64,
    last: f64,
    low: f64,
    high: f64,
}

/// Draws runs, one at least, in the order of their boards.
pub(super) fn picture(all: &[Runs], cpu: &str) -> String {
    let threads: BTreeSet<_> = all.iter().map(|runs| runs.contestant.threads).collect();
    let fewest = threads.first().copied().unwrap_or(1);
    let boards: Vec<_> = all.chunk_by(|one, next| one.size == next.size).collect();
    let is_speed_up = threads.len() > 1 && boards.len() <= 2;
    let lines = match is_speed_up {
        true => lines(&boards, |runs| Point::of_speed_up(runs, all, fewest)),
        false => lines(&[all], |runs| Point::of_time(runs, fewest)),
    };
    let axes = Axes::around(&lines, is_speed_up.then(|| (fewest as f64).log2()));
    let (title, [x_name, y_name], basis) = match is_speed_up {
        true => ("speed-up", ["threads", "speed-up (grey: perfect scaling)"], "speed-up to "),
        false => ("engines compared", ["n", "seconds"], ""),
    };
    let title = format!("Counting n queens: {title}");
    let runs = many(all.first().map_or(0, |runs| runs.seconds.len()), "run");
    let threads = many(fewest, "thread");
    let caption = format!("median of {runs}; bars: least to greatest; {basis}{threads}, {cpu}");
    let [width, height] = SIZE;
    let height = height.max(TOP + LEGEND_LINE * (lines.len() + 2) as f64);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } {
            title { (title) }
            rect width=(width) height=(height) fill="#fff" {}
            g font-family="sans-serif" font-size="15" fill="#202020" {
                text x="14" y="28" font-size="20" { (title) }
                text x="14" y="50" { (y_name) }
                (axes.draw())
                text x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 44.0) text-anchor="middle" { (x_name) }
                text x="14" y=(height - 12.0) {
                    (format_args!("{caption:.CAPTION_CHARACTERS$}"))
                }
                @for (line, place) in lines.iter().zip(1..) {
                    (line.draw(&axes, TOP + LEGEND_LINE * f64::from(place)))
                }
            }
        }
        (PreEscaped("\n"))
    };
    picture.into_string()
}

/// Returns the lines through the points of all boards, or of each board.
fn lines(boards: &[&[Runs]], point: impl Fn(&Runs) -> Option<Point>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (engine, colour) in Engine::ALL.into_iter().zip(COLOURS) {
        for (kernel, dashes) in Kernel::NAMES.into_iter().zip(DASHES) {
            let is_here = |runs: &&Runs| {
                (runs.contestant.engine, runs.contestant.kernel.name()) == (engine, kernel)
            };
            for (board, filling) in boards.iter().zip([colour, "#fff"]) {
                let mut points: Vec<_> = board.iter().filter(is_here).filter_map(&point).collect();
                points.sort_by(|one, other| one.x.total_cmp(&other.x));
                if let Some(Point { name, .. }) = points.first() {
                    lines.push(Line { name: name.clone(), colour, dashes, filling, points });
                }
            }
        }
    }
    lines
}

impl Point {
    fn of_time(runs: &Runs, fewest: usize) -> Option<Self> {
        let name = runs.contestant.name();
        let (x, ys) = (f64::from(runs.size.get()), runs.times().map(f64::log10));
        (runs.contestant.threads == fewest).then_some(Self { name, x, ys })
    }

    /// `None` if the same was left out on the fewest threads.
    fn of_speed_up(runs: &Runs, all: &[Runs], fewest: usize) -> Option<Self> {
        let Runs { size, contestant, .. } = *runs;
        let base = Contestant { threads: fewest, ..contestant };
        let base = all.iter().find(|other| (other.size, other.contestant) == (size, base))?;
        let [_, median, _] = base.times();
        let ys = runs.times().map(|seconds| (median / seconds).log2());
        let name = format!("{}, n = {size}", contestant.name());
        Some(Self { name, x: (contestant.threads as f64).log2(), ys })
    }
}

impl Axes {
    fn around(lines: &[Line], base: Option<f64>) -> Self {
        let points = || lines.iter().flat_map(|line| &line.points);
        let (xs, ys) = (|| points().map(|point| point.x), || points().flat_map(|point| point.ys));
        Self {
            base,
            first: xs().fold(f64::MAX, f64::min).floor(),
            last: xs().fold(f64::MIN, f64::max).ceil(),
            // Some room below, and at least one step upwards.
            low: (ys().fold(f64::MAX, f64::min) - 0.05).floor(),
            high: ys().fold(f64::MIN, f64::max).ceil(),
        }
    }

    fn x(&self, step: f64) -> f64 {
        let part = (step - self.first + 0.5) / (self.last - self.first + 1.0);
        rounded(LEFT + (RIGHT - LEFT) * part, 1)
    }

    fn y(&self, step: f64) -> f64 {
        let part = (step - self.low) / (self.high - self.low);
        rounded(BOTTOM - (BOTTOM - TOP) * part, 1)
    }

    /// Grid and labels, and perfect scaling.
    fn draw(&self) -> Markup {
        html! {
            @for step in marks(self.first, self.last) {
                @let (x, label) = (self.x(step), if self.base.is_some() { step.exp2() } else { step });
                path d={ "M" (x) " " (TOP) "V" (BOTTOM) } stroke="#e2e2e2" {}
                text x=(x) y=(BOTTOM + 22.0) text-anchor="middle" { (label) }
            }
            @for step in marks(self.low, self.high) {
                @let y = self.y(step);
                path d={ "M" (LEFT) " " (y) "H" (RIGHT) } stroke="#e2e2e2" {}
                @if self.base.is_some() {
                    text x=(LEFT - 8.0) y=(y + 5.0) text-anchor="end" {
                        @if step < 0.0 { "1/" (step.exp2().recip()) } @else { (step.exp2()) }
                    }
                } @else {
                    // Two texts, because Qt does not raise a part of one.
                    text x=(LEFT - EXPONENT) y=(y + 5.0) text-anchor="end" { "10" }
                    text x=(LEFT - EXPONENT) y=(y - 1.0) font-size="11" { (step) }
                }
            }
            @if let Some(base) = self.base {
                @let (from, to) = (self.first, self.last.min(self.high + base));
                @let [low, high] = [from, to].map(|step| self.y(step - base));
                path d={ "M" (self.x(from)) " " (low) "L" (self.x(to)) " " (high) } stroke="#909090" stroke-width="2" {}
            }
            path d={ "M" (LEFT) " " (TOP) "V" (BOTTOM) "H" (RIGHT) } fill="none" stroke="#202020" {}
        }
    }
}

/// Whole numbers that leave room for their labels.
fn marks(first: f64, last: f64) -> impl Iterator<Item = f64> {
    let step = ((last - first) / MAX_LABELS).ceil().max(1.0);
    std::iter::successors(Some(first), move |mark| Some(mark + step))
        .take_while(move |mark| *mark <= last)
}

impl Line {
    /// The line, for each point a bar from the least to the greatest time, and in the legend the name at
    /// this height.
    fn draw(&self, axes: &Axes, legend: f64) -> Markup {
        let place = |point: &Point| (axes.x(point.x), point.ys.map(|y| axes.y(y)));
        let places: Vec<_> = self.points.iter().map(place).collect();
        let corners: Vec<_> = places.iter().map(|(x, [_, y, _])| format!("{x} {y}")).collect();
        html! {
            g stroke=(self.colour) fill="none" {
                g stroke-width="2" stroke-dasharray=(self.dashes) {
                    path d={ "M" (corners.join("L")) } {}
                    path d={ "M" (LEGEND) " " (legend) "h32" } {}
                }
                @for (x, [least, median, greatest]) in places {
                    path d={ "M" (x - 3.0) " " (least) "h6m-3 0V" (greatest) "m-3 0h6" } {}
                    circle cx=(x) cy=(median) r="4" fill=(self.filling) {}
                }
                circle cx=(LEGEND + 16.0) cy=(legend) r="4" fill=(self.filling) {}
            }
            text x=(LEGEND + 40.0) y=(legend + 5.0) { (self.name) }
        }
    }
}

#[cfg(test)]
mod tests;
