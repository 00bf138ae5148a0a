//! Tests that the units of every engine count each solution as often as they should.

use super::unit::RowDomains;
use super::*;
use crate::board::solution::Solution;
use crate::board::solutions::Solutions;
use crate::cancel::Cancel;

/// Returns the kernels that this CPU can run, and prints the names of the others, which a test skips.
pub(super) fn kernels() -> Vec<Kernel> {
    let available = Kernel::available();
    for name in Kernel::NAMES {
        if available.iter().all(|kernel| kernel.name() != name) {
            eprintln!("skipped: this CPU has no {name}");
        }
    }
    available
}

/// Makes pseudo-random numbers with a fixed seed, so that failures can be reproduced.
pub(super) fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(11)
}

pub(super) fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

pub(super) fn units(engine: Engine, n: u32, split_rows: usize) -> Box<dyn Units> {
    engine.units(size(n), split_rows)
}

/// Returns how many times a unit counts the solution with these queens, one bit for each row.
fn times(domains: &RowDomains, queens: &[u32]) -> u64 {
    if queens.iter().zip(&domains.allowed).any(|(queen, allowed)| queen & allowed == 0) {
        return 0;
    }
    let is_white = |row: &usize| queens[*row].trailing_zeros() as usize % 2 == row % 2;
    let white = (0..queens.len()).filter(is_white).map(|row| queens[row]).sum();
    domains.weight.as_ref().map_or(1, |weight| weight(white))
}

/// Checks the reduction by symmetry, orbit by orbit: with their weights, the units count the images
/// of a solution exactly as many times as there are distinct images.
fn check_orbits(engine: Engine, n: u32, split_rows: usize) {
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
        let largest = if matches!(engine, Engine::Colours) { 13 } else { 9 };
        for n in 0..=largest {
            let split_rows = if engine == Engine::Subtrees { subtrees::MAX_SPLIT_ROWS } else { 1 };
            (1..=split_rows).for_each(|rows| check_orbits(engine, n, rows));
        }
    }
}

#[test]
fn the_plain_backtracker_counts_what_the_units_say() {
    for (engine, n) in Engine::ALL.into_iter().flat_map(|engine| (0..10).map(move |n| (engine, n)))
    {
        let units = units(engine, n, 2);
        let queens =
            |solution: Solution| solution.columns().iter().map(|column| 1 << column).collect();
        let solutions: Vec<Vec<u32>> = Solutions::new(size(n)).map(queens).collect();
        for unit in 0..units.len() {
            let domains = units.domains(unit);
            let counted = solutions.iter().map(|queens| times(&domains, queens)).sum();
            assert_eq!(
                count_domains(&domains, &Cancel::new()),
                Ok(counted),
                "{engine}, n = {n}, unit {unit}"
            );
        }
    }
}
