//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3 s, ETA 5.1 s ± 1.4 s, 2.21e8 solutions
//! estimate [==>       ] 2.6 s of 10.0 s, 318 units
//! compare [==>       ] 13/48 runs, n = 18: colours on 2 threads
//! verify [====>     ] 84/200 units, 1.8 s, ETA 2.5 s
//! ```
//!
//! Before a long count it says what the count takes, and what would help.

mod bar;
mod state;

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::ValueEnum;
use console::is_dumb;
use nqueens::forecast::{Approximate, core_hours};
use nqueens::{BoardSize, Engine, Kernel, Observer, Shard, Start, UnitsDone};

use super::format::{duration, expected, rounded_to_figures, time};
use super::stderr::message;
use bar::{Bar, columns};
pub(crate) use state::Work;
use state::{State, lock};

/// A count of so many seconds is announced, after this time in any case.
const LONG: f64 = 600.0;
const PATIENCE: Duration = Duration::from_secs(10);
/// The same of `verify`, which often takes less, and can do with fewer units.
const LONG_TO_VERIFY: f64 = 60.0;
const PATIENCE_TO_VERIFY: Duration = Duration::from_secs(1);
/// Nobody means to wait for a longer one.
const HOPELESS: f64 = 30.0 * 86_400.0;

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressWhen {
    /// Not at all
    Never,
    /// As a bar, if standard error is a terminal
    Auto,
    /// As a bar on a terminal, as lines elsewhere
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    Nothing,
    Bar,
    Lines,
}

impl ProgressWhen {
    /// What is shown on the standard error of this process.
    fn display(self) -> Display {
        match (self, io::stderr().is_terminal() && !is_dumb()) {
            (Self::Never, _) | (Self::Auto, false) => Display::Nothing,
            (Self::Always, false) => Display::Lines,
            (_, true) => Display::Bar,
        }
    }
}

/// Shows the progress of one piece of work after the other.
#[derive(Debug)]
pub(crate) struct Progress {
    display: Display,
    /// What helps against long counts, if they are to be announced.
    pub(crate) advice: Option<&'static str>,
    state: Arc<Mutex<State>>,
    /// While there is work.
    bar: Mutex<Option<Bar>>,
}

/// The seconds of a count by the rough table of what boards cost.
pub(crate) fn rough_seconds(
    size: BoardSize,
    engine: Engine,
    kernel: Kernel,
    threads: usize,
) -> f64 {
    3600.0 * core_hours(size, engine, kernel) / threads.min(num_cpus::get()) as f64
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let state = Arc::new(Mutex::new(State::new(0, 0, Work::Verify)));
        Self { display: when.display(), advice: None, state, bar: Mutex::default() }
    }

    /// Work of so many steps begins.
    pub(crate) fn begin(&self, name: &str, [done, all]: [usize; 2], work: Work) {
        *lock(&self.state) = State::new(done, all, work);
        if self.display == Display::Bar {
            *lock(&self.bar) = Some(Bar::start(name, [done, all], &self.state));
        }
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &*lock(&self.bar) {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        *lock(&self.bar) = None;
    }

    /// Says what long work takes and what would help, once, as soon as that is known: of a count to a quarter.
    fn announce(&self) {
        let mut state = lock(&self.state);
        let elapsed = state.begun.elapsed();
        let time_to_verify = elapsed.as_secs_f64() + state.seconds_to_verify(elapsed);
        if let Work::Verify = state.work {
            let is_due = elapsed > PATIENCE_TO_VERIFY && !state.is_announced;
            state.is_announced |= is_due;
            drop(state);
            if is_due && time_to_verify > LONG_TO_VERIFY {
                let time = time(rounded_to_figures(time_to_verify, 2));
                self.suspend(|| {
                    message!("verify takes about {time} here; fewer --units take less");
                });
            }
            return;
        }
        let Work::Count { left, announced: announced @ Some(_), .. } = &mut state.work else {
            return;
        };
        let is_due = |time: &Approximate| {
            time.standard_error.is_finite()
                && (8.0 * time.standard_error < time.value || elapsed > PATIENCE)
        };
        let Some(mut time) = left.estimate().filter(is_due) else { return };
        let Some((size, advice)) = announced.take() else { return };
        drop(state);
        time.value += elapsed.as_secs_f64();
        let advice = advice[usize::from(time.value > HOPELESS)];
        if time.value > LONG {
            self.suspend(|| message!("n = {size} takes {} here{advice}", expected(time)));
        }
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let (done, all, elapsed) = (state.done as u64, state.all as u64, state.begun.elapsed());
        let line = (self.display == Display::Lines).then(|| state.line_if_due(elapsed, columns()));
        // To draw is to ask for it.
        drop(state);
        if let Some(line) = line.flatten() {
            message!("{line}");
        }
        if let Some(bar) = &*lock(&self.bar) {
            bar.update(done, all, elapsed);
        }
        self.announce();
    }
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, kernel, threads, units, units_done, solutions, .. } = *start;
        if let bytes @ 1.. = start.cut_off {
            message!(
                "warning: the journal's last line was cut off ({bytes} bytes): it is dropped, and \
                 its units are counted again"
            );
        }
        let mut name = format!("{} {}", plan.engine(), plan.size());
        if shard != Shard::WHOLE {
            name += &format!(" shard {}", shard.index());
        }
        let left = start.time_left();
        let advice = |advice| match plan.engine().largest_sensible() {
            Some(_) => ["; --engine auto is faster"; 2],
            None => [advice, "; 'nqueens shard' counts on many machines"],
        };
        let told = self.advice.filter(|_| units_done == 0).map(advice);
        let rough = rough_seconds(plan.size(), plan.engine(), kernel, threads);
        let long = plan.engine().largest_sensible().map_or(HOPELESS, |_| LONG);
        let announced = match told {
            // Nobody means to wait for it, or for its first unit, so the rough time of a table will do.
            Some([_, advice]) if rough > long => {
                let time = time(rounded_to_figures(rough, 1));
                message!("n = {} takes roughly {time} here{advice}", plan.size());
                None
            }
            told => told.map(|told| (plan.size(), told)),
        };
        let work = Work::Count { solutions_before: solutions, solutions, left, announced };
        self.begin(&name, [units_done, units], work);
    }

    fn units_done(&self, done: &UnitsDone) {
        self.update(|state| match &mut state.work {
            Work::Sample { time, units } => {
                *units += done.units.len();
                let millis = state.begun.elapsed().min(*time).as_millis();
                state.done = millis.try_into().unwrap_or(usize::MAX);
            }
            work => {
                state.done += done.units.len();
                if let Work::Count { solutions, left, .. } = work {
                    *solutions += done.solutions;
                    left.record(done, state.begun.elapsed());
                }
            }
        });
    }

    fn disk_hangs(&self, waited: Duration, total: Option<u128>) {
        let counted = total
            .map_or(String::new(), |total| format!("all units are counted, {total} solutions; "));
        self.suspend(|| {
            message!(
                "{counted}the disk has not taken the last lines of the journal for {}; a second signal \
                 ends the program at once, without them",
                duration(waited)
            );
        });
    }
}
