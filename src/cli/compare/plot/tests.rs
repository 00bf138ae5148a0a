//! Pictures as XML: no two labels overlap, nothing lies outside.

use super::*;
use crate::cli::compare::statistics::Spread;

/// Rows as they may come: every engine takes seven times as long for the next board, and each
/// engine half the time of the one before; but a run takes a microsecond at least.
fn rows(engines: &[Engine], sizes: &[u32], threads: &[usize]) -> Vec<Row> {
    let mut rows = Vec::new();
    for &n in sizes {
        for (place, &engine) in (0i32..).zip(engines) {
            for &threads in threads {
                let speed_up = f64::from(u32::try_from(threads).expect("few")).powf(0.9);
                let median = 7f64.powi(n as i32 - 14) * 0.5f64.powi(place) / speed_up;
                let median = median.max(1e-6);
                rows.push(Row {
                    n,
                    engine,
                    kernel: "portable",
                    threads,
                    repeats: 5,
                    seconds: Spread { median, min: median * 0.9, max: median * 1.3 },
                    solutions_per_second: 1.0,
                    ratio: 1.0,
                    efficiency: 1.0,
                    total: 1,
                });
            }
        }
    }
    rows
}

/// Left, top, right and bottom.
type Area = [f64; 4];

fn number(node: roxmltree::Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).expect(name).parse().expect("a number")
}

/// The areas of all texts, reckoned from the font's size.
fn text_areas(document: &roxmltree::Document<'_>) -> Vec<(String, Area)> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let area = |node: roxmltree::Node<'_, '_>| {
        let text = node.text().expect("a label").to_owned();
        let (x, y, width) = (number(node, "x"), number(node, "y"), panel::text_width(&text));
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        (text, [left, y - 0.75 * panel::FONT_SIZE, left + width, y + 0.22 * panel::FONT_SIZE])
    };
    texts.map(area).collect()
}

fn check(rows: &[Row]) {
    let svg = picture(rows);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let root = document.root_element();
    let (width, height) = (number(root, "width"), number(root, "height"));
    let areas = text_areas(&document);
    for (place, (text, [left, top, right, bottom])) in areas.iter().enumerate() {
        assert!(
            *left >= 0.0 && *right <= width && *top >= 0.0 && *bottom <= height,
            "'{text}' is cut off at {left:.0}, {top:.0}"
        );
        for (other, [l, t, r, b]) in &areas[..place] {
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "'{text}' and '{other}' overlap at {left:.0}, {top:.0}");
        }
    }
}

#[test]
fn labels_do_not_overlap() {
    let two = [Engine::Subtrees, Engine::Halves];
    let many: Vec<usize> = (1..=64).collect();
    let sizes = |first: u32, last: u32| (first..=last).collect::<Vec<u32>>();
    for sizes in [vec![16], vec![8, 20], sizes(9, 18), sizes(0, 32), sizes(12, 13)] {
        for threads in [&[1][..], &[2], &[1, 2], &[1, 2, 4, 8, 16, 32, 64], &many, &[7, 4096]] {
            check(&rows(&two, &sizes, threads));
            check(&rows(&[Engine::Halves], &sizes, threads));
            check(&rows(&Engine::ALL, &sizes, threads));
        }
    }
}

#[test]
fn engines_that_are_equally_fast_have_labels_apart() {
    let mut equal = rows(&Engine::ALL, &[10, 11], &[1, 2]);
    for row in &mut equal {
        row.seconds = Spread { median: 1.0, min: 1.0, max: 1.0 };
    }
    check(&equal);
}

#[test]
fn there_is_a_line_for_each_engine_and_a_second_panel_only_if_threads_differ() {
    let lines = |rows: &[Row]| {
        let svg = picture(rows);
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        ["time", "speed-up"].map(|class| {
            let mut panels = document.descendants();
            let panel = panels.find(|node| node.attribute("class") == Some(class));
            panel.map(|panel| {
                panel.descendants().filter(|node| node.has_tag_name("polyline")).count()
            })
        })
    };
    assert_eq!(lines(&rows(&Engine::ALL, &[8, 9], &[2])), [Some(7), None]);
    assert_eq!(lines(&rows(&Engine::ALL[5..], &[8, 9], &[1, 2])), [Some(2), Some(2)]);

    // An engine that was left out on the larger board shows its speed-up on the smaller one.
    let mut some = rows(&Engine::ALL[4..], &[8, 9], &[1, 2]);
    some.retain(|row| row.n == 8 || row.engine != Engine::Bitmask);
    assert_eq!(lines(&some), [Some(3), Some(3)]);
    assert!(picture(&some).contains("bitmask, n = 8") && picture(&some).contains("halves, n = 9"));
}
