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
    /// From left to right, one at least.
    pub(super) points: Vec<Point>,
}

/// A value with the ends of its whisker, if it has one.
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
        for (x, point) in points.iter().filter(|(_, point)| point.low < point.high) {
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

    /// Where the lines' labels stand: as high as the lines end, if there is room. A line that ends
    /// further to the left has its label above those that it would have left below.
    fn label_heights(&self, frame: &Frame) -> Vec<f64> {
        let end = |line: &Line| line.points.last().map_or((0.0, 0.0), |point| (point.x, point.y));
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by(|a, b| {
            let [(a_x, a_y), (b_x, b_y)] = [a, b].map(|line| end(&self.lines[*line]));
            a_x.total_cmp(&b_x).then(b_y.total_cmp(&a_y))
        });
        let wanted: Vec<f64> =
            order.iter().map(|line| frame.y(&self.y.scale, end(&self.lines[*line]).1)).collect();
        let mut heights = vec![0.0; wanted.len()];
        for (line, height) in order.into_iter().zip(spread(&wanted, frame.top, frame.bottom)) {
            heights[line] = height;
        }
        heights
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

/// Heights of labels from top to bottom, a line apart at least, as near to those wanted as can be:
/// labels that are in each other's way are moved together, by the mean of what each is off.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    // Without the lines between them the heights need only ascend.
    let offsets = || std::iter::successors(Some(0.0), |offset| Some(offset + LINE_HEIGHT));
    let mut blocks: Vec<(f64, u32)> = Vec::new();
    for (height, offset) in wanted.iter().zip(offsets()) {
        let mut block = (height - offset, 1);
        while let Some((mean, labels)) = blocks.pop_if(|(mean, _)| *mean > block.0) {
            let sum = mean * f64::from(labels) + block.0 * f64::from(block.1);
            block = (sum / f64::from(labels + block.1), labels + block.1);
        }
        blocks.push(block);
    }
    let last_offset = offsets().take(wanted.len()).last().unwrap_or(0.0);
    let lowest = (bottom - last_offset).max(top);
    let ascending = blocks.iter().flat_map(|(mean, labels)| (0..*labels).map(|_| *mean));
    ascending.zip(offsets()).map(|(height, offset)| height.clamp(top, lowest) + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_keep_their_order() {
        let heights = |wanted: &[f64]| spread(wanted, 10.0, 200.0);
        assert_eq!(heights(&[10.0, 50.0]), [10.0, 50.0]);
        assert_eq!(heights(&[50.0, 50.0]), [40.5, 59.5]);
        assert_eq!(heights(&[90.0, 50.0, 150.0]), [60.5, 79.5, 150.0]);
        assert_eq!(heights(&[0.0, 1.0]), [10.0, 29.0]);
        assert_eq!(heights(&[198.0, 199.0, 500.0]), [162.0, 181.0, 200.0]);
        assert!(heights(&[]).is_empty());
    }
}
