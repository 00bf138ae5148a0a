//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! subtrees 18 [==>       ] 26%, 84/325 units, 2.3s, ETA 5.1s ± 0.4s, 2.21e8 solutions
//! estimate [==>       ] 2.6s of 10.0s, 318 counted
//! compare [==>       ] 13/48 runs, n = 18: halves on 2 threads, 3.2s left
//! verify [====>     ] 84/200 units, 1.8s, ETA 2.5s
//! ```
//!
//! A thread redraws the line ten times a second. indicatif can start one too, but stops the program
//! with a panic where it cannot (`pids.max`, `ulimit -u`). Without the thread the line is drawn
//! whenever something is finished.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::ops::RangeInclusive;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use console::{Term, is_dumb};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use nqueens::forecast::{Effort, Estimate, TimeLeft, core_hours};
use nqueens::{Observer, Sampling, Shard, Start, UnitsDone};

use super::format::{duration, expected, scientific, seconds};
use super::stderr::message;

/// What ends sooner draws nothing: a bar that flashes up tells nothing.
const QUIET_START: Duration = Duration::from_millis(300);
/// How often the line is drawn; indicatif draws it 20 times a second at most.
const TICK: Duration = Duration::from_millis(100);

/// The first line where none can be redrawn, and the longest time between two.
const FIRST_LINE: Duration = Duration::from_secs(1);
const LONGEST_GAP: Duration = Duration::from_secs(60);

/// The width of a terminal that does not tell it. No line is longer, however wide the terminal is.
const TERMINAL_COLUMNS: usize = 80;
/// Columns that stay free for the `^C` that the terminal shows for Ctrl-C: it would begin a new line
/// and leave half of the bar behind.
const FREE_COLUMNS: usize = 2;
/// With fewer columns, a line has no bar: the text is worth more.
const BAR_FROM_COLUMNS: usize = 58;

/// Before a count of so many seconds, a sample is taken for a thousandth of them, within these limits.
const LONG: f64 = 600.0;
const SAMPLE: RangeInclusive<f64> = 2.0..=5.0;
/// Nobody means to wait for a longer one, so it is told wherever standard error goes.
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
    /// Announces counts that take long.
    pub(crate) long_count: Option<LongCount>,
    state: Arc<Mutex<State>>,
    /// While there is work.
    bar: Mutex<Option<Bar>>,
}

#[derive(Debug)]
pub(crate) struct State {
    begun: Instant,
    next_line: Duration,
    /// Steps: units, runs, or milliseconds of a sample.
    pub(crate) all: usize,
    pub(crate) done: usize,
    pub(crate) work: Work,
}

/// What is under way.
#[derive(Debug)]
pub(crate) enum Work {
    Count {
        /// Those of journals.
        solutions_before: u128,
        solutions: u128,
        left: TimeLeft,
    },
    Sample(Sampling),
    /// The run of a comparison, and how long its board still takes.
    Compare([String; 2]),
    Verify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let state = Arc::new(Mutex::new(State::new(0, 0, Work::Verify)));
        Self { display: when.display(), long_count: None, state, bar: Mutex::default() }
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
            Some(bar) => bar.line.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        *lock(&self.bar) = None;
    }

    /// A sample of a count that is long by the table of costs, if anybody is to be told.
    fn sample(&self, start: &Start<'_>) -> Option<Estimate> {
        let Start { plan, threads, units, units_done, .. } = *start;
        let part = (units - units_done) as f64 / plan.units() as f64;
        let hours = part * core_hours(plan.size(), plan.engine(), start.kernel);
        // More threads than cores count no faster.
        let time = 3600.0 * hours / threads.min(num_cpus::get()) as f64;
        let is_told = self.display != Display::Nothing
            || self.long_count.is_some() && (time > HOPELESS || io::stderr().is_terminal());
        let sample = (1e-3 * time).clamp(*SAMPLE.start(), *SAMPLE.end());
        let effort = Effort { time: seconds(sample), ..Effort::default() };
        (is_told && time > LONG).then(|| start.estimate(effort, self).ok()).flatten()
    }

    /// Something is done.
    pub(crate) fn update(&self, change: impl FnOnce(&mut State)) {
        if self.display == Display::Nothing {
            return;
        }
        let mut state = lock(&self.state);
        change(&mut state);
        let (done, all, elapsed) = (state.done as u64, state.all as u64, state.begun.elapsed());
        let line = state.line_if_due(elapsed, self.display);
        // To draw is to ask for it.
        drop(state);
        if let Some(line) = line {
            message!("{line}");
        }
        if let Some(bar) = &*lock(&self.bar) {
            if bar.thread.is_none() && elapsed >= QUIET_START {
                show(&bar.line);
            }
            bar.line.update(|state| {
                state.set_len(all);
                state.set_pos(done);
            });
        }
    }
}

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let Start { plan, shard, units, units_done, solutions, .. } = *start;
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
        let mut left = TimeLeft::new(start);
        let is_known =
            left.estimate(Duration::ZERO).is_some_and(|left| left.standard_error.is_finite());
        if let Some(estimate) = (!is_known).then(|| self.sample(start)).flatten() {
            left = left.expecting(&estimate);
            if let Some(long_count) = &self.long_count {
                self.suspend(|| message!("{}", long_count.announce(start, &estimate)));
            }
        }
        let work = Work::Count { solutions_before: solutions, solutions, left };
        self.begin(&name, [units_done, units], work);
    }

    fn units_done(&self, done: &UnitsDone) {
        self.update(|state| {
            state.done += done.units.len();
            if let Work::Count { solutions, left, .. } = &mut state.work {
                *solutions += done.solutions;
                left.record(done);
            }
        });
    }

    fn sampling(&self, sampling: &Sampling) {
        let [done, all] = [sampling.elapsed.min(sampling.time), sampling.time]
            .map(|time| time.as_millis().try_into().unwrap_or(usize::MAX));
        let work = Work::Sample(*sampling);
        if matches!(lock(&self.state).work, Work::Sample(_)) {
            self.update(|state| (state.done, state.work) = (done, work));
        } else {
            self.begin("estimate", [done, all], work);
        }
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

impl State {
    fn new(done: usize, all: usize, work: Work) -> Self {
        Self { begun: Instant::now(), next_line: FIRST_LINE, all, done, work }
    }

    /// What is known. If not all of it fits, the less important is left out.
    fn text(&self, columns: usize) -> String {
        joined(self.parts(self.begun.elapsed()), columns)
    }

    /// The parts of the line in their order, with their ranks.
    fn parts(&self, elapsed: Duration) -> Vec<(u8, String)> {
        let Self { all, done, .. } = *self;
        let time = elapsed.as_secs_f64().max(1e-3);
        match &self.work {
            Work::Count { solutions_before, solutions, left } => {
                let rate = (solutions - solutions_before) as f64 / time;
                let left = left.estimate(elapsed);
                let left = left.map(|left| (1, format!("ETA {}", expected(left))));
                let begin = [
                    (0, percent(done, all)),
                    (5, format!("{done}/{all} units")),
                    (2, duration(elapsed)),
                ];
                let end = [
                    (3, format!("{} solutions", scientific(*solutions as f64, 2))),
                    (4, format!("{}/s", scientific(rate, 1))),
                ];
                begin.into_iter().chain(left).chain(end).collect()
            }
            Work::Sample(Sampling { time, counted, .. }) => vec![
                (0, format!("{} of {}", duration(elapsed), duration(*time))),
                (1, format!("{counted} counted")),
            ],
            Work::Compare([run, left]) => {
                vec![(0, format!("{done}/{all} runs")), (1, run.clone()), (2, left.clone())]
            }
            Work::Verify => {
                let left = time * (all - done) as f64 / done.max(1) as f64;
                let left = (1, format!("ETA {}", duration(seconds(left))));
                let begin = [(0, format!("{done}/{all} units")), (2, duration(elapsed))];
                begin.into_iter().chain((done > 0).then_some(left)).collect()
            }
        }
    }

    /// The line if it is time for one; the gaps double up to the longest.
    fn line_if_due(&mut self, elapsed: Duration, display: Display) -> Option<String> {
        (display == Display::Lines && elapsed >= self.next_line).then(|| {
            self.next_line = elapsed + elapsed.min(LONGEST_GAP);
            self.text(columns().saturating_sub("nqueens: ".len()))
        })
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
            None => return line.chars().take(columns).collect(),
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

/// The columns that a line on standard error may take now: users change the size of windows.
fn columns() -> usize {
    let width = Term::stderr().size_checked().map_or(TERMINAL_COLUMNS, |(_, width)| width.into());
    width.min(TERMINAL_COLUMNS).saturating_sub(FREE_COLUMNS).max(1)
}

/// A line on the terminal, until this is dropped.
#[derive(Debug)]
struct Bar {
    line: ProgressBar,
    /// Nothing is sent: the thread ends when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    fn start(name: &str, [done, all]: [usize; 2], state: &Arc<Mutex<State>>) -> Self {
        let bar = if columns() < BAR_FROM_COLUMNS { "" } else { "[{bar:10}] " };
        let template = format!("{{prefix}} {bar}{{text}}");
        let before_text = name.chars().count() + 1 + if bar.is_empty() { 0 } else { 13 };
        let shown = Arc::clone(state);
        let text = move |_: &ProgressState, out: &mut dyn Write| {
            let text = lock(&shown).text(columns().saturating_sub(before_text));
            // A line that cannot be formatted is drawn empty, and the count continues.
            let _ = out.write_str(&text);
        };
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("text", text)
            .progress_chars("=> ");
        let line = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::hidden());
        let line = line.with_style(style).with_prefix(name.to_owned()).with_position(done as u64);
        let (end, ended) = channel();
        let drawn = line.clone();
        let draw = move || {
            let mut pause = QUIET_START;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                show(&drawn);
                drawn.tick();
                pause = TICK;
            }
        };
        let thread = Builder::new().name("nqueens-bar".to_owned()).spawn(draw).ok();
        Self { line, end: Some(end), thread }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It draws and waits, and has no result; the message of a panic was printed already.
            let _ = thread.join();
        }
        self.line.finish_and_clear();
    }
}

/// Puts a line on the terminal, if it is not there yet.
fn show(line: &ProgressBar) {
    if line.is_hidden() {
        let terminal = Box::new(Narrowed(Term::buffered_stderr()));
        line.set_draw_target(ProgressDrawTarget::term_like(terminal));
    }
}

/// The terminal on standard error without its last columns: indicatif fills them with spaces.
#[derive(Debug)]
struct Narrowed(Term);

macro_rules! as_terminal {
    ($($name:ident($($argument:ident: $kind:ty)?),)*) => {
        $(fn $name(&self, $($argument: $kind)?) -> io::Result<()> { self.0.$name($($argument)?) })*
    };
}

impl TermLike for Narrowed {
    fn width(&self) -> u16 {
        columns().try_into().unwrap_or(u16::MAX)
    }

    as_terminal! {
        move_cursor_up(lines: usize),
        move_cursor_down(lines: usize),
        move_cursor_right(columns: usize),
        move_cursor_left(columns: usize),
        write_line(line: &str),
        write_str(text: &str),
        clear_line(),
        flush(),
    }
}

/// What is said before a long count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongCount {
    pub(crate) has_journal: bool,
}

impl LongCount {
    /// What it takes, and what would help.
    fn announce(self, start: &Start<'_>, estimate: &Estimate) -> String {
        let (size, engine) = (start.plan.size(), start.plan.engine());
        let advice = match () {
            () if engine.largest_sensible().is_some() => "; --engine auto is faster",
            () if estimate.seconds.value > HOPELESS => "; 'nqueens shard' counts on many machines",
            () if !self.has_journal => "; --journal FILE makes it resumable",
            () => "",
        };
        format!("n = {size} takes {} here{advice}", expected(estimate.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count() -> State {
        let work = Work::Count {
            solutions_before: 0,
            solutions: 4_970_000_000_000,
            left: TimeLeft::default(),
        };
        State::new(103_456_789, 123_456_789, work)
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let text = count().text(78);
        let begins = "83.7999%, 103456789/123456789 units, 0.0s, 4.97e12 solutions, ";
        assert!(text.starts_with(begins), "{text}");
    }

    #[test]
    fn each_work_has_its_text() {
        let text = |work, columns| {
            let parts = State::new(50, 200, work).parts(Duration::from_secs(2));
            joined(parts, columns)
        };
        let compare =
            |left: &str| Work::Compare(["n = 18: halves on 2 threads", left].map(str::to_owned));
        let left = "50/200 runs, n = 18: halves on 2 threads, 3.2s left";
        assert_eq!(text(compare("3.2s left"), 70), left);
        let short = "50/200 runs, n = 18: halves on 2 threads";
        assert_eq!(text(compare("warming up"), 40), short);
        assert_eq!(text(Work::Verify, 70), "50/200 units, 2.0s, ETA 6.0s");
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
            let text = count().text(columns);
            assert!(text.chars().count() <= columns, "{text}");
        }
    }

    #[test]
    fn a_percentage_is_rounded_down_and_moves_with_the_units() {
        let all = [3, 325, 46_508, 10_000_000, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66%", "99%", "99.99%", "99.9999%", "99.9999%"]);
        assert_eq!(percent(325, 325), "100%");
        assert_eq!(percent(0, 0), "0%");
    }

    #[test]
    fn lines_come_at_least_as_often_as_the_longest_gap() {
        let mut state = count();
        let mut due = Vec::new();
        for second in 0..250 {
            let line = state.line_if_due(Duration::from_secs(second), Display::Lines);
            due.extend(line.map(|_| second));
        }
        assert_eq!(due, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }

    #[test]
    fn a_bar_ends_when_it_is_dropped() {
        drop(Bar::start("count", [1, 2], &Arc::new(Mutex::new(count()))));
    }
}
