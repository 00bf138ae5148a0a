//! What targets check, and what mutators of journals share. Bytes that are changed at random have a wrong CRC and a
//! wrong sum almost always, and such a line is refused before anything else is looked at. So the mutators repair most
//! lines.

use libfuzzer_sys::fuzzer_mutate;

#[path = "../../tests/promises/fuzzed.rs"]
pub mod fuzzed;

/// A source of random numbers, by the algorithm SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `end` - 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % end as u64).expect("below a usize")
    }

    /// Returns true once in `times` times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Lets libFuzzer change the first `size` bytes, and repairs the result. Returns the new size.
pub fn mutate_and_repair(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    repair: impl FnOnce(&[u8]) -> Vec<u8>,
) -> usize {
    let size = fuzzer_mutate(data, size, max_size);
    let repaired = repair(&data[..size]);
    if repaired.len() > max_size {
        return size;
    }
    data[..repaired.len()].copy_from_slice(&repaired);
    repaired.len()
}

/// Returns a line without the CRC at its end, if it has one. The line is given without its line feed.
pub fn without_crc(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some((text, crc)) = line.split_last_chunk::<9>() else { return line };
    let is_crc = crc[0] == b' ' && crc[1..].iter().all(u8::is_ascii_hexdigit);
    if is_crc { text } else { line }
}

/// Returns a line with its CRC, which starts from this number.
pub fn with_crc(text: &[u8], start: u32) -> Vec<u8> {
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(text);
    [text, format!(" {:08x}", hasher.finalize()).as_bytes()].concat()
}
