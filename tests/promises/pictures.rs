//! Promise: the pictures of `list` and `compare` are well-formed, show what they name, can be drawn by old readers, and
//! replace only files that are named as pictures. README.md makes this promise under "Use it". The pictures in docs/
//! can be made again.

use std::collections::BTreeSet;
use std::process::Command;

use super::compare::{compare, rows};
use crate::common::{arg, fresh, output, refused, run, stderr, stdout, version};

const SVG: &str = "http://www.w3.org/2000/svg";

/// The namespace of the links that old readers of SVG follow.
const XLINK: &str = "http://www.w3.org/1999/xlink";

/// Inkscape 1.2 and Qt draw no symbols, and follow no links without the prefix `xlink`.
fn check_for_old_readers(name: &str, picture: &str) {
    let document = roxmltree::Document::parse(picture).expect("well-formed");
    assert!(!picture.contains(" href="), "{name} has a link without a prefix");
    let mut named = BTreeSet::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(!node.has_tag_name((SVG, "symbol")), "{name} has a symbol");
        // Qt does not raise a part of a text either.
        assert!(!node.has_tag_name((SVG, "tspan")), "{name} has a part of a text");
        named.extend(node.attribute("id"));
        if node.has_tag_name((SVG, "use")) {
            let link = node.attribute((XLINK, "href")).expect("a link");
            let target = link.strip_prefix('#').expect("within the picture");
            assert!(named.contains(target), "{name}: {link} is not defined above its use");
        }
    }
}

#[test]
fn every_picture_keeps_to_what_old_readers_draw() {
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "12", "--fundamental"]);
    assert_eq!(stdout(&drawn).matches("xlink:href=\"#queen\"").count(), 8 * 12);
    // A queen is drawn in a box of 100 by 100, and a square has the length 1.
    assert!(stdout(&drawn).contains("<g id=\"queen\" transform=\"scale(0.01)\">"), "{drawn:?}");
    check_for_old_readers("list", stdout(&drawn));
    let file = crate::common::fresh("old-readers.svg");
    // Times, and a speed-up.
    for threads in ["1", "1,2"] {
        let compare = ["compare", "6", "--threads", threads, "--repeat", "1", "--svg"];
        let compared = output(&[&compare[..], &[crate::common::arg(&file)]].concat());
        assert_eq!(compared.status.code(), Some(0), "{compared:?}");
        check_for_old_readers("compare", &std::fs::read_to_string(&file).expect("a picture"));
    }
    for entry in std::fs::read_dir("docs/pictures").expect("the package has pictures") {
        let path = entry.expect("readable").path();
        check_for_old_readers(
            &path.display().to_string(),
            &std::fs::read_to_string(&path).expect("a picture"),
        );
    }
}

/// The first picture of the README is what `list` draws.
#[test]
fn the_board_of_the_readme_is_the_one_that_list_draws() {
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "1"]);
    let board = std::fs::read_to_string("docs/pictures/board.svg").expect("a picture");
    assert!(
        stdout(&drawn) == board,
        "nqueens list 8 --style svg --limit 1 > docs/pictures/board.svg"
    );
}

/// The picture of other programs is drawn from the measurements that docs/PERFORMANCE.md names.
#[test]
fn the_picture_of_other_programs_is_drawn_from_the_recorded_times() {
    let script = "scripts/compare-peers.py";
    if !super::check_unit::has_python(script) {
        return;
    }
    let page = std::fs::read_to_string("docs/PERFORMANCE.md").expect("a page");
    let record = "benches/record/2026-11-29-zen4-peers.csv";
    assert!(page.contains(record), "{record} is not in docs/PERFORMANCE.md");
    let mut draw = Command::new("python3");
    let drawn = run(draw.args([script, "--picture", record]));
    let picture = std::fs::read_to_string("docs/pictures/peers.svg").expect("a picture");
    assert!(stdout(&drawn) == picture, "{script} --picture {record} > docs/pictures/peers.svg");
}

#[test]
fn a_picture_of_nothing_is_one_too() {
    let drawn = output(&["list", "3", "--style", "svg", "--limit", "9"]);
    assert!(stdout(&drawn).contains("<title>3 queens: 0 solutions</title>"), "{drawn:?}");
    // Without a search, nothing is said of the number of solutions.
    let drawn = output(&["list", "8", "--style", "svg", "--limit", "0"]);
    assert!(stdout(&drawn).contains("<title>8 queens</title>"), "{drawn:?}");
}

/// A picture is well-formed, each queen stands on its square, and boards do not overlap.
#[test]
fn pictures_are_well_formed_and_free_of_overlaps() {
    for (n, boards, classes) in
        [(1, 1, true), (8, 12, true), (8, 92, false), (20, 7, true), (32, 2, false)]
    {
        let text = n.to_string();
        let limit = boards.to_string();
        let fundamental = if classes { &["--fundamental"][..] } else { &[] };
        let list = ["list", &text, "--style", "svg", "--limit", &limit];
        let drawn = output(&[&list, fundamental].concat());
        let picture = stdout(&drawn);
        assert_eq!(picture.matches(">class of ").count(), if classes { boards } else { 0 });
        let document = roxmltree::Document::parse(picture).expect("well-formed");
        let view: Vec<f64> = document
            .root_element()
            .attribute("viewBox")
            .expect("a view box")
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let mut corners = Vec::new();
        for group in document.descendants() {
            let transform = group.attribute("transform").unwrap_or_default();
            let Some(place) = transform.strip_prefix("translate(") else { continue };
            let place = place.trim_end_matches(')');
            let (x, y) = place.split_once(' ').expect("two numbers");
            let x: u32 = x.parse().expect("a number");
            let y: u32 = y.parse().expect("a number");
            assert!(f64::from(x + n) <= view[2] && f64::from(y + n) <= view[3], "on the sheet");
            corners.push((x, y));
            let queens: BTreeSet<(&str, &str)> = group
                .children()
                .filter(|node| node.attribute((XLINK, "href")) == Some("#queen"))
                .map(|node| (node.attribute("x").expect("x"), node.attribute("y").expect("y")))
                .collect();
            assert_eq!(queens.len(), n as usize);
            // Of all boards, the first has its queens furthest to the left from row 1 on, which is drawn last.
            if corners.len() == 1 {
                let bottom = (n - 1).to_string();
                assert!(queens.contains(&("0", &bottom)), "{queens:?}");
            }
        }
        assert_eq!(corners.len(), boards);
        for (place, one) in corners.iter().enumerate() {
            for other in &corners[..place] {
                let apart = one.0.abs_diff(other.0) > n || one.1.abs_diff(other.1) > n;
                assert!(apart, "boards at {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn the_picture_names_what_it_shows() {
    let svg = fresh("drawn.svg");
    let engines = ["8..=10", "--engines", "bitmask,board-scan", "--threads", "1,2"];
    let options = ["--repeat", "2", "--svg", svg.to_str().expect("text")];
    let rows = rows(&[&engines[..], &options].concat());
    let cpu = rows[0]["cpu"].as_str().expect("a name");
    assert!(!cpu.trim().is_empty(), "{rows:?}");
    let picture = std::fs::read_to_string(&svg).expect("it was written");
    let document =
        roxmltree::Document::parse(&picture).expect("well-formed, with nothing after it");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let texts: Vec<&str> = texts.filter_map(|node| node.text()).map(str::trim).collect();
    for wanted in ["n", "seconds", "board-scan", "bitmask"] {
        assert!(texts.contains(&wanted), "{wanted} is missing in {texts:?}");
    }
    // A caption that would leave the picture is cut.
    let caption = format!("median of 2 runs; bars: least to greatest; 1 thread, {cpu}");
    let caption: String = caption.chars().take(105).collect();
    assert!(texts.contains(&caption.trim_end()), "no '{caption}' in {texts:?}");
    let origin = format!("; nqueens {}", version());
    assert!(texts.iter().any(|text| text.ends_with(&origin)), "no '{origin}' in {texts:?}");
}

#[test]
fn several_numbers_of_threads_on_one_board_are_drawn_as_speed_up() {
    let svg = fresh("speed-up.svg");
    let args = ["9", "--engines", "bitmask", "--threads", "1,2", "--repeat", "2", "--svg"];
    let measured = compare(&[&args[..], &[crate::common::arg(&svg)]].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let picture = std::fs::read_to_string(&svg).expect("it was written");
    for wanted in [">speed-up (grey: perfect scaling)<", ">threads<", ">bitmask, n = 9<"] {
        assert!(picture.contains(wanted), "{wanted} is missing in {picture}");
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error_before_the_runs() {
    let output = compare(&["16", "--svg", "/nowhere/picture.svg"]);
    refused(&output, 2, &["--svg: cannot write /nowhere/picture.svg: No such file"]);
}

#[cfg(unix)]
#[test]
fn a_picture_replaces_what_is_named_svg_and_nothing_else() {
    let folder = crate::common::fresh_folder("compare-picture");
    let in_folder = |name: &str| arg(&folder.join(name)).to_owned();
    let picture = in_folder("p.svg");
    let link = in_folder("link.svg");
    let target = in_folder("mine");
    let journal = in_folder("q.journal");
    let draw = |path: &str| compare(&["6", "--repeat", "1", "--threads", "1", "--svg", path]);
    std::fs::write(&target, "mine").expect("room");
    std::os::unix::fs::symlink(&target, &link).expect("room");
    for path in [&picture, &picture, &link] {
        assert_eq!(draw(path).status.code(), Some(0));
        assert!(std::fs::read_to_string(path).expect("a picture").starts_with("<svg "));
    }
    assert_eq!(std::fs::read_to_string(&target).expect("a file"), "mine", "links are not followed");
    crate::common::journal_of("8", std::path::Path::new(&journal), &[]);
    let before = std::fs::read(&journal).expect("a file");
    for path in [&journal, "src", "/dev/null"] {
        refused(&draw(path), 2, &["--svg <FILE>", path, "name a file that ends in .svg"]);
    }
    assert_eq!(std::fs::read(&journal).expect("a file"), before);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 4, "nothing temporary");
}

#[test]
fn a_command_that_measures_nothing_leaves_no_picture() {
    let svg = fresh("failed.svg");
    let path = svg.to_str().expect("text");
    let left_out = compare(&["24", "--engines", "permutation", "--svg", path]);
    assert_eq!(left_out.status.code(), Some(1));
    assert!(!svg.exists(), "nothing was measured");
}
