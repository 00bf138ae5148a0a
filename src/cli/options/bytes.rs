//! Sizes of memory: `512M`, `4GiB`, plain bytes.

/// A number of bytes as it is written on the command line.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let refused = || "write a size as 512M, 4G or 1.5TiB (powers of 1024)".to_owned();
    let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits_end);
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(refused()),
    };
    let number: f64 = number.parse().map_err(|_| refused())?;
    let bytes = number * 1024f64.powi(power);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    if bytes >= 1.0 && bytes < 2f64.powi(63) { Ok(bytes as u64) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let sizes = ["1", "2k", "512M", "4GiB", "4 gb", "1.5T"].map(bytes);
        assert_eq!(sizes, [1, 2 << 10, 512 << 20, 4 << 30, 4 << 30, 3 << 39].map(Ok));
        for bad in ["", "0", "-1", "x", "4X", "1.2.3G", "9999999999T", "nan", "inf"] {
            assert!(bytes(bad).is_err(), "{bad:?}");
        }
    }
}
