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

use super::format::{date_in, expected, rounded_to_figures, time};
use super::stderr::message;
use bar::{Bar, columns};
pub(crate) use state::Work;
use state::{Announcement, State, lock};

/// A count of so many seconds is announced.
const LONG: f64 = 600.0;
/// No count that roughly takes less is long, however slow the machine.
const PERHAPS_LONG: f64 = LONG / 30.0;
/// Nobody means to wait for a longer one.
const HOPELESS: f64 = 30.0 * 86_400.0;
/// When it is announced: not before the one time, and after the other one however exact the forecast is.
const EARLIEST: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

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
pub(crate) struct Progress {
    display: Display,
    /// What helps against long counts, if they are to be announced.
    pub(crate) advice: Option<&'static str>,
    state: Arc<Mutex<State>>,
    /// While there is work.
    bar: Mutex<Option<Bar>>,
}

/// The seconds of a count by what boards cost, roughly.
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

    /// Says what long work takes and what would help, once, as soon as that is known to a quarter.
    fn announce(&self) {
        let mut state = lock(&self.state);
        let elapsed = state.begun.elapsed();
        if elapsed < EARLIEST || state.announcement.is_none() {
            return;
        }
        let is_due =
            |left: &Approximate| 8.0 * left.standard_error < left.value || elapsed > PATIENCE;
        let Some(left) = state.time_left(elapsed).filter(is_due) else { return };
        let Some(Announcement { what, long, advice }) = state.announcement.take() else { return };
        drop(state);
        let all = Approximate { value: left.value + elapsed.as_secs_f64(), ..left };
        if all.value > long {
            let end = date_in(left.value);
            self.suspend(|| message!("{what} takes {} here{end}{advice}", expected(all)));
        }
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        if self.display == Display::Nothing && state.announcement.is_none() {
            return;
        }
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
        let Start { plan, shard, kernel, threads, units, done, .. } = *start;
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
        let (left, is_textbook) = (start.time_left.clone(), !plan.engine().has_kernels());
        let work =
            Work::Count { solutions_before: done.solutions, solutions: done.solutions, left };
        self.begin(&name, [done.units, units], work);
        let Some(advice) = self.advice.filter(|_| done.units == 0) else { return };
        let rough = rough_seconds(plan.size(), plan.engine(), kernel, threads);
        let what = format!("n = {}", plan.size());
        let advice = match rough {
            _ if is_textbook => "; --engine auto is faster",
            HOPELESS.. => "; 'nqueens shard' counts on many machines",
            _ => advice,
        };
        if rough > if is_textbook { LONG } else { HOPELESS } {
            // Nobody means to wait for it, or for its first unit, so a rough time will do.
            let time = time(rounded_to_figures(rough, 1));
            self.suspend(|| message!("{what} takes roughly {time} here{advice}"));
        } else if rough > PERHAPS_LONG {
            lock(&self.state).announcement = Some(Announcement { what, long: LONG, advice });
        }
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
                    left.record(done);
                }
            }
        });
    }

    fn waits_for_disk(&self, total: Option<u128>) {
        let counted = total
            .map_or(String::new(), |total| format!("all units are counted, {total} solutions; "));
        self.suspend(|| {
            message!(
                "{counted}the disk has not taken the last lines of the journal yet; a signal ends the \
                 program at once, without them"
            );
        });
    }
}
