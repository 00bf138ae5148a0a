//! How an engine's line looks: always the same, in every picture.

use std::fmt::{self, Write as _};

use nqueens::Engine;

/// Colour, dash and marker, each of which tells lines apart by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) colour: &'static str,
    /// For `stroke-dasharray`; empty for a solid line.
    pub(super) dash: &'static str,
    marker: Marker,
}

#[derive(Clone, Copy, Debug)]
enum Marker {
    Circle,
    /// Corners, in units of the marker's radius, about its middle.
    Polygon(&'static str),
}

const SQUARE: &str = "-.9,-.9 .9,-.9 .9,.9 -.9,.9";
const DIAMOND: &str = "0,-1.3 1.3,0 0,1.3 -1.3,0";
const TRIANGLE: &str = "0,-1.2 1.15,.85 -1.15,.85";
const TRIANGLE_DOWN: &str = "0,1.2 1.15,-.85 -1.15,-.85";
const PLUS: &str = "-.45,-1.3 .45,-1.3 .45,-.45 1.3,-.45 1.3,.45 .45,.45 .45,1.3 -.45,1.3 -.45,.45 -1.3,.45 \
     -1.3,-.45 -.45,-.45";
const CROSS: &str =
    "0,-.6 .6,-1.2 1.2,-.6 .6,0 1.2,.6 .6,1.2 0,.6 -.6,1.2 -1.2,.6 -.6,0 -1.2,-.6 -.6,-1.2";

/// From the last of [`Engine::ALL`] to the first, so that the fast engines have the plainest lines.
/// The colours differ for colour-blind readers too (M. Okabe, K. Ito, "Color Universal Design",
/// 2008), a little darker for thin lines on white.
const STYLES: [Style; 7] = [
    Style { colour: "#c44a00", dash: "", marker: Marker::Circle },
    Style { colour: "#0066a6", dash: "8 4", marker: Marker::Polygon(SQUARE) },
    Style { colour: "#00805c", dash: "2 3", marker: Marker::Polygon(TRIANGLE) },
    Style { colour: "#2f97d0", dash: "9 3 2 3", marker: Marker::Polygon(DIAMOND) },
    Style { colour: "#c98a00", dash: "4 3", marker: Marker::Polygon(TRIANGLE_DOWN) },
    Style { colour: "#b05a8c", dash: "12 3 2 3 2 3", marker: Marker::Polygon(PLUS) },
    Style { colour: "#404040", dash: "1 3", marker: Marker::Polygon(CROSS) },
];

/// A marker's radius, in points.
const RADIUS: f64 = 4.2;

impl Style {
    pub(super) fn of(engine: Engine) -> Self {
        let place = Engine::ALL.iter().rev().position(|other| *other == engine).unwrap_or(0);
        STYLES[place % STYLES.len()]
    }

    /// Draws the marker with its middle at a point, rimmed in white where it crosses lines.
    pub(super) fn write_marker(self, out: &mut String, x: f64, y: f64) -> fmt::Result {
        let Self { colour, marker, .. } = self;
        match marker {
            Marker::Circle => write!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{colour}\" \
                 stroke=\"#ffffff\"/>"
            ),
            Marker::Polygon(corners) => write!(
                out,
                "<polygon transform=\"translate({x:.1} {y:.1}) scale({RADIUS})\" \
                 points=\"{corners}\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"{:.2}\"/>",
                1.0 / RADIUS
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_engines_look_alike() {
        assert_eq!(STYLES.len(), Engine::ALL.len(), "give the new engine a style");
        for (place, style) in STYLES.iter().enumerate() {
            for other in &STYLES[..place] {
                assert_ne!(style.colour, other.colour);
                assert_ne!(style.dash, other.dash);
                assert_ne!(format!("{:?}", style.marker), format!("{:?}", other.marker));
            }
        }
    }
}
