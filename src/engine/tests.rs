//! Tests that the units of every engine count each solution as often as they should.

use super::unit::RowDomains;
use super::*;
use crate::board::solution::Solution;
use crate::board::solutions::Solutions;

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
    let mut white = 0;
    for (row, queen) in queens.iter().enumerate() {
        if queen & domains.allowed[row] == 0 {
            return 0;
        }
        if queen.trailing_zeros() as usize % 2 == row % 2 {
            white |= queen;
        }
    }
    match &domains.multiplicity {
        Some(multiplicity) => multiplicity(white),
        None => 1,
    }
}

/// Returns the queen of each row of a solution, one bit for each.
fn queens_of(solution: &Solution) -> Vec<u32> {
    solution.columns().iter().map(|column| 1 << column).collect()
}

/// Checks the reduction by symmetry, orbit by orbit: with their weights, the units count the images of a solution
/// exactly as many times as there are distinct images.
fn check_orbits(engine: Engine, n: u32, split_rows: usize, pass: Pass) {
    let list = units(engine, n, split_rows);
    let mut units: Vec<(u64, RowDomains)> = Vec::new();
    for unit in 0..list.len() {
        units.push((list.weight(unit), list.domains(unit, pass)));
    }
    for solution in Solutions::fundamental(size(n)) {
        let mut images = solution.images().to_vec();
        images.sort_unstable();
        images.dedup();
        let distinct = images.len();
        let mut counted = 0;
        for image in images {
            let queens = queens_of(&image);
            for (weight, domains) in &units {
                counted += weight * times(domains, &queens);
            }
        }
        assert_eq!(counted, distinct as u64, "{engine}, {pass} count, orbit of {solution}");
    }
}

#[test]
fn every_orbit_is_counted_once_for_each_of_its_images() {
    for &engine in Engine::ALL {
        let largest = if engine == Engine::Colours { 13 } else { 9 };
        let most_split_rows = if engine == Engine::Subtrees { subtrees::MAX_SPLIT_ROWS } else { 1 };
        for n in 0..=largest {
            for split_rows in 1..=most_split_rows {
                check_orbits(engine, n, split_rows, Pass::First);
                check_orbits(engine, n, split_rows, Pass::Second);
            }
        }
    }
}

/// A caller may ask an engine about a board before [`Engine::check`] refuses the board.
#[test]
fn every_engine_answers_about_every_board() {
    for &engine in Engine::ALL {
        for n in 0..=BoardSize::MAX {
            let size = size(n);
            let needs_memory = engine.memory_of_thread(size) > 0;
            let expected = engine == Engine::Colours && n >= 4 && engine.check(size).is_ok();
            assert_eq!(needs_memory, expected, "{engine}, n = {n}");
            assert!(engine.worker_reserve(size) > 0, "{engine}, n = {n}");
            assert!(engine.list_bytes(size, 1) < 1 << 30, "{engine}, n = {n}");
            assert_eq!(Engine::fastest_for(size).check(size), Ok(()), "n = {n}");
        }
    }
}
