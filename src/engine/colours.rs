//! Engine `colours`: white queens and black queens, and a dot product between them.
//!
//! **Counts** the solutions whose white queens stand in given rows, reduced by all eight symmetries; see
//! [`units`].
//!
//! **Idea.** All squares of a diagonal have one colour. So queens on white squares and queens on black ones
//! attack each other only along rows and columns:
//!
//! ```text
//!     . # . Q . #       Q(n) = sum over R, C of
//!     # Q # . # .
//!     . # . # . Q       (placements of white queens in rows R and columns C)
//!     Q . # . # .   x   (placements of black queens in the other rows and columns)
//!     . # Q # . #
//!     # . # . Q .
//! ```
//!
//! White squares fall into those with even row and column and those with odd row and column, black ones
//! into the other two ([`sub_board`]). Once it is fixed which rows have a white queen, a colour is a matrix:
//! its entries count, for each set of even and each set of odd columns, the pairs of placements on its two
//! sub-boards that share no diagonal. The count of a unit is the dot product of two such matrices. The one
//! with fewer queens is filled ([`worker`]); of the other each entry is multiplied as it is found.
//!
//! To fill a matrix, one sub-board's placements come as lists by label ([`list`]), the other's as a tree,
//! compiled to a program that runs on 32 labels at a time ([`program`], [`kernel`]).
//!
//! **Compared with `subtrees`,** no solution is ever visited, nor any pair of placements that is no hit of
//! one colour. docs/COLOURS.md derives all of it.
//!
//! **Time.** See docs/COLOURS.md. **Memory** for each thread: see [`worker_bytes`].
//!
//! **Invariants.** The number of units, and what each of them counts, depend on n alone.
//!
//! **Sources.** Found for this program; docs/COLOURS.md names its relatives.

#![expect(
    clippy::cast_possible_truncation,
    reason = "row sets have at most 32 bits, and there are few of them"
)]

mod kernel;
mod list;
mod program;
mod sub_board;
mod subsets;
mod units;
mod weigh;
mod worker;

use std::sync::Arc;

use super::unit::{Pass, Prepared, Resources, RowDomains, Units};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;
use crate::error::Error;
use units::UnitList;
use worker::Worker;

/// Smaller boards are counted whole.
pub(crate) const SMALLEST: usize = 4;

/// The largest board on which all units with the same programs, up to 400, are counted by one thread:
/// they take some 40 ms then.
const LARGEST_IN_BLOCKS: usize = 22;

/// The units of a board.
#[derive(Debug)]
pub(crate) struct Colours {
    size: BoardSize,
    units: Arc<UnitList>,
}

impl Colours {
    pub(crate) fn new(size: BoardSize) -> Self {
        debug_assert!(size.rows() >= SMALLEST, "smaller boards are counted whole");
        Self { size, units: Arc::new(UnitList::new(size)) }
    }
}

/// The number of units of a board, and the size of their list in bytes.
pub(crate) fn forecast(size: BoardSize) -> (usize, u64) {
    let units = UnitList::new(size);
    (units.len(), units.bytes())
}

/// The least bytes with which a thread can count every unit.
pub(crate) fn worker_bytes(_size: BoardSize) -> u64 {
    0
}

impl Units for Colours {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn weight(&self, unit: usize) -> u64 {
        self.units.weight(unit)
    }

    fn batch(&self, unit: usize) -> std::ops::Range<usize> {
        let is_short = self.size.rows() <= LARGEST_IN_BLOCKS;
        if is_short { self.units.block(unit) } else { self.units.batch(unit).units }
    }

    fn domains(&self, unit: usize) -> RowDomains {
        self.units.domains(self.size, unit)
    }

    fn prepare(
        &self,
        pass: Pass,
        resources: &Resources,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Prepared + '_>, Error> {
        Ok(Box::new(PreparedColours { colours: self, pass, resources: *resources }))
    }
}

/// Threads share nothing but the units.
struct PreparedColours<'a> {
    colours: &'a Colours,
    pass: Pass,
    resources: Resources,
}

impl Prepared for PreparedColours<'_> {
    fn worker(&self) -> Box<dyn super::unit::Worker + '_> {
        let Colours { size, units } = self.colours;
        Box::new(Worker::new(units, *size, self.resources.kernel, self.pass))
    }
}

#[cfg(test)]
mod sample_bench {
    use crate::engine::unit::Worker as _;
    use super::*;
    #[test]
    #[ignore]
    fn sample() {
        let var = |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().unwrap());
        let n = var("N", 22) as u32;
        let size = BoardSize::new(n).unwrap();
        let units = UnitList::new(size);
        let kernel = match std::env::var("K").as_deref() {
            Ok(name) => name.parse().unwrap(),
            _ => crate::Kernel::detect(),
        };
        let mut worker = Worker::new(&units, size, kernel, Pass::First);
        let mut random = fastrand::Rng::with_seed(var("SEED", 1));
        let budget = var("SECONDS", 20) as f64;
        let reps = var("REPS", 2);
        // strata by a
        let mut strata: Vec<(u32, usize, usize)> = Vec::new();
        let mut at = 0;
        while at < units.len() {
            let a = units.batch(at).a;
            let (mut lo, mut hi) = (at, units.len());
            while hi - lo > 1 {
                let mid = (lo + hi) / 2;
                if units.batch(mid).a == a { lo = mid } else { hi = mid }
            }
            strata.push((a, at, hi));
            at = hi;
        }
        let only = std::env::var("A").ok().map(|a| a.parse::<u32>().unwrap());
        let strata: Vec<_> = strata.into_iter().filter(|s| only.is_none_or(|a| a == s.0)).collect();
        let mut found: Vec<Vec<[f64; 2]>> = vec![Vec::new(); strata.len()];
        let begun = std::time::Instant::now();
        let mut spent = vec![0.0; strata.len()];
        let mut rounds = 0;
        let samples = var("SAMPLES", 0) as usize;
        while if samples > 0 { rounds < samples * strata.len() } else { begun.elapsed().as_secs_f64() < budget || rounds < 2 * strata.len() } {
            rounds += 1;
            // Neyman: the stratum where a sample helps most for its time
            let s = (0..strata.len()).find(|s| found[*s].len() < samples.max(2)).unwrap_or_else(|| {
                let gain = |s: &usize| {
                    let m = found[*s].len() as f64;
                    let mean = found[*s].iter().map(|x| x[1]).sum::<f64>() / m;
                    let var = found[*s].iter().map(|x| (x[1] - mean).powi(2)).sum::<f64>() / (m - 1.0);
                    let w = (strata[*s].2 - strata[*s].1) as f64;
                    w * w * (var + mean * mean * 0.05) / m / m / (spent[*s] / m)
                };
                (0..strata.len()).max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap()
            });
            let (_, from, to) = strata[s];
            let unit = random.usize(from..to);
            let batch = units.batch(unit);
            let begun = std::time::Instant::now();
            for _ in 0..reps - 1 { worker.count_first(batch.units.clone(), &Cancel::new()).unwrap(); }
            let rest = begun.elapsed().as_secs_f64();
            let begun = std::time::Instant::now();
            worker.count_first(batch.units.clone(), &Cancel::new()).unwrap();
            let seconds = begun.elapsed().as_secs_f64();
            let first = if reps == 1 { seconds } else { rest };
            spent[s] += first + seconds;
            let b = batch.units.len() as f64;
            // first count includes compilation, the last does not
            found[s].push([first / b, seconds / b]);
        }
        let mut total = [0.0, 0.0, 0.0];
        for (s, (a, from, to)) in strata.iter().enumerate() {
            let m = found[s].len() as f64;
            let mean = |k: usize| found[s].iter().map(|x| x[k]).sum::<f64>() / m;
            let var = found[s].iter().map(|x| (x[1] - mean(1)).powi(2)).sum::<f64>() / (m - 1.0);
            let w = (to - from) as f64;
            println!("a={a:2} {:8} units {m:4} samples, first {:10.2} s, again {:10.2} s +- {:.2}, {:.2} ms a batch unit", to - from, w * mean(0), w * mean(1), w * (var / m).sqrt(), mean(1) * 1e3);
            total[0] += w * mean(0);
            total[1] += w * mean(1);
            total[2] += w * w * var / m;
        }
        println!("n = {n} {kernel}: first {:.2} s, again {:.2} +- {:.2}", total[0], total[1], total[2].sqrt());
    }
}
