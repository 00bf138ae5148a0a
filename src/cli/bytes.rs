//! Sizes of memory: `512M`, `4GiB`, plain bytes; and back to text.

use std::str::FromStr;

/// A number of bytes as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || "write a size as 512M, 4G or 1.5TiB (powers of 1024)".to_owned();
        let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits_end);
        let shift =
            match unit.trim().to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
                "" => 0,
                "k" => 10,
                "m" => 20,
                "g" => 30,
                "t" => 40,
                _ => return Err(refused()),
            };
        let number: f64 = number.parse().map_err(|_| refused())?;
        let bytes = number * f64::from(1 << (shift / 2)) * f64::from(1 << (shift / 2));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        if bytes >= 1.0 && bytes < 2f64.powi(63) { Ok(Self(bytes as u64)) } else { Err(refused()) }
    }
}

/// Mebibytes below a gibibyte, else gibibytes, with one digit.
pub(super) fn readable(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.1} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let sizes = ["1", "2k", "512M", "4GiB", "4 gb", "1.5T"].map(str::parse::<Bytes>);
        let expected = [1, 2 << 10, 512 << 20, 4 << 30, 4 << 30, 3 << 39];
        assert_eq!(sizes, expected.map(|bytes| Ok(Bytes(bytes))));
        for bad in ["", "0", "-1", "x", "4X", "1.2.3G", "9999999999T", "nan", "inf"] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!([3 << 19, 3 << 30].map(readable), ["1.5 MiB", "3.0 GiB"]);
    }
}
