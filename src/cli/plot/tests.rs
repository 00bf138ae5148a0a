//! Pictures as XML: no two labels overlap, nothing lies outside, every engine has its points.

use std::collections::BTreeSet;

use super::*;

/// Every engine takes seven times as long for the next board, and half the time of the engine before
/// it.
fn rows(engines: &[Engine], sizes: &[u32], threads: &[usize]) -> Vec<Timing> {
    let mut rows = Vec::new();
    for (n, threads) in sizes.iter().flat_map(|n| threads.iter().map(move |threads| (*n, *threads)))
    {
        for (place, engine) in (0..).zip(engines) {
            let seconds = 7f64.powf(f64::from(n) - 14.0) * 0.5f64.powi(place);
            let threads_in_all = f64::from(u32::try_from(threads).expect("few"));
            let median = (seconds / threads_in_all.powf(0.9)).max(1e-6);
            rows.push(Timing {
                n,
                engine: *engine,
                kernel: Kernel::Portable,
                threads,
                repeats: 5,
                median_seconds: median,
                min_seconds: median * 0.9,
                max_seconds: median * 1.3,
                solutions_per_second: 1.0,
                ratio: None,
                efficiency: 1.0,
                total: 1,
                cpu: "A <CPU> & \"a\x1bnother\"".repeat(9),
                ratio_error: None,
                reference: String::new(),
                run_seconds: Vec::new(),
            });
        }
    }
    rows
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

fn check(rows: &[Timing]) {
    let svg = picture(rows);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let height = document.root_element().attribute("height").expect("a height");
    let height: f64 = height.parse().expect("a number");
    let texts = texts(&svg);
    for (place, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
        let inside = *left >= 0.0 && *right <= 900.0 && *top >= 0.0 && *bottom <= height;
        assert!(inside, "'{text}' is cut off at {left:.0}, {top:.0}");
        for (other, [l, t, r, b]) in &texts[..place] {
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "'{text}' and '{other}' overlap at {left:.0}, {top:.0}");
        }
    }
}

#[test]
fn a_caption_with_any_name_of_a_cpu_is_text() {
    let mut rows = rows(&Engine::ALL, &[8, 9], &[1]);
    rows.iter_mut().for_each(|row| row.cpu = "\u{61c}<\u{202e}".to_owned());
    let svg = picture(&rows);
    assert!(svg.starts_with(BEGINNING), "{svg}");
    assert!(svg.contains(r"; 1 thread, \u{61c}&lt;\u{202e}<"), "{svg}");
}

#[test]
fn labels_do_not_overlap() {
    let sizes = |first: u32, last: u32| (first..=last).collect::<Vec<u32>>();
    let many: Vec<usize> = (1..=64).collect();
    for sizes in [vec![16], vec![8, 20], sizes(9, 18), sizes(0, 32)] {
        for threads in [&[1][..], &[1, 2], &[1, 2, 4, 8, 16, 32, 64], &many, &[7, 4096]] {
            check(&rows(&Engine::ALL[5..], &sizes, threads));
            check(&rows(&Engine::ALL, &sizes, threads));
        }
    }
}

#[test]
fn every_engine_has_its_points_with_every_kernel() {
    let markers = |rows: &[Timing], engine| {
        let place = Engine::ALL.iter().position(|other| *other == engine).expect("an engine");
        let (_, marker) = STYLES[place];
        picture(rows).matches(&format!("d=\"{marker}\"")).count()
    };
    let legend = 1;
    for engine in Engine::ALL {
        for threads in [&[2][..], &[1, 2]] {
            assert_eq!(markers(&rows(&Engine::ALL, &[8, 9], threads), engine), legend + 2);
        }
    }
    let mut all = rows(&Engine::ALL, &[8, 9], &[1]);
    for kernel in Kernel::available().into_iter().skip(1) {
        let with_kernels = Engine::ALL.map(|engine| engine.has_kernels().then_some(engine));
        let with_kernels: Vec<Engine> = with_kernels.into_iter().flatten().collect();
        all.extend(
            rows(&with_kernels, &[8, 9], &[1]).into_iter().map(|row| Timing { kernel, ..row }),
        );
    }
    check(&all);
    let kernels = Kernel::available().len();
    assert_eq!(markers(&all, Engine::Colours), legend + 2 * kernels);
    assert_eq!(markers(&all, Engine::Bitmask), legend + 2);
    for kernel in Kernel::available() {
        let named = picture(&all).contains(&format!(">{kernel}</text>"));
        assert_eq!(named, kernels > 1, "{kernel}");
    }
}

#[test]
fn no_two_kernels_look_alike() {
    let looks: BTreeSet<_> = (0..DASHES.len()).map(|place| style(Some(place), "#123")).collect();
    assert_eq!(looks.len(), DASHES.len());
}

#[test]
fn no_two_engines_look_alike() {
    assert_eq!(STYLES.len(), Engine::ALL.len());
    for (place, (colour, marker)) in STYLES.into_iter().enumerate() {
        for other in &STYLES[..place] {
            assert!(colour != other.0 && marker != other.1, "{colour}");
        }
    }
}
