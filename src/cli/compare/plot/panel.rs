//! A pair of axes with its lines, and a label for each in the margin on the right.

use std::fmt::{self, Write as _};

use nqueens::Engine;

use super::scale::{Scale, Tick};
use super::style::Style;

/// In points; the labels' room is reckoned from it.
pub(super) const FONT_SIZE: f64 = 13.0;
/// No sans-serif font is wider, on average, than this share of its size.
const WIDTH_OF_A_CHARACTER: f64 = 0.58;

const TOP: f64 = 46.0;
const BOTTOM: f64 = 54.0;
const RIGHT: f64 = 16.0;
/// From tick to label, and between the labels' lines.
const GAP: f64 = 8.0;
const LINE_HEIGHT: f64 = 19.0;
/// A label begins with a sample of its line.
const SAMPLE_WIDTH: f64 = 34.0;

/// One panel of the picture.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) class: &'static str,
    /// Between the axes.
    pub(super) width: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// The ends of a line to compare with.
    pub(super) ideal: Option<[(f64, f64); 2]>,
}

#[derive(Debug)]
pub(super) struct Axis {
    pub(super) title: String,
    pub(super) scale: Scale,
    pub(super) ticks: Vec<Tick>,
    /// Marked without a label.
    pub(super) minor: Vec<f64>,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) engine: Engine,
    pub(super) label: String,
    /// From left to right.
    pub(super) points: Vec<Point>,
}

/// A value with the ends of its whisker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The width of a text, rather too large than too small.
pub(super) fn text_width(text: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "labels are short")]
    let characters = text.chars().count() as f64;
    characters * FONT_SIZE * WIDTH_OF_A_CHARACTER
}

/// Where a panel stands in the picture.
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Panel {
    fn left_margin(&self) -> f64 {
        widest(self.y.ticks.iter().map(|(_, label)| label)) + 2.0 * GAP + RIGHT
    }

    fn right_margin(&self) -> f64 {
        let labels = widest(self.lines.iter().map(|line| &line.label));
        GAP + SAMPLE_WIDTH + GAP + labels + RIGHT
    }

    /// With both margins.
    pub(super) fn outer_width(&self) -> f64 {
        let inner = self.left_margin() + self.width + self.right_margin();
        inner.max(RIGHT + text_width(&self.y.title) + RIGHT).ceil()
    }

    /// Draws the panel with its outer edge at `left`.
    pub(super) fn write(&self, out: &mut String, left: f64, height: f64) -> fmt::Result {
        let left = left + self.left_margin();
        let frame = Frame { left, top: TOP, right: left + self.width, bottom: height - BOTTOM };
        writeln!(out, "<g class=\"{}\">", self.class)?;
        self.write_axes(out, &frame)?;
        if let Some(ends) = self.ideal {
            self.write_ideal(out, &frame, ends)?;
        }
        let heights = self.label_heights(&frame);
        for (line, label_height) in self.lines.iter().zip(heights) {
            self.write_line(out, &frame, line, label_height)?;
        }
        writeln!(out, "</g>")
    }

    fn write_axes(&self, out: &mut String, frame: &Frame) -> fmt::Result {
        let Frame { left, top, right, bottom } = *frame;
        let mut grid = String::new();
        let mut marks = String::new();
        let mut labels = String::new();
        for (value, label) in &self.x.ticks {
            let x = frame.x(&self.x.scale, *value);
            write!(marks, "M{x:.1} {bottom:.1}v5")?;
            let y = bottom + GAP + FONT_SIZE;
            writeln!(
                labels,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>"
            )?;
        }
        for (value, label) in &self.y.ticks {
            let y = frame.y(&self.y.scale, *value);
            write!(grid, "M{left:.1} {y:.1}H{right:.1}")?;
            write!(marks, "M{left:.1} {y:.1}h-5")?;
            let (x, y) = (left - GAP, y + FONT_SIZE * 0.35);
            writeln!(labels, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>")?;
        }
        for value in &self.y.minor {
            let y = frame.y(&self.y.scale, *value);
            write!(marks, "M{left:.1} {y:.1}h-2.5")?;
        }
        writeln!(out, "<path stroke=\"#e2e2e2\" d=\"{grid}\"/>")?;
        writeln!(
            out,
            "<path stroke=\"#202020\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}{marks}\"/>"
        )?;
        writeln!(out, "<g fill=\"#202020\">")?;
        out.push_str(&labels);
        let (middle, below) = (f64::midpoint(left, right), bottom + GAP + 2.6 * FONT_SIZE);
        let title = &self.x.title;
        writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{title}</text>"
        )?;
        // Above its axis, where it reads without turning one's head.
        let (x, y, title) =
            (left - self.left_margin() + RIGHT, top - 1.4 * FONT_SIZE, &self.y.title);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{title}</text>\n</g>")
    }

    fn write_ideal(&self, out: &mut String, frame: &Frame, ends: [(f64, f64); 2]) -> fmt::Result {
        let [from, to] = ends.map(|(x, y)| (frame.x(&self.x.scale, x), frame.y(&self.y.scale, y)));
        writeln!(
            out,
            "<path class=\"ideal\" stroke=\"#909090\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            from.0, from.1, to.0, to.1
        )?;
        let (x, y) = (to.0 - GAP, to.1 - GAP / 2.0);
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#606060\">ideal</text>"
        )
    }

    fn write_line(
        &self,
        out: &mut String,
        frame: &Frame,
        line: &Line,
        label_height: f64,
    ) -> fmt::Result {
        let style = Style::of(line.engine);
        let Style { colour, dash, .. } = style;
        let at = |value: f64| frame.y(&self.y.scale, value);
        let points: Vec<(f64, &Point)> =
            line.points.iter().map(|point| (frame.x(&self.x.scale, point.x), point)).collect();
        writeln!(out, "<g stroke=\"{colour}\" stroke-width=\"1.8\"><title>{}</title>", line.label)?;
        for (x, point) in &points {
            let (x, low, high) = (*x, at(point.low), at(point.high));
            let (begin, end) = (x - 3.0, x + 3.0);
            write!(
                out,
                "<path stroke-width=\"1\" d=\"M{begin:.1} {low:.1}H{end:.1}M{x:.1} {low:.1}V{high:.1}M{begin:.1} {high:.1}H{end:.1}\"/>"
            )?;
        }
        write!(out, "\n<polyline class=\"series\" stroke-dasharray=\"{dash}\" points=\"")?;
        for (x, point) in &points {
            write!(out, "{x:.1},{:.1} ", at(point.y))?;
        }
        writeln!(out, "\"/>")?;
        for (x, point) in &points {
            style.write_marker(out, *x, at(point.y))?;
        }
        let (begin, y) = (frame.right + GAP, label_height);
        let end = begin + SAMPLE_WIDTH;
        writeln!(out, "\n<path stroke-dasharray=\"{dash}\" d=\"M{begin:.1} {y:.1}H{end:.1}\"/>")?;
        style.write_marker(out, f64::midpoint(begin, end), y)?;
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#202020\" stroke=\"none\">{}</text>\n</g>",
            end + GAP,
            y + FONT_SIZE * 0.35,
            line.label
        )
    }

    /// Where the lines' labels stand: as high as the lines end, if there is room.
    fn label_heights(&self, frame: &Frame) -> Vec<f64> {
        let ends = self.lines.iter().map(|line| {
            line.points.last().map_or(frame.top, |point| frame.y(&self.y.scale, point.y))
        });
        spread(&ends.collect::<Vec<_>>(), LINE_HEIGHT, frame.bottom)
    }
}

impl Frame {
    fn x(&self, scale: &Scale, value: f64) -> f64 {
        self.left + scale.share(value) * (self.right - self.left)
    }

    fn y(&self, scale: &Scale, value: f64) -> f64 {
        self.bottom - scale.share(value) * (self.bottom - self.top)
    }
}

fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> f64 {
    texts.map(|text| text_width(text)).fold(0.0, f64::max)
}

/// Moves heights apart until they differ by a gap, in their order, none below the bottom.
fn spread(wanted: &[f64], gap: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut heights = wanted.to_vec();
    let mut lowest_yet = f64::NEG_INFINITY;
    for &line in &order {
        heights[line] = heights[line].max(lowest_yet + gap);
        lowest_yet = heights[line];
    }
    let mut room = bottom;
    for &line in order.iter().rev() {
        heights[line] = heights[line].min(room);
        room = heights[line] - gap;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_keep_their_order() {
        assert_eq!(spread(&[50.0, 10.0], 20.0, 100.0), [50.0, 10.0]);
        assert_eq!(spread(&[12.0, 10.0, 60.0], 20.0, 100.0), [30.0, 10.0, 60.0]);
        assert_eq!(spread(&[95.0, 99.0, 98.0], 20.0, 100.0), [60.0, 100.0, 80.0]);
        assert!(spread(&[], 20.0, 100.0).is_empty());
    }
}
