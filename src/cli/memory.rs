//! The environment variable `NQUEENS_MEMORY`, with which users state the available memory where the system reports too
//! little.

use std::env;
use std::ffi::OsStr;

use crate::error::Error;
use crate::machine::memory::StatedMemory;

const VARIABLE: &str = "NQUEENS_MEMORY";
/// The smallest amount of memory that the variable can state. A smaller number lacks its unit, because nobody who
/// writes 64 means 64 bytes.
const MIN_STATED_BYTES: u64 = 1 << 20;
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

/// Reads a number of bytes, `68719476736`, `64G` or `64GiB`. All units are powers of 1024, because memory is sold in
/// them, and because Slurm reads its own sizes in them.
fn parse_bytes(stated: &OsStr) -> Result<u64, Error> {
    // Bytes that are no text become a character that no size contains.
    let text = stated.to_string_lossy();
    let size = text.trim().to_ascii_uppercase();
    let short = size.strip_suffix("IB").or(size.strip_suffix("B")).unwrap_or(&size);
    let mut number = short;
    let mut unit: u64 = 1;
    for (letter, bytes) in [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)] {
        if let Some(rest) = short.strip_suffix(letter) {
            number = rest.trim_end();
            unit = bytes;
        }
    }
    let bytes = number.parse().unwrap_or(0.0) * unit as f64;
    // This is 2^64.
    let too_many = u64::MAX as f64;
    if (MIN_STATED_BYTES as f64..too_many).contains(&bytes) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        return Ok(bytes as u64);
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
        // The first and the last are just too large, 2^64 and 2^64 rounded up.
        let large = ["16777216T", "99999999999999999999999", "inf", "18446744073709551616"];
        let mut texts: Vec<&OsStr> = Vec::new();
        texts.extend(words.map(OsStr::new));
        texts.extend(small.map(OsStr::new));
        texts.extend(large.map(OsStr::new));
        texts.push(OsStr::from_bytes(b"64\xffG"));
        for text in texts {
            let error = parse_bytes(text).expect_err("no size");
            assert!(matches!(error, Error::InvalidValue { .. }), "{error:?}");
            let expected = format!(
                "'{}' is not an amount of memory for NQUEENS_MEMORY: set it to a size such as 64G or 1.5T, or unset it",
                text.display()
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
