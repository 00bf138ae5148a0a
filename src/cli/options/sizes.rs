//! The boards of a table: `FIRST..=LAST`, or one size.

use std::ops::RangeInclusive;

use nqueens::BoardSize;

/// Sizes as they are written on the command line.
pub(crate) fn sizes(text: &str) -> Result<RangeInclusive<u32>, String> {
    let size = |text: &str| {
        text.parse().map(BoardSize::get).map_err(|error: nqueens::Error| error.to_string())
    };
    let (first, last) = match text.split_once("..=") {
        Some((first, last)) => (size(first)?, size(last)?),
        None if text.contains("..") => {
            return Err("write a range as FIRST..=LAST, for example 1..=16".to_owned());
        }
        None => (size(text)?, size(text)?),
    };
    if first > last {
        return Err(format!("the range is empty; write {last}..={first}"));
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_sizes() {
        assert_eq!(sizes("1..=16"), Ok(1..=16));
        assert_eq!(sizes("0..=0"), Ok(0..=0));
        assert_eq!(sizes("8"), Ok(8..=8));
        for bad in ["9..=3", "1..16", "..=5", "1..=33", "-1..=3", "a..=b", ""] {
            assert!(sizes(bad).is_err(), "{bad:?}");
        }
    }
}
