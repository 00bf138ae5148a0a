//! The portable kernel: arrays of words, 256 build words per block as four words.
//!
//! It is the reference for tests of the vector kernels, and the kernel of all other CPUs. Its loops
//! are written so that compilers turn them into the vectors that every CPU of a family has, SSE2 on
//! x86-64 and NEON on ARM: arrays of constant length are passed and returned as values, and loops have
//! no exit but their end. Words that are kept or dropped one by one stay scalar.

use std::array::from_fn;
use std::ops::Range;

use super::super::group::Group;
use super::partition_rest;
use super::tables::{
    BitMove, BitOrder, BlockTables, CHUNK_BITS, CHUNK_VALUES, MAX_CHUNKS, Tables, valid_words,
};

const WORDS: usize = 4;

const MOST_CHUNKS: usize = MAX_CHUNKS;
const CHUNK_DISTANCE: u32 = CHUNK_BITS as u32;
type LeafTables = BlockTables<WORDS>;

common_loops!(Four);

/// One bit of each of 256 build words.
type Slice = [u64; WORDS];

/// Words that are processed in an unrolled loop.
const GROUP: usize = 4;

pub(super) fn select(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    let (groups, rest) = words.as_chunks::<GROUP>();
    let mut kept = 0;
    for group in groups {
        // One check for room spares a check for each word.
        kept += keep_without(group, bit, &mut out[kept..kept + GROUP]);
    }
    kept + keep_without(rest, bit, &mut out[kept..])
}

#[inline]
fn keep_without(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    let mut kept = 0;
    for &word in words {
        // A dropped word is overwritten by the next one.
        out[kept] = word;
        kept += usize::from(word & bit == 0);
    }
    kept
}

pub(super) fn add_squares(
    lists: &[(&[u64], u64)],
    avoid: u64,
    moves: &[BitMove; 2],
    out: &mut [u64],
) -> usize {
    let mut kept = 0;
    for &(words, square) in lists {
        for &word in words {
            let longer = word | square;
            let [a, b] = moves.map(|to| longer.rotate_left(to.shift as u32 % 64) & to.mask);
            out[kept] = a | b;
            kept += usize::from(word & (square | avoid) == 0);
        }
    }
    kept
}

pub(super) fn multiply(lists: [&[u64]; 2], groups: &[Group], out: &mut [u64]) -> usize {
    let mut kept = 0;
    for group in groups {
        let [north, south] = group.words(lists);
        let (short, long) =
            if north.len() <= south.len() { (north, south) } else { (south, north) };
        let (fours, rest) = long.as_chunks::<GROUP>();
        for &word in short {
            let mut keep = |other: u64| {
                out[kept] = word | other;
                kept += usize::from(word & other == 0);
            };
            // Here a check for each word costs less than one for each four.
            fours.iter().for_each(|&four| four.into_iter().for_each(&mut keep));
            rest.iter().copied().for_each(&mut keep);
        }
    }
    kept
}

/// Moves the words without `bit` to the front, and returns how many there are.
fn partition_in_place(words: &mut [u64], bit: u64, scratch: &mut [u64]) -> usize {
    let (mut front, mut back) = (0, 0);
    for at in 0..words.len() {
        let word = words[at];
        words[front] = word;
        scratch[back] = word;
        let has = usize::from(word & bit != 0);
        front += 1 - has;
        back += has;
    }
    words[front..].copy_from_slice(&scratch[..back]);
    front
}

pub(super) fn permute_bits(words: &mut [u64], order: &BitOrder) {
    let (groups, rest) = words.as_chunks_mut::<16>();
    for group in groups {
        *group = permuted(*group, order);
    }
    for word in rest {
        [*word] = permuted([*word], order);
    }
}

#[inline]
fn permuted<const COUNT: usize>(words: [u64; COUNT], order: &BitOrder) -> [u64; COUNT] {
    let mut images = [0; COUNT];
    for BitMove { shift, mask } in order.moves() {
        let distance = shift.unsigned_abs() % u64::BITS;
        images = if *shift >= 0 {
            from_fn(|at| images[at] | words[at] << distance & mask)
        } else {
            from_fn(|at| images[at] | words[at] >> distance & mask)
        };
    }
    images
}

pub(super) fn positional_popcount(sample: &[u64]) -> [u8; 64] {
    debug_assert!(sample.len() <= 255, "{} words overflow a byte", sample.len());
    // Byte i of counter b counts bit 8 i + b.
    let mut counters = [0_u64; 8];
    for &word in sample {
        for (bit, counter) in counters.iter_mut().enumerate() {
            *counter += word >> bit & 0x0101_0101_0101_0101;
        }
    }
    from_fn(|bit| counters[bit % 8].to_le_bytes()[bit / 8])
}

pub(super) fn partition(words: &[u64], bit: u64, out: &mut [u64]) -> usize {
    debug_assert!(words.len() <= out.len(), "the parts fit the space");
    let (mut front, mut back) = (0, out.len());
    let mut words = words;
    // Every word is written to both free ends; the wrong copy is overwritten later. At least as many
    // places are free as words are left, so two groups of places do not overlap.
    while let Some((group, rest)) = words.split_first_chunk::<GROUP>()
        && let Some((at_front, free)) = out[front..back].split_first_chunk_mut::<GROUP>()
        && let Some(at_back) = free.last_chunk_mut::<GROUP>()
    {
        let mut lack = 0;
        for (done, &word) in group.iter().enumerate() {
            at_front[lack] = word;
            at_back[GROUP - 1 + lack - done] = word;
            lack += usize::from(word & bit == 0);
        }
        front += lack;
        back -= GROUP - lack;
        words = rest;
    }
    front + partition_rest(words, bit, &mut out[front..back]).0
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

/// Transposes a block of build words and tabulates the ANDs of its bit slices.
fn fill_tables<const CHUNKS: usize>(block: &[u64], tables: &mut LeafTables) {
    fill_chunks(block, CHUNKS, tables);
}

/// The same for any number of chunks: the code is not worth eight copies.
fn fill_chunks(block: &[u64], chunks: usize, tables: &mut LeafTables) {
    let BlockTables { tables, slices, padded } = tables;
    // What follows the last word of a partial block is masked out.
    let whole = if let Some(whole) = block.as_chunks::<WORDS>().0.first_chunk() {
        whole
    } else {
        padded.as_flattened_mut()[..block.len()].copy_from_slice(block);
        padded
    };
    transpose::<false>(whole, &mut slices[0]);
    if chunks * CHUNK_BITS > 32 {
        transpose::<true>(whole, &mut slices[1]);
    }
    let slices = slices.as_flattened();
    for (chunk, table) in tables[..chunks].iter_mut().enumerate() {
        table[0] = [u64::MAX; WORDS];
        for bit in 0..CHUNK_BITS {
            // No probe word has the bits from 64 on, so their entries may be anything.
            let slice = slices[(chunk * CHUNK_BITS + bit) % 64];
            let (known, new) = table.split_at_mut(1 << bit);
            for (entry, &below) in new.iter_mut().zip(&*known) {
                *entry = and(below, slice);
            }
        }
    }
    if block.len() < 64 * WORDS {
        let valid = valid_words(block.len());
        for entry in &mut tables[0] {
            *entry = and(*entry, valid);
        }
    }
}

/// Bit slices of a block, inverted: 32 of them, of the low or the high half of the words.
///
/// The rows are those of `WORDS` 64 x 64 bit matrices side by side. The first step packs the wanted
/// halves of two rows into one; the others swap ever smaller squares of bits.
fn transpose<const HIGH: bool>(rows: &[[u64; WORDS]; 64], slices: &mut [[u64; WORDS]; 32]) {
    const LOW: u64 = u64::MAX >> 32;
    let pack = |a: u64, b: u64| if HIGH { a >> 32 | b & !LOW } else { a & LOW | b << 32 };
    let (first, second) = rows.split_at(32);
    for (slice, (a, b)) in slices.iter_mut().zip(first.iter().zip(second)) {
        *slice = from_fn(|at| !pack(a[at], b[at]));
    }
    swap_squares::<16>(slices, 0x0000_ffff_0000_ffff);
    swap_squares::<8>(slices, 0x00ff_00ff_00ff_00ff);
    swap_squares::<4>(slices, 0x0f0f_0f0f_0f0f_0f0f);
    swap_squares::<2>(slices, 0x3333_3333_3333_3333);
    swap_squares::<1>(slices, 0x5555_5555_5555_5555);
}

/// Swaps, in rows that are `DISTANCE` apart, the high bits of one with the low bits of the other.
fn swap_squares<const DISTANCE: usize>(rows: &mut [[u64; WORDS]; 32], low: u64) {
    for pair in rows.chunks_exact_mut(2 * DISTANCE) {
        let (first, second) = pair.split_at_mut(DISTANCE);
        for (a, b) in first.as_flattened_mut().iter_mut().zip(second.as_flattened_mut()) {
            let swapped = (*a >> DISTANCE ^ *b) & low;
            *b ^= swapped;
            *a ^= swapped << DISTANCE;
        }
    }
}

/// The build words that fit a probe word.
#[inline]
fn look_up<const CHUNKS: usize>(word: u64, tables: &LeafTables) -> Slice {
    let mut fit = tables.tables[0][word as usize % CHUNK_VALUES];
    for chunk in 1..CHUNKS {
        let value = (word >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
        fit = and(fit, tables.tables[chunk][value]);
    }
    fit
}

#[inline]
fn and(a: Slice, b: Slice) -> Slice {
    from_fn(|at| a[at] & b[at])
}

/// Looks up every probe word and counts the build words that fit.
///
/// Carry-save adders gather eight lookups into one slice of weight eight, so eight probe words need
/// only one popcount. The tables come as their struct, because a reference to the array alone would lose
/// its alignment, and with it 4 % of the time of a count.
fn count_probes<const CHUNKS: usize>(probe: &[u64], tables: &LeafTables) -> u64 {
    let zero = [0; WORDS];
    let (mut ones, mut twos, mut fours, mut eights) = (zero, zero, zero, zero);
    let (groups, rest) = probe.as_chunks::<8>();
    for group in groups {
        let fit = |at: usize| look_up::<CHUNKS>(group[at], tables);
        let (two_a, two_b, two_c, two_d, four_a, four_b, eight);
        (ones, two_a) = full_adder(ones, fit(0), fit(1));
        (ones, two_b) = full_adder(ones, fit(2), fit(3));
        (twos, four_a) = full_adder(twos, two_a, two_b);
        (ones, two_c) = full_adder(ones, fit(4), fit(5));
        (ones, two_d) = full_adder(ones, fit(6), fit(7));
        (twos, four_b) = full_adder(twos, two_c, two_d);
        (fours, eight) = full_adder(fours, four_a, four_b);
        eights = from_fn(|at| eights[at] + u64::from(eight[at].count_ones()));
    }
    let singles: u64 = rest.iter().map(|&word| popcount(look_up::<CHUNKS>(word, tables))).sum();
    let eights: u64 = eights.into_iter().sum();
    singles + popcount(ones) + 2 * popcount(twos) + 4 * popcount(fours) + 8 * eights
}

/// Sum and carry of three bits, 256 times.
#[inline]
fn full_adder(a: Slice, b: Slice, c: Slice) -> (Slice, Slice) {
    let sum = from_fn(|at| a[at] ^ b[at] ^ c[at]);
    (sum, from_fn(|at| a[at] & b[at] | (a[at] ^ b[at]) & c[at]))
}

#[inline]
fn popcount(slice: Slice) -> u64 {
    slice.iter().map(|word| u64::from(word.count_ones())).sum()
}
