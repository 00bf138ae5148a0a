//! The picture of `compare`: time against n, as SVG.
//!
//! There is a line for each engine on each machine. Engines differ in colour and in marker, machines in
//! the dashes of their lines. The background is white, whatever the page around it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use nqueens::Engine;

use super::format::{many, px};
use super::stderr::escaped;
use super::timings::Timing;

/// How every picture begins.
pub(crate) const BEGINNING: &str = "<svg width=\"900\" height=\"460\" viewBox=\"0 0 900 460\" \
     xmlns=\"http://www.w3.org/2000/svg\">\n<title>Counting n queens: engines compared</title>\n";
/// The ends of the axes, in pixels, as all lengths here.
const LEFT: f64 = 60.0;
const TOP: f64 = 62.0;
const RIGHT: f64 = 740.0;
const BOTTOM: f64 = 380.0;
/// The legend at the right.
const LEGEND: f64 = 756.0;
const LEGEND_LINE: f64 = 22.0;
/// Labels on an axis, at most.
const MOST_LABELS: f64 = 18.0;
/// Longer captions would leave the picture.
const CAPTION_CHARACTERS: usize = 105;

/// Colour and marker of each engine, in the order of [`Engine::ALL`]. The colours differ for colour-blind
/// readers too (M. Okabe, K. Ito, "Color Universal Design", 2008), a little darker for thin lines on white.
const STYLES: [(&str, &str); 7] = [
    ("#404040", "M-5-5L0-2L5-5L2 0L5 5L0 2L-5 5L-2 0z"),
    ("#b05a8c", "M0-7L2-2L7 0L2 2L0 7L-2 2L-7 0L-2-2z"),
    ("#b37a00", "M-5-4H5L0 6z"),
    ("#2f97d0", "M0-6L6 0L0 6L-6 0z"),
    ("#00805c", "M-5 4H5L0-6z"),
    ("#0066a6", "M-4-4H4V4H-4z"),
    ("#c44a00", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"),
];

/// The dashes of each machine's lines, in the order of their names.
const DASHES: [&str; 4] = ["none", "8 4", "2 3", "10 3 2 3"];

/// An engine on a machine, on the fewest threads.
struct Line<'a> {
    engine: Engine,
    colour: &'static str,
    marker: &'static str,
    dashes: &'static str,
    points: Vec<&'a Timing>,
}

/// Where n and seconds are drawn.
struct Axes {
    first: f64,
    last: f64,
    /// Powers of ten.
    low: f64,
    high: f64,
}

/// Draws rows, one at least.
pub(crate) fn picture(rows: &[Timing]) -> String {
    let threads = rows.iter().map(|row| row.threads).min().unwrap_or(1);
    let shown: Vec<&Timing> = rows.iter().filter(|row| row.threads == threads).collect();
    let machines: BTreeSet<&str> = shown.iter().map(|row| row.cpu.as_str()).collect();
    let mut lines = Vec::new();
    for (engine, (colour, marker)) in Engine::ALL.into_iter().zip(STYLES) {
        for (machine, dashes) in machines.iter().zip(DASHES.iter().cycle()) {
            let points = shown.iter().filter(|row| row.engine == engine && row.cpu == *machine);
            let points: Vec<&Timing> = points.copied().collect();
            if !points.is_empty() {
                lines.push(Line { engine, colour, marker, dashes, points });
            }
        }
    }
    let axes = Axes::around(&shown);
    let picture = html! {
        (PreEscaped(BEGINNING))
        desc { (description(&lines, threads)) }
        rect width="900" height="460" fill="#fff" {}
        g font-family="sans-serif" font-size="15" fill="#202020" {
            text x="14" y="28" font-size="20" { "Counting n queens: engines compared" }
            text x="14" y="50" { "seconds on " (many(threads, "thread")) }
            (axes.draw())
            text x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 44.0) text-anchor="middle" { "n" }
            text x="14" y="448" { (caption(&shown, &machines, threads)) }
            @for line in &lines { (line.draw(&axes)) }
            (legend(&lines))
        }
        (PreEscaped("</svg>\n"))
    };
    picture.into_string()
}

impl Axes {
    fn around(rows: &[&Timing]) -> Self {
        let sizes = || rows.iter().map(|row| f64::from(row.n));
        let times = || rows.iter().flat_map(|row| [row.min_seconds, row.max_seconds]);
        let low = times().fold(f64::MAX, f64::min).log10();
        let high = times().fold(f64::MIN_POSITIVE, f64::max).log10();
        Self {
            first: sizes().fold(f64::MAX, f64::min),
            last: sizes().fold(0.0, f64::max),
            // Some room, and at least one decade.
            low: (low - 0.05).floor(),
            high: (high + 0.05).ceil(),
        }
    }

    fn x(&self, n: f64) -> f64 {
        px(LEFT + (RIGHT - LEFT) * (n - self.first + 0.5) / (self.last - self.first + 1.0))
    }

    fn y(&self, seconds: f64) -> f64 {
        px(BOTTOM - (BOTTOM - TOP) * (seconds.log10() - self.low) / (self.high - self.low))
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
    let step = ((last - first) / MOST_LABELS).ceil().max(1.0);
    std::iter::successors(Some(first), move |mark| Some(mark + step))
        .take_while(move |mark| *mark <= last)
}

impl Line<'_> {
    /// The line, and for each point its marker and a bar from the least to the greatest time.
    fn draw(&self, axes: &Axes) -> Markup {
        let Self { colour, marker, .. } = self;
        let place = |row: &Timing, seconds| (axes.x(f64::from(row.n)), axes.y(seconds));
        let places = self.points.iter().map(|row| place(row, row.median_seconds));
        let places: Vec<String> = places.map(|(x, y)| format!("{x} {y}")).collect();
        html! {
            g stroke=(colour) fill="none" {
                path stroke-width="2" stroke-dasharray=(self.dashes) d={ "M" (places.join("L")) } {}
                @for (row, place_of_marker) in self.points.iter().zip(&places) {
                    @let [(x, low), (_, high)] =
                        [row.min_seconds, row.max_seconds].map(|end| place(row, end));
                    path d={ "M" (x - 3.0) " " (low) "h6m-3 0V" (high) "m-3 0h6" } {}
                    path.marker transform={ "translate(" (place_of_marker) ")" } d=(marker) fill=(colour) {}
                }
            }
        }
    }
}

/// The name of each engine, beside its marker.
fn legend(lines: &[Line<'_>]) -> Markup {
    let heights = std::iter::successors(Some(TOP + 10.0), |y| Some(y + LEGEND_LINE));
    let of_engines = lines.chunk_by(|one, next| one.engine == next.engine);
    html! {
        @for (Line { engine, colour, marker, .. }, y) in of_engines.map(|some| &some[0]).zip(heights) {
            path d={ "M" (LEGEND) " " (y) "h32" } stroke=(colour) stroke-width="2" {}
            path transform={ "translate(" (LEGEND + 16.0) " " (y) ")" } d=(marker) fill=(colour) {}
            text x=(LEGEND + 40.0) y=(y + 5.0) { (engine) }
        }
    }
}

/// What points and bars are, and who counted. Rows that were read may have no CPU, or several, or one
/// that makes no XML.
fn caption(rows: &[&Timing], machines: &BTreeSet<&str>, threads: usize) -> String {
    let runs = rows.iter().map(|row| row.repeats).max().unwrap_or(0);
    let (runs, threads) = (many(runs, "run"), many(threads, "thread"));
    let mut text = format!("median of {runs}; bars: least to greatest; {threads}");
    for cpu in machines.iter().filter(|cpu| !cpu.is_empty()) {
        let _ = write!(text, "; {}", escaped(cpu));
    }
    text.chars().take(CAPTION_CHARACTERS).collect()
}

/// The picture for those who cannot see it.
fn description(lines: &[Line<'_>], threads: usize) -> String {
    let mut text = format!("Median seconds on {}.", many(threads, "thread"));
    for line in lines {
        let _ = write!(text, " {}:", line.engine);
        for row in &line.points {
            let _ = write!(text, " n = {}: {:.1e};", row.n, row.median_seconds);
        }
    }
    text
}

#[cfg(test)]
mod tests;
