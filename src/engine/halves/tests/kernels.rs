//! Every kernel against the simplest code, at the edges of its vectors and blocks.

use crate::cancel::Cancel;
use crate::engine::halves::join::Join;
use crate::engine::halves::kernel::{BitOrder, JoinKernel};
use crate::engine::halves::word_list::SLACK;
use crate::engine::tests::{kernels, random};

const SIZES: [usize; 14] = [0, 1, 3, 4, 7, 8, 9, 255, 256, 257, 511, 512, 513, 1030];

/// Runs a check with every kernel of this CPU.
fn for_every_kernel(check: fn(JoinKernel)) {
    kernels().into_iter().for_each(|kernel| check(JoinKernel(kernel)));
}

fn double_loop(build: &[u64], probe: &[u64]) -> u64 {
    let pairs = |&word: &u64| build.iter().filter(|&built| built & word == 0).count();
    probe.iter().map(|word| pairs(word) as u64).sum()
}

fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Lists of words that have about a quarter of the lowest `bits` bits.
fn random_words(random: &mut fastrand::Rng, count: usize, bits: u32) -> Vec<u64> {
    (0..count).map(|_| random.u64(..) & random.u64(..) & ones(bits)).collect()
}

fn check_leaf(kernel: JoinKernel) {
    let mut random = random();
    let mut tables = kernel.tables();
    let mut check = |build: &[u64], probe: &[u64], bits: u32| {
        let expected = double_loop(build, probe);
        let sizes = (build.len(), probe.len(), bits);
        let sliced = kernel.count_bit_sliced(build, probe, bits, &mut tables);
        assert_eq!(sliced, expected, "bit-sliced, {sizes:?}");
        assert_eq!(kernel.nested_loop(build, probe), expected, "nested loop, {sizes:?}");
    };
    for bits in 1..=64 {
        let build = random_words(&mut random, 257 + bits as usize * 9, bits);
        let probe = random_words(&mut random, 40 + bits as usize, bits);
        check(&build, &probe, bits);
    }
    for build in SIZES {
        for probe in [0, 1, 2, 7, 8, 9, 64, 65, 300] {
            for bits in [1, 6, 30, 31, 36, 38, 46, 62] {
                let build = random_words(&mut random, build, bits);
                let probe = random_words(&mut random, probe, bits);
                check(&build, &probe, bits);
            }
        }
        let word = random.u64(..) & ones(34);
        check(&vec![word; build], &[word; 77], 34);
        check(&vec![word; build], &[!word & ones(34); 77], 34);
        check(&vec![0; build], &[0; 77], 34);
        check(&vec![ones(34); build], &[ones(34); 77], 34);
    }
}

fn check_lists(kernel: JoinKernel) {
    let mut random = random();
    for size in SIZES {
        let words = random_words(&mut random, size, 64);
        for shift in [0, 1, 31, 32, 63] {
            let bit = 1 << shift;
            let mut parts = vec![0; size];
            let middle = kernel.partition(&words, bit, &mut parts);
            assert!(parts[..middle].iter().all(|word| word & bit == 0), "size {size}");
            assert!(parts[middle..].iter().all(|word| word & bit != 0), "size {size}");
            let mut expected = words.clone();
            expected.sort_unstable();
            parts.sort_unstable();
            assert_eq!(parts, expected, "the parts hold all words, size {size}");
        }
        let (avoid, add) = (1 << 63 | 1, 1 << 40);
        let mut out = vec![0; size + SLACK];
        let count = kernel.select(&words, avoid, add, &mut out);
        let kept = words.iter().filter(|&word| word & avoid == 0).map(|word| word | add);
        assert_eq!(out[..count], kept.collect::<Vec<_>>(), "selected of {size}");

        for short in [0, 1, 5] {
            let short = random_words(&mut random, short, 64);
            let mut out = vec![0; size * short.len() + SLACK];
            let count = kernel.combine(&short, &words, &mut out);
            let mut expected = Vec::new();
            for a in &short {
                expected.extend(words.iter().filter(|&b| a & b == 0).map(|b| a | b));
            }
            assert_eq!(out[..count], expected, "combined with {size}");
        }

        let mut places: Vec<u32> = (0..64).collect();
        random.shuffle(&mut places);
        for kept in [64, 50, 1] {
            let order = BitOrder::new((0..).zip(places[..kept].iter().copied()));
            let mut moved = words.clone();
            kernel.permute_bits(&mut moved, &order);
            for (word, image) in words.iter().zip(moved) {
                let bits = (0..kept).filter(|bit| word >> bit & 1 == 1);
                let expected = bits.fold(0, |set, bit| set | 1_u64 << places[bit]);
                assert_eq!(image, expected, "moved bits of {word:x}");
            }
        }

        let sample = &words[..size.min(255)];
        for (bit, count) in kernel.positional_popcount(sample).into_iter().enumerate() {
            let expected = sample.iter().filter(|&word| word >> bit & 1 == 1).count();
            assert_eq!(usize::from(count), expected, "bit {bit} of {size} words");
        }
    }
}

fn check_join(kernel: JoinKernel) {
    let mut random = random();
    let mut join = Join::new(kernel);
    let cancel = Cancel::new();
    for field in [3, 15, 17, 18, 19, 21, 25, 31] {
        let swap = |word: u64| word >> field & ones(field) | (word & ones(field)) << field;
        for (east, west) in [(0, 9), (1, 1), (14, 3000), (900, 40), (4000, 5000), (20_000, 900)] {
            for sparse in [false, true] {
                let mut list = |count| -> Vec<u64> {
                    let words = random_words(&mut random, count, 2 * field);
                    let mask = if sparse { random.u64(..) } else { u64::MAX };
                    words.into_iter().map(|word| word & (mask | random.u64(..))).collect()
                };
                let (mut east, mut west) = (list(east), list(west));
                let swapped: Vec<u64> = west.iter().map(|&word| swap(word)).collect();
                let expected = double_loop(&east, &swapped);
                let sizes = (field, east.len(), west.len());
                let count = join.count(field, &mut east, &mut west, &cancel);
                assert_eq!(count, expected, "{sizes:?}");
            }
        }
    }
    // Equal words, which no split separates, fill the arena; the join must stay correct.
    let mut east = vec![0b1010; 9000];
    let mut west = vec![0b0101 << 20; 9000];
    assert_eq!(join.count(20, &mut east, &mut west, &cancel), 81_000_000);
}

#[test]
fn leaves_count_like_the_double_loop() {
    for_every_kernel(check_leaf);
}

#[test]
fn lists_are_split_selected_combined_and_permuted() {
    for_every_kernel(check_lists);
}

#[test]
fn joins_count_like_the_double_loop() {
    for_every_kernel(check_join);
}

/// Twenty words do not fit into eight, whichever operation writes them.
fn check_stops(kernel: JoinKernel) {
    let words = [0; 20];
    let stops = |write: &dyn Fn() -> usize| {
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write));
        assert!(stopped.is_err(), "{stopped:?} words were written");
    };
    stops(&|| kernel.select(&words, 0, 0, &mut [0; 8]));
    stops(&|| kernel.select(&words[..9], 0, 0, &mut [0; 4]));
    stops(&|| kernel.combine(&words[..1], &words, &mut [0; 8]));
}

#[test]
fn words_without_room_stop_every_kernel() {
    for_every_kernel(check_stops);
}
