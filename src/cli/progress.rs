//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! n = 18 [==>       ] 26.1%, ETA 5.1 s ± 1.4 s, elapsed 2.3 s, 85/325 units
//! estimate [==>       ] 2.6 s of 10.0 s
//! compare n = 18 [==>       ] 13/48 runs, ETA roughly 12.0 s, elapsed 4.3 s
//! verify [====>     ] 84/200 units, ETA roughly 2.5 s, elapsed 1.8 s
//! ```
//!
//! What matters most comes first, because a narrow terminal cuts the rest.
//!
//! Counting threads only note here what is done. The thread that writes to standard error looks at these notes ten
//! times a second: see [`stderr`](crate::cli::stderr).

mod bar;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::forecast::{Approximate, Forecast, rough_seconds};
use crate::{Error, Observer, Shard};
use clap::ValueEnum;
use indicatif::ProgressBar;

use crate::cli::failure::Failure;
use crate::cli::print::command::count_command;
use crate::cli::print::format::{duration, expected, fewer_cores, time, wall_time};
use crate::cli::stderr::{self, message};
use crate::cli::warnings::warn;

/// Work that ends sooner shows no bar, which would only flash up.
const QUIET_START: Duration = Duration::from_millis(300);
/// The time of the first line where no line can be redrawn, and of the first look whether a count takes long.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// The longest gap between two such lines. Gaps double up to this one.
const LONGEST_GAP: Duration = Duration::from_secs(600);
/// A count that takes longer than this should have a journal.
const LONG: Duration = Duration::from_secs(1800);

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

/// How progress is shown.
#[derive(Clone, Copy)]
enum Display {
    Nothing,
    Bar,
    Lines,
}

/// Shows the progress of one piece of work after the other.
pub(crate) struct Progress {
    display: Display,
    notes: Arc<Mutex<Notes>>,
    /// Whether a count that is stopped loses its work, because it has no journal.
    is_unrecorded: bool,
}

/// What is known of the piece of work that is under way.
#[derive(Clone)]
struct Notes {
    name: String,
    begun: Instant,
    /// The steps that are done, and all of them: units, runs, or milliseconds of a sample.
    done: u64,
    all: u64,
    work: Work,
}

/// What is under way.
#[derive(Clone)]
pub(crate) enum Work {
    /// A count, with the command for it, its number of threads, what the table of costs says of its wall time, and the
    /// time left, as soon as that is known.
    Count { command: String, threads: usize, rough_seconds: f64, left: Option<Forecast> },
    /// An estimate: the steps are milliseconds.
    Sample,
    /// Steps of this name that take equally long.
    Steps(&'static str),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a copy of the notes, because whoever draws may have to wait for the terminal, and counting threads must not
/// wait for the notes.
fn copy(notes: &Mutex<Notes>) -> Notes {
    lock(notes).clone()
}

impl Progress {
    pub(crate) fn new(when: ProgressWhen) -> Self {
        let display = match (when, bar::can_be_drawn()) {
            (ProgressWhen::Never, _) | (ProgressWhen::Auto, false) => Display::Nothing,
            (ProgressWhen::Auto | ProgressWhen::Always, true) => Display::Bar,
            (ProgressWhen::Always, false) => Display::Lines,
        };
        let notes = Notes::new("", [0, 0], Work::Steps(""));
        Self { display, notes: Arc::new(Mutex::new(notes)), is_unrecorded: false }
    }

    /// Warns of counts that take long, because they have no journal.
    pub(crate) fn warn_of_long_counts(&mut self) {
        self.is_unrecorded = true;
    }

    /// Begins a piece of work. `steps` are those that are done already, and all of them.
    pub(crate) fn begin(&self, name: &str, steps: [usize; 2], work: Work) {
        *lock(&self.notes) = Notes::new(name, steps, work);
        if matches!(self.display, Display::Nothing) && !self.is_unrecorded {
            return;
        }
        let notes = Arc::clone(&self.notes);
        let mut view = View::new(self.display, self.is_unrecorded);
        stderr::show(Box::new(move |bar| view.look(&copy(&notes), bar)));
    }

    /// Notes that units of a count are done.
    fn record(&self, progress: &crate::Progress<'_>) {
        let mut notes = lock(&self.notes);
        if let Work::Count { left, .. } = &mut notes.work {
            *left = progress.time_left();
            notes.done = progress.units_done() as u64;
        }
    }

    /// Notes that some steps are done.
    pub(crate) fn advance(&self, steps: usize) {
        lock(&self.notes).done += steps as u64;
    }

    /// Notes how many steps are done, and how many there are. Threads may come out of order.
    pub(crate) fn note(&self, done: usize, all: usize) {
        let mut notes = lock(&self.notes);
        notes.done = notes.done.max(done as u64);
        notes.all = all as u64;
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        stderr::hide();
    }
}

/// Shows what a running count reports, as progress and as messages.
impl Observer for Progress {
    fn started(&self, progress: &crate::Progress<'_>) {
        let start = progress.start;
        warn(start.left_out, start.differences);
        let mut name = format!("n = {}", start.plan.size());
        if start.shard != Shard::WHOLE {
            name += &format!(" shard {}", start.shard);
        }
        let plan = start.plan;
        let work = Work::Count {
            command: count_command(plan, false),
            threads: start.threads,
            rough_seconds: rough_seconds(plan.size(), plan.engine(), start.kernel, start.threads),
            left: None,
        };
        self.begin(&name, [progress.units_done(), progress.units()], work);
    }

    fn progress(&self, progress: &crate::Progress<'_>) {
        self.record(progress);
    }

    /// What was left out before the start is shown there in few lines.
    fn warned(&self, warning: &Error) {
        if warning.is_of_lost_journal() {
            message!("warning: {}", Failure::from(warning.clone()));
        }
    }
}

/// What shows one piece of work.
struct View {
    display: Display,
    /// The time of the next line where no line can be redrawn.
    next_line: Duration,
    /// Whether to warn if a count takes long.
    warns: bool,
}

impl View {
    fn new(display: Display, warns: bool) -> Self {
        Self { display, next_line: FIRST_LINE, warns }
    }

    /// Draws the bar, or returns a line to print.
    fn look(&mut self, notes: &Notes, bar: &ProgressBar) -> Option<String> {
        if self.warns
            && let Some(warning) = notes.warning_of_long_count()
        {
            self.warns = false;
            return Some(warning);
        }
        match self.display {
            Display::Nothing => None,
            Display::Bar => {
                notes.draw(bar);
                None
            }
            Display::Lines => {
                let is_due = advance_if_due(&mut self.next_line, notes.begun.elapsed());
                is_due.then(|| format!("{}: {}", notes.name, notes.text()))
            }
        }
    }
}

/// Returns whether it is time for the next line, and if so sets the time of the line after it. The gaps between lines
/// double up to the longest.
fn advance_if_due(next_line: &mut Duration, elapsed: Duration) -> bool {
    if elapsed < *next_line {
        return false;
    }
    *next_line = elapsed + elapsed.min(LONGEST_GAP);
    true
}

impl Notes {
    fn new(name: &str, [done, all]: [usize; 2], work: Work) -> Self {
        let begun = Instant::now();
        Self { name: name.to_owned(), begun, done: done as u64, all: all as u64, work }
    }

    /// Returns a warning if a count takes long by its forecast, or by the table of costs before there is a forecast.
    fn warning_of_long_count(&self) -> Option<String> {
        let Work::Count { command, threads, rough_seconds, left } = &self.work else { return None };
        let elapsed = self.begun.elapsed();
        if elapsed < FIRST_LINE {
            return None;
        }
        let (seconds, cores) = match left {
            Some(Forecast { wall_seconds: Some(seconds), cores, .. }) => (*seconds, *cores),
            _ => (Approximate::roughly(*rough_seconds), None),
        };
        if elapsed.as_secs_f64() + seconds.value < LONG.as_secs_f64() {
            return None;
        }
        let time = wall_time(seconds, *threads, cores);
        Some(format!(
            "{} takes {time} more, and a stop would lose all of it; this can be resumed: {command} --journal FOLDER",
            self.name
        ))
    }

    /// Returns the number of steps that are done.
    fn position(&self) -> u64 {
        match self.work {
            Work::Sample => self.begun.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
            _ => self.done,
        }
    }

    /// Draws the bar, once the work has taken a while.
    fn draw(&self, bar: &ProgressBar) {
        if self.begun.elapsed() < QUIET_START {
            return;
        }
        if bar.is_hidden() {
            bar::begin(bar, &self.name, self.all);
        }
        bar.set_position(self.position());
        bar.set_message(self.text());
    }

    /// Returns the text beside the bar. What matters most comes first.
    fn text(&self) -> String {
        let done = self.position();
        let all = self.all;
        let elapsed = duration(self.begun.elapsed());
        let mut parts = Vec::new();
        match &self.work {
            Work::Count { threads, left, .. } => {
                parts.push(format!("{}%", percent(done, all)));
                if let Some(Forecast { wall_seconds: Some(seconds), cores, .. }) = left {
                    parts.push(format!("ETA {}", expected(*seconds)));
                    parts.extend(fewer_cores(*threads, *cores));
                }
                parts.push(format!("elapsed {elapsed}"));
                parts.push(format!("{done}/{all} units"));
            }
            Work::Sample => {
                parts.push(format!("{elapsed} of {}", duration(Duration::from_millis(all))));
            }
            Work::Steps(name) => {
                parts.push(format!("{done}/{all} {name}"));
                // Before the first step is done, nothing is known.
                if done > 0 {
                    let rest = all.saturating_sub(done) as f64 / done as f64;
                    let seconds_left = self.begun.elapsed().as_secs_f64() * rest;
                    parts.push(format!("ETA roughly {}", time(seconds_left)));
                }
                parts.push(format!("elapsed {elapsed}"));
            }
        }
        parts.join(", ")
    }
}

/// Returns how much is done, with one decimal and never rounded up: 100.0 is the end.
fn percent(done: u64, all: u64) -> String {
    let thousandths = 1000 * done / all.max(1);
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_least_every_ten_minutes() {
        let mut next_line = FIRST_LINE;
        let is_due = |second: &u64| advance_if_due(&mut next_line, Duration::from_secs(*second));
        let shown: Vec<u64> = (0..2500).filter(is_due).collect();
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1624, 2224]);
    }

    /// What is known two seconds after the beginning.
    fn notes(work: Work, done: usize, all: usize) -> Notes {
        let mut notes = Notes::new("n = 8", [done, all], work);
        notes.begun = Instant::now().checked_sub(Duration::from_secs(2)).expect("the clock runs");
        notes
    }

    fn text(work: Work, done: usize, all: usize) -> String {
        notes(work, done, all).text()
    }

    /// A count on one thread, with what its forecast and the table of costs say of the time.
    fn count(left: Option<f64>, rough_seconds: f64) -> Notes {
        let left = left.map(|seconds| {
            let seconds = Approximate::roughly(seconds);
            Forecast { cpu_seconds: seconds, wall_seconds: Some(seconds), cores: None, total: None }
        });
        let command = "nqueens count 8".to_owned();
        notes(Work::Count { command, threads: 1, rough_seconds, left }, 3, 1000)
    }

    /// Whoever waits for a forecast with an error may lose hours until it comes.
    #[test]
    fn a_rough_forecast_is_enough_for_one_warning_of_a_long_count() {
        let bar = ProgressBar::hidden();
        let first_looks = |notes: &Notes, warns| {
            let mut view = View::new(Display::Nothing, warns);
            [view.look(notes, &bar), view.look(notes, &bar)]
        };
        let long = count(Some(10_000.0), 0.0);
        let [warning, again] = first_looks(&long, true);
        let warning = warning.expect("a long count");
        assert!(warning.starts_with("n = 8 takes roughly 2h46m more, and a stop "), "{warning}");
        assert_eq!(again, None);
        assert_eq!(first_looks(&long, false), [None, None], "it has a journal");
        // A forecast is better than the table of costs.
        assert_eq!(first_looks(&count(Some(1700.0), 1e6), true), [None, None], "it is short");
        let [by_table, _] = first_looks(&count(None, 1e6), true);
        assert!(by_table.is_some_and(|warning| warning.contains(" takes roughly 11d")));
    }

    #[test]
    fn a_line_off_a_terminal_names_the_work() {
        let runs = notes(Work::Steps("runs"), 0, 200);
        let line = View::new(Display::Lines, false).look(&runs, &ProgressBar::hidden());
        assert_eq!(line.as_deref(), Some("n = 8: 0/200 runs, elapsed 2.0 s"));
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let command = String::new();
        let work = Work::Count { command, threads: 2, rough_seconds: 0.0, left: None };
        let text = text(work, 103_456_789, 123_456_789);
        assert_eq!(text, "83.7%, elapsed 2.0 s, 103456789/123456789 units");
    }

    #[test]
    fn each_work_has_its_text() {
        let runs = text(Work::Steps("runs"), 50, 200);
        assert!(runs.starts_with("50/200 runs, ETA roughly 6.0 s"), "{runs}");
        assert!(runs.ends_with(", elapsed 2.0 s"), "{runs}");
        assert_eq!(text(Work::Steps("runs"), 0, 200), "0/200 runs, elapsed 2.0 s");
        assert_eq!(text(Work::Sample, 0, 10_000), "2.0 s of 10.0 s");
    }

    #[test]
    fn a_percentage_is_rounded_down() {
        let all = [3, 325, 46_508, 123_456_789];
        let texts = all.map(|all| percent(all - 1, all));
        assert_eq!(texts, ["66.6", "99.6", "99.9", "99.9"]);
        assert_eq!([percent(325, 325), percent(0, 0)], ["100.0", "0.0"]);
    }
}
