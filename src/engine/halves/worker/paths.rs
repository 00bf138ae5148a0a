//! Estimates a unit from random paths through its joins.
//!
//! One piece of each half is chosen, each as probable as the others, and its lists are made. Then a few
//! paths lead through the joins of the two pieces. At n = 28 and 29 all this takes about a hundredth of
//! the time of the unit.

use super::{CanonicalRows, Half, HalvesWorker, Piece, Unit};
use crate::cancel::Cancel;
use crate::engine::halves::quadrants::Pieces;
use crate::engine::unit::UnitEstimate;
use crate::machine::cpu::Stopwatch;

/// Paths through the join of the half-boards that do not tie, for which the lists are made once.
const PATHS: u32 = 2;

impl HalvesWorker<'_> {
    /// A cancelled estimate is meaningless. `None` if a count does not fit.
    pub(super) fn sample_paths(
        &mut self,
        unit: Unit,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Option<UnitEstimate> {
        let pieces = &self.prepared.sampled_pieces;
        match unit {
            Unit::Canonical { rows } => {
                let (unit, north_east) = self.prepared.canonical(rows);
                let pieces = pieces.canonical[north_east].map(|pieces| any_of(pieces, random));
                let make = |worker: &mut Self, half, piece| {
                    worker.make_half(&unit, half, piece, cancel);
                };
                let join = |worker: &mut Self| worker.sample_canonical(&unit, random, cancel);
                self.sample_pieces(pieces, make, join)
            }
            Unit::OffCentre { below, rows } => {
                let (unit, north_east) = self.prepared.off_centre(below, rows);
                let pieces = pieces.off_centre[north_east].map(|pieces| any_of(pieces, random));
                let make = |worker: &mut Self, half, piece| {
                    worker.make_off_centre(&unit, half, piece, cancel);
                };
                let join = |worker: &mut Self| Some(worker.sample_off_centre(random, cancel));
                self.sample_pieces(pieces, make, join)
            }
        }
    }

    /// Makes a piece of each half, of so many, and estimates the joins of all pieces from these.
    fn sample_pieces(
        &mut self,
        [(east, in_east), (west, in_west)]: [(Piece, f64); 2],
        make: impl Fn(&mut Self, Half, Piece),
        join: impl FnOnce(&mut Self) -> Option<UnitEstimate>,
    ) -> Option<UnitEstimate> {
        let mut stopwatch = Stopwatch::start();
        make(self, Half::East, east);
        let mut seconds = stopwatch.lap() * in_east;
        // The west is made again for each piece of the east.
        make(self, Half::West, west);
        seconds += stopwatch.lap() * (in_east * in_west);
        let joined = join(self)?;
        seconds += joined.seconds * (in_east * in_west);
        Some(UnitEstimate { solutions: joined.solutions * (in_east * in_west), seconds })
    }

    /// Estimates the joins of two pieces of a canonical unit.
    fn sample_canonical(
        &mut self,
        canonical: &CanonicalRows,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Option<UnitEstimate> {
        let mut stopwatch = Stopwatch::start();
        if self.multiply_if_small() {
            let solutions = self.count_pieces(canonical, true, cancel)?;
            return Some(UnitEstimate::of_path(solutions, stopwatch.lap(), 1.0));
        }
        let mut estimate = self.sample_strict(random, cancel);
        estimate.solutions *= 2.0;
        let ties = self.east.ties + self.west.ties;
        if ties > 0 {
            let chosen = random.usize(..ties);
            let (half, tie) = match chosen.checked_sub(self.east.ties) {
                None => (Half::East, chosen),
                Some(tie) => (Half::West, tie),
            };
            let tie = self.sample_tie(canonical, half, tie, random, cancel);
            estimate.solutions += tie.solutions * ties as f64;
            estimate.seconds += tie.seconds * ties as f64;
        }
        Some(estimate)
    }

    /// Estimates the join of two pieces of an off-centre unit.
    fn sample_off_centre(&mut self, random: &mut fastrand::Rng, cancel: &Cancel) -> UnitEstimate {
        let mut stopwatch = Stopwatch::start();
        if self.multiply_if_small() {
            let solutions = self.count_strict(true, cancel);
            return UnitEstimate::of_path(solutions, stopwatch.lap(), 1.0);
        }
        self.sample_strict(random, cancel)
    }

    /// Estimates the join of the half-boards that do not tie.
    fn sample_strict(&mut self, random: &mut fastrand::Rng, cancel: &Cancel) -> UnitEstimate {
        let (bits, most_pairs) = self.prepared.join_limits();
        let mut estimate = UnitEstimate::default();
        for _ in 0..PATHS {
            let [east, west] = [self.east.strict(), self.west.strict()];
            let path = self.join.sample(bits, east, west, most_pairs, random, cancel);
            estimate.solutions += path.solutions / f64::from(PATHS);
            estimate.seconds += path.seconds / f64::from(PATHS);
        }
        estimate
    }

    /// Estimates the joins of a tie group, as [`HalvesWorker::count_tie`] counts them.
    fn sample_tie(
        &mut self,
        canonical: &CanonicalRows,
        half: Half,
        tie: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> UnitEstimate {
        let mut stopwatch = Stopwatch::start();
        self.choose_others(canonical, half, tie);
        let (bits, most_pairs) = self.prepared.join_limits();
        let [own, other] = match half {
            Half::East => [&mut self.east, &mut self.west],
            Half::West => [&mut self.west, &mut self.east],
        };
        let mut estimate = UnitEstimate { solutions: 0.0, seconds: stopwatch.lap() };
        for (weight, others) in [(2.0, &self.twice), (1.0, &self.once)] {
            self.other_groups.clear();
            self.other_groups.extend(others.iter().map(|&group| other.groups[group]));
            let tie = [own.groups[tie]];
            let (tie, others) = (own.chosen(&tie), other.chosen(&self.other_groups));
            let path = self.join.sample(bits, tie, others, most_pairs, random, cancel);
            estimate.solutions += weight * path.solutions;
            estimate.seconds += path.seconds;
        }
        estimate
    }
}

/// One of the pieces, and how many there are.
fn any_of(pieces: Pieces, random: &mut fastrand::Rng) -> (Piece, f64) {
    let all: Vec<Piece> = pieces.each().collect();
    (all[random.usize(..all.len())], all.len() as f64)
}
