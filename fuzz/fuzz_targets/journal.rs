#![no_main]

use nqueens_fuzz::fuzzed::{PLAN, journal};
use nqueens_fuzz::{Random, mutate_and_repair, with_crc, without_crc};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| journal(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    mutate_and_repair(data, size, max_size, |bytes| repair(bytes, &mut random))
});

/// Moves lines, and repairs the sums and the CRCs of most of them.
fn repair(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if random.once_in(4) {
        move_line(&mut lines, random);
    }
    let own_crc = crc32fast::hash(PLAN.to_string().as_bytes());
    let mut other_crc = own_crc;
    let mut repaired = Vec::new();
    let number_of_lines = lines.len();
    for line in lines {
        let text = without_crc(line);
        if random.once_in(8) {
            repaired.push(line.to_vec());
        } else if text.is_empty() {
            repaired.push(Vec::new());
        } else if let Some(fields) = text.strip_prefix(b"nqueens-journal ") {
            if let Some(start) = fields.windows(3).position(|bytes| bytes == b" n=") {
                other_crc = crc32fast::hash(&fields[start + 1..]);
            }
            repaired.push(with_crc(text, 0));
        } else {
            let start = if random.once_in(4) { other_crc } else { own_crc };
            let with_sum = if random.once_in(8) { None } else { with_right_sum(text) };
            repaired.push(with_crc(with_sum.as_deref().unwrap_or(text), start));
        }
    }
    // An incomplete last line stays incomplete.
    if number_of_lines > 1 && bytes.ends_with(b"\n") {
        repaired.pop();
        repaired.push(Vec::new());
    }
    repaired.join(&b'\n')
}

/// Repeats, removes or swaps a line.
fn move_line(lines: &mut Vec<&[u8]>, random: &mut Random) {
    let one = random.below(lines.len());
    let two = random.below(lines.len());
    match random.below(3) {
        0 => lines.insert(two, lines[one]),
        1 if lines.len() > 1 => _ = lines.remove(one),
        _ => lines.swap(one, two),
    }
}

/// Returns a line of finished units with the end and the sum that fit its counts, if it has the fields of such a line.
fn with_right_sum(text: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?;
    let fields = text.strip_prefix("done units=")?;
    let (units, rest) = fields.split_once(" solutions=")?;
    let (_, times) = rest.split_once(' ')?;
    let (_, counts) = rest.split_once(" counts=")?;
    let start: usize = units.split_once("..")?.0.parse().ok()?;
    let mut end = start;
    let mut sum: u128 = 0;
    for count in counts.split(',') {
        let count: u64 = count.parse().ok()?;
        let weight = if end < PLAN.units() { PLAN.weight(end) } else { 1 };
        sum += u128::from(count) * u128::from(weight);
        end = end.checked_add(1)?;
    }
    Some(format!("done units={start}..{end} solutions={sum} {times}").into_bytes())
}
