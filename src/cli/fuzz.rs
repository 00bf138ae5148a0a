//! What fuzzing runs on the command line: single values, and whole lines of arguments.

use std::ffi::{OsStr, OsString};
use std::fmt::{Debug, Display};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::str::FromStr;

use clap::Parser;

use super::CommandLine;
pub use super::commands::compare::fuzz::against;
use super::input::memory::parse_bytes;
use super::input::values::{amount, number_of_threads, seed, sizes, time};
use super::output::format;
use super::output::quote::{escaped, quoted};
use super::{explained, printable};
use crate::board::size::BoardSize;
use crate::board::square::{FixedQueens, Square};
use crate::engine::{Engine, Kernel};
use crate::journal::parse_file_name;
use crate::plan::shard::Shard;

/// Reads some bytes as a value of every kind.
///
/// # Panics
///
/// If a value is taken that is out of its range, or is another one when it is written and read again.
pub fn values(bytes: &[u8]) {
    check_name(bytes);
    if let Ok(memory) = parse_bytes(OsStr::from_bytes(bytes)) {
        assert!(memory >= 1 << 20, "{memory} bytes");
        // Numbers of twenty digits are refused.
        if memory < 10_u64.pow(19) {
            assert_eq!(parse_bytes(OsStr::new(&memory.to_string())), Ok(memory));
        }
    }
    let Ok(text) = str::from_utf8(bytes) else { return };
    check_written_again::<Square>(text);
    check_written_again::<BoardSize>(text);
    check_written_again::<Engine>(text);
    check_written_again::<Kernel>(text);
    if let Some(shard) = check_written_again(text) {
        check_shard(shard);
    }
    if let Some((_, _, shard)) = parse_file_name(text) {
        check_shard(shard);
    }
    check_squares(text);
    for range in text.split(',').filter_map(|part| sizes(part).ok()) {
        let (first, last) = (*range.start(), *range.end());
        assert!(first <= last && last <= BoardSize::MAX, "{range:?}");
        assert_eq!(sizes(&format!("{first}-{last}")), Ok(range.clone()));
        assert_eq!(sizes(&format!("{first}..={last}")), Ok(range));
    }
    check_time(text);
    if let Ok(threads) = number_of_threads(text) {
        assert_eq!(number_of_threads(&threads.to_string()), Ok(threads));
    }
    if let Ok(number) = amount(text) {
        assert_eq!(amount(&number.to_string()), Ok(number));
    }
    if let Ok(number) = seed(text) {
        assert_eq!(seed(&number.to_string()), Ok(number));
    }
}

/// Reads a value, and checks that it is read again as it is written.
fn check_written_again<T: FromStr + Display + Debug + Copy + PartialEq>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let written = value.to_string();
    assert_eq!(written.parse().ok(), Some(value), "{text:?} is written as {written:?}");
    Some(value)
}

/// Checks that the ranges of a shard are in a plan, and in increasing order.
fn check_shard(shard: Shard) {
    assert!(shard.index() < shard.of() && shard.of() <= Shard::MAX_SHARDS, "{shard}");
    let mut last = 0;
    for range in shard.ranges(1000) {
        assert!((last == 0 || last < range.start) && range.start < range.end, "{range:?}");
        last = range.end;
    }
    assert!(last <= 1000, "{last}");
}

/// Checks that queens on a list of squares are taken if they stand on the board and none attacks another, and that they
/// leave only their own squares of their rows.
fn check_squares(text: &str) {
    let Ok(squares) = text.split(',').map(str::parse).collect::<Result<Vec<Square>, _>>() else {
        return;
    };
    for n in [0, 1, 5, 27, 32] {
        let size = BoardSize::new(n).expect("in range");
        let is_on_board = |square: &Square| square.row < n && square.column < n;
        let is_free =
            |one: &Square| squares.iter().all(|two| one == two || !is_attacked(*one, *two));
        let are_taken = squares.iter().all(|square| is_on_board(square) && is_free(square));
        let queens = FixedQueens::new(size, &squares);
        assert_eq!(queens.is_ok(), are_taken, "{queens:?}");
        let Ok(queens) = queens else { continue };
        let allowed = queens.allowed(size);
        for Square { row, column } in &squares {
            assert_eq!(allowed[*row as usize], 1 << column, "{queens:?}");
        }
    }
}

/// Returns whether two queens stand in one row, column or diagonal.
fn is_attacked(one: Square, two: Square) -> bool {
    let [rise, run] =
        [i64::from(one.row) - i64::from(two.row), i64::from(one.column) - i64::from(two.column)];
    rise == 0 || run == 0 || rise == run || rise == -run
}

/// Checks that a time is in its range, and is read again as it is printed. A printed time has two parts at most, so it
/// may be shorter by a tenth.
fn check_time(text: &str) {
    let Ok(time_read) = time(text) else { return };
    let seconds = time_read.as_secs_f64();
    assert!((0.001..=1e6).contains(&seconds), "{seconds} s");
    let printed = format::duration(time_read);
    let again = time(&printed).unwrap_or_else(|error| panic!("{printed}: {error}")).as_secs_f64();
    assert!((0.9..1.1).contains(&(again / seconds)), "{seconds} s are printed as {printed}");
}

/// Checks that a name can be printed, and that a shell reads it as it is.
fn check_name(bytes: &[u8]) {
    let name = OsStr::from_bytes(bytes);
    let printed = escaped(name.display());
    assert!(!printed.contains(char::is_control), "{printed:?}");
    assert_eq!(escaped(&printed), printed);
    let word = quoted(Path::new(name));
    assert!(!word.contains(char::is_control), "{word:?}");
    // A shell drops a line feed at the end of what a command prints.
    if bytes.ends_with(b"\n") {
        assert!(["PATH", "./PATH"].contains(&&*word), "{word}");
        return;
    }
    let dashed = [b"./", bytes].concat();
    let expected = if bytes.starts_with(b"-") { &dashed } else { bytes };
    assert_eq!(as_shell_reads(&word), expected, "{word}");
}

/// Returns the bytes that a shell makes of a word.
fn as_shell_reads(word: &str) -> Vec<u8> {
    if let Some(rest) = word.strip_prefix("\"$(printf '") {
        let format = rest.strip_suffix("')\"").expect("the end of the command");
        let mut parts = format.split('\\');
        let mut read = parts.next().expect("a part").as_bytes().to_vec();
        for part in parts {
            read.push(u8::from_str_radix(&part[..3], 8).expect("an octal number"));
            read.extend(&part.as_bytes()[3..]);
        }
        return read;
    }
    let mut read = String::new();
    let mut is_quoted = false;
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => read.extend(characters.next()),
            _ => {
                let is_plain = character.is_ascii_alphanumeric() || "/._-".contains(character);
                assert!(is_quoted || is_plain, "{word}");
                read.push(character);
            }
        }
    }
    assert!(!is_quoted, "{word}");
    read.into_bytes()
}

/// Parses the arguments of a command line, one on each line.
///
/// # Panics
///
/// If the message for wrong usage contains anything that a terminal would obey.
pub fn arguments(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut arguments = vec![OsString::from("nqueens")];
    arguments.extend(lines.map(|line| OsString::from_vec(line.to_vec())));
    match CommandLine::try_parse_from(&arguments) {
        Ok(line) => assert!(!format!("{:?}", line.command).is_empty()),
        Err(error) if error.use_stderr() => {
            let message = explained(printable(error, arguments.into_iter())).to_string();
            let is_harmful = |line: &str| line.contains(char::is_control);
            assert!(!message.lines().any(is_harmful), "{message:?}");
        }
        Err(help) => assert_eq!(help.exit_code(), 0),
    }
}
