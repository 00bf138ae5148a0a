//! The units of every engine count each solution as often as they should.

use super::unit::{RowDomains, Weighing};
use super::*;
use crate::board::solution::Solutions;
use crate::cancel::Cancel;

/// The kernels that this CPU can run; prints those that a test skips.
pub(super) fn kernels() -> Vec<Kernel> {
    let available = Kernel::available();
    for name in Kernel::NAMES {
        if available.iter().all(|kernel| kernel.name() != name) {
            eprintln!("skipped: this CPU has no {name}");
        }
    }
    available
}

/// Pseudo-random numbers with a fixed seed, so that failures can be reproduced.
pub(super) fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(11)
}

pub(super) fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

pub(super) fn units(engine: Engine, n: u32, split_rows: u32) -> Box<dyn Units> {
    let split_rows = SplitRows::new(split_rows).expect("in range");
    engine.units(size(n), &FixedQueens::default(), split_rows)
}

/// How many times a unit counts the solution with these queens, one bit for each row.
fn times(domains: &RowDomains, queens: &[u32]) -> u64 {
    if queens.iter().zip(&domains.allowed).any(|(queen, allowed)| queen & allowed == 0) {
        return 0;
    }
    let northern = |weighing: &Weighing| {
        let decides = |row: &usize| weighing.rows >> row & 1 == 1;
        (0..queens.len()).filter(decides).map(|row| queens[row]).sum()
    };
    domains.weighing.as_ref().map_or(1, |weighing| (weighing.weight)(northern(weighing)))
}

/// Checks the reduction by symmetry, orbit by orbit: with their weights, the units count the images
/// of a solution exactly as many times as there are distinct images.
fn check_orbits(engine: Engine, n: u32, split_rows: u32) {
    let units = units(engine, n, split_rows);
    let units: Vec<(u64, RowDomains)> =
        (0..units.len()).map(|unit| (units.weight(unit), units.domains(unit))).collect();
    for solution in Solutions::new(size(n)) {
        let Some(distinct) = solution.class_size() else { continue };
        let mut images = solution.images().to_vec();
        images.sort_unstable();
        images.dedup();
        let mut counted = 0;
        for image in images {
            let queens: Vec<u32> = image.columns().iter().map(|column| 1 << column).collect();
            let weighted = |(weight, domains): &(u64, RowDomains)| weight * times(domains, &queens);
            counted += units.iter().map(weighted).sum::<u64>();
        }
        assert_eq!(counted, distinct as u64, "{engine}, orbit of\n{solution}");
    }
}

#[test]
fn every_orbit_is_counted_once_for_each_of_its_images() {
    for engine in Engine::ALL {
        let largest = if matches!(engine, Engine::Halves | Engine::Colours) { 13 } else { 9 };
        for n in 0..=largest {
            let split_rows = if engine == Engine::Subtrees { SplitRows::MAX } else { 1 };
            (1..=split_rows).for_each(|rows| check_orbits(engine, n, rows));
        }
    }
}

/// The mean of many estimates comes close to the count: within four standard errors of the sum over some
/// units.
#[test]
fn estimates_from_parts_are_right_on_average() {
    let cases = [
        (Engine::Permutation, 8, 1),
        (Engine::BoardScan, 9, 1),
        (Engine::ColumnArray, 9, 1),
        (Engine::BoolArrays, 10, 1),
        (Engine::Bitmask, 11, 1),
        (Engine::Subtrees, 11, 1),
        (Engine::Subtrees, 12, 2),
        // Little memory makes the products small, and the lists come in pieces.
        (Engine::Halves, 15, 2),
        (Engine::Halves, 16, 2),
    ];
    let cancel = Cancel::new();
    for (engine, n, split_rows) in cases {
        for pass in [Pass::First, Pass::Second] {
            if pass == Pass::Second && !engine.has_second_count() {
                continue;
            }
            let (units, mut random) = (units(engine, n, split_rows), random());
            let memory = engine.worker_bytes(size(n));
            let resources = Resources { kernel: Kernel::detect(), threads: 1, memory };
            let prepared = units.prepare(pass, &resources, &cancel).expect("the least memory");
            let mut worker = prepared.worker();
            for depth in 1..=worker.deepest().min(4) {
                let (mut sum, mut variance, mut counted) = (0.0, 0.0, 0.0);
                for _ in 0..40 {
                    let unit = random.usize(..units.len());
                    counted += worker.count(unit, &cancel).expect("a count") as f64;
                    let estimates: [f64; 50] = std::array::from_fn(|_| {
                        let estimate = worker.sample(unit, depth, &mut random, &cancel);
                        estimate.expect("an estimate").solutions
                    });
                    let mean = estimates.iter().sum::<f64>() / 50.0;
                    let squares = estimates.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
                    sum += mean;
                    variance += squares / (49.0 * 50.0);
                }
                let error = 4.0 * variance.sqrt() + 1e-9 * counted;
                let what = format!("{engine}, n = {n}, {pass} count, depth {depth}");
                assert!((sum - counted).abs() <= error, "{what}: {sum} ± {error}, not {counted}");
                assert!(variance > 0.0, "{what}: nothing was left to chance");
            }
        }
    }
}
