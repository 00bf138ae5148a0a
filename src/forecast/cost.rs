//! What boards cost, without counting anything: one table of CPU times.

use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};

/// Core-hours with AVX-512 from n = 20 on, of engines `subtrees` and `colours`.
///
/// `subtrees` takes 8 ns a solution at n = 19, measured, and about 0.15 ns more with each
/// column. The solutions are published up to n = 27, then they grow as (0.143 n)^n (Simkin). `colours` is
/// measured up to n = 22 and from samples up to n = 28; two more columns make it 25 to 30 times as long.
const CORE_HOURS: [[f64; 2]; 13] = [
    [0.088, 0.0019],
    [0.73, 0.012],
    [6.3, 0.051],
    [58.0, 0.30],
    [550.0, 1.5],
    [5_500.0, 11.0],
    [56_000.0, 78.0],
    [6.0e5, 340.0],
    [6.5e6, 1_500.0],
    [7.3e7, 1.0e4],
    [8.5e8, 4.0e4],
    [1.0e10, 3.0e5],
    [1.3e11, 1.2e6],
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
pub fn core_hours(size: BoardSize, engine: Engine, kernel: Kernel) -> f64 {
    let n = size.get();
    if let Some(largest) = engine.largest_sensible() {
        return SENSIBLE_HOURS * TEXTBOOK_GROWTH.powi(n as i32 - largest as i32);
    }
    // With AVX-512, AVX2 and portable code: docs/CLUSTER.md has the ratios.
    let (column, [avx512, avx2, portable]) = match engine {
        Engine::Colours => (1, [1.0, 1.5, 6.0]),
        _ => (0, [1.0, 1.45, 4.9]),
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
            let [vectors, portable] =
                [kernel, Kernel::Portable].map(|kernel| hours(25, Engine::Colours, kernel));
            assert!(vectors <= portable, "{kernel}");
        }
        assert_eq!(hours(28, Engine::Colours, Kernel::Portable).round(), 9_000.0);
    }
}
