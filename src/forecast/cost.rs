//! What boards cost, without counting anything: one table of CPU times.

use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};

/// Core-hours with AVX-512 from n = 20 on, of engines `halves`, `subtrees` and `colours`.
///
/// `halves` is measured up to n = 29 (docs/CLUSTER.md tells how); two more columns make it 75 times
/// as long. `subtrees` takes 8 ns a solution at n = 19, measured, and about 0.15 ns more with each
/// column. The solutions are published up to n = 27, then they grow as (0.143 n)^n (Simkin). `colours` is
/// measured up to n = 22 and from samples up to n = 28; two more columns make it 25 to 30 times as long.
const CORE_HOURS: [[f64; 3]; 13] = [
    [0.006, 0.088, 0.0022],
    [0.07, 0.73, 0.015],
    [0.26, 6.3, 0.06],
    [2.3, 58.0, 0.6],
    [20.0, 550.0, 2.9],
    [175.0, 5_500.0, 25.0],
    [1_200.0, 56_000.0, 105.0],
    [13_000.0, 6.0e5, 730.0],
    [92_000.0, 6.5e6, 2_400.0],
    [1.0e6, 7.3e7, 2.1e4],
    [6.9e6, 8.5e8, 7.0e4],
    [7.5e7, 1.0e10, 6.0e5],
    [5.2e8, 1.3e11, 2.0e6],
];
const FIRST: u32 = 20;
/// How many times as long smaller boards take with each column.
const GROWTH: f64 = 7.5;

/// The textbook engines take about this long for the largest board that is sensible, and so many
/// times as long for each one after it.
const SENSIBLE_HOURS: f64 = 10.0 / 3600.0;
const TEXTBOOK_GROWTH: f64 = 7.0;

/// The CPU time of a whole count in hours, good to a factor of two or so: for a decision whether to
/// start it. `Count::estimate` measures it on this machine.
#[must_use]
pub fn core_hours(size: BoardSize, engine: Engine, kernel: Kernel) -> f64 {
    let n = size.get();
    if let Some(largest) = engine.largest_sensible() {
        return SENSIBLE_HOURS * TEXTBOOK_GROWTH.powi(n as i32 - largest as i32);
    }
    // With AVX-512, AVX2 and portable code: docs/lab.md has the ratios.
    let (column, [avx512, avx2, portable]) = match engine {
        Engine::Halves => (0, [1.0, 1.3, 2.6]),
        Engine::Colours => (2, [1.0, 1.5, 6.0]),
        _ => (1, [1.0, 1.45, 4.9]),
    };
    let slower = match kernel.name() {
        "avx512" => avx512,
        "avx2" => avx2,
        _ => portable,
    };
    let row = CORE_HOURS[n.saturating_sub(FIRST) as usize];
    slower * row[column] / GROWTH.powi(FIRST.saturating_sub(n) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_rises_with_the_board_and_falls_with_the_vectors() {
        let hours =
            |n, engine, kernel| core_hours(BoardSize::new(n).expect("in range"), engine, kernel);
        for engine in Engine::ALL {
            for n in 1..=BoardSize::MAX {
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
