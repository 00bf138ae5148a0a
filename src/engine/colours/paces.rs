//! Which way through a tree is faster: a counter learns it from the CPU time that its sums took.

use super::side::Side;

/// What the last batches weigh against a new one.
const LAST: f64 = 0.75;

/// A way to go through a tree: without a program, with the one that there is, or with a new one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Walk,
    Run,
    Compile,
}

impl Way {
    /// With a program.
    pub(super) fn by_program(side: &Side) -> Self {
        if side.program.is_empty() { Self::Compile } else { Self::Run }
    }
}

/// What sums took: for each pair of labels, and to compile for each label and row set of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paces {
    walk: Pace,
    run: Pace,
    compile: Pace,
    /// The least size of a tree whose program was too long to be kept.
    too_long: Option<f64>,
}

impl Paces {
    /// The faster way to go through the tree of this side for so many pairs of labels. It is walked until walks have
    /// taken longer than runs would have, by the time of a compilation.
    pub(super) fn way(&self, side: &Side, pairs: f64) -> Way {
        let Side { tree, program, walked, walked_for, .. } = side;
        let walk = walked.unwrap_or(self.walk.of_one()) * pairs;
        let compile = if program.is_empty() { self.compile.of_one() * tree.size() } else { 0.0 };
        if walked_for + walk < self.run.of_one() * pairs + compile {
            return Way::Walk;
        }
        Way::by_program(side)
    }

    /// Learns from the seconds that a way took.
    pub(super) fn learn(&mut self, way: Way, seconds: f64, pairs: f64, side: &mut Side) {
        let Side { tree, program, walked, walked_for, .. } = side;
        let Self { walk, run, compile, too_long } = self;
        let is_kept = too_long.is_none_or(|size| tree.size() < size);
        let beyond_run = (seconds - run.of_one() * pairs).max(0.0);
        match way {
            Way::Walk => {
                walk.learn(seconds, pairs);
                *walked = Some(seconds / pairs);
                // A program that is not kept pays for no more than one run.
                if is_kept {
                    *walked_for += beyond_run;
                } else {
                    compile.forget();
                }
                return;
            }
            Way::Run => run.learn(seconds, pairs),
            Way::Compile => {
                compile.learn(beyond_run, tree.size());
                *walked_for = 0.0;
                if program.is_empty() && is_kept {
                    *too_long = Some(tree.size());
                }
            }
        }
        walk.forget();
    }
}

/// Seconds, and for how much.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    seconds: f64,
    of: f64,
}

impl Pace {
    fn learn(&mut self, seconds: f64, of: f64) {
        let of = of + LAST * self.of;
        *self = Self { seconds: seconds + LAST * self.seconds, of };
    }

    /// What was not done for some hundred batches is tried again, for the last one may have been disturbed.
    fn forget(&mut self) {
        self.seconds *= 0.998;
    }

    /// The seconds for one; none before something is known.
    fn of_one(&self) -> f64 {
        if self.of > 0.0 { self.seconds / self.of } else { 0.0 }
    }
}
