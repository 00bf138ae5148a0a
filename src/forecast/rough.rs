//! What a count roughly costs, without counting anything: by the times that were measured on one
//! machine.

use crate::board::size::BoardSize;
use crate::engine::subtrees::core_hours as subtrees_core_hours;
use crate::engine::{Engine, Kernel};

/// Core-hours of engine `halves` with AVX-512, from n = 20 on: docs/CLUSTER.md tells how they were
/// measured.
const FIRST: u32 = 20;
const HALVES: [f64; 10] = [0.006, 0.07, 0.26, 2.3, 20.0, 175.0, 1200.0, 13_000.0, 92_000.0, 1e6];
/// Two more columns make it so many times as long, from n = 23 to 25 to 27.
const TWO_COLUMNS: f64 = 75.0;

/// The textbook engines take about this long for the largest board that is sensible, and so many
/// times as long for each one after it.
const SENSIBLE_HOURS: f64 = 10.0 / 3600.0;
const TEXTBOOK_GROWTH: f64 = 7.0;

/// The CPU time of a whole count in hours, good to a factor of two or so: for a decision whether to
/// start it. `Count::estimate` measures it on this machine.
#[must_use]
pub fn rough_core_hours(size: BoardSize, engine: Engine, kernel: Kernel) -> f64 {
    let n = size.get();
    match (engine, engine.largest_sensible()) {
        (_, Some(largest)) => SENSIBLE_HOURS * TEXTBOOK_GROWTH.powi(n as i32 - largest as i32),
        (Engine::Halves, None) => halves_core_hours(n) * by_kernel(kernel, [1.0, 1.3, 2.6]),
        (_, None) => subtrees_core_hours(n) * by_kernel(kernel, [1.0, 1.45, 4.9]),
    }
}

/// Chooses a factor for AVX-512, AVX2 or portable code. docs/PERFORMANCE.md has the ratios.
fn by_kernel(kernel: Kernel, [avx512, avx2, portable]: [f64; 3]) -> f64 {
    match kernel.name() {
        "avx512" => avx512,
        "avx2" => avx2,
        _ => portable,
    }
}

fn halves_core_hours(n: u32) -> f64 {
    // Smaller boards take less than a minute.
    let Some(place) = n.checked_sub(FIRST) else { return 0.0 };
    let measured = HALVES.get(place as usize).copied();
    measured.unwrap_or_else(|| halves_core_hours(n - 2) * TWO_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_rises_with_the_board_and_falls_with_the_vectors() {
        let hours = |n, engine, kernel| {
            rough_core_hours(BoardSize::new(n).expect("in range"), engine, kernel)
        };
        for engine in Engine::ALL {
            for n in 20..=32 {
                let (before, now) =
                    (hours(n - 1, engine, Kernel::Portable), hours(n, engine, Kernel::Portable));
                assert!(now > 3.0 * before, "{engine}, n = {n}: {before} and {now} hours");
            }
        }
        for kernel in Kernel::available() {
            assert!(
                hours(25, Engine::Halves, kernel) <= hours(25, Engine::Halves, Kernel::Portable)
            );
        }
        assert_eq!(hours(28, Engine::Halves, Kernel::Portable).round(), 239_200.0);
    }
}
