//! Pictures as XML: no two labels overlap, nothing lies outside, every line has its points.

use std::collections::BTreeSet;

use crate::BoardSize;

use super::*;
use crate::cli::commands::compare::statistics::Configuration;

/// Every engine takes seven times as long for the next board, and half the time of the engine before
/// it.
fn rows(engines: &[Engine], sizes: &[u32], threads: &[usize]) -> Vec<Timings> {
    let mut rows = Vec::new();
    for &n in sizes {
        for &threads in threads {
            for (place, &engine) in (0..).zip(engines) {
                let seconds = 7f64.powf(f64::from(n) - 14.0) * 0.5f64.powi(place);
                let median = (seconds / (threads as f64).powf(0.9)).max(1e-6);
                rows.push(Timings {
                    size: BoardSize::new(n).expect("in range"),
                    configuration: Configuration { engine, kernel: Kernel::PORTABLE, threads },
                    total: 1,
                    units: 1 << 16,
                    cpu_seconds: 4.0 * median * threads as f64,
                    seconds: [0.9, 1.0, 1.0, 1.0, 1.3].map(|part| part * median).to_vec(),
                });
            }
        }
    }
    rows
}

fn draw(rows: &[Timings]) -> String {
    picture(rows, &format!("1.0.0+{}", "0123456789".repeat(9)), &"A <CPU> & \"another\"".repeat(9))
}

/// The texts, each with its left, top, right and bottom.
fn texts(svg: &str) -> Vec<(String, [f64; 4])> {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    let nodes = document.descendants().filter(|node| node.has_tag_name("text"));
    let area = |node: roxmltree::Node<'_, '_>| {
        let text: String = node
            .descendants()
            .filter(roxmltree::Node::is_text)
            .filter_map(|node| node.text())
            .collect();
        let number = |name| node.attribute(name)?.parse::<f64>().ok();
        let (x, y) = number("x").zip(number("y")).expect("a place");
        let size = number("font-size").unwrap_or(15.0);
        let width = f64::from(u32::try_from(text.chars().count()).expect("short")) * size * 0.55;
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        (text, [left, y - size, left + width, y])
    };
    nodes.map(area).collect()
}

fn check(rows: &[Timings]) {
    let svg = draw(rows);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let height = document.root_element().attribute("height").expect("a height");
    let height: f64 = height.parse().expect("a number");
    let texts = texts(&svg);
    for (place, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
        let inside = *left >= 0.0 && *right <= 960.0 && *top >= 0.0 && *bottom <= height;
        assert!(inside, "'{text}' is cut off at {left:.0}, {top:.0}");
        for (other, [l, t, r, b]) in &texts[..place] {
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "'{text}' and '{other}' overlap at {left:.0}, {top:.0}");
        }
    }
}

#[test]
fn labels_do_not_overlap() {
    let sizes = |first: u32, last: u32| (first..=last).collect::<Vec<u32>>();
    let many: Vec<usize> = (1..=64).collect();
    for sizes in [vec![16], vec![8, 20], sizes(9, 18), sizes(0, 32)] {
        for threads in [&[1][..], &[1, 2], &[1, 2, 4, 8, 16, 32, 64], &many, &[7, 4096]] {
            check(&rows(&Engine::ALL[5..], &sizes, threads));
            check(&with_kernels(&rows(Engine::ALL, &sizes, threads)));
        }
    }
}

/// Repeats the rows of engines that have kernels for all kernels of this machine.
fn with_kernels(rows: &[Timings]) -> Vec<Timings> {
    let mut all = Vec::new();
    for row in rows {
        let has_kernels = row.configuration.engine.has_kernels();
        let kernels = if has_kernels { Kernel::available() } else { vec![Kernel::PORTABLE] };
        for kernel in kernels {
            let configuration = Configuration { kernel, ..row.configuration };
            all.push(Timings { configuration, ..row.clone() });
        }
    }
    all
}

#[test]
fn every_engine_with_every_kernel_has_its_points_on_the_fewest_threads() {
    for threads in [&[2][..], &[1, 2]] {
        let rows = with_kernels(&rows(Engine::ALL, &[8, 9, 10], threads));
        check(&rows);
        let svg = draw(&rows);
        for (engine, colour) in Engine::ALL.iter().copied().zip(COLOURS) {
            let lines = if engine.has_kernels() { Kernel::available().len() } else { 1 };
            let points = svg.matches(&format!("fill=\"{colour}\"></circle>")).count();
            // The legend has one, too.
            assert_eq!(points, 4 * lines, "{engine} on {threads:?}");
        }
        let fastest = format!("colours {}", Kernel::detect());
        for name in ["bitmask", "subtrees portable", &fastest] {
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name} in {svg}");
        }
        let caption = format!(
            "median of 5 runs; bars: least to greatest; {}, A &lt;CPU&gt;",
            many(threads[0], "thread")
        );
        assert!(svg.contains(&caption), "{svg}");
        // The runs are too short to say how busy the machine was.
        let origin = format!(">{}; nqueens 1.0.0+0123456789", today());
        assert!(svg.contains(&origin), "{svg}");
    }
}

/// Of 5.2 s in five runs, four were CPU time.
#[test]
fn the_caption_says_how_busy_the_machine_was() {
    let svg = draw(&rows(Engine::ALL, &[14, 15], &[2]));
    let origin =
        format!(">{}; each thread had a CPU for at least 77% of the time; nqueens ", today());
    assert!(svg.contains(&origin), "{svg}");
}

#[test]
fn a_speed_up_has_a_line_for_each_board_and_that_of_perfect_scaling() {
    // On 1, 2 and 4 threads, in any order, the time falls by 2^0.9 for each doubling.
    for (sizes, hollow) in [(&[16][..], 0), (&[16, 18], 4)] {
        let mut rows = rows(&[Engine::Colours], sizes, &[4, 1, 2]);
        rows[0].seconds = vec![1.0, 2.0];
        let svg = draw(&rows);
        check(&rows);
        let circles = |colour: &str| svg.matches(&format!("fill=\"{colour}\"></circle>")).count();
        assert_eq!((circles("#c44a00"), circles("#fff")), (4, hollow), "{svg}");
        let texts: Vec<String> = texts(&svg).into_iter().map(|(text, _)| text).collect();
        for size in sizes {
            let name = format!("colours portable, n = {size}");
            assert_eq!(texts.iter().filter(|text| **text == name).count(), 1, "{texts:?}");
        }
        for wanted in ["threads", "speed-up (grey: perfect scaling)", "1", "2", "4"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is missing in {texts:?}");
        }
        assert!(svg.contains("least to greatest; speed-up to 1 thread, A &lt;CPU&gt;"), "{svg}");
    }
    let colours = Configuration { engine: Engine::Colours, kernel: Kernel::PORTABLE, threads: 4 };
    let on = |threads, seconds: &[f64]| Timings {
        size: BoardSize::new(16).expect("in range"),
        configuration: Configuration { threads, ..colours },
        total: 1,
        units: 1,
        seconds: seconds.to_vec(),
        cpu_seconds: 1.0,
    };
    let all = [on(2, &[2.0]), on(4, &[1.0, 0.5, 2.0])];
    let point = Point::of_speed_up(&all[1], &all, 2).expect("it is there on two threads");
    assert_eq!((point.x, point.ys), (2.0, [2.0, 1.0, 0.0]));
    assert!(Point::of_speed_up(&all[1], &all, 1).is_none(), "left out on one thread");
    assert!(draw(&all).contains("stroke=\"#909090\""));
    assert!(!draw(&all[..1]).contains("#909090"), "one number of threads: time against n");
}

#[test]
fn no_two_lines_look_alike() {
    let different = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(different(&COLOURS), Engine::ALL.len());
    assert_eq!(different(&DASHES), Kernel::NAMES.len());
}
