//! Numbers in messages: ranges such as `3,7-9`, the advice to choose one, and bytes that are available.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Adds a number to ranges of numbers in increasing order. The number may be the last one again, but not a smaller one.
pub(crate) fn add_number(ranges: &mut Vec<RangeInclusive<usize>>, number: usize) {
    match ranges.last_mut() {
        Some(last) if number <= *last.end() + 1 => *last = *last.start()..=number,
        _ => ranges.push(number..=number),
    }
}

/// Returns ranges of numbers as a job array is written: `3,7-9`.
pub(crate) fn text_of_ranges(ranges: &[RangeInclusive<usize>]) -> String {
    let mut texts = Vec::new();
    for range in ranges {
        let first = range.start();
        let last = range.end();
        texts.push(if first == last { first.to_string() } else { format!("{first}-{last}") });
    }
    texts.join(",")
}

/// Returns the advice to choose a number in a range: `choose 0 to 9`, or `choose 0` if there is only one.
pub(crate) fn choose<T: PartialOrd + Display>(least: T, most: T) -> String {
    if least < most { format!("choose {least} to {most}") } else { format!("choose {least}") }
}

/// Returns bytes that are available, rounded down: `287 MiB`, or `768 KiB` if they are less than ten of these.
pub(crate) fn available_bytes(bytes: u64) -> String {
    let mebibytes = bytes >> 20;
    if mebibytes < 10 { format!("{} KiB", bytes >> 10) } else { format!("{mebibytes} MiB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_are_not_called_none() {
        let texts = [0, 3 << 18, (10 << 20) - 1, 10 << 20, (852 << 20) + 1].map(available_bytes);
        assert_eq!(texts, ["0 KiB", "768 KiB", "10239 KiB", "10 MiB", "852 MiB"]);
    }

    #[test]
    fn ranges_are_written_as_job_arrays() {
        for (numbers, text) in [
            (&[][..], ""),
            (&[3], "3"),
            (&[0, 1], "0-1"),
            (&[3, 3, 4, 4], "3-4"),
            (&[3, 7, 8, 9, 99], "3,7-9,99"),
        ] {
            let mut ranges = Vec::new();
            for number in numbers {
                add_number(&mut ranges, *number);
            }
            assert_eq!(text_of_ranges(&ranges), text);
        }
    }
}
