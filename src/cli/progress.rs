//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3 s, ETA 5.1 s ± 1.4 s, 2.21e8 solutions
//! estimate [==>       ] 2.6 s of 10.0 s, 318 units
//! compare [==>       ] 13/48 runs, n = 18: colours on 2 threads
//! verify [====>     ] 84/200 units, 1.8 s, ETA 2.5 s
//! ```
//!
//! The line is drawn when something is reported. Before a long count it says what the count takes, and
//! what would help.

use std::io::{self, IsTerminal};
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use console::{Term, is_dumb};
use nqueens::forecast::{Approximate, TimeLeft, core_hours};
use nqueens::{Observer, Shard, Start, UnitsDone};

use super::format::{date_in, duration, many, rounded_to_figures, scientific, time, to_go};
use super::stderr::message;

/// A count of so many seconds is announced.
const LONG: f64 = 600.0;
/// Nobody means to wait for a longer one on one machine.
const HOPELESS: f64 = 30.0 * 86_400.0;

/// What ends sooner draws nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// The time between two drawings of the bar.
const TICK: Duration = Duration::from_millis(100);
/// The first line where none can be redrawn, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// Columns that stay free for the `^C` that the terminal shows for Ctrl-C: it would begin a new line
/// and leave the bar behind.
const FREE_COLUMNS: usize = 2;

/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 58;

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

impl ProgressWhen {
    /// After what time to show something for the first time, and what time later again; `None` for never.
    fn pace(self, is_terminal: bool, elapsed: Duration) -> Option<[Duration; 2]> {
        match (self, is_terminal) {
            (Self::Never, _) | (Self::Auto, false) => None,
            (_, true) => Some([QUIET_START, TICK]),
            // The gaps double up to the longest.
            (Self::Always, false) => Some([FIRST_LINE, elapsed.min(LONGEST_GAP)]),
        }
    }
}

/// Shows the progress of one piece of work after the other.
pub(crate) struct Progress {
    when: ProgressWhen,
    /// Whether lines can be redrawn.
    is_terminal: bool,
    /// What helps against long counts, if they are to be announced.
    pub(crate) advice: Option<&'static str>,
    state: Mutex<State>,
}

/// The seconds of a count that roughly costs so many hours of a core.
pub(crate) fn rough_seconds(core_hours: f64, threads: usize) -> f64 {
    3600.0 * core_hours / threads.min(num_cpus::get()) as f64
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let is_terminal = io::stderr().is_terminal() && !is_dumb();
        let state = Mutex::new(State::new("", [0, 0], Work::Verify));
        Self { when, is_terminal, advice: None, state }
    }

    /// Work of so many steps begins.
    pub(crate) fn begin(&self, name: &str, steps: [usize; 2], work: Work) {
        let mut state = self.lock();
        let drawn = take(&mut state.drawn);
        *state = State { drawn, ..State::new(name, steps, work) };
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let elapsed = state.begun.elapsed();
        let Some([first, gap]) = self.when.pace(self.is_terminal, elapsed) else { return };
        if elapsed < first.max(state.due) {
            return;
        }
        state.due = elapsed + gap;
        if !self.is_terminal {
            return message!("{}", joined(state.parts(elapsed), usize::MAX));
        }
        state.drawn = state.bar(elapsed, columns());
        draw(&state.drawn);
    }

    /// Takes the bar off the terminal while something else is printed.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let state = self.lock();
        if state.drawn.is_empty() {
            return print();
        }
        draw("");
        let printed = print();
        draw(&state.drawn);
        printed
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        if !take(&mut self.lock().drawn).is_empty() {
            draw("");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The columns that a line on the terminal may take now: users change the size of windows.
fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS).saturating_sub(FREE_COLUMNS).max(1)
}

/// Puts a line on the terminal in place of the one before. If the terminal has gone, nobody can be told.
fn draw(line: &str) {
    let terminal = Term::buffered_stderr();
    let drawn = terminal.clear_line().and_then(|()| terminal.write_str(line));
    let _ = drawn.and_then(|()| terminal.flush());
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, kernel, threads, units, done, .. } = *start;
        let (size, engine) = (plan.size(), plan.engine());
        if start.cut_off > 0 {
            message!("warning: the journal's last line was cut off: its units are counted again");
        }
        let mut name = format!("{engine} {size}");
        if shard != Shard::WHOLE {
            name += &format!(" shard {}", shard.index());
        }
        let (solutions, left) = (done.solutions, start.time_left.clone());
        self.begin(&name, [done.units, units], Work::Count(solutions, left));
        let Some(advice) = self.advice.filter(|_| done.units == 0) else { return };
        let rough = rough_seconds(core_hours(size, engine, kernel), threads);
        let advice = match rough {
            ..LONG => return,
            _ if !engine.has_kernels() => "; --engine auto is faster",
            HOPELESS.. => "; 'nqueens shard' counts on many machines",
            _ => advice,
        };
        let (time, end) = (time(rounded_to_figures(rough, 1)), date_in(rough));
        message!("n = {size} takes roughly {time} here{end}{advice}");
    }

    fn units_done(&self, done: &UnitsDone) {
        self.update(|state| match &mut state.work {
            Work::Sample(units) => {
                *units += done.units.len();
                let elapsed = done.elapsed.as_millis().try_into();
                state.done = state.all.min(elapsed.unwrap_or(usize::MAX));
            }
            work => {
                state.done += done.units.len();
                if let Work::Count(solutions, left) = work {
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

pub(crate) struct State {
    name: String,
    begun: Instant,
    /// When something is shown next.
    due: Duration,
    /// What is on the terminal.
    drawn: String,
    /// Steps: units, runs, or milliseconds of a sample.
    pub(crate) done: usize,
    pub(crate) all: usize,
    pub(crate) work: Work,
}

/// What is under way.
pub(crate) enum Work {
    /// The solutions of finished units, those of journals too, and the time left.
    Count(u128, TimeLeft),
    /// For an estimate, with so many units so far.
    Sample(usize),
    /// The run of a comparison.
    Compare(String),
    Verify,
}

impl State {
    fn new(name: &str, [done, all]: [usize; 2], work: Work) -> Self {
        Self {
            name: name.to_owned(),
            begun: Instant::now(),
            due: Duration::ZERO,
            drawn: String::new(),
            done,
            all,
            work,
        }
    }

    /// The line on a terminal.
    fn bar(&self, elapsed: Duration, columns: usize) -> String {
        let mut line = self.name.clone() + " ";
        if columns >= BAR_FROM_COLUMNS {
            let part = "=".repeat(10 * self.done / self.all.max(1)) + ">";
            line += &format!("[{part:<10.10}] ");
        }
        let left = columns.saturating_sub(line.chars().count());
        let text = joined(self.parts(elapsed), left);
        (line + &text).chars().take(columns).collect()
    }

    /// The parts of the text in their order, with their ranks.
    fn parts(&self, elapsed: Duration) -> Vec<(u8, String)> {
        let Self { all, done, .. } = *self;
        let so_far = |unit| (4, format!("{done}/{all} {unit}"));
        let left = self.time_left(elapsed).map(|left| (1, format!("ETA {}", to_go(left))));
        let time = (2, duration(elapsed));
        match &self.work {
            Work::Count(solutions, _) => {
                let solutions = (3, format!("{} solutions", scientific(*solutions as f64, 2)));
                let begin = [(0, percent(done, all)), so_far("units"), time];
                begin.into_iter().chain(left).chain([solutions]).collect()
            }
            Work::Sample(units) => {
                let whole = duration(Duration::from_millis(all as u64));
                vec![(0, format!("{} of {whole}", duration(elapsed))), (1, many(*units, "unit"))]
            }
            Work::Compare(run) => vec![so_far("runs"), (5, run.clone())],
            Work::Verify => [so_far("units"), time].into_iter().chain(left).collect(),
        }
    }

    /// The time left, of a count by its forecast, of `verify` by its pace so far.
    fn time_left(&self, elapsed: Duration) -> Option<Approximate> {
        match &self.work {
            Work::Count(_, left) => left.estimate(),
            Work::Verify if self.done > 0 => {
                let left = self.all.saturating_sub(self.done) as f64 / self.done as f64;
                let value = elapsed.as_secs_f64() * left;
                Some(Approximate { value, standard_error: f64::INFINITY })
            }
            _ => None,
        }
    }
}

/// The parts in one line. While it is too long, the part with the highest rank is left out.
fn joined(mut parts: Vec<(u8, String)>, columns: usize) -> String {
    loop {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let line = texts.join(", ");
        let last = (0..parts.len()).max_by_key(|&place| parts[place].0);
        match last.filter(|_| line.chars().count() > columns && parts.len() > 1) {
            Some(last) => drop(parts.remove(last)),
            None => return line,
        }
    }
}

/// How much is done, with the more decimals the more units there are. It is never rounded up: 100 % is
/// the end.
fn percent(done: usize, units: usize) -> String {
    let decimals = units.max(1).ilog10().saturating_sub(2).min(4);
    let parts_of_percent = 10_f64.powi(decimals as i32);
    let parts = (100.0 * parts_of_percent * done as f64 / units.max(1) as f64).floor();
    format!("{:.*}%", decimals as usize, parts / parts_of_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let (mut due, mut shown) = (Duration::ZERO, Vec::new());
        for second in 0..250 {
            let now = Duration::from_secs(second);
            let pace = ProgressWhen::Always.pace(false, now);
            let [first, gap] = pace.expect("lines");
            if now >= first.max(due) {
                due = now + gap;
                shown.push(second);
            }
        }
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }

    const TIME: Duration = Duration::from_secs(2);

    fn count() -> State {
        let work = Work::Count(4_970_000_000_000, TimeLeft::default());
        State::new("colours 24", [103_456_789, 123_456_789], work)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = joined(count().parts(TIME), 78);
        assert_eq!(text, "83.7999%, 103456789/123456789 units, 2.0 s, 4.97e12 solutions");
    }

    #[test]
    fn each_work_has_its_line() {
        let line = |name, work, columns| State::new(name, [50, 200], work).bar(TIME, columns);
        let compare = || Work::Compare("n = 18: colours on 2 threads".to_owned());
        let text = "compare [==>       ] 50/200 runs, n = 18: colours on 2 threads";
        assert_eq!(line("compare", compare(), 62), text);
        assert_eq!(line("compare", compare(), 61), "compare [==>       ] 50/200 runs");
        assert_eq!(
            line("compare", compare(), 57),
            "compare 50/200 runs, n = 18: colours on 2 threads"
        );
        let verify = line("verify", Work::Verify, 57);
        assert_eq!(verify, "verify 50/200 units, 2.0 s, ETA roughly 6.0 s");
        let sample = line("estimate", Work::Sample(7), 40);
        assert_eq!(sample, "estimate 2.0 s of 200 ms, 7 units");
    }

    #[test]
    fn what_matters_most_is_left_on_short_lines() {
        let parts = || vec![(0, "51%"), (4, "9/20 units"), (2, "2.0s"), (1, "ETA 1.9s ± 0.1s")];
        let joined = |columns| {
            let parts = parts().into_iter().map(|(rank, text)| (rank, text.to_owned()));
            joined(parts.collect(), columns)
        };
        assert_eq!(joined(40), "51%, 9/20 units, 2.0s, ETA 1.9s ± 0.1s");
        assert_eq!(joined(37), "51%, 2.0s, ETA 1.9s ± 0.1s");
        assert_eq!(joined(20), "51%, ETA 1.9s ± 0.1s");
        assert_eq!(joined(19), "51%");
        for columns in 1..80 {
            let line = count().bar(TIME, columns);
            assert!(line.chars().count() <= columns, "{line}");
        }
    }

    #[test]
    fn the_bar_is_full_at_the_end() {
        let line = |done| State::new("count", [done, 7], Work::Verify).bar(Duration::ZERO, 70);
        let bars = [0, 1, 6, 7].map(|done| line(done)[6..18].to_owned());
        assert_eq!(bars, ["[>         ]", "[=>        ]", "[========> ]", "[==========]"]);
    }

    #[test]
    fn a_percentage_is_rounded_down_and_moves_with_the_units() {
        let all = [3, 325, 46_508, 10_000_000, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66%", "99%", "99.99%", "99.9999%", "99.9999%"]);
        assert_eq!(percent(325, 325), "100%");
        assert_eq!(percent(0, 0), "0%");
    }
}
