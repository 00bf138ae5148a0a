#![no_main]

use nqueens_fuzz::fuzzed::first_line;
use nqueens_fuzz::{Random, mutate_and_repair, with_crc, without_crc};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| first_line(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    mutate_and_repair(data, size, max_size, |bytes| repair(bytes, &mut random))
});

/// Repairs the CRC of the first line, most of the time.
fn repair(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return bytes.to_vec() };
    if random.once_in(8) {
        return bytes.to_vec();
    }
    let (line, rest) = bytes.split_at(end);
    [&with_crc(without_crc(line), 0), rest].concat()
}
