//! The picture of `compare`: time against n and, if engines ran on several numbers of threads,
//! speed-up against threads, as SVG.
//!
//! Lines differ in colour and in marker, on a white background of their own. plotters draws as well
//! as kuva, the other library that was tried, and builds in seconds where kuva takes a minute.

use std::collections::BTreeSet;
use std::error::Error;
use std::f64::consts::PI;
use std::fmt::Write as _;
use std::ops::Range;

use nqueens::Engine;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::format::many;
use super::stderr::escaped;
use super::timings::Timing;

const TITLE: &str = "Counting n queens: engines compared";
/// How every picture begins.
pub(crate) const BEGINNING: &str = "<svg width=\"900\" height=\"460\" viewBox=\"0 0 900 460\" \
     xmlns=\"http://www.w3.org/2000/svg\">\n<title>Counting n queens: engines compared</title>\n";
/// In pixels, as all lengths here.
const SIZE: (u32, u32) = (900, 460);
const HEADER: u32 = 36;
const FOOTER: u32 = 30;
const LEGEND_WIDTH: u32 = 150;
const SPEED_UP_WIDTH: u32 = 290;
/// Longer captions would leave the picture.
const CAPTION_CHARACTERS: usize = 120;

const INK: RGBColor = RGBColor(0x20, 0x20, 0x20);
const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
const PALE: RGBColor = RGBColor(0x80, 0x80, 0x80);

/// Colour and marker of each engine, in the order of [`Engine::ALL`]. A marker is a star: a number
/// of tips, a share of the step between two by which they are turned, and the distances of tips and
/// dents from the middle. The colours differ for colour-blind readers too (M. Okabe, K. Ito, "Color
/// Universal Design", 2008), a little darker for thin lines on white.
const STYLES: [(RGBColor, u8, f64, [f64; 2]); 7] = [
    (RGBColor(0x40, 0x40, 0x40), 4, 0.5, [7.6, 2.8]),
    (RGBColor(0xb0, 0x5a, 0x8c), 4, 0.0, [7.6, 2.8]),
    (RGBColor(0xb3, 0x7a, 0x00), 3, 0.5, [6.0, 3.0]),
    (RGBColor(0x2f, 0x97, 0xd0), 4, 0.0, [6.0, 4.2]),
    (RGBColor(0x00, 0x80, 0x5c), 3, 0.0, [6.0, 3.0]),
    (RGBColor(0x00, 0x66, 0xa6), 4, 0.5, [6.0, 4.2]),
    (RGBColor(0xc4, 0x4a, 0x00), 8, 0.0, [5.0, 5.0]),
];

fn style(engine: Engine) -> (RGBColor, Polygon<(i32, i32)>) {
    let place = Engine::ALL.iter().position(|other| *other == engine).unwrap_or(0);
    let (colour, tips, turn, distances) = STYLES[place % STYLES.len()];
    let place = |corner: u8| {
        let angle = PI * (f64::from(corner) + 2.0 * turn) / f64::from(tips);
        #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
        let pixels = |share: f64| (distances[usize::from(corner % 2)] * share).round() as i32;
        (pixels(angle.sin()), pixels(-angle.cos()))
    };
    (colour, Polygon::new((0..2 * tips).map(place).collect::<Vec<_>>(), colour))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One pair of axes, for logarithms unless they say otherwise.
struct Panel {
    title: String,
    x_title: &'static str,
    x: Axis,
    y: Axis,
    lines: Vec<(Engine, Vec<Point>)>,
    /// The ends of a line to compare the points with; without it they are joined.
    ideal: Option<[(f64, f64); 2]>,
}

/// A value, and the ends of its bar.
struct Point {
    x: f64,
    y: f64,
    ends: [f64; 2],
}

/// A range with its marked values and their labels.
#[derive(Clone)]
struct Axis {
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range()).map(value, pixels)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Asked for twice: for the grid's fine lines, which there are none of, and for the others.
        let ticks = if hint.weight().allow_light_points() { &[] } else { self.ticks.as_slice() };
        ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == value);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// Draws rows, one at least.
pub(crate) fn picture(rows: &[Timing]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    draw(SVGBackend::with_string(&mut svg, SIZE).into_drawing_area(), rows)?;
    let (_, body) = svg.split_once('\n').unwrap_or_default();
    Ok(format!("{BEGINNING}<desc>{}</desc>\n{body}", description(rows)))
}

fn draw(root: Area<'_>, rows: &[Timing]) -> Result<(), Box<dyn Error>> {
    root.fill(&WHITE)?;
    let (header, below) = root.split_vertically(HEADER);
    write(&header, TITLE, (14, 12), 20)?;
    let (panels, footer) = below.split_vertically(SIZE.1 - HEADER - FOOTER);
    write(&footer, &caption(rows), (14, 4), 15)?;
    let (panels, legend) = panels.split_horizontally(SIZE.0 - LEGEND_WIDTH);
    for (y, engine) in (30..).step_by(22).zip(engines(rows)) {
        let (colour, marker) = style(engine);
        legend.draw(&PathElement::new([(4, y), (36, y)], colour.stroke_width(2)))?;
        legend.draw(&(EmptyElement::at((20, y)) + marker))?;
        write(&legend, engine.name(), (44, y - 6), 16)?;
    }
    if let Some(speed_up) = speed_up_panel(rows) {
        let width = SIZE.0 - LEGEND_WIDTH - SPEED_UP_WIDTH;
        let (left, right) = panels.split_horizontally(width);
        draw_panel(&left, &time_panel(rows))?;
        draw_panel(&right, &speed_up)?;
    } else {
        draw_panel(&panels, &time_panel(rows))?;
    }
    Ok(root.present()?)
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Result<(), Box<dyn Error>> {
    write(area, &panel.title, (14, 4), 16)?;
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_top(30)
        .x_label_area_size(42)
        .y_label_area_size(46)
        .build_cartesian_2d(panel.x.clone(), panel.y.clone())?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID)
        .label_style(font(15))
        .axis_desc_style(font(16))
        .x_desc(panel.x_title)
        .draw()?;
    chart.draw_series(panel.ideal.map(|ends| PathElement::new(ends, PALE)))?;
    for (engine, points) in &panel.lines {
        let (colour, _) = style(*engine);
        if panel.ideal.is_none() {
            let path: Vec<_> = points.iter().map(|point| (point.x, point.y)).collect();
            chart.draw_series([PathElement::new(path, colour.stroke_width(2))])?;
        }
        for Point { x, y, ends } in points {
            let ends = ends.map(|end| (*x, end));
            let cap = || PathElement::new([(-3, 0), (3, 0)], colour);
            chart.draw_series([PathElement::new(ends, colour)])?;
            chart.draw_series(ends.map(|end| EmptyElement::at(end) + cap()))?;
            chart.draw_series([EmptyElement::at((*x, *y)) + style(*engine).1])?;
        }
    }
    Ok(())
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: u32) -> Result<(), Box<dyn Error>> {
    Ok(area.draw(&Text::new(text.to_owned(), at, font(size)))?)
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// Seconds on the fewest threads. The axis of n is not logarithmic.
fn time_panel(rows: &[Timing]) -> Panel {
    let threads = fewest_threads(rows);
    let shown = || rows.iter().filter(|row| row.threads == threads);
    let point = |row: &Timing| Point {
        x: f64::from(row.n),
        y: row.median_seconds.log10(),
        ends: [row.min_seconds.log10(), row.max_seconds.log10()],
    };
    let line = |engine| (engine, shown().filter(|row| row.engine == engine).map(point).collect());
    let sizes: BTreeSet<u32> = shown().map(|row| row.n).collect();
    let sizes: Vec<f64> = sizes.into_iter().map(f64::from).collect();
    let (first, last) = ends(sizes.iter().copied());
    let (low, high) = ends(shown().map(point).flat_map(|point| point.ends));
    // Some room, and at least one decade.
    let (low, high) = ((low - 0.05).floor(), (high + 0.05).ceil());
    let decades = std::iter::successors(Some(low), |decade| Some(decade + 1.0));
    let ticks = apart((high - low) / 17.0, decades.take_while(|decade| *decade <= high));
    Panel {
        title: format!("seconds on {}", many(threads, "thread")),
        x_title: "n",
        x: Axis {
            range: first - 0.5..last + 0.5,
            ticks: apart((last - first) / 17.0, sizes).map(|n| (n, n.to_string())).collect(),
        },
        y: Axis { range: low..high, ticks: ticks.map(|power| (power, ten_to(power))).collect() },
        lines: engines(rows).map(line).collect(),
        ideal: None,
    }
}

/// Each engine on its largest board that several numbers of threads have counted, if there is one.
fn speed_up_panel(rows: &[Timing]) -> Option<Panel> {
    let fewest = fewest_threads(rows);
    let line = |engine| {
        let of_engine = || rows.iter().filter(move |row| row.engine == engine);
        let more = |n| of_engine().filter(move |row| row.n == n && row.threads > fewest);
        let bases = of_engine().filter(|base| base.threads == fewest);
        let base = bases.filter(|base| more(base.n).next().is_some()).max_by_key(|base| base.n)?;
        let points = more(base.n).map(|row| {
            // Of medians, without a bar: both times vary, and many points meet here.
            let y = (base.median_seconds / row.median_seconds).log2();
            Point { x: log2(row.threads), y, ends: [y, y] }
        });
        Some((engine, points.collect()))
    };
    let lines: Vec<(Engine, Vec<Point>)> = engines(rows).filter_map(line).collect();
    let points = || lines.iter().flat_map(|(_, points)| points);
    let mut counts: Vec<f64> = points().map(|point| point.x).chain([log2(fewest)]).collect();
    counts.sort_unstable_by(f64::total_cmp);
    let (first, last) = ends(counts.iter().copied());
    let (low, high) = ends(points().map(|point| point.y).chain([0.0, last - first]));
    let steps = (-12..=12).flat_map(|power| [1.0, 1.5].map(|step| step * 2f64.powi(power)));
    let (low, high) = (low - 0.15, high + 0.15);
    let steps = steps.filter(|x| (low..high).contains(&x.log2()));
    let tick = |power: f64| (power, format!("{:.0}", power.exp2()));
    (!lines.is_empty()).then(|| Panel {
        title: "speed-up at the largest n (line: ideal)".to_owned(),
        x_title: "threads",
        x: Axis {
            range: first - 0.25..last + 0.25,
            ticks: apart((last - first) / 8.0, counts).map(tick).collect(),
        },
        y: Axis { range: low..high, ticks: steps.map(|x| (x.log2(), x.to_string())).collect() },
        lines,
        ideal: Some([(first, 0.0), (last, last - first)]),
    })
}

/// What points and bars are, and who counted.
fn caption(rows: &[Timing]) -> String {
    let runs = rows.iter().map(|row| row.repeats).max().unwrap_or(0);
    let (fewest, most) = (fewest_threads(rows), rows.iter().map(|row| row.threads).max());
    let threads = match most.unwrap_or(fewest) {
        most if most > fewest => format!("{fewest} to {most} threads"),
        _ => many(fewest, "thread"),
    };
    let mut text = format!("median of {}; bars: least to greatest; {threads}", many(runs, "run"));
    // Rows that were read may have no CPU, or several, or one that makes no XML.
    let cpus: BTreeSet<&str> = rows.iter().map(|row| row.cpu.as_str()).collect();
    for cpu in cpus.into_iter().filter(|cpu| !cpu.is_empty()) {
        let _ = write!(text, "; {}", escaped(cpu));
    }
    text.chars().take(CAPTION_CHARACTERS).collect()
}

/// The time panel for those who cannot see it.
fn description(rows: &[Timing]) -> String {
    let threads = fewest_threads(rows);
    let mut text = format!("Median seconds on {}.", many(threads, "thread"));
    for engine in engines(rows) {
        let _ = write!(text, " {engine}:");
        for row in rows.iter().filter(|row| row.engine == engine && row.threads == threads) {
            let _ = write!(text, " n = {}: {:.1e};", row.n, row.median_seconds);
        }
    }
    text
}

fn engines(rows: &[Timing]) -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|engine| rows.iter().any(|row| row.engine == *engine))
}

fn fewest_threads(rows: &[Timing]) -> usize {
    rows.iter().map(|row| row.threads).min().unwrap_or(1)
}

#[expect(clippy::cast_precision_loss, reason = "at most 4096 threads")]
fn log2(threads: usize) -> f64 {
    (threads as f64).log2()
}

/// The smallest and the largest value.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

/// Ascending values without those that are too near to the one before, so that labels have room.
fn apart(least: f64, values: impl IntoIterator<Item = f64>) -> impl Iterator<Item = f64> {
    let mut last = f64::NEG_INFINITY;
    values.into_iter().filter(move |value| {
        let has_room = *value > last && *value - last >= least;
        last = if has_room { *value } else { last };
        has_room
    })
}

/// `10⁻⁵`
fn ten_to(power: f64) -> String {
    let superscript = |c: char| match c.to_digit(10) {
        None => '⁻',
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
    };
    format!("10{}", format!("{power:.0}").chars().map(superscript).collect::<String>())
}

#[cfg(test)]
mod tests;
