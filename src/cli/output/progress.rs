//! The progress of a command: one line that is redrawn on a terminal, or lines elsewhere.
//!
//! ```text
//! n = 18 [==>       ] 26.1%, ETA 5.1 s ± 1.4 s, elapsed 2.3 s, 85/325 units
//! estimate [==>       ] 2.6 s of 10.0 s
//! compare n = 18 [==>       ] 13/48 runs, ETA roughly 12.0 s, elapsed 4.3 s
//! verify [====>     ] 84/200 units, ETA roughly 2.5 s, elapsed 1.8 s
//! ```
//!
//! What matters most comes first. A narrow terminal shows only the parts that fit it as a whole.
//!
//! Counting threads only note here what is done. The thread that writes to standard error looks at these notes ten times
//! a second, and draws the bar: see [`stderr`](crate::cli::output::stderr).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::forecast::{Approximate, Forecast, TimeLeft};
use crate::{UnitsDone, cores};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;

use crate::cli::output::format::{duration, expected, fewer_cores, time, wall_time};
use crate::cli::output::stderr;

/// Work that ends sooner shows no bar, which would only flash up.
const QUIET_START: Duration = Duration::from_millis(300);
/// The time of the first line where no line can be redrawn.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// The longest gap between two such lines. Gaps double up to this one.
const LONGEST_GAP: Duration = Duration::from_secs(600);
/// A count that takes longer than this should have a journal.
const LONG: Duration = Duration::from_secs(1800);
/// The interval at which a count without a journal looks how long it takes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The columns between the brackets of the bar.
const BAR_LEN: usize = 10;
/// The columns of a terminal that does not report them.
const DEFAULT_COLUMNS: usize = 80;

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

/// Shows the progress of one piece of work after the other.
pub(crate) struct Progress {
    is_shown: bool,
    /// Whether lines can be redrawn.
    is_terminal: bool,
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
    /// When to look whether a count without a journal takes long. `None` if it has one, or if there was a warning.
    next_look: Option<Instant>,
}

/// What is under way.
#[derive(Clone)]
pub(crate) enum Work {
    /// A count, with the command for it, its number of threads and the time left.
    Count { command: String, threads: usize, left: TimeLeft },
    /// An estimate: the steps are milliseconds.
    Sample,
    /// Steps of this name that take equally long.
    Steps(&'static str),
}

/// Returns the seconds of a count that roughly costs this many hours of a core.
pub(crate) fn rough_seconds(core_hours: f64, threads: usize) -> f64 {
    3600.0 * core_hours / threads.min(cores()) as f64
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
        let is_terminal = !ProgressDrawTarget::stderr().is_hidden();
        let is_shown = match when {
            ProgressWhen::Never => false,
            ProgressWhen::Auto => is_terminal,
            ProgressWhen::Always => true,
        };
        let notes = Notes::new("", [0, 0], Work::Steps(""));
        Self { is_shown, is_terminal, notes: Arc::new(Mutex::new(notes)), is_unrecorded: false }
    }

    /// Warns of counts that take long, because they have no journal.
    pub(crate) fn warn_of_long_counts(&mut self) {
        self.is_unrecorded = true;
    }

    /// Begins a piece of work. `steps` are those that are done already, and all of them.
    pub(crate) fn begin(&self, name: &str, steps: [usize; 2], work: Work) {
        let mut notes = Notes::new(name, steps, work);
        if self.is_unrecorded {
            notes.next_look = Some(Instant::now() + LOOK_EVERY);
        }
        *lock(&self.notes) = notes;
        if !self.is_shown {
            return;
        }
        let notes = Arc::clone(&self.notes);
        if self.is_terminal {
            stderr::show(Box::new(move |bar| {
                copy(&notes).draw(bar);
                None
            }));
        } else {
            let mut next_line = FIRST_LINE;
            stderr::show(Box::new(move |bar| {
                let notes = copy(&notes);
                if !advance_if_due(&mut next_line, notes.begun.elapsed()) {
                    return None;
                }
                Some(notes.parts(bar).join(", "))
            }));
        }
    }

    /// Notes that units of a count are done. Returns a warning once if the count takes long and has no journal.
    pub(crate) fn record(&self, newest: &UnitsDone, done: usize) -> Option<String> {
        let mut notes = lock(&self.notes);
        if let Work::Count { left, .. } = &mut notes.work {
            left.record(newest);
            notes.done = done as u64;
        }
        notes.warning_of_long_count()
    }

    /// Returns a warning if a count that begins takes long by the table of costs, and has no journal. The first forecast of
    /// the count itself may come after minutes.
    pub(crate) fn warning_of_long_board(&self, core_hours: f64, threads: usize) -> Option<String> {
        // To ask for the cores takes longer than a small count.
        if 3600.0 * core_hours < LONG.as_secs_f64() {
            return None;
        }
        let seconds = Approximate::roughly(rough_seconds(core_hours, threads));
        lock(&self.notes).warning_if_long(seconds, None)
    }

    /// Notes that some steps are done.
    pub(crate) fn advance(&self, steps: usize) {
        lock(&self.notes).done += steps as u64;
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        stderr::hide();
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
        Self {
            name: name.to_owned(),
            begun: Instant::now(),
            done: done as u64,
            all: all as u64,
            work,
            next_look: None,
        }
    }

    /// Returns a warning if the forecast of a count without a journal is long, unless there was a warning before.
    fn warning_of_long_count(&mut self) -> Option<String> {
        let now = Instant::now();
        if self.next_look? > now {
            return None;
        }
        self.next_look = Some(now + LOOK_EVERY);
        let Work::Count { left, .. } = &self.work else { return None };
        let left = left.estimate()?;
        self.warning_if_long(left.wall_seconds?, left.cores)
    }

    /// Returns a warning if a count without a journal takes long, unless there was a warning before. Its rest takes this
    /// time on this number of cores.
    fn warning_if_long(&mut self, seconds: Approximate, cores: Option<f64>) -> Option<String> {
        let Work::Count { command, threads, .. } = &self.work else { return None };
        let whole = self.begun.elapsed().as_secs_f64() + seconds.value;
        if self.next_look.is_none() || whole < LONG.as_secs_f64() {
            return None;
        }
        self.next_look = None;
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
        let parts = self.parts(bar);
        let drawn = drawn_bar(self.position(), self.all);
        let line = fitting_line(&self.name, &drawn, &parts, columns());
        if bar.is_hidden() {
            // The whole line is the message, because each change of anything else might draw a line that does not fit.
            let style = ProgressStyle::with_template("{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_message(line);
    }

    /// Moves the bar, which knows how fast steps were done, and returns the parts of the text beside it. What matters
    /// most comes first.
    fn parts(&self, bar: &ProgressBar) -> Vec<String> {
        let done = self.position();
        let all = self.all;
        bar.set_length(all);
        bar.set_position(done);
        let elapsed = duration(self.begun.elapsed());
        match &self.work {
            Work::Count { threads, left, .. } => {
                let mut parts = vec![format!("{}%", percent(done, all))];
                if let Some(Forecast { wall_seconds: Some(seconds), cores, .. }) = left.estimate() {
                    parts.push(format!("ETA {}", expected(seconds)));
                    parts.extend(fewer_cores(*threads, cores));
                }
                parts.push(format!("elapsed {elapsed}"));
                parts.push(format!("{done}/{all} units"));
                parts
            }
            Work::Sample => {
                vec![format!("{elapsed} of {}", duration(Duration::from_millis(all)))]
            }
            Work::Steps(name) => {
                let mut parts = vec![format!("{done}/{all} {name}")];
                // Before the first step is done, nothing is known.
                if done > 0 {
                    let rest = all.saturating_sub(done) as f64 / done as f64;
                    let seconds_left = self.begun.elapsed().as_secs_f64() * rest;
                    parts.push(format!("ETA roughly {}", time(seconds_left)));
                }
                parts.push(format!("elapsed {elapsed}"));
                parts
            }
        }
    }
}

/// Returns the columns of the terminal that a line may use. One stays free, because some terminals draw `±` two columns
/// wide, and a line that wraps would be left behind by the next one.
fn columns() -> usize {
    let reported = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    let columns = if reported == 0 { DEFAULT_COLUMNS } else { reported };
    columns - 1
}

/// Returns what of a line fits into these columns: the first part in any case, then the name, then each other part. The
/// bar is there if it takes no room from the first two parts.
fn fitting_line(name: &str, bar: &str, parts: &[String], columns: usize) -> String {
    let width = |text: &str| text.chars().count();
    let mut head = String::new();
    let named = format!("{name} ");
    if width(&named) + width(&parts[0]) <= columns {
        head = named;
        let with_bar = format!("{head}{bar} ");
        let first_two = parts[..parts.len().min(2)].join(", ");
        if width(&with_bar) + width(&first_two) <= columns {
            head = with_bar;
        }
    }
    let mut line = head + &parts[0];
    for part in &parts[1..] {
        let longer = format!("{line}, {part}");
        if width(&longer) <= columns {
            line = longer;
        }
    }
    line
}

/// Returns the bar: `[==>       ]`.
fn drawn_bar(done: u64, all: u64) -> String {
    let filled = BAR_LEN as u64 * done.min(all) / all.max(1);
    let arrow = "=".repeat(usize::try_from(filled).unwrap_or(BAR_LEN)) + ">";
    format!("[{arrow:<BAR_LEN$.BAR_LEN$}]")
}

/// Returns how much is done, with one decimal and never rounded up: 100.0 is the end.
fn percent(done: u64, all: u64) -> String {
    let thousandths = 1000 * done / all.max(1);
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::{Rest, Sample};

    #[test]
    fn lines_come_at_least_every_ten_minutes() {
        let mut next_line = FIRST_LINE;
        let is_due = |second: &u64| advance_if_due(&mut next_line, Duration::from_secs(*second));
        let shown: Vec<u64> = (0..2500).filter(is_due).collect();
        assert_eq!(shown, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1624, 2224]);
    }

    /// The text two seconds after the beginning.
    fn text(work: Work, done: usize, all: usize) -> String {
        let mut notes = Notes::new("n = 8", [done, all], work);
        notes.begun = Instant::now().checked_sub(Duration::from_secs(2)).expect("the clock runs");
        notes.parts(&ProgressBar::hidden()).join(", ")
    }

    /// The line of a terminal, as it is drawn.
    fn drawn(parts: &[&str], columns: usize) -> String {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        fitting_line("n = 18", &drawn_bar(85, 325), &parts, columns)
    }

    #[test]
    fn a_bar_is_full_only_at_the_end() {
        let bars = [0, 85, 324, 325, 400].map(|done| drawn_bar(done, 325));
        let full = "[==========]";
        assert_eq!(bars, ["[>         ]", "[==>       ]", "[=========>]", full, full]);
        assert_eq!(drawn_bar(0, 0), "[>         ]");
    }

    #[test]
    fn a_narrow_terminal_shows_what_matters_most_and_cuts_no_part() {
        let parts = [
            "26.1%",
            "ETA 5d14h ± 1d09h",
            "2 threads got 0.3 cores",
            "elapsed 2.3 s",
            "85/325 units",
        ];
        for (columns, expected) in [
            (4, "26.1%"),
            (11, "26.1%"),
            (12, "n = 18 26.1%"),
            (19, "n = 18 26.1%"),
            (39, "n = 18 26.1%, ETA 5d14h ± 1d09h"),
            (44, "n = 18 [==>       ] 26.1%, ETA 5d14h ± 1d09h"),
            (79, "n = 18 [==>       ] 26.1%, ETA 5d14h ± 1d09h, 2 threads got 0.3 cores"),
        ] {
            assert_eq!(drawn(&parts, columns), expected, "{columns}");
        }
        for columns in 5..120 {
            let line = drawn(&parts, columns);
            assert!(line.chars().count() <= columns && line.contains("26.1%"), "{columns}: {line}");
        }
        let all = drawn(&parts, 119);
        assert!(all.ends_with(", elapsed 2.3 s, 85/325 units"), "{all}");
    }

    /// Whoever waits for a forecast with an error may lose hours until it comes.
    #[test]
    fn a_rough_forecast_is_enough_for_one_warning_of_a_long_count() {
        let rest = Rest { units: 1000, solutions: None };
        let mut left = TimeLeft::new(Sample::new(1000), rest, 1);
        for unit in 0..3 {
            left.record(&UnitsDone {
                units: unit..unit + 1,
                elapsed: Duration::from_secs(10 * (unit as u64 + 1)),
                cpu_time: Duration::from_secs(10),
                ..UnitsDone::default()
            });
        }
        let work = Work::Count { command: "nqueens count 8".to_owned(), threads: 1, left };
        let mut notes = Notes::new("n = 8", [3, 1000], work);
        let mut warning = |seconds| notes.warning_if_long(Approximate::roughly(seconds), None);
        assert_eq!(warning(1e6), None, "it has a journal");
        notes.next_look = Some(Instant::now());
        let mut warning = |seconds| notes.warning_if_long(Approximate::roughly(seconds), None);
        assert_eq!(warning(1700.0), None, "it is short");
        let said = notes.warning_of_long_count().expect("997 units of ten seconds");
        assert!(said.starts_with("n = 8 takes roughly 2h46m more, and a stop "), "{said}");
        assert_eq!(notes.warning_of_long_count(), None);
        assert_eq!(notes.warning_if_long(Approximate::roughly(1e6), None), None);
    }

    #[test]
    fn without_a_sample_no_time_is_promised() {
        let work = Work::Count { command: String::new(), threads: 2, left: TimeLeft::default() };
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
