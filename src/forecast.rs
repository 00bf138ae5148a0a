//! The time and the result of a count, estimated from a sample of it.
//!
//! Units differ in size, but neighbouring units are alike, so what is finished of a plan forms clusters of
//! neighbouring units. The sample estimates the sum Y of a value (seconds, or solutions) over all clusters,
//! given the sum X of their *sizes*. A cluster's size is its number of units or, if the total is published,
//! its number of solutions, which follows the time much more closely. From k clusters with sizes x_i and
//! values y_i
//!
//! ```text
//! Y = X m, m = sum y_i / sum x_i       s² = sum (y_i - m x_i)² / (k - 1)
//! standard error of Y: s sqrt((K - k) K / k), with K = k X / sum x_i clusters in all
//! ```
//!
//! and twice of it is an interval of 95 %. That needs at least twenty clusters, and more if their sizes differ:
//! from fewer the standard error is infinite.
//!
//! This is the ratio estimator of survey sampling, with its correction for finite populations
//! (W. G. Cochran, *Sampling Techniques*, chapter 6). [`TimeLeft`] uses it for the remaining time of a
//! running count, whose finished units are the sample; an [`Estimate`](crate::Estimate) is what it says of a
//! count that is stopped after a while.

mod clusters;
mod cores;
mod ratio;
mod time_left;

pub(crate) use clusters::{Clusters, Rest};
pub(crate) use cores::Cores;
pub use ratio::Approximate;
pub use time_left::TimeLeft;
pub(crate) use time_left::seconds_of;

use crate::board::size::BoardSize;
use crate::engine::{Engine, Kernel};

/// How many times as long boards take with each of [`Kernel::NAMES`].
const SLOWER: [f64; Kernel::NAMES.len()] = [6.0, 2.5, 1.8, 1.0];

/// The CPU time of a whole count in hours, for a decision whether to start it. It is reckoned from boards
/// that were counted elsewhere, so it is good to a factor of three or so:
/// [`Count::estimate`](crate::Count::estimate) measures on this machine.
pub fn core_hours(size: BoardSize, engine: Engine, kernel: Kernel) -> f64 {
    // What a board takes with AVX-512, and how many times as long the next one takes.
    let (n, hours, growth): (u32, f64, f64) = match (engine, engine.largest_sensible()) {
        // The largest sensible board takes some seconds.
        (_, Some(n)) => (n, 10.0 / 3600.0, 7.0),
        // Measured up to n = 19, at 8 ns a solution; the solutions are published up to n = 27.
        (Engine::Subtrees, _) => (24, 550.0, 10.0),
        // Measured up to n = 24, and from samples up to 30; two more columns make it 25 to 50 times as long.
        _ => (24, 1.5, 6.4),
    };
    let place = Kernel::NAMES.iter().position(|name| *name == kernel.name());
    let slower = place.filter(|_| engine.has_kernels()).map_or(1.0, |place| SLOWER[place]);
    slower * hours * growth.powi(size.get() as i32 - n as i32)
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
        let years = hours(28, Engine::Subtrees, Kernel::Portable) / 8766.0;
        assert!((1000.0..10_000.0).contains(&years), "{years}");
    }
}
