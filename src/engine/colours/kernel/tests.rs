//! Tests every kernel against the simplest loops, on random programs and blocks of many lengths.

#![expect(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use super::*;
use crate::engine::colours::code::{Code, Groups, MAX_COMPLETIONS, pack};
use crate::engine::tests::{kernels, random};

/// Numbers of words of a label: near the number of words of a lane.
const LENGTHS: [usize; 6] = [0, 1, 7, 8, 9, 17];
/// Miri takes hours for what otherwise takes a second.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 20 };

/// A leaf: squares of two bits, combinations of two squares, and completions of two squares or combinations.
struct Leaf {
    squares: Vec<[u32; 2]>,
    combinations: Vec<[u32; 2]>,
    /// The completions of each label of each row set, by number of the set.
    sets: Vec<Vec<Vec<[u32; 2]>>>,
}

impl Leaf {
    fn random(random: &mut fastrand::Rng, labels: usize) -> Self {
        let squares_len = 1 + random.usize(..12);
        let squares: Vec<[u32; 2]> =
            (0..squares_len).map(|_| [random_bit(random), random_bit(random)]).collect();
        let combinations_len = random.usize(..20);
        let combinations = random_pairs(random, combinations_len, squares.len());
        let mut sets = Vec::new();
        for _ in 0..3 {
            let mut completions_of_labels = Vec::new();
            for _ in 0..labels {
                let completions_len = [0, 1, 2, 3, 7, 8, 9, 40][random.usize(..8)];
                completions_of_labels.push(random_pairs(
                    random,
                    completions_len,
                    squares.len() + combinations.len(),
                ));
            }
            sets.push(completions_of_labels);
        }
        Self { squares, combinations, sets }
    }

    /// Returns the bits that a square or combination blocks.
    fn bits(&self, number: u32) -> u64 {
        let number = number as usize;
        if number == 0 {
            0
        } else if number <= self.squares.len() {
            let [sum, difference] = self.squares[number - 1];
            // `NO_BIT` is shifted out.
            1_u64.checked_shl(sum).unwrap_or(0) | 1_u64.checked_shl(difference).unwrap_or(0)
        } else {
            let [a, b] = self.combinations[number - 1 - self.squares.len()];
            self.bits(a) | self.bits(b)
        }
    }

    /// Appends the leaf to a program.
    fn write(&self, depth: usize, code: &mut Code) {
        let start = code.leaf(depth);
        let squares: Vec<u32> = self.squares.iter().map(|[a, b]| pack(*a, *b)).collect();
        let combinations: Vec<u32> = self.combinations.iter().map(packed_offsets).collect();
        for (number, labels) in (0..).zip(&self.sets) {
            let mut groups = Groups::default();
            for (label, completions) in (0..).zip(labels) {
                let completions: Vec<u32> = completions.iter().map(packed_offsets).collect();
                for completions in completions.chunks(MAX_GROUP) {
                    let mut group = [label; 1 + MAX_GROUP];
                    group[1..=completions.len()].copy_from_slice(completions);
                    groups.add(&group, completions.len());
                }
            }
            code.section(number, &mut groups);
        }
        code.end_leaf(start, &squares, &combinations);
    }

    /// Calls `with` for each hit: with the set, the label of the completion, and the label of the word.
    fn each_hit(&self, words: &[u64], mut with: impl FnMut(usize, usize, usize)) {
        for word in words {
            for (set, labels) in self.sets.iter().enumerate() {
                for (label, completions) in labels.iter().enumerate() {
                    for [a, b] in completions {
                        if word & (self.bits(*a) | self.bits(*b)) == 0 {
                            with(set, label, (word >> LABEL_SHIFT) as usize);
                        }
                    }
                }
            }
        }
    }
}

/// Returns a bit of a word, and sometimes none.
fn random_bit(random: &mut fastrand::Rng) -> u32 {
    if random.u32(..8) == 0 { NO_BIT } else { random.u32(..LABEL_SHIFT) }
}

/// Returns this number of pairs of numbers from 0 to `last`.
fn random_pairs(random: &mut fastrand::Rng, len: usize, last: usize) -> Vec<[u32; 2]> {
    (0..len).map(|_| [random.u32(..=last as u32), random.u32(..=last as u32)]).collect()
}

/// Returns the two planes with these numbers as a number of code.
fn packed_offsets([one, other]: &[u32; 2]) -> u32 {
    pack(OFFSET_SCALE as u32 * one, OFFSET_SCALE as u32 * other)
}

/// Makes words of 64 labels, and some more after them.
fn block(random: &mut fastrand::Rng, longest: usize) -> (Vec<u64>, usize) {
    let mut words = Vec::new();
    for label in 0..BLOCK_LABELS as u64 {
        let len = *random.choice(&LENGTHS).expect("some");
        let len = if label == 40 { longest } else { len };
        for _ in 0..len {
            let bits = few_bits(random) & ((1 << LABEL_SHIFT) - 1);
            words.push(bits | label << LABEL_SHIFT);
        }
    }
    let len = words.len();
    words.extend((0..SLACK).map(|_| random.u64(..)));
    (words, len)
}

/// Returns a word in which each bit is set with a probability of an eighth.
fn few_bits(random: &mut fastrand::Rng) -> u64 {
    random.u64(..) & random.u64(..) & random.u64(..)
}

/// Runs a program with every kernel: a leaf on the words that fit a queen, and another one on all words.
#[test]
fn every_kernel_counts_what_plain_loops_count() {
    let mut random = random();
    let cancel = Cancel::new();
    for round in 0..ROUNDS {
        let longest = [0, 1, 64, 511, 512, 513, 1500][round % 7];
        let (words, len) = block(&mut random, longest);
        let labels = [1, 5, 70][round % 3];
        let leaves = [(); 2].map(|()| Leaf::random(&mut random, labels));
        let queen = 1 << random.u32(..LABEL_SHIFT) | 1 << random.u32(..LABEL_SHIFT);
        // The filter joins the words with the queen.
        let fitting = words[..len].iter().filter(|word| *word & queen == 0);
        let fitting: Vec<u64> = fitting.map(|word| word | queen).collect();

        // A filter with a leaf, and behind this subtree a leaf for all words.
        let mut code = Code::default();
        let filter = code.filter(0, queen);
        leaves[1].write(1, &mut code);
        code.end_subtree(filter);
        leaves[0].write(0, &mut code);
        let block = Words { len, padded: &words };

        // The set in the middle is not counted.
        let mut rows = [const { None }; MAX_SETS];
        rows[0] = Some(labels..2 * labels);
        rows[2] = Some(0..labels);
        let start = random.u16(65_000..);
        let mut expected = vec![[u64::from(start); BLOCK_LABELS]; 2 * labels];
        for (leaf, words) in [(&leaves[1], &fitting[..]), (&leaves[0], &words[..len])] {
            leaf.each_hit(words, |set, label, place| {
                if let Some(rows) = &rows[set] {
                    expected[rows.start + label][place] += 1;
                }
            });
        }
        let upper_digits_len: Vec<u8> =
            (0..2 * labels).map(|_| random.u8(..DIGITS as u8)).collect();
        let digits = [(); DIGITS].map(|()| {
            (0..2 * labels).map(|_| Bytes([(); BLOCK_LABELS].map(|()| random.u8(..)))).collect()
        });
        let coefficients =
            Coefficients { digits, upper_digits_len, are_of_rare_hits: round % 2 == 0 };

        for kernel in kernels() {
            let mut scratch = Scratch::default();
            let mut entries = vec![Numbers([start; BLOCK_LABELS]); 2 * labels];
            let counted =
                kernel.execute(&code.0, block, &mut scratch, &cancel, |leaf, words, scratch| {
                    kernel.count_leaf(leaf, words, &rows, &mut entries, scratch);
                });
            assert_eq!(counted, Ok(()));
            for (row, (entries, expected)) in entries.iter().zip(&expected).enumerate() {
                let expected = expected.map(|hits| hits.min(u16::MAX.into()) as u16);
                assert_eq!(entries.0, expected, "{kernel}, row {row}, round {round}");
            }

            let mut totals = [Totals::default(); 3];
            let summed =
                kernel.execute(&code.0, block, &mut scratch, &cancel, |leaf, words, scratch| {
                    kernel.sum_leaf(leaf, words, &rows, &coefficients, &mut totals, scratch);
                });
            assert_eq!(summed, Ok(()));
            for (set, totals) in totals.iter().enumerate() {
                for (digit, sums) in totals.iter().enumerate() {
                    let mut products = 0;
                    for row in rows[set].clone().unwrap_or(0..0) {
                        if usize::from(coefficients.upper_digits_len[row]) < digit {
                            continue;
                        }
                        for (hits, coefficient) in
                            expected[row].iter().zip(coefficients.digits[digit][row].0)
                        {
                            products += (hits - u64::from(start)) * u64::from(coefficient);
                        }
                    }
                    let sum: u64 = sums.iter().sum();
                    assert_eq!(sum, products, "{kernel}, set {set}, digit {digit}, round {round}");
                }
            }

            let cancelled = Cancel::new();
            cancelled.cancel();
            let visited = kernel.execute(&code.0, block, &mut scratch, &cancelled, |_, _, _| {
                panic!("no leaf is begun");
            });
            assert_eq!(visited, Err(Interrupt::Cancelled), "{kernel}");
        }
    }
}

/// Returns up to 64 of 70 rows.
fn random_rows(random: &mut fastrand::Rng) -> Vec<usize> {
    let len = [1, 15, 16, 17, 63, 64][random.usize(..6)];
    random.choose_multiple(0..70, len)
}

/// Makes digits of the coefficients of blocks, some of them not full.
#[test]
fn every_kernel_makes_digits() {
    let mut random = random();
    for round in 0..ROUNDS {
        let largest = [60, 1000, u16::MAX][round % 3];
        let mut row = |most: u16| Numbers([(); BLOCK_LABELS].map(|()| random.u16(..=most)));
        let entries: Vec<_> = (0..70).map(|_| row(largest)).collect();
        let multiplicities = [(); BLOCK_LABELS].map(|()| row(4));
        let rows = random_rows(&mut random);
        let to_rows = random_rows(&mut random);
        let pairs = LabelPairs { entries: &entries, rows: &rows, multiplicities: &multiplicities };
        let shift = random.u32(..18);
        let mask = u8::MAX >> random.u8(..8);
        for kernel in kernels() {
            for shift in [0, shift] {
                let mut to = [Bytes([7; BLOCK_LABELS]); 70];
                let found = kernel.make_digits(&pairs, shift, mask, &mut to, &to_rows);
                let used = rows.iter().flat_map(|row| &entries[*row].0[..to_rows.len()]);
                assert!(used.max() <= Some(&found) && found <= largest, "{kernel}");
                for (row, bytes) in to.iter().enumerate() {
                    let Some(label) = to_rows.iter().position(|to_row| *to_row == row) else {
                        assert_eq!(*bytes, Bytes([7; BLOCK_LABELS]), "{kernel}: not to be written");
                        continue;
                    };
                    for (place, (row, factors)) in rows.iter().zip(&multiplicities).enumerate() {
                        let product =
                            u32::from(entries[*row].0[label]) * u32::from(factors.0[label]);
                        assert_eq!(bytes.0[place], (product >> shift) as u8 & mask, "{kernel}");
                    }
                    assert!(bytes.0[rows.len()..].iter().all(|byte| *byte == 0), "{kernel}");
                }
            }
        }
    }
}

#[test]
fn every_kernel_joins() {
    let mut random = random();
    for _ in 0..ROUNDS {
        let ones: Vec<u64> = (0..5).map(|_| few_bits(&mut random)).collect();
        for len in LENGTHS {
            let padded: Vec<u64> = (0..len + SLACK).map(|_| few_bits(&mut random)).collect();
            let others = Words { len, padded: &padded };
            let mut expected = Vec::new();
            for one in &ones {
                for other in others.own() {
                    if one & other == 0 {
                        expected.push(one | other);
                    }
                }
            }
            expected.sort_unstable();
            for kernel in kernels() {
                let mut joined = vec![0; ones.len() * len + SLACK];
                let joined_len = kernel.join(&ones, others, &mut joined);
                joined.truncate(joined_len);
                joined.sort_unstable();
                assert_eq!(joined, expected, "{kernel}");
            }
        }
    }
}

/// The longest section, with all words open and the largest coefficients: sums of 32 bits have room for it.
#[test]
fn every_kernel_sums_the_longest_section() {
    // Miri would take hours.
    let completions = if cfg!(miri) { 1 << 8 } else { MAX_COMPLETIONS };
    let mut code = Code::default();
    let leaf = code.leaf(0);
    let mut groups = Groups::default();
    for _ in 0..completions / MAX_GROUP {
        // The label 0, and completions that leave all words.
        groups.add(&[0; 1 + MAX_GROUP], MAX_GROUP);
    }
    code.section(0, &mut groups);
    code.end_leaf(leaf, &[], &[]);
    let mut words: Vec<u64> = (0..512).map(|word| (word / 8) << LABEL_SHIFT).collect();
    words.resize(512 + SLACK, 0);
    let block = Words { len: 512, padded: &words };
    let digits = [(); DIGITS].map(|()| vec![Bytes([u8::MAX; BLOCK_LABELS])]);
    let coefficients =
        Coefficients { digits, upper_digits_len: vec![DIGITS as u8 - 1], are_of_rare_hits: false };
    let mut rows = [const { None }; MAX_SETS];
    rows[0] = Some(0..1);
    for kernel in kernels() {
        let mut scratch = Scratch::default();
        let mut totals = [Totals::default()];
        let summed =
            kernel.execute(&code.0, block, &mut scratch, &Cancel::new(), |leaf, words, scratch| {
                kernel.sum_leaf(leaf, words, &rows, &coefficients, &mut totals, scratch);
            });
        assert_eq!(summed, Ok(()));
        for sums in totals[0] {
            assert_eq!(sums.iter().sum::<u64>(), 512 * completions as u64 * 255, "{kernel}");
        }
    }
}
