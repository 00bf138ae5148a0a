//! What `verify` promises: a wrong count is found as often as sampling can find it.

use std::fs;
use std::path::{Path, PathBuf};

use nqueens::journal::{self, Contents};
use nqueens::verify::{Sample, verify};
use nqueens::{BoardSize, Cancel, Count, Engine, Kernel};

/// A finished journal of a small board, one unit a line.
fn finished(name: &str, engine: Engine) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("verify-{name}.journal"));
    let _ = fs::remove_file(&path);
    let size = BoardSize::new(10).expect("in range");
    Count::new(size).engine(engine).threads(1).journal(&path).run().expect("a count");
    path
}

fn read(path: &Path) -> Contents {
    journal::read(path).expect("readable").expect("a journal")
}

/// Adds one to the counts of every `step`-th line, with sums and CRCs made to fit; returns how many
/// units were changed.
fn falsify(path: &Path, step: usize) -> usize {
    let plan = read(path).plan;
    let text = fs::read_to_string(path).expect("text");
    let mut changed = 0;
    let lines = text.lines().enumerate().map(|(number, line)| {
        let sealed = line.rsplit_once(' ').expect("a CRC").0;
        let Some(fields) = sealed.strip_prefix("done ") else { return line.to_owned() + "\n" };
        let field = |name: &str| {
            let value = fields.split(' ').find_map(|field| field.strip_prefix(name));
            value.expect("a field of a done line")
        };
        let (start, end) = field("units=").split_once("..").expect("a range");
        let start: usize = start.parse().expect("a number");
        if number % step != 0 || end != (start + 1).to_string() {
            return line.to_owned() + "\n";
        }
        changed += 1;
        let count: u64 = field("counts=").parse::<u64>().expect("one count") + 1;
        let solutions = count * plan.weight(start);
        let (elapsed, busy) = (field("elapsed-ms="), field("busy-us="));
        let text = format!(
            "done units={start}..{end} solutions={solutions} elapsed-ms={elapsed} busy-us={busy} \
             counts={count}"
        );
        format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
    });
    let text: String = lines.collect();
    fs::write(path, text).expect("the folder can be written");
    changed
}

fn differences(contents: &Contents, units: usize, seed: u64) -> usize {
    let sample = Sample { units, seed };
    let verdict = verify(
        &contents.plan,
        &contents.finished,
        sample,
        Kernel::detect(),
        &|| (),
        &Cancel::new(),
    );
    let verdict = verdict.expect("a verdict");
    assert_eq!(verdict.recounted, units.min(contents.finished.units_done()));
    verdict.differences.len()
}

#[test]
fn a_true_journal_has_no_differences() {
    for engine in [Engine::Halves, Engine::Subtrees, Engine::BoolArrays] {
        let contents = read(&finished(&format!("true-{engine}"), engine));
        assert_eq!(differences(&contents, usize::MAX, 1), 0, "{engine}");
        let all = verify(
            &contents.plan,
            &contents.finished,
            Sample { units: 5, seed: 2 },
            Kernel::Portable,
            &|| (),
            &Cancel::new(),
        );
        let all = all.expect("a verdict");
        assert_ne!(all.method, engine.name(), "in another way");
        assert_eq!((all.chosen, all.recounted), (5, 5));
    }
}

#[test]
fn every_falsified_unit_is_found_if_all_are_recounted() {
    for step in [1, 7, 50] {
        let path = finished("all", Engine::Halves);
        let changed = falsify(&path, step);
        assert!(changed > 0);
        assert_eq!(differences(&read(&path), usize::MAX, 1), changed);
    }
}

/// With `wrong` of `units` falsified, k units are all right with probability
/// (U - w)(U - w - 1).../(U (U - 1)...): seen over many seeds within four standard errors.
#[test]
fn falsified_units_are_found_as_often_as_sampling_promises() {
    let path = finished("sampled", Engine::Halves);
    let wrong = falsify(&path, 20);
    let contents = read(&path);
    let units = contents.finished.units_done();
    for sample in [5, 20, 60] {
        let missed: f64 = (0..sample)
            .map(|taken| (units - wrong - taken) as f64 / (units - taken) as f64)
            .product();
        let trials = 400;
        let found = (0..trials).filter(|seed| differences(&contents, sample, *seed) > 0).count();
        let expected = trials as f64 * (1.0 - missed);
        let error = (trials as f64 * missed * (1.0 - missed)).sqrt();
        assert!(
            (found as f64 - expected).abs() <= 4.0 * error + 1.0,
            "{wrong} of {units} wrong, {sample} recounted: {found} of {trials}, expected {expected:.1}"
        );
    }
}

#[test]
fn the_same_seed_chooses_the_same_units() {
    let path = finished("seed", Engine::Halves);
    falsify(&path, 3);
    let contents = read(&path);
    let of = |seed| {
        let sample = Sample { units: 15, seed };
        verify(&contents.plan, &contents.finished, sample, Kernel::detect(), &|| (), &Cancel::new())
            .expect("a verdict")
    };
    assert_eq!(of(4), of(4));
    assert_ne!(of(4).differences, of(5).differences);
}

#[test]
fn the_strength_of_the_evidence_is_that_of_the_sample() {
    let contents = read(&finished("strength", Engine::Subtrees));
    let units = contents.finished.units_done();
    let part = |sample| {
        let sample = Sample { units: sample, seed: 1 };
        let verdict = verify(
            &contents.plan,
            &contents.finished,
            sample,
            Kernel::detect(),
            &|| (),
            &Cancel::new(),
        );
        verdict.expect("a verdict").undetected_part(units)
    };
    assert_eq!(part(0), 1.0);
    assert!((part(59) - 0.0495).abs() < 1e-3, "three in sixty: {}", part(59));
    assert_eq!(part(units), 0.0);
}

#[test]
fn a_cancelled_check_says_how_far_it_came() {
    let contents = read(&finished("cancelled", Engine::Halves));
    let cancel = Cancel::new();
    cancel.cancel();
    let verdict = verify(
        &contents.plan,
        &contents.finished,
        Sample { units: 9, seed: 1 },
        Kernel::detect(),
        &|| (),
        &cancel,
    );
    let verdict = verdict.expect("a verdict");
    assert_eq!((verdict.chosen, verdict.recounted), (9, 0));
}
