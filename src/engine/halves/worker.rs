//! Counts units: makes the half-boards of a unit and joins them.
//!
//! [`units`](super::units) and [`canonical`](super::canonical) explain what a unit counts, and why
//! groups of half-boards may be left out or counted twice. Each worker owns its lists and scratch
//! memory and reuses them, so threads share only what [`PreparedHalves`] holds.

use super::group::Group;
use super::grouped_half::GroupedHalf;
use super::half_board::Half;
use super::join::Join;
use super::prepared::{ListPlan, ListPlans, PreparedHalves};
use super::quadrants::Piece;
use super::quadrants::pieces::{self, Pieces};
use super::unit_rows::UnitRows;
use super::word_list::WordList;
use crate::cancel::Cancel;
use crate::engine::unit::{Interrupt, MemoryUse, Prepared, UnitEstimate, Worker};
use crate::machine::cpu::Stopwatch;

/// Paths through the join of the half-boards that do not tie, for which the lists are made once.
const PATHS: u32 = 2;

/// Counts units, with working memory of its own.
pub(crate) struct HalvesWorker<'p> {
    prepared: &'p PreparedHalves<'p>,
    pub(crate) join: Join,
    pub(crate) east: GroupedHalf,
    west: GroupedHalf,
    /// The groups that count with a tie group, twice and once.
    twice: Vec<usize>,
    once: Vec<usize>,
    /// What is joined for a tie group.
    tie: WordList,
    others: WordList,
    other_groups: Vec<Group>,
}

impl<'p> HalvesWorker<'p> {
    pub(crate) fn new(prepared: &'p PreparedHalves<'p>) -> Self {
        Self {
            prepared,
            join: Join::new(
                prepared.quadrants.kernel,
                prepared.cuts,
                2 * prepared.units.board.field(),
            ),
            east: GroupedHalf::default(),
            west: GroupedHalf::default(),
            twice: Vec::new(),
            once: Vec::new(),
            tie: WordList::default(),
            others: WordList::default(),
            other_groups: Vec::new(),
        }
    }

    /// Counts or estimates a unit. If its lists become longer than was planned, its pieces are cut finer:
    /// the plan is partly extrapolated, and the memory is for all threads.
    fn measure<T>(
        &mut self,
        unit: usize,
        list_plans: &ListPlans,
        cancel: &Cancel,
        mut measure: impl FnMut(&mut Self, &UnitRows, ListPlan) -> Option<T>,
    ) -> Result<T, Interrupt> {
        let unit = self.prepared.unit(unit);
        let mut plan = list_plans.of(&unit);
        loop {
            let result = measure(self, &unit, plan);
            if cancel.is_cancelled() {
                self.release();
                return Err(Interrupt::Cancelled);
            }
            if !self.east.is_too_long() && !self.west.is_too_long() {
                return result.ok_or(Interrupt::Overflow);
            }
            self.release();
            let finer = pieces::cut_finer(plan.larger_quadrants, plan.pieces);
            plan.pieces = finer.ok_or(Interrupt::OutOfMemory)?;
        }
    }

    /// The join of two lists counts at most the product of their lengths, which fits; the sums of
    /// joins are checked. `None` if they do not fit, or if lists are missing.
    fn count_unit(&mut self, unit: &UnitRows, plan: ListPlan, cancel: &Cancel) -> Option<u64> {
        let [east, west] = plan.pieces;
        let mut pairs = 0u64;
        for piece in east.each() {
            self.make(unit, Half::East, piece, plan.most_words, cancel)?;
            if self.east.groups.is_empty() {
                continue;
            }
            for piece in west.each() {
                self.make(unit, Half::West, piece, plan.most_words, cancel)?;
                let is_small = self.multiply_if_small();
                pairs = pairs.checked_add(self.count_pieces(unit, is_small, cancel)?)?;
            }
        }
        Some(pairs)
    }

    /// Joins an east and a west piece of a unit, whose half-boards are made if they are small.
    fn count_pieces(&mut self, unit: &UnitRows, is_small: bool, cancel: &Cancel) -> Option<u64> {
        let mut pairs = 0u64;
        for (half, ties) in [(Half::East, self.east.ties), (Half::West, self.west.ties)] {
            for tie in 0..ties {
                pairs = pairs.checked_add(self.count_tie(unit, half, tie, is_small, cancel)?)?;
            }
        }
        let strict = self.count_strict(is_small, cancel);
        strict.checked_mul(unit.strict_weight())?.checked_add(pairs)
    }

    /// Makes all half-boards of two pieces if they are few, and says whether it did.
    fn multiply_if_small(&mut self) -> bool {
        let most_pairs = self.prepared.cuts.small.min(self.prepared.limits.most_pairs);
        let is_small = self.east.pairs() + self.west.pairs() <= most_pairs;
        if is_small {
            let has_ties = self.east.ties + self.west.ties > 0;
            self.east.multiply(self.prepared.quadrants.kernel, has_ties);
            self.west.multiply(self.prepared.quadrants.kernel, has_ties);
        }
        is_small
    }

    /// Joins the half-boards that do not tie.
    fn count_strict(&mut self, is_small: bool, cancel: &Cancel) -> u64 {
        let most_pairs = self.prepared.limits.most_pairs;
        if is_small {
            let lists = [self.east.strict_half_boards(), self.west.strict_half_boards()];
            return self.join.count_lists(lists, cancel);
        }
        self.join.count(self.east.strict(), self.west.strict(), most_pairs, cancel)
    }

    /// Makes the half-boards of a piece that can count. `None` if they are not complete: after a
    /// cancellation, or if there are more than `most_words` for this half.
    fn make(
        &mut self,
        unit: &UnitRows,
        half: Half,
        piece: Piece,
        most_words: [u64; 2],
        cancel: &Cancel,
    ) -> Option<()> {
        let (made, most_words) = match half {
            Half::East => (&mut self.east, most_words[0]),
            Half::West => (&mut self.west, most_words[1]),
        };
        let compare = |columns| unit.compare_group(half, columns);
        let wanted = unit.rows_of(half, piece);
        made.make(&self.prepared.quadrants, wanted, most_words, compare, cancel);
        (!cancel.is_cancelled() && !made.is_too_long()).then_some(())
    }

    /// Joins one tie group with the groups of the other half that make it count. Pairs of two tie
    /// groups are left to the east.
    fn count_tie(
        &mut self,
        unit: &UnitRows,
        half: Half,
        tie: usize,
        is_small: bool,
        cancel: &Cancel,
    ) -> Option<u64> {
        self.choose_others(unit, half, tie);
        if cancel.is_cancelled() {
            return None;
        }
        let most_pairs = self.prepared.limits.most_pairs;
        let [own, other] = match half {
            Half::East => [&mut self.east, &mut self.west],
            Half::West => [&mut self.west, &mut self.east],
        };
        let mut pairs = 0u64;
        for (weight, others) in [(2, &self.twice), (1, &self.once)] {
            let joined = if is_small {
                self.tie.clear();
                self.tie.extend_from_slice(own.half_boards_of(tie));
                self.others.clear();
                for &group in others {
                    self.others.extend_from_slice(other.half_boards_of(group));
                }
                let lists = [self.tie.as_mut_slice(), self.others.as_mut_slice()];
                self.join.count_lists(lists, cancel)
            } else {
                self.other_groups.clear();
                self.other_groups.extend(others.iter().map(|&group| other.groups[group]));
                let tie = [own.groups[tie]];
                let (tie, others) = (own.chosen(&tie), other.chosen(&self.other_groups));
                self.join.count(tie, others, most_pairs, cancel)
            };
            pairs = pairs.checked_add(joined.checked_mul(weight)?)?;
        }
        Some(pairs)
    }

    /// Chooses the groups of the other half that count twice or once with a tie group.
    fn choose_others(&mut self, unit: &UnitRows, half: Half, tie: usize) {
        let first_other = if half == Half::East { 0 } else { self.east.ties };
        let [own, other] = match half {
            Half::East => [&self.east, &self.west],
            Half::West => [&self.west, &self.east],
        };
        let south = own.south[tie];
        self.twice.clear();
        self.once.clear();
        for (group, &other_south) in other.south.iter().enumerate().skip(first_other) {
            let (south_east, south_west) = match half {
                Half::East => (south, other_south),
                Half::West => (other_south, south),
            };
            match unit.pair_weight(south_east, south_west) {
                2 => self.twice.push(group),
                1 => self.once.push(group),
                _ => {}
            }
        }
    }

    /// Frees all memory. Freeing gigabytes takes a tenth of a second, and a cancelled count should end
    /// quickly, so each thread frees its own.
    fn release(&mut self) {
        *self = Self::new(self.prepared);
    }

    /// Estimates a unit from random paths through its joins.
    ///
    /// One piece of each half is chosen, each as probable as the others, and its lists are made. Then a
    /// few paths lead through the joins of the two pieces. At n = 28 and 29 all this takes about a
    /// hundredth of the time of the unit.
    fn sample_unit(
        &mut self,
        unit: &UnitRows,
        plan: ListPlan,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Option<UnitEstimate> {
        let [(east, in_east), (west, in_west)] = plan.pieces.map(|pieces| any_of(pieces, random));
        let mut stopwatch = Stopwatch::start();
        self.make(unit, Half::East, east, plan.most_words, cancel)?;
        let mut seconds = stopwatch.lap() * in_east;
        // The west is made again for each piece of the east.
        self.make(unit, Half::West, west, plan.most_words, cancel)?;
        seconds += stopwatch.lap() * (in_east * in_west);
        let joined = self.sample_pieces(unit, random, cancel)?;
        seconds += joined.seconds * (in_east * in_west);
        Some(UnitEstimate { solutions: joined.solutions * (in_east * in_west), seconds })
    }

    /// Estimates the joins of two pieces of a unit.
    fn sample_pieces(
        &mut self,
        unit: &UnitRows,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Option<UnitEstimate> {
        let mut stopwatch = Stopwatch::start();
        if self.multiply_if_small() {
            let solutions = self.count_pieces(unit, true, cancel)?;
            return Some(UnitEstimate::of_path(solutions, stopwatch.lap(), 1.0));
        }
        let mut estimate = self.sample_strict(random, cancel);
        estimate.solutions *= unit.strict_weight() as f64;
        let ties = self.east.ties + self.west.ties;
        if ties > 0 {
            let chosen = random.usize(..ties);
            let (half, tie) = match chosen.checked_sub(self.east.ties) {
                None => (Half::East, chosen),
                Some(tie) => (Half::West, tie),
            };
            let tie = self.sample_tie(unit, half, tie, random, cancel);
            estimate.solutions += tie.solutions * ties as f64;
            estimate.seconds += tie.seconds * ties as f64;
        }
        Some(estimate)
    }

    /// Estimates the join of the half-boards that do not tie.
    fn sample_strict(&mut self, random: &mut fastrand::Rng, cancel: &Cancel) -> UnitEstimate {
        let most_pairs = self.prepared.limits.most_pairs;
        let mut estimate = UnitEstimate::default();
        for _ in 0..PATHS {
            let [east, west] = [self.east.strict(), self.west.strict()];
            let path = self.join.sample(east, west, most_pairs, random, cancel);
            estimate.solutions += path.solutions / f64::from(PATHS);
            estimate.seconds += path.seconds / f64::from(PATHS);
        }
        estimate
    }

    /// Estimates the joins of a tie group, as [`HalvesWorker::count_tie`] counts them.
    fn sample_tie(
        &mut self,
        unit: &UnitRows,
        half: Half,
        tie: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> UnitEstimate {
        let mut stopwatch = Stopwatch::start();
        self.choose_others(unit, half, tie);
        let most_pairs = self.prepared.limits.most_pairs;
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
            let path = self.join.sample(tie, others, most_pairs, random, cancel);
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

impl Prepared for PreparedHalves<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(HalvesWorker::new(self))
    }

    fn memory(&self) -> Option<MemoryUse> {
        Some(self.memory)
    }
}

impl Worker for HalvesWorker<'_> {
    fn count(&mut self, unit: usize, cancel: &Cancel) -> Result<u64, Interrupt> {
        self.measure(unit, &self.prepared.list_plans, cancel, |worker, unit, plan| {
            worker.count_unit(unit, plan, cancel)
        })
    }

    fn deepest(&self) -> usize {
        1
    }

    fn sample(
        &mut self,
        unit: usize,
        _depth: usize,
        random: &mut fastrand::Rng,
        cancel: &Cancel,
    ) -> Result<UnitEstimate, Interrupt> {
        let plans = &self.prepared.sampled_list_plans;
        let estimate = self.measure(unit, plans, cancel, |worker, unit, plan| {
            worker.sample_unit(unit, plan, random, cancel)
        });
        // Lists that are kept are as long as the longest of any part. Random parts, unlike neighbouring units,
        // have very different ones, which together would take twice the memory of the plan.
        self.release();
        estimate
    }
}
