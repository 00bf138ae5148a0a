//! Every kernel against the simplest code, at the edges of its vectors and blocks.

use crate::cancel::Cancel;
use crate::engine::halves::cuts::Cuts;
use crate::engine::halves::group::{self, Group, all_pairs};
use crate::engine::halves::join::{Factored, Join};
use crate::engine::halves::kernel::{BitMove, BitOrder, Layout};
use crate::engine::halves::word_list::{SLACK, WordList};
use crate::engine::simd::Kernel;
use crate::engine::tests::{kernels, random};
use crate::engine::unit::Pass;

const SIZES: [usize; 14] = [0, 1, 3, 4, 7, 8, 9, 255, 256, 257, 511, 512, 513, 1030];

/// Of a list of cases, Miri tries every seventh: it takes hours for what takes a second.
const STEP: usize = if cfg!(miri) { 7 } else { 1 };

fn cases<T: Copy>(all: &[T]) -> impl Iterator<Item = T> {
    all.iter().copied().step_by(STEP)
}

/// Runs a check with every kernel of this CPU.
fn for_every_kernel(check: fn(Kernel)) {
    kernels().into_iter().for_each(check);
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

/// Words with their bits at the places of a layout.
fn placed(layout: Layout, words: &[u64]) -> Vec<u64> {
    let numbers = |&word: &u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
    let places = |word| numbers(word).fold(0, |set, bit| set | 1 << layout.place(bit));
    words.iter().map(places).collect()
}

fn check_leaf(kernel: Kernel) {
    let mut random = random();
    let mut tables = kernel.tables();
    let layout = kernel.layout();
    let most_bits = layout.most_bits();
    let mut check = |build: &[u64], probe: &[u64], bits: u32| {
        let expected = double_loop(build, probe);
        let sizes = (build.len(), probe.len(), bits);
        let [build, probe] = [build, probe].map(|words| placed(layout, words));
        let places = layout.place(bits - 1) + 1;
        let sliced = kernel.count_bit_sliced(&build, &probe, places, &mut tables);
        assert_eq!(sliced, expected, "bit-sliced, {sizes:?}");
        assert_eq!(kernel.nested_loop(&build, &probe), expected, "nested loop, {sizes:?}");
    };
    for bits in (1..=most_bits).step_by(4 * STEP - 3) {
        let build = random_words(&mut random, 257 + bits as usize * 9, bits);
        let probe = random_words(&mut random, 40 + bits as usize, bits);
        check(&build, &probe, bits);
    }
    for build in cases(&SIZES) {
        for probe in cases(&[0, 1, 2, 7, 8, 9, 64, 65, 300]) {
            for bits in cases(&[1, 6, 30, 31, 36, 38, 46, 62.min(most_bits)]) {
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

fn check_lists(kernel: Kernel) {
    let mut random = random();
    for size in cases(&SIZES) {
        let words = random_words(&mut random, size, 64);
        for shift in [0, 1, 31, 32, 63] {
            let bit = 1 << shift;
            let mut expected = words.clone();
            expected.sort_unstable();
            for spare in [0, 5, 100] {
                let mut parts = vec![0; size + spare];
                let middle = kernel.partition(&words, bit, &mut parts);
                parts.drain(middle..middle + spare);
                assert!(parts[..middle].iter().all(|word| word & bit == 0), "size {size}");
                assert!(parts[middle..].iter().all(|word| word & bit != 0), "size {size}");
                parts.sort_unstable();
                assert_eq!(parts, expected, "the parts hold all words, size {size}");
            }
            let mut out = vec![0; size + SLACK];
            let count = kernel.select(&words, bit, &mut out);
            let kept = words.iter().filter(|&word| word & bit == 0).copied();
            assert_eq!(out[..count], kept.collect::<Vec<_>>(), "selected of {size}");
        }

        let avoid = 1 << 63 | 1;
        let [a, b] = [random.u64(..), random.u64(..)];
        let (a, b) = (a & ones(57), b & !ones(20));
        let moves = [BitMove { shift: -7, mask: a }, BitMove { shift: 20, mask: b }];
        let squares = [1 << 20 | 1 << 3, 0, 1 << 62];
        let mut out = vec![0; 3 * size + SLACK];
        let count =
            kernel.add_squares(&squares.map(|square| (&*words, square)), avoid, &moves, &mut out);
        let mut expected = Vec::new();
        for square in squares {
            let free = words.iter().filter(|&word| word & (avoid | square) == 0);
            let longer = free.map(|word| word | square);
            expected.extend(longer.map(|word| word.rotate_right(7) & a | word.rotate_left(20) & b));
        }
        assert_eq!(out[..count], expected, "squares added to {size}");

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

/// Random factored lists: groups of up to `most` northern and southern words.
fn random_groups(
    random: &mut fastrand::Rng,
    groups: usize,
    most: usize,
    bits: u32,
) -> ([Vec<u64>; 2], Vec<Group>) {
    let mut lists = [Vec::new(), Vec::new()];
    let mut made = Vec::new();
    for _ in 0..groups {
        let starts = lists.each_ref().map(|list| list.len() as u32);
        for list in &mut lists {
            let words = random.usize(..=most);
            list.extend(random_words(random, words, bits).iter().map(|word| word & random.u64(..)));
        }
        let lengths = [0, 1].map(|at| lists[at].len() as u32 - starts[at]);
        let [north, south] = starts;
        made.push(Group { north, north_len: lengths[0], south, south_len: lengths[1] });
    }
    (lists, made)
}

/// The half-boards of all groups, in order.
fn half_boards(lists: &[Vec<u64>; 2], groups: &[Group]) -> Vec<u64> {
    let mut made = Vec::new();
    for group in groups {
        let [north, south] = group.words(lists.each_ref().map(Vec::as_slice));
        for a in north {
            made.extend(south.iter().filter(|&b| a & b == 0).map(|b| a | b));
        }
    }
    made.sort_unstable();
    made
}

fn check_groups(kernel: Kernel) {
    let mut random = random();
    for (count, most) in cases(&[(7, 9), (0, 9), (1, 1), (9, 40), (3, 300)]) {
        let (mut lists, mut groups) = random_groups(&mut random, count, most, 64);
        let expected = half_boards(&lists, &groups);
        let slices = lists.each_ref().map(Vec::as_slice);

        let mut product = vec![0; all_pairs(&groups) as usize + SLACK];
        let made = kernel.multiply(slices, &groups, &mut product);
        product.truncate(made);
        product.sort_unstable();
        assert_eq!(product, expected, "multiplied {count} groups");

        let (mut copied, mut copies) = (WordList::default(), Vec::new());
        group::gather(slices, &groups, &mut copied, &mut copies);
        let copied = copied.as_slice().to_vec();
        assert_eq!(half_boards(&[copied.clone(), copied], &copies), expected, "gathered");

        for shift in [0, 31, 63] {
            let bit = 1 << shift;
            let (mut with, mut scratch) = (Vec::new(), vec![0; most + SLACK]);
            let [north, south] = &mut lists;
            kernel.split_groups(
                [north, south],
                &mut groups,
                0..count,
                bit,
                &mut scratch,
                &mut with,
            );
            let without = half_boards(&lists, &groups[count..]);
            groups.truncate(count);
            let with = half_boards(&lists, &with);
            assert!(without.iter().all(|word| word & bit == 0), "bit {shift}");
            assert!(with.iter().all(|word| word & bit != 0), "bit {shift}");
            let mut parts = [without, with].concat();
            parts.sort_unstable();
            assert_eq!(parts, expected, "split on bit {shift}");
            assert_eq!(half_boards(&lists, &groups), expected, "the lists keep their words");
        }
    }
}

fn factored<'a>(lists: &'a mut [Vec<u64>; 2], groups: &'a [Group]) -> Factored<'a> {
    let [north, south] = lists;
    Factored { lists: [north, south], groups }
}

/// A join counts the same with any bound on its products, in the first and in the second count.
fn check_join(kernel: Kernel) {
    check_join_of(kernel, Pass::First);
    check_join_of(kernel, Pass::Second);
}

/// Lists of these lengths, of words with so many bits.
fn check_list_joins(kernel: Kernel, pass: Pass, lengths: &[(usize, u32)]) {
    let mut random = random();
    for &(long, bits) in lengths {
        let mut join = Join::new(kernel, Cuts::of(pass), bits);
        let mut east = random_words(&mut random, long, bits);
        let mut west = random_words(&mut random, 1500, bits);
        let expected = double_loop(&east, &west);
        let count = join.count_lists([&mut east, &mut west], &Cancel::new());
        assert_eq!(count, expected, "lists of {long} words with {bits} bits");
    }
}

/// The last piece of a long list is shorter than a vector.
fn check_long_lists(kernel: Kernel) {
    for pass in [Pass::First, Pass::Second] {
        check_list_joins(kernel, pass, &[(Cuts::of(pass).batch + 3, 40)]);
    }
}

fn check_join_of(kernel: Kernel, pass: Pass) {
    let mut random = random();
    let cancel = Cancel::new();
    for bits in [6, 30, 34, 38, 46, 54, 62] {
        let mut join = Join::new(kernel, Cuts::of(pass), bits);
        for (groups, most) in [(0, 1), (1, 1), (3, 12), (1, 200), (40, 60), (120, 16)] {
            let (mut east, east_groups) = random_groups(&mut random, groups, most, bits);
            let (mut west, west_groups) = random_groups(&mut random, groups + 1, most, bits);
            let made = [half_boards(&east, &east_groups), half_boards(&west, &west_groups)];
            let expected = double_loop(&made[0], &made[1]);
            for most_pairs in [u64::MAX, 30_000, 0] {
                let (east, west) =
                    (factored(&mut east, &east_groups), factored(&mut west, &west_groups));
                let count = join.count(east, west, most_pairs, &cancel);
                assert_eq!(count, expected, "{bits} bits, {groups} groups, {most_pairs} pairs");
            }
        }
    }
    check_list_joins(kernel, pass, &[(3000, 62), (100, 62)]);
    // Equal words, which no split separates, fill the arena; the join must stay correct.
    let mut lists = [vec![0b1010; 90], vec![0b0101 << 20; 100]];
    let mut others = [vec![0; 90], vec![1 << 40; 100]];
    let groups = [Group { north: 0, north_len: 90, south: 0, south_len: 100 }];
    for most_pairs in [u64::MAX, 0] {
        let (east, west) = (factored(&mut lists, &groups), factored(&mut others, &groups));
        let mut join = Join::new(kernel, Cuts::of(pass), 62);
        assert_eq!(join.count(east, west, most_pairs, &cancel), 81_000_000);
    }
}

#[test]
fn leaves_count_like_the_double_loop() {
    for_every_kernel(check_leaf);
}

#[test]
fn lists_are_split_selected_and_permuted() {
    for_every_kernel(check_lists);
}

#[test]
fn groups_are_split_gathered_and_multiplied() {
    for_every_kernel(check_groups);
}

#[test]
#[cfg_attr(miri, ignore)]
fn joins_count_like_the_double_loop() {
    for_every_kernel(check_join);
}

#[test]
#[ignore = "takes half a minute"]
fn joins_of_long_lists_count_like_the_double_loop() {
    for_every_kernel(check_long_lists);
}

/// Twenty words do not fit into eight, whichever operation writes them.
fn check_stops(kernel: Kernel) {
    let words = [0; 20];
    let stops = |write: &dyn Fn() -> usize| {
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write));
        assert!(stopped.is_err(), "{stopped:?} words were written");
    };
    stops(&|| kernel.select(&words, 1, &mut [0; 8]));
    stops(&|| kernel.select(&words[..9], 1, &mut [0; 4]));
    stops(&|| kernel.partition(&words, 1, &mut [0; 8]));
    let group = [Group { north: 0, north_len: 1, south: 0, south_len: 20 }];
    stops(&|| kernel.multiply([&words; 2], &group, &mut [0; 8]));
}

#[test]
fn words_without_room_stop_every_kernel() {
    for_every_kernel(check_stops);
}
