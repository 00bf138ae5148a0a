//! What fuzzing runs on the first line of a journal, and lines that it writes.

use std::path::Path;

use super::first_line::{FirstLine, Wanted};
use super::line::{LineCrc, format_done};
use super::run::Run;
use crate::board::size::BoardSize;
use crate::engine::WhichCount;
use crate::machine::memory::StatedMemory;
use crate::plan::Plan;
use crate::plan::done::UnitsDone;

/// The largest board whose plan is made: the units of larger ones take seconds.
const MAX_SIZE: u32 = 10;

/// Returns a line of a run, as it is written.
pub(crate) fn line_of_run(run: &Run, plan: &Plan) -> String {
    LineCrc::of(plan).add_to(&run.to_string())
}

/// Returns a line with finished units, as it is written.
pub(crate) fn line_of_done(done: &UnitsDone, plan: &Plan) -> String {
    LineCrc::of(plan).add_to(&format_done(done))
}

/// Reads the first line of a journal, and makes the plan that it names.
///
/// # Panics
///
/// If the line is taken, and another one is written for what was read, or if the plan is another one than that of the
/// line.
pub fn first_line(bytes: &[u8]) {
    let path = Path::new("q.journal");
    let line = bytes.split(|byte| *byte == b'\n').next().expect("a line");
    let first = match FirstLine::parse(line) {
        Some(Ok(first)) => first,
        None => return,
        Some(Err(error)) => {
            assert_ne!(error.at(path).to_string(), "");
            return;
        }
    };
    let line = str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).expect("text");
    assert!(!line.contains(char::is_control), "{line:?}");
    let (text, _) = line.rsplit_once(' ').expect("a CRC");
    assert_eq!(format!("{line}\n"), LineCrc::FIRST_LINE.add_to(text));
    let fields = text.strip_prefix("nqueens-journal 2 version=").expect("the format");
    let (_, plan) = fields.split_once(' ').expect("a plan");
    assert_eq!(plan, first.plan);
    check_plan(&first, path);
}

/// Makes the plan that a first line names, if the board is small, and checks that it is that of the line.
fn check_plan(first: &FirstLine, path: &Path) {
    let sizes = first.plan.split(' ').filter_map(|field| field.strip_prefix("n=")?.parse().ok());
    if sizes.max().is_none_or(|size: BoardSize| size.get() > MAX_SIZE) {
        return;
    }
    let plan = match first.make_plan(path, Some(StatedMemory { bytes: 1 << 30, name: "fuzzing" })) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
            return;
        }
    };
    assert_eq!(plan.to_string(), first.plan);
    assert_eq!(plan.which_count(), first.which_count());
    let written = FirstLine::format(&plan);
    let again = FirstLine::parse(written.trim_end().as_bytes()).expect("a line").expect("good");
    assert_eq!(again.plan, first.plan);

    let wanted = Wanted {
        size: plan.size(),
        which: plan.which_count(),
        engine: Some(plan.engine()),
        split_rows: plan.split_rows(),
        stated_memory: None,
    };
    assert!(first.is_of(&wanted));
    assert!(first.is_of(&Wanted { engine: None, split_rows: None, ..wanted }));
    let other = match plan.which_count() {
        WhichCount::First => WhichCount::Second,
        WhichCount::Second => WhichCount::First,
    };
    assert!(!first.is_of(&Wanted { which: other, ..wanted }));
    let larger = BoardSize::new(plan.size().get() + 1).expect("in range");
    assert!(!first.is_of(&Wanted { size: larger, ..wanted }));
}
