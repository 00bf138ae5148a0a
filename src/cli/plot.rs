//! The picture of `compare`: time against n, as SVG.
//!
//! There is a line for each engine with each kernel. Engines differ in colour and in marker, kernels in the
//! dashes of their lines and in the fill of their markers. The background is white, whatever the page
//! around it.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use nqueens::{Engine, Kernel};

use super::format::{many, rounded};
use super::stderr::escaped;
use super::timings::{self, Timing};

/// How every picture begins. Its height follows.
pub(crate) const BEGINNING: &str = "<svg class=\"nqueens-compare\" \
     xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" ";
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
/// Below the axes, above the kernels.
const CAPTION: f64 = 448.0;
/// Longer names of CPUs would leave the picture.
const CPU_CHARACTERS: usize = 44;

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

/// The dashes of each kernel's lines. The markers of every other kernel are hollow.
const DASHES: [&str; Kernel::NAMES.len()] = ["none", "9 4", "2 3"];

/// An engine with a kernel.
struct Line<'a> {
    name: String,
    engine: Engine,
    colour: &'static str,
    marker: &'static str,
    dashes: &'static str,
    fill: &'static str,
    points: &'a [&'a Timing],
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
    let fewest = rows.iter().map(|row| row.threads).min();
    let mut shown: Vec<&Timing> = rows.iter().filter(|row| Some(row.threads) == fewest).collect();
    shown.sort_by_key(|row| {
        (Engine::ALL.iter().position(|engine| *engine == row.engine), row.kernel.name(), row.n)
    });
    let is_timed =
        |kernel: &Kernel| shown.iter().any(|row| row.kernel == *kernel && row.engine.has_kernels());
    let kernels: Vec<Kernel> = Kernel::available().into_iter().filter(is_timed).collect();
    let mut lines = Vec::new();
    for points in shown.chunk_by(|one, next| (one.engine, one.kernel) == (next.engine, next.kernel))
    {
        let Timing { engine, kernel, .. } = *points[0];
        let place = Engine::ALL.iter().position(|other| *other == engine).unwrap_or_default();
        let (colour, marker) = STYLES[place];
        let (dashes, fill) = style(kernels.iter().position(|other| *other == kernel), colour);
        let name = timings::name(engine, kernel);
        lines.push(Line { name, engine, colour, marker, dashes, fill, points });
    }
    let axes = Axes::around(&shown);
    let kernels = if kernels.len() > 1 { &kernels[..] } else { &[] };
    let height = CAPTION + 12.0 + LEGEND_LINE * kernels.len() as f64;
    let runs = many(shown.iter().map(|row| row.repeats).max().unwrap_or(0), "run");
    let cpu: String = escaped(&shown[0].cpu).chars().take(CPU_CHARACTERS).collect();
    let threads = many(shown[0].threads, "thread");
    let picture = html! {
        (PreEscaped(BEGINNING))
        (PreEscaped(format!("height=\"{height}\" viewBox=\"0 0 900 {height}\">\n")))
        title { "Counting n queens: engines compared" }
        desc { (description(&lines)) }
        rect width="900" height=(height) fill="#fff" {}
        g font-family="sans-serif" font-size="15" fill="#202020" {
            text x="14" y="28" font-size="20" { "Counting n queens: engines compared" }
            text x="14" y="50" { "seconds" }
            (axes.draw())
            text x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 44.0) text-anchor="middle" { "n" }
            text x="14" y=(CAPTION) {
                "median of up to " (runs) "; bars: least to greatest; " (threads) ", " (cpu)
            }
            @for line in &lines { (line.draw(&axes)) }
            (legend(&lines, kernels))
        }
        (PreEscaped("</svg>\n"))
    };
    picture.into_string()
}

/// The dashes and the fill of markers of a kernel.
fn style(place: Option<usize>, colour: &'static str) -> (&'static str, &'static str) {
    let place = place.unwrap_or_default();
    (DASHES[place], if place.is_multiple_of(2) { colour } else { "#fff" })
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
    let step = ((last - first) / MOST_LABELS).ceil().max(1.0);
    std::iter::successors(Some(first), move |mark| Some(mark + step))
        .take_while(move |mark| *mark <= last)
}

impl Line<'_> {
    /// The line, and for each point its marker and a bar from the least to the greatest time.
    fn draw(&self, axes: &Axes) -> Markup {
        let Self { colour, marker, fill, .. } = self;
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
                    path.marker transform={ "translate(" (place_of_marker) ")" } d=(marker) fill=(fill) {}
                }
            }
        }
    }
}

/// The name of each engine beside its marker, and of each kernel beside its dashes.
fn legend(lines: &[Line<'_>], kernels: &[Kernel]) -> Markup {
    let heights = |first| std::iter::successors(Some(first), |y| Some(y + LEGEND_LINE));
    let of_engines = lines.chunk_by(|one, next| one.engine == next.engine).map(|some| &some[0]);
    html! {
        @for (Line { engine, colour, marker, .. }, y) in of_engines.zip(heights(TOP + 10.0)) {
            path d={ "M" (LEGEND) " " (y) "h32" } stroke=(colour) stroke-width="2" {}
            path transform={ "translate(" (LEGEND + 16.0) " " (y) ")" } d=(marker) fill=(colour) {}
            text x=(LEGEND + 40.0) y=(y + 5.0) { (engine) }
        }
        @for ((place, kernel), y) in kernels.iter().enumerate().zip(heights(CAPTION + 17.0)) {
            @let (dashes, fill) = style(Some(place), "#404040");
            path d={ "M14 " (y) "h64" } stroke="#404040" stroke-width="2" stroke-dasharray=(dashes) {}
            path d={ "M41 " (y - 4.0) "h10v8h-10z" } stroke="#404040" fill=(fill) {}
            text x="88" y=(y + 5.0) { (kernel) }
        }
    }
}

/// The picture for those who cannot see it.
fn description(lines: &[Line<'_>]) -> String {
    let mut text = "Median seconds.".to_owned();
    for line in lines {
        let _ = write!(text, " {}:", line.name);
        for row in line.points {
            let _ = write!(text, " n = {}: {:.1e};", row.n, row.median_seconds);
        }
    }
    text
}

#[cfg(test)]
mod tests;
