//! The environment variable `NQUEENS_MEMORY`, with which users state the available memory where the system reports too
//! little.

use std::env;
use std::ffi::OsStr;

use parse_size::Config;

use crate::error::Error;
use crate::machine::memory::StatedMemory;

const VARIABLE: &str = "NQUEENS_MEMORY";
/// The smallest amount of memory that the variable can state. A smaller number lacks its unit, because nobody who
/// writes 64 means 64 bytes.
const MIN_STATED_BYTES: u64 = 1 << 20;
/// The largest number of digits whose value always fits in a `u64`. The crate that reads sizes rounds longer numbers,
/// and some of them overflow in this.
const MAX_DIGITS: usize = 19;

/// Returns what the variable says. An empty variable says nothing.
///
/// # Errors
///
/// [`Error::InvalidValue`] if the variable is set and is no size, or less than 1 MiB.
pub(crate) fn stated_memory() -> Result<Option<StatedMemory>, Error> {
    let stated = env::var_os(VARIABLE).unwrap_or_default();
    if stated.is_empty() {
        return Ok(None);
    }
    Ok(Some(StatedMemory { bytes: parse_bytes(&stated)?, name: VARIABLE }))
}

/// Reads a number of bytes, `68719476736` or `64G`. All units are powers of 1024, because memory is sold in them, and
/// because Slurm reads its own sizes in them.
pub(crate) fn parse_bytes(stated: &OsStr) -> Result<u64, Error> {
    let text = stated.to_string_lossy();
    // The crate skips all spaces, but `6 4G` is a slip.
    let is_one_number =
        text.split_whitespace().skip(1).all(|word| !word.contains(char::is_numeric));
    let has_few_digits = text.chars().filter(char::is_ascii_digit).count() <= MAX_DIGITS;
    // Bytes that are no text have become a character that no size contains, so they are refused, too.
    if is_one_number
        && has_few_digits
        && let Ok(bytes) = Config::new().with_binary().parse_size(text.trim())
        && bytes >= MIN_STATED_BYTES
    {
        return Ok(bytes);
    }
    let advice = "set it to a size such as 64G or 1.5T, or unset it";
    Err(Error::invalid("an amount of memory for NQUEENS_MEMORY", text, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let sizes: [(&str, u64); 15] = [
            ("68719476736", 64 << 30),
            ("64G", 64 << 30),
            ("64GB", 64 << 30),
            ("64GiB", 64 << 30),
            ("64 GiB", 64 << 30),
            ("64g", 64 << 30),
            ("64gb", 64 << 30),
            ("64 G\n", 64 << 30),
            ("0.5G", 512 << 20),
            ("1.5T", 1536 << 30),
            ("4194304K", 4 << 30),
            ("4096M", 4 << 30),
            ("4096MB", 4 << 30),
            ("1M", 1 << 20),
            ("1048576", 1 << 20),
        ];
        for (text, bytes) in sizes {
            assert_eq!(parse_bytes(OsStr::new(text)), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_size_that_cannot_be_read_is_an_error_that_names_the_variable() {
        use std::os::unix::ffi::OsStrExt;
        let words =
            ["much", "-1G", "64Q", "64GG", "64G of memory", "G", " ", "1,5T", "64\u{fffd}G"];
        // None of these is enough memory for a count of any size.
        let small = ["0", "0G", "0.0", "64", "1e-9T", "1048575"];
        // The last two are the largest `u64` with one digit more, which overflows when it is rounded.
        let large = [
            "16777216T",
            "99999999999999999999999",
            "184467440737095516157",
            "1.84467440737095516157G",
        ];
        let mut texts: Vec<&OsStr> = Vec::new();
        texts.extend(words.map(OsStr::new));
        texts.extend(small.map(OsStr::new));
        texts.extend(large.map(OsStr::new));
        texts.push(OsStr::from_bytes(b"64\xffG"));
        for text in texts {
            let error = parse_bytes(text).expect_err("no size");
            assert!(matches!(error, Error::InvalidValue(_)), "{error:?}");
            let expected = format!(
                "'{}' is not an amount of memory for NQUEENS_MEMORY: set it to a size such as 64G or 1.5T, or unset it",
                text.display()
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
