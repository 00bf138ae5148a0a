//! The units that each kind of runs finished, for a forecast.

use std::sync::Arc;

use crate::forecast::Sample;
use crate::journal_file::Run;
use crate::plan::done::UnitsDone;

/// A kind of runs. Units take equally long in all runs of a kind, because these have the same kernel, machine and
/// number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunKind {
    kernel: Arc<str>,
    machine: Arc<str>,
    threads: usize,
}

impl RunKind {
    /// Returns the kind of a run.
    pub(crate) fn of(run: &Run) -> Self {
        Self {
            kernel: Arc::clone(&run.kernel),
            machine: Arc::clone(&run.machine),
            threads: run.threads,
        }
    }

    /// Returns whether a run is of this kind.
    pub(super) fn has(&self, run: &Run) -> bool {
        run.kernel == self.kernel && run.machine == self.machine && run.threads == self.threads
    }
}

/// The finished units of each kind of runs, with the CPU time that they took, for a forecast. There are few kinds,
/// however many journals are read.
#[derive(Debug)]
pub(super) struct Samples {
    /// The number of units of the plan.
    units: usize,
    of_kinds: Vec<(RunKind, Sample)>,
}

impl Samples {
    /// Makes samples of a plan with this many units, without any finished unit.
    pub(super) fn new(units: usize) -> Self {
        Self { units, of_kinds: Vec::new() }
    }

    /// Adds consecutive units that a run finished.
    pub(super) fn add(&mut self, run: &Run, done: &UnitsDone) {
        match self.of_kinds.iter_mut().find(|(kind, _)| kind.has(run)) {
            Some((_, sample)) => sample.add(done),
            None => {
                let mut sample = Sample::new(self.units);
                sample.add(done);
                self.of_kinds.push((RunKind::of(run), sample));
            }
        }
    }

    /// Adds samples of the same plan.
    pub(super) fn add_all(&mut self, others: Self) {
        for (kind, other) in others.of_kinds {
            match self.of_kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, sample)) => sample.add_all(&other),
                None => self.of_kinds.push((kind, other)),
            }
        }
    }

    /// Returns the finished units of the wanted kinds.
    pub(super) fn of(&self, is_wanted: impl Fn(&RunKind) -> bool) -> Sample {
        let mut sum = Sample::new(self.units);
        for (kind, sample) in &self.of_kinds {
            if is_wanted(kind) {
                sum.add_all(sample);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Rest;

    #[test]
    fn a_sample_has_the_units_of_its_kinds() {
        let run = |threads| Run { threads, ..Run::unknown() };
        let done = |solutions| UnitsDone { units: 0..1, solutions, ..UnitsDone::default() };
        let found = |samples: &Samples, threads| {
            let sample = samples.of(|kind| kind.has(&run(threads)));
            sample.estimate_total(Rest::default()).value
        };
        let mut samples = Samples::new(1000);
        samples.add(&run(1), &done(1));
        samples.add(&run(1), &done(10));
        samples.add(&run(2), &done(100));
        assert_eq!([1, 2, 3].map(|threads| found(&samples, threads)), [11.0, 100.0, 0.0]);
        let mut others = Samples::new(1000);
        others.add(&run(2), &done(3));
        others.add(&run(3), &done(4));
        samples.add_all(others);
        assert_eq!([1, 2, 3].map(|threads| found(&samples, threads)), [11.0, 103.0, 4.0]);
    }
}
