//! The picture: time against n on the fewest threads, as SVG.
//!
//! There is a line for each engine with each kernel. Engines differ in colour, kernels in dashes. The
//! background is white, whatever the page around it.

use maud::{Markup, PreEscaped, html};
use nqueens::{Engine, Kernel};

use super::statistics::Runs;
use crate::cli::format::{many, rounded};

/// Width and height, in pixels, as all lengths here.
const SIZE: [f64; 2] = [900.0, 460.0];
/// The ends of the axes.
const LEFT: f64 = 60.0;
const TOP: f64 = 62.0;
const RIGHT: f64 = 690.0;
const BOTTOM: f64 = 380.0;
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

/// An engine with a kernel.
struct Line<'a> {
    name: String,
    colour: &'static str,
    dashes: &'static str,
    points: Vec<&'a Runs>,
}

/// Where n and seconds are drawn.
struct Axes {
    first: f64,
    last: f64,
    /// Powers of ten.
    low: f64,
    high: f64,
}

/// Draws runs, one at least, in the order of their boards.
pub(super) fn picture(all: &[Runs], cpu: &str) -> String {
    let threads = all.iter().map(|runs| runs.contestant.threads).min().unwrap_or(1);
    let shown = all.iter().filter(|runs| runs.contestant.threads == threads).collect::<Vec<_>>();
    let axes = Axes::around(&shown);
    let mut lines = Vec::new();
    for (engine, colour) in Engine::ALL.into_iter().zip(COLOURS) {
        for (kernel, dashes) in Kernel::NAMES.into_iter().zip(DASHES) {
            let is_here = |runs: &&Runs| {
                (runs.contestant.engine, runs.contestant.kernel.name()) == (engine, kernel)
            };
            let points: Vec<_> = shown.iter().copied().filter(is_here).collect();
            if let Some(runs) = points.first() {
                lines.push(Line { name: runs.contestant.name(), colour, dashes, points });
            }
        }
    }
    let runs = many(shown.first().map_or(0, |runs| runs.seconds.len()), "run");
    let threads = many(threads, "thread");
    let caption = format!("median of {runs}; bars: least to greatest; {threads}, {cpu}");
    let [width, height] = SIZE;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } {
            title { "Counting n queens: engines compared" }
            rect width=(width) height=(height) fill="#fff" {}
            g font-family="sans-serif" font-size="15" fill="#202020" {
                text x="14" y="28" font-size="20" { "Counting n queens: engines compared" }
                text x="14" y="50" { "seconds" }
                (axes.draw())
                text x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 44.0) text-anchor="middle" { "n" }
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

impl Axes {
    fn around(shown: &[&Runs]) -> Self {
        let sizes = || shown.iter().map(|runs| f64::from(runs.size.get()));
        let powers = || shown.iter().flat_map(|runs| runs.times()).map(f64::log10);
        Self {
            first: sizes().fold(f64::MAX, f64::min),
            last: sizes().fold(0.0, f64::max),
            // Some room, and at least one decade.
            low: (powers().fold(f64::MAX, f64::min) - 0.05).floor(),
            high: (powers().fold(f64::MIN, f64::max) + 0.05).ceil(),
        }
    }

    fn x(&self, n: f64) -> f64 {
        rounded(LEFT + (RIGHT - LEFT) * (n - self.first + 0.5) / (self.last - self.first + 1.0), 1)
    }

    fn y(&self, seconds: f64) -> f64 {
        let part = (seconds.log10() - self.low) / (self.high - self.low);
        rounded(BOTTOM - (BOTTOM - TOP) * part, 1)
    }

    /// Grid and labels.
    fn draw(&self) -> Markup {
        html! {
            @for n in marks(self.first, self.last) {
                path d={ "M" (self.x(n)) " " (TOP) "V" (BOTTOM) } stroke="#e2e2e2" {}
                text x=(self.x(n)) y=(BOTTOM + 22.0) text-anchor="middle" { (n) }
            }
            @for power in marks(self.low, self.high) {
                @let y = self.y(10_f64.powf(power));
                path d={ "M" (LEFT) " " (y) "H" (RIGHT) } stroke="#e2e2e2" {}
                text x=(LEFT - 8.0) y=(y + 5.0) text-anchor="end" {
                    "10" tspan dy="-6" font-size="11" { (power) }
                }
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

impl Line<'_> {
    /// The line, for each point a bar from the least to the greatest time, and in the legend the name at
    /// this height.
    fn draw(&self, axes: &Axes, legend: f64) -> Markup {
        let place = |runs: &&Runs| {
            (axes.x(f64::from(runs.size.get())), runs.times().map(|seconds| axes.y(seconds)))
        };
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
                    circle cx=(x) cy=(median) r="4" fill=(self.colour) {}
                }
            }
            text x=(LEGEND + 40.0) y=(legend + 5.0) { (self.name) }
        }
    }
}

#[cfg(test)]
mod tests;
