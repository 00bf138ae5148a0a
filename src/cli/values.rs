//! Values as they are written on the command line, and the number of threads that the environment sets.

use std::env;
use std::error::Error;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::numbers::choose;
use crate::{BoardSize, MAX_THREADS, cores};
use clap::builder::{PathBufValueParser, TypedValueParser};
use humantime::parse_duration;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Reads a range of board sizes: `8-10`, `8..=10`, or one alone.
pub(crate) fn sizes(text: &str) -> Result<RangeInclusive<u32>, Box<dyn Error + Send + Sync>> {
    let ends = text.split_once("..=").or_else(|| text.split_once('-'));
    let (first, last) = ends.unwrap_or((text, text));
    let first: BoardSize = first.parse()?;
    let last: BoardSize = last.parse()?;
    if first > last {
        return Err(format!("the range is empty; write {last}-{first}").into());
    }
    Ok(first.get()..=last.get())
}

/// Parses the path of a file or folder.
///
/// Shells replace `~` only at the beginning of a word. So `--out=~/man` would make a folder whose name is `~`, and
/// whoever removes that folder by its name loses the home folder.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str().as_encoded_bytes().starts_with(b"~") {
            return Err("the shell did not expand ~: write $HOME/... or put a space in place of =");
        }
        Ok(path)
    })
}

/// Reads a number of threads. More threads than CPUs count no faster, and a signal has to wait until each of them has
/// run.
pub(crate) fn number_of_threads(text: &str) -> Result<usize, String> {
    let most = (4 * cores()).clamp(64, MAX_THREADS);
    match text.parse() {
        Ok(threads) if (1..=most).contains(&threads) => Ok(threads),
        _ => Err(choose(1, most)),
    }
}

/// Reads a time as it is printed (`10s`, `1m27s`, `3h40m`), or as a number of seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let is_in_seconds = text.ends_with(|last: char| last.is_ascii_digit());
    let with_unit = if is_in_seconds { format!("{text}s") } else { text.to_owned() };
    let time = parse_duration(&with_unit).map_err(|error| error.to_string())?;
    if (Duration::from_millis(1)..=Duration::from_secs(1_000_000)).contains(&time) {
        Ok(time)
    } else {
        Err("choose 1ms to 1000000s".to_owned())
    }
}

/// The environment variable that sets the number of threads of commands without `--threads`.
const THREADS: &str = "NQUEENS_THREADS";

/// Returns the number of threads without `--threads`: `NQUEENS_THREADS`, else the CPUs that this process may use.
pub(crate) fn default_threads() -> Result<usize, Failure> {
    let value = env::var_os(THREADS).unwrap_or_default();
    if value.is_empty() {
        return Ok(cores());
    }
    // Bytes that are no text become a character that no number contains, so they are refused and not ignored.
    let text = value.to_string_lossy();
    number_of_threads(text.trim())
        .map_err(|error| Exit::Usage.because(format!("{THREADS}: '{text}': {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_ranges() {
        for (text, range) in [("1..=16", 1..=16), ("8-10", 8..=10), ("0..=0", 0..=0), ("8", 8..=8)]
        {
            assert_eq!(sizes(text).expect("a range"), range);
        }
        for bad in
            ["9..=3", "9-3", "1..16", "..=5", "1..=33", "-1..=3", "-3", "1-", "1--2", "a..=b", ""]
        {
            assert!(sizes(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_are_read_as_they_are_printed() {
        for seconds in [0.19, 2.8, 59.9, 87.0, 3599.0, 13_200.0, 90_000.0, 950_400.0] {
            let printed = crate::cli::print::format::time(seconds);
            assert_eq!(time(&printed), Ok(Duration::from_secs_f64(seconds)), "{printed}");
        }
    }

    #[test]
    fn times_have_units_or_are_seconds() {
        for (text, seconds) in [
            ("10", 10.0),
            ("0.5", 0.5),
            ("10s", 10.0),
            ("2 m", 120.0),
            ("1h", 3600.0),
            ("1d", 86_400.0),
            ("1h 30min", 5400.0),
            ("0.5h", 1800.0),
        ] {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "s", "m", "-1", "0", "12d", "1e9", "nan", "inf", "-1m30s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
