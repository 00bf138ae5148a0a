//! What fuzzing runs on a file for `--against`.

use serde_json::{Value, json};

use super::earlier::{Row, read_rows};
use super::statistics::{Configuration, Timings};
use crate::board::size::BoardSize;
use crate::cli::output::report::Report;
use crate::engine::{Engine, Kernel};

/// Reads the rows of a file, and compares each of them with the next.
///
/// # Panics
///
/// If the error names no line of the file, if rows are others when they are written and read again, or if a ratio of
/// times is no number above 0.
pub fn against(bytes: &[u8]) {
    let rows = match read_rows(bytes) {
        Ok(rows) => rows,
        Err(message) => return check_message(&message, bytes),
    };
    let written = rows.iter().map(|row| as_json(row) + "\n").collect::<String>();
    let again = read_rows(written.as_bytes()).expect("rows");
    assert_eq!(rows.len(), again.len());
    for (row, row_again) in rows.iter().zip(&again) {
        check_equal(row, row_again);
    }
    // A file that was joined with itself has every row twice.
    let twice = read_rows((written.clone() + &written).as_bytes());
    let message = twice.err().expect("two equal rows");
    let expected = format!("lines 1 and {} are both of ", rows.len() + 1);
    assert!(message.starts_with(&expected), "{message}");

    let timings: Vec<Timings> = rows.into_iter().map(timings).collect();
    for pair in timings.windows(2) {
        check_ratio(&pair[0], &pair[1]);
    }
    if let [first, .., last] = &timings[..] {
        check_ratio(last, first);
    }
}

/// Checks that a message names lines of the file.
fn check_message(message: &str, bytes: &[u8]) {
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
    if message.starts_with("the file is empty") {
        assert!(bytes.len() < 4 || str::from_utf8(bytes).is_ok_and(|text| text.trim().is_empty()));
        return;
    }
    let numbers = match message.strip_prefix("lines ") {
        Some(rest) => rest.split_once(" are both of ").expect("a row").0.split(" and ").collect(),
        None => {
            let rest = message.strip_prefix("line ").expect("a line");
            vec![rest.split_once(" is not a row ").expect("a reason").0]
        }
    };
    for number in numbers {
        let number: usize = number.parse().expect("a number");
        assert!((1..=lines).contains(&number), "{message}");
    }
}

/// Writes a row as a comparison prints it.
fn as_json(row: &Row) -> String {
    let Row { n, engine, kernel, threads, total, run_seconds } = row;
    let object: Value = json!({
        "n": n,
        "engine": engine,
        "kernel": kernel,
        "threads": threads,
        "total": total.to_string(),
        "run_seconds": run_seconds,
    });
    object.to_string()
}

/// Checks that two rows are equal. JSON is read quickly, so the last bit of a long fraction may be another one.
fn check_equal(one: &Row, other: &Row) {
    let key = |row: &Row| (row.n, row.engine.clone(), row.kernel.clone(), row.threads, row.total);
    assert_eq!(key(one), key(other));
    assert_eq!(one.run_seconds.len(), other.run_seconds.len());
    for (seconds, other_seconds) in one.run_seconds.iter().zip(&other.run_seconds) {
        assert!((seconds / other_seconds - 1.0).abs() < 1e-14, "{seconds} s, {other_seconds} s");
    }
}

/// Makes the timings of a row. Which board and engine they belong to does not matter for a ratio.
fn timings(row: Row) -> Timings {
    let configuration =
        Configuration { engine: Engine::Subtrees, kernel: Kernel::PORTABLE, threads: 1 };
    Timings {
        size: BoardSize::default(),
        configuration,
        total: row.total,
        seconds: row.run_seconds,
    }
}

/// Checks that the ratio of two rows is a number above 0, in text and in JSON, and that its row fits on a screen.
fn check_ratio(one: &Timings, other: &Timings) {
    let board = [one.clone(), other.clone()];
    let ratio = one.ratio_to_earlier(other);
    assert_ne!(ratio.to_string(), "");
    let row = one.row(Some(ratio), "the file", Some(1), &board, None);
    let width = row.rows().map(|(_, text)| text.chars().count()).max();
    assert!(width <= Some(100), "{width:?}");
    let mut fields = Report::default();
    let json = fields.put_below(row);
    for name in ["median_seconds", "min_seconds", "max_seconds", "ratio"] {
        assert!(json[name].as_f64().is_some_and(|number| number > 0.0), "{name}: {json}");
    }
    let has_error = one.seconds.len() > 1 && other.seconds.len() > 1;
    assert_eq!(json["ratio_error"].as_f64().is_some(), has_error, "{json}");
}
