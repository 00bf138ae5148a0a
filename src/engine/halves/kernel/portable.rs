//! The portable kernel: plain `u64` words, 256 build words per block as four words.
//!
//! It is the reference for tests of the vector kernels, and the kernel of all other CPUs.

use super::bit_order::BitOrder;
use super::tables::{BlockTables, CHUNK_BITS, CHUNK_VALUES, MAX_CHUNKS, Tables};

const WORDS: usize = 4;

/// One bit of each of 256 build words.
type Slice = [u64; WORDS];

pub(super) fn select(words: &[u64], avoid: u64, add: u64, out: &mut [u64]) -> usize {
    let mut kept = 0;
    for &word in words {
        out[kept] = word | add;
        kept += usize::from(word & avoid == 0);
    }
    kept
}

pub(super) fn combine(short: &[u64], long: &[u64], out: &mut [u64]) -> usize {
    let mut kept = 0;
    for &a in short {
        for &b in long {
            out[kept] = a | b;
            kept += usize::from(a & b == 0);
        }
    }
    kept
}

pub(super) fn permute_bits(words: &mut [u64], order: &BitOrder) {
    for word in words {
        let moved = order.moves().iter().map(|at| word.rotate_left(at.shift as u32 % 64) & at.mask);
        *word = moved.fold(0, |image, bits| image | bits);
    }
}

pub(super) fn positional_popcount(sample: &[u64]) -> [u8; 64] {
    let mut counts = [0_u8; 64];
    for &word in sample {
        for (bit, count) in counts.iter_mut().enumerate() {
            *count += (word >> bit & 1) as u8;
        }
    }
    counts
}

pub(super) fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    let mut front = 0;
    let mut back = out.len();
    for &word in words {
        // The word is written to both free ends; the wrong copy is overwritten later.
        out[front] = word;
        out[back - 1] = word;
        let has = usize::from(word & bit != 0);
        front += 1 - has;
        back -= has;
    }
    front
}

pub(super) fn nested_loop(build: &[u64], probe: &[u64]) -> u64 {
    let mut pairs = 0;
    for &word in probe {
        for &built in build {
            pairs += u64::from(built & word == 0);
        }
    }
    pairs
}

pub(super) fn count_bit_sliced(
    build: &[u64],
    probe: &[u64],
    bits: u32,
    tables: &mut Tables,
) -> u64 {
    let Tables::Four(tables) = tables else { unreachable!("tables are made for their kernel") };
    let chunks = (bits as usize).div_ceil(CHUNK_BITS).max(1);
    let mut pairs = 0;
    for block in build.chunks(64 * WORDS) {
        fill_tables(block, chunks, tables);
        pairs += match chunks {
            ..=5 => count_probes::<5>(probe, tables, chunks),
            6 => count_probes::<6>(probe, tables, chunks),
            _ => count_probes::<MAX_CHUNKS>(probe, tables, chunks),
        };
    }
    pairs
}

/// Transposes a block of build words and tabulates the ANDs of its bit slices.
fn fill_tables(block: &[u64], chunks: usize, tables: &mut BlockTables<WORDS>) {
    let mut slices = [[0_u64; WORDS]; 64];
    let mut valid = [0_u64; WORDS];
    for (at, build) in block.chunks(64).enumerate() {
        let mut square = [0_u64; 64];
        for (row, &built) in square.iter_mut().zip(build) {
            *row = !built;
        }
        transpose(&mut square);
        for (slice, row) in slices.iter_mut().zip(square) {
            slice[at] = row;
        }
        valid[at] = u64::MAX >> (64 - build.len());
    }
    for (chunk, table) in tables.tables[..chunks].iter_mut().enumerate() {
        table[0] = if chunk == 0 { valid } else { [u64::MAX; WORDS] };
        for bit in 0..CHUNK_BITS {
            let slice = slices.get(chunk * CHUNK_BITS + bit).unwrap_or(&[u64::MAX; WORDS]);
            let (known, new) = table.split_at_mut(1 << bit);
            for (entry, below) in new.iter_mut().zip(&*known) {
                for (word, (a, b)) in entry.iter_mut().zip(below.iter().zip(slice)) {
                    *word = a & b;
                }
            }
        }
    }
}

/// Transposes a 64 x 64 bit matrix: swaps bit c of row r with bit r of row c.
fn transpose(square: &mut [u64; 64]) {
    let mut distance = 32;
    let mut low = u64::MAX >> 32;
    while distance > 0 {
        let mut row = 0;
        while row < 64 {
            let other = row + distance;
            let swapped = (square[row] >> distance ^ square[other]) & low;
            square[other] ^= swapped;
            square[row] ^= swapped << distance;
            row = (other + 1) & !distance;
        }
        distance >>= 1;
        low ^= low << distance;
    }
}

/// Looks up every probe word; `COUNT` bounds the tables in use.
fn count_probes<const COUNT: usize>(
    probe: &[u64],
    tables: &BlockTables<WORDS>,
    chunks: usize,
) -> u64 {
    let mut pairs = 0;
    let mut ones: Slice = [0; WORDS];
    let mut twos: Slice = [0; WORDS];
    let chunks = chunks.min(COUNT);
    let look_up = |word: u64| -> Slice {
        let mut fit = tables.tables[0][word as usize % CHUNK_VALUES];
        let mut rest = word;
        for table in &tables.tables[1..chunks] {
            rest >>= CHUNK_BITS;
            let entry = &table[rest as usize % CHUNK_VALUES];
            for at in 0..WORDS {
                fit[at] &= entry[at];
            }
        }
        fit
    };
    // Carry-save adders: four lookups need one popcount of weight four.
    let (fours, rest) = probe.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        let (a, b, c, d) = (look_up(a), look_up(b), look_up(c), look_up(d));
        for at in 0..WORDS {
            let (one, carry_a) = full_adder(ones[at], a[at], b[at]);
            let (one, carry_b) = full_adder(one, c[at], d[at]);
            let (two, four) = full_adder(twos[at], carry_a, carry_b);
            ones[at] = one;
            twos[at] = two;
            pairs += 4 * u64::from(four.count_ones());
        }
    }
    for &word in rest {
        let fit = look_up(word);
        pairs += fit.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    }
    for at in 0..WORDS {
        pairs += u64::from(ones[at].count_ones()) + 2 * u64::from(twos[at].count_ones());
    }
    pairs
}

/// Sum and carry of three bits, 64 times.
fn full_adder(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}
