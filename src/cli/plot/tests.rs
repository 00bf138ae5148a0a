//! Pictures as XML: no two labels overlap, nothing lies outside, every engine has its points.

use plotters::element::PointCollection;

use super::*;

/// Every engine takes seven times as long for the next board, and half the time of the engine before
/// it.
fn rows(engines: &[Engine], sizes: &[u32], threads: &[usize]) -> Vec<Timing> {
    let mut rows = Vec::new();
    for (n, threads) in sizes.iter().flat_map(|n| threads.iter().map(move |threads| (*n, *threads)))
    {
        for (place, engine) in (0..).zip(engines) {
            let seconds = 7f64.powf(f64::from(n) - 14.0) * 0.5f64.powi(place);
            let median = (seconds / log2(threads).exp2().powf(0.9)).max(1e-6);
            rows.push(Timing {
                n,
                engine: *engine,
                kernel: "portable".to_owned(),
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
                reference_engine: String::new(),
                reference_threads: None,
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
        let text = node.text().expect("a label").trim().to_owned();
        let number = |name| node.attribute(name).expect(name).parse::<f64>().expect("a number");
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        let width = f64::from(u32::try_from(text.chars().count()).expect("short")) * size * 0.55;
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        let top = match node.attribute("dy") {
            Some("0.76em") => y,
            Some("0.5ex") => y - size / 2.0,
            _ => y - size,
        };
        (text, [left, top, left + width, top + size])
    };
    nodes.map(area).collect()
}

fn check(rows: &[Timing]) {
    let texts = texts(&picture(rows).expect("a picture"));
    for (place, (text, [left, top, right, bottom])) in texts.iter().enumerate() {
        let inside = *left >= 0.0 && *right <= 900.0 && *top >= 0.0 && *bottom <= 460.0;
        assert!(inside, "'{text}' is cut off at {left:.0}, {top:.0}");
        for (other, [l, t, r, b]) in &texts[..place] {
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "'{text}' and '{other}' overlap at {left:.0}, {top:.0}");
        }
    }
}

/// plotters has not changed how it begins, and a caption with any name of a CPU is text.
#[test]
fn a_picture_begins_as_promised() {
    let mut svg = String::new();
    let mut rows = rows(&Engine::ALL, &[8, 9], &[1]);
    rows.iter_mut().for_each(|row| row.cpu = "\u{61c}<\u{202e}".to_owned());
    draw(SVGBackend::with_string(&mut svg, SIZE).into_drawing_area(), &rows).expect("a picture");
    let (head, title) = BEGINNING.split_once('\n').expect("two lines");
    assert_eq!(svg.lines().next(), Some(head));
    assert_eq!(title, format!("<title>{TITLE}</title>\n"));
    assert!(svg.contains(r"1 thread; \u{61c}&lt;\u{202e}"), "{svg}");
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
fn every_engine_has_its_points_and_a_second_panel_comes_only_if_threads_differ() {
    let markers = |rows: &[Timing], engine| {
        let svg = picture(rows).expect("a picture");
        let RGBColor(red, green, blue) = style(engine).0;
        let marker = format!("<polygon opacity=\"1\" fill=\"#{red:02X}{green:02X}{blue:02X}\"");
        svg.matches(&marker).count()
    };
    let legend = 1;
    for engine in Engine::ALL {
        assert_eq!(markers(&rows(&Engine::ALL, &[8, 9], &[2]), engine), legend + 2, "{engine}");
        assert_eq!(markers(&rows(&Engine::ALL, &[8, 9], &[1, 2]), engine), legend + 3, "{engine}");
    }
    // An engine that was left out on the larger board shows its speed-up on the smaller one.
    let mut some = rows(&Engine::ALL, &[8, 9], &[1, 2]);
    some.retain(|row| row.n == 8 || row.engine != Engine::Bitmask);
    assert_eq!(markers(&some, Engine::Bitmask), legend + 2);
}

#[test]
fn powers_of_ten_are_written_as_such() {
    assert_eq!([-5.0, 0.0, 1.0, 12.0].map(ten_to), ["10⁻⁵", "10⁰", "10¹", "10¹²"]);
}

#[test]
fn no_two_engines_look_alike() {
    let outline = |engine| (&style(engine).1).point_iter().to_vec();
    for (place, engine) in Engine::ALL.into_iter().enumerate() {
        for other in &Engine::ALL[..place] {
            assert_ne!(style(engine).0, style(*other).0, "give {engine} a colour");
            assert_ne!(outline(engine), outline(*other), "give {engine} a marker");
        }
    }
}
