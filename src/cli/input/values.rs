//! Values as they are written on the command line, and the number of threads that the environment sets.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::numbers::choose;
use crate::{BoardSize, Error, MAX_THREADS, cores};
use clap::builder::{PathBufValueParser, TypedValueParser};
use humantime::parse_duration;

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;

/// Reads a range of board sizes.
pub(crate) fn sizes(text: &str) -> Result<RangeInclusive<u32>, String> {
    range(text, |text| text.parse().map(BoardSize::get).map_err(|error: Error| error.to_string()))
}

/// Reads a range of numbers: `8-10`, `8..=10`, or one alone.
pub(crate) fn range<T: PartialOrd + Copy>(
    text: &str,
    number: impl Fn(&str) -> Result<T, String>,
) -> Result<RangeInclusive<T>, String> {
    let (first, last) = match (text.split_once("..="), text.split_once('-')) {
        (Some(ends), _) => ends,
        // A number with a sign is no range.
        (None, Some((first, last))) if !first.is_empty() => (first, last),
        _ => (text, text),
    };
    if let Some((first, last)) = first.split_once("..") {
        return Err(format!("write {first}-{last} or {first}..={last} (both ends included)"));
    }
    let range = number(first)?..=number(last)?;
    if range.is_empty() {
        return Err(format!("the range is empty; write {last}-{first}"));
    }
    Ok(range)
}

/// Parses the path of a file or folder to write.
pub(crate) fn path_in_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(check_that_folder_exists)
}

/// Returns the path if it leads to a folder, or into one, because a wrong path must not lose the work. `-` means standard
/// output to many programs, so nobody means a file of that name.
fn check_that_folder_exists(path: PathBuf) -> Result<PathBuf, String> {
    if path == Path::new("-") {
        let text = "cannot write to standard output here: name a file, or ./- for a file named -";
        return Err(text.to_owned());
    }
    if path.is_dir() {
        return Ok(path);
    }
    // The folder of a bare name is the current one.
    let from_here = Path::new(".").join(&path);
    let Some(folder) = from_here.parent() else { return Ok(path) };
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(path),
        Ok(_) => Err(is_no_folder(folder)),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Err(is_no_folder(folder)),
        Err(error) if error.kind() == ErrorKind::NotFound && path.starts_with("~") => {
            let text = "the shell has not replaced ~, because it is not at the beginning of a word: name the folder in full";
            Err(text.to_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("make folder {} first", folder.display()))
        }
        // The folder may be there. Whoever opens the file says why that cannot be seen, and what to do.
        Err(_) => Ok(path),
    }
}

/// Returns the message for a path that is no folder, or leads through something that is none.
fn is_no_folder(path: &Path) -> String {
    let there = path.ancestors().find(|part| fs::metadata(part).is_ok()).unwrap_or(path);
    format!("{} is not a folder: name another one", there.display())
}

/// Reads a number of threads.
pub(crate) fn number_of_threads(text: &str) -> Result<usize, String> {
    number(text, 1, max_threads())
}

/// Returns the limit on threads. More threads than cores count no faster, and a signal has to wait until each of them
/// has run.
fn max_threads() -> usize {
    (4 * cores()).clamp(64, MAX_THREADS)
}

/// Reads a time as it is printed (`10s`, `1m27s`, `3h40m`), or as a number of seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let seconds = match text.parse() {
        Ok(seconds) => seconds,
        // A text that is no time is out of the range.
        Err(_) => parse_duration(text).unwrap_or_default().as_secs_f64(),
    };
    if (0.001..=1e6).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("choose 0.001 to 1000000 seconds, or a time like 1m30s".to_owned())
    }
}

/// Reads a number of things, such as units or solutions: 0 is one, too.
pub(crate) fn amount(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "choose a whole number from 0 on".to_owned())
}

/// Reads a seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX)
}

/// Reads a whole number in a range. The error says which numbers are allowed, because what the standard library says of
/// a wrong digit does not tell a user what to write.
pub(crate) fn number<T: FromStr + PartialOrd + Display>(
    text: &str,
    least: T,
    most: T,
) -> Result<T, String> {
    match text.parse() {
        Ok(number) if least <= number && number <= most => Ok(number),
        _ => Err(choose(least, most)),
    }
}

/// The environment variable that sets the number of threads of commands without `--threads`.
const THREADS: &str = "NQUEENS_THREADS";

/// Returns the number of threads without `--threads`: `NQUEENS_THREADS`, else the cores that this process may use.
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
        assert_eq!(sizes("1..=16"), Ok(1..=16));
        assert_eq!(sizes("8-10"), Ok(8..=10));
        assert_eq!(sizes("0..=0"), Ok(0..=0));
        assert_eq!(sizes("8"), Ok(8..=8));
        for bad in
            ["9..=3", "9-3", "1..16", "..=5", "1..=33", "-1..=3", "-3", "1-", "1--2", "a..=b", ""]
        {
            assert!(sizes(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn numbers_that_are_refused_name_the_range() {
        assert_eq!(amount("0"), Ok(0));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(number("4", 1, 4), Ok(4));
        for text in ["", "x", "-1", "1.5", "1e3", "18446744073709551616"] {
            let every_number = "choose 0 to 18446744073709551615";
            assert_eq!(seed(text), Err(every_number.to_owned()), "{text}");
            assert_eq!(amount(text), Err("choose a whole number from 0 on".to_owned()), "{text}");
            assert_eq!(number(text, 1, 4), Err("choose 1 to 4".to_owned()), "{text}");
        }
        assert_eq!(number("2", 1, 1), Err("choose 1".to_owned()));
    }

    #[test]
    fn times_are_read_as_they_are_printed() {
        for seconds in [0.19, 2.8, 59.9, 87.0, 3599.0, 13_200.0, 90_000.0, 950_400.0] {
            let printed = crate::cli::output::format::time(seconds);
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
