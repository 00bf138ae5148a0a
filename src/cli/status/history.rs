//! Finished units against time.
//!
//! Journals have no dates. But the last run of each ended when its file was last written, and it
//! recorded how long it took. So it is drawn as a straight line that ends at the time of the file.
//! Earlier runs of a journal may have been at any time; their units are there from the beginning, as
//! are those of packed journals. If nothing has a time, there is no picture.

use std::time::SystemTime;

use maud::{Markup, html};
use nqueens::record::JournalFile;

use super::state::Status;
use crate::cli::format::{DATE, px, rounded, since_1970, utc};

const WIDTH: f64 = 750.0;
const HEIGHT: f64 = 210.0;
/// Left, top, right and bottom of the axes.
const LEFT: f64 = 58.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = WIDTH - 14.0;
const BOTTOM: f64 = HEIGHT - 26.0;
/// Points of the line.
const POINTS: u32 = 200;
/// On the time axis, and on that of the units.
const MOST_TICKS: u32 = 6;

/// Distances between the marks of the time axis, a second to a year, in seconds.
const STEPS: [u32; 20] = [
    1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, DAY, 172_800, 604_800,
    1_209_600, 2_419_200, YEAR,
];
const DAY: u32 = 86_400;
const YEAR: u32 = 365 * DAY;

/// A run whose time is known, in seconds since 1970.
struct Run {
    start: f64,
    end: f64,
    units: f64,
}

struct History {
    runs: Vec<Run>,
    /// The units whose time is not known.
    undated: f64,
    start: f64,
    end: f64,
}

pub(super) fn section(status: &Status) -> Markup {
    let record = &status.journals.record;
    let end = (!status.running.is_empty()).then_some(status.now);
    let Some(history) = History::of(&record.files, end) else { return html! {} };
    html! {
        h3 { "Progress" }
        (history.picture(record.plan.units()))
        p.note {
            "Recorded units, in UTC, by the times of the journals and the wall times in them. Units of \
             earlier runs are there from the beginning. A copied file may have another time."
        }
    }
}

impl Run {
    /// The last run of a journal that is not packed.
    fn last_of(file: &JournalFile) -> Option<Self> {
        let (last, earlier) = file.runs.split_last()?;
        let is_packed = earlier.iter().any(|run| run.shard != last.shard);
        let end = since_1970(file.modified.filter(|_| !is_packed && last.units > 0)?);
        Some(Self { start: end - last.elapsed.as_secs_f64(), end, units: last.units as f64 })
    }
}

impl History {
    /// The history up to now or to the last record.
    fn of(files: &[JournalFile], now: Option<SystemTime>) -> Option<Self> {
        let all: usize = files.iter().flat_map(|file| &file.runs).map(|run| run.units).sum();
        let runs: Vec<Run> = files.iter().filter_map(Run::last_of).collect();
        let undated = all as f64 - runs.iter().map(|run| run.units).sum::<f64>();
        let start = runs.iter().map(|run| run.start).reduce(f64::min)?;
        let end = runs.iter().map(|run| run.end).chain(now.map(since_1970)).reduce(f64::max)?;
        (end - start > 0.01).then_some(Self { runs, undated, start, end })
    }

    /// The units that were recorded by this time.
    fn units(&self, time: f64) -> f64 {
        let of_run = |run: &Run| {
            let part = (time - run.start) / (run.end - run.start).max(1e-3);
            run.units * part.clamp(0.0, 1.0)
        };
        self.undated + self.runs.iter().map(of_run).sum::<f64>()
    }

    fn picture(&self, all: usize) -> Markup {
        let percent = |time: f64| 100.0 * self.units(time) / all.max(1) as f64;
        let (low, high) = (percent(self.start), percent(self.end));
        let step = nice_step(high);
        let top = step * (high / step - 1e-9).ceil();
        let x = |time| px(LEFT + (RIGHT - LEFT) * (time - self.start) / (self.end - self.start));
        let y = |percent| px(BOTTOM - (BOTTOM - TOP) * percent / top);
        let marks = (0..=MOST_TICKS).map(|number| f64::from(number) * step);
        let point = |point| {
            let time = self.start + f64::from(point) / f64::from(POINTS) * (self.end - self.start);
            format!(" {} {}", x(time), y(percent(time)))
        };
        let line: String = (0..=POINTS).map(point).collect();
        let [start, end] = [self.start, self.end].map(|time| utc(time, DATE));
        html! {
            svg.history role="img" width=(WIDTH) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) }
                aria-label=(format!("from {low:.1} to {high:.1} percent of the units, {start} to {end}")) {
                @for mark in marks.take_while(|mark| *mark <= top * 1.001) {
                    path.axis d={ "M" (LEFT) " " (y(mark)) "H" (RIGHT) } {}
                    text.y x=(LEFT - 8.0) y=(y(mark)) { (rounded(mark, 9)) " %" }
                }
                @for (time, label) in self.time_marks() {
                    path.axis d={ "M" (x(time)) " " (BOTTOM) "V" (BOTTOM + 5.0) } {}
                    text.x x=(x(time)) y=(BOTTOM + 18.0) { (label) }
                }
                path.area d={ "M" (LEFT) " " (BOTTOM) "L" (line) " " (RIGHT) " " (BOTTOM) "z" } {}
                path.line d={ "M" (line) } {}
            }
        }
    }

    /// Round times of day, or round dates, and their labels.
    fn time_marks(&self) -> Vec<(f64, String)> {
        let span = self.end - self.start;
        let least = span / f64::from(MOST_TICKS);
        // Several years, if one is too short: files and their contents tell any time.
        let years = f64::from(YEAR) * (least / f64::from(YEAR)).ceil();
        let step = STEPS.into_iter().map(f64::from).find(|step| *step >= least).unwrap_or(years);
        let label = match (step >= f64::from(DAY), span > f64::from(DAY), step >= 60.0) {
            (true, _, _) => "%m-%d",
            (_, true, _) => "%m-%d %H:%M",
            (_, _, true) => "%H:%M",
            _ => "%T",
        };
        let first = (self.start / step).ceil() * step;
        let marks = (0..=MOST_TICKS).map(|number| first + f64::from(number) * step);
        // A label in the middle of its mark needs room at the right.
        let last = self.end - 0.03 * span;
        marks.take_while(|mark| *mark <= last).map(|mark| (mark, utc(mark, label))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, so that there are two to five steps up to a number.
fn nice_step(number: f64) -> f64 {
    let power = 10_f64.powf((number.max(1e-9) / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| number / step <= 5.0).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(start: f64, end: f64) -> History {
        History { runs: vec![Run { start, end, units: 60.0 }], undated: 40.0, start, end }
    }

    #[test]
    fn a_run_is_a_straight_line_above_what_has_no_time() {
        let history = history(1000.0, 1100.0);
        assert_eq!(
            [900.0, 1000.0, 1050.0, 1200.0].map(|time| history.units(time)),
            [40.0, 40.0, 70.0, 100.0]
        );
    }

    #[test]
    fn marks_are_few_at_any_time() {
        for (start, end) in [(-1.8e19, 1e9), (0.0, 9.3e18), (9.2e18, 9.2e18 + 1024.0)] {
            let page = history(start, end).picture(100).into_string();
            assert!(history(start, end).time_marks().len() <= 7 && page.len() < 20_000, "{page}");
        }
        let years = history(0.0, 56.0 * f64::from(YEAR)).time_marks();
        assert_eq!(years.len(), 6);
    }

    #[test]
    fn marks_are_round() {
        let labels = |span: f64| {
            let marks = history(1_795_326_312.0, 1_795_326_312.0 + span).time_marks();
            marks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(labels(20.0), "05:45:15, 05:45:20, 05:45:25, 05:45:30");
        assert_eq!(labels(3600.0), "05:50, 06:00, 06:10, 06:20, 06:30, 06:40");
        assert_eq!(
            labels(1.5 * 86_400.0),
            "11-22 06:00, 11-22 12:00, 11-22 18:00, 11-23 00:00, \
             11-23 06:00, 11-23 12:00"
        );
        assert_eq!(labels(20.0 * 86_400.0), "11-26, 12-03, 12-10");
        assert_eq!([100.0, 44.7, 7.0, 0.3].map(nice_step), [20.0, 10.0, 2.0, 0.1]);
    }
}
