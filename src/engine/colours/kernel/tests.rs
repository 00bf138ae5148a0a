//! Every kernel against the simplest loops, on made-up programs, at edge lengths.

use super::*;
use crate::engine::tests::{kernels, random};

/// Numbers of words of a label, around those of a lane.
const LENGTHS: [usize; 6] = [0, 1, 7, 8, 9, 17];
/// Queens block bits below this one; those from it on are a label.
const TAG_AT: u32 = 58;

/// Miri takes hours for what takes a second.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 20 };

/// A leaf: squares of two bits, pairs of squares, and items of two of both for each row.
struct Leaf {
    squares: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
    /// The items of each label of each row set, by number of the set.
    sets: Vec<Vec<Vec<[u32; 2]>>>,
}

impl Leaf {
    fn random(random: &mut fastrand::Rng, labels: usize) -> Self {
        let bit = |random: &mut fastrand::Rng| {
            if random.u32(..8) == 0 { NO_BIT } else { random.u32(..TAG_AT) }
        };
        let squares: Vec<_> =
            (0..1 + random.usize(..12)).map(|_| [bit(random), bit(random)]).collect();
        let number = |random: &mut fastrand::Rng, all: usize| random.u32(..=all as u32);
        let pairs: Vec<_> = (0..random.usize(..20))
            .map(|_| [(); 2].map(|()| number(random, squares.len())))
            .collect();
        let all = squares.len() + pairs.len();
        let items = |random: &mut fastrand::Rng| {
            let len = [0, 1, 2, 3, 7, 8, 9, 40][random.usize(..8)];
            (0..len).map(|_| [(); 2].map(|()| number(random, all))).collect()
        };
        let sets = (0..3).map(|_| (0..labels).map(|_| items(random)).collect()).collect();
        Self { squares, pairs, sets }
    }

    /// The bits that are blocked by a square or pair.
    fn bits(&self, number: u32) -> u64 {
        let number = number as usize;
        if number == 0 {
            0
        } else if number <= self.squares.len() {
            let bits = self.squares[number - 1].into_iter().filter(|bit| *bit != NO_BIT);
            bits.fold(0, |bits, bit| bits | 1 << bit)
        } else {
            let [a, b] = self.pairs[number - 1 - self.squares.len()];
            self.bits(a) | self.bits(b)
        }
    }

    /// Appends the leaf to a program.
    fn write(&self, depth: u32, most: u32, code: &mut Vec<u32>) {
        let start = code.len();
        code.extend([2 * depth + 1, 0, most, 0, 0, 0]);
        for (number, labels) in (0..).zip(&self.sets) {
            let section = code.len();
            code.extend([number, 0]);
            for length in 1..=MOST_TOGETHER {
                let mut groups = Vec::new();
                for (label, items) in (0..).zip(labels) {
                    for items in items.chunks(MOST_TOGETHER).filter(|items| items.len() == length) {
                        groups.push(label);
                        groups.extend(items.iter().map(|[a, b]| a | b << 16));
                    }
                }
                if !groups.is_empty() {
                    code.extend([length as u32, (groups.len() / (length + 1)) as u32]);
                    code.extend(groups);
                }
            }
            code[section + 1] = code.len() as u32;
        }
        code[start + 4] = code.len() as u32;
        code.extend(self.squares.iter().map(|[a, b]| a | b << 8));
        code[start + 5] = code.len() as u32;
        code.extend(self.pairs.iter().map(|[a, b]| a | b << 16));
        code[start + 1] = code.len() as u32;
        code[start + 3] = code.len() as u32;
    }

    /// Calls with the set, the label, the lane's label and the number of hits.
    fn each_hit(&self, words: &[u64], mut with: impl FnMut(usize, usize, usize)) {
        for word in words {
            for (set, labels) in self.sets.iter().enumerate() {
                for (label, items) in labels.iter().enumerate() {
                    for [a, b] in items {
                        if word & (self.bits(*a) | self.bits(*b)) == 0 {
                            with(set, label, (word >> TAG_AT) as usize);
                        }
                    }
                }
            }
        }
    }
}

/// Words of 64 labels, and some more behind them.
fn block(random: &mut fastrand::Rng, longest: usize) -> (Vec<u64>, usize) {
    let mut words = Vec::new();
    for label in 0..LANES as u64 {
        let len = *random.choice(&LENGTHS).expect("some");
        let len = if label == 40 { longest } else { len };
        let word = |random: &mut fastrand::Rng| {
            let bits = random.u64(..) & random.u64(..) & random.u64(..);
            bits & ((1 << TAG_AT) - 1) | label << TAG_AT
        };
        words.extend((0..len).map(|_| word(random)));
    }
    let len = words.len();
    words.extend((0..SLACK).map(|_| random.u64(..)));
    (words, len)
}

/// Runs a program with every kernel: on the words that fit a queen one leaf if they are few, another if not.
#[test]
fn every_kernel_counts_what_plain_loops_count() {
    let mut random = random();
    let cancel = Cancel::new();
    for round in 0..ROUNDS {
        let longest = [0, 1, 64, 511, 512, 513, 1500][round % 7];
        let (words, len) = block(&mut random, longest);
        let labels = [1, 5, 70][round % 3];
        let leaves = [(); 2].map(|()| Leaf::random(&mut random, labels));
        let queen = 1 << random.u32(..TAG_AT) | 1 << random.u32(..TAG_AT);
        let fitting: Vec<u64> =
            words[..len].iter().copied().filter(|word| word & queen == 0).collect();
        let few = random.bool();
        let most = if few { fitting.len() } else { fitting.len() - 1 } as u32;

        // filter, leaf, leaf for more words, and a leaf for all words behind that subtree.
        let mut code = vec![0, 0, queen as u32, (queen >> 32) as u32];
        leaves[0].write(1, most, &mut code);
        leaves[1].write(1, u32::MAX, &mut code);
        code[4 + 3] = code.len() as u32;
        code[1] = code.len() as u32;
        leaves[0].write(0, u32::MAX, &mut code);
        let run = Run { code: &code, len, words: &words, tag_at: TAG_AT };

        // The set in the middle is not to be counted.
        let at = [Some(labels), None, Some(0)];
        let rows = Rows { at: &at, labels };
        let start = random.u16(65_000..);
        let mut expected = vec![[u64::from(start); LANES]; 2 * labels];
        let leaf_of_few = &leaves[usize::from(!few)];
        for (leaf, words) in [(leaf_of_few, &fitting[..]), (&leaves[0], &words[..len])] {
            leaf.each_hit(words, |set, label, lane| {
                if let Some(row) = at[set] {
                    expected[row + label][lane] += 1;
                }
            });
        }
        let more: Vec<u8> = (0..2 * labels).map(|_| random.u8(..PLANES as u8)).collect();
        let planes = [(); PLANES].map(|()| {
            (0..2 * labels).map(|_| Bytes([(); LANES].map(|()| random.u8(..)))).collect()
        });
        let weights = Weights { planes, more };

        for kernel in kernels() {
            let mut scratch = Scratch::default();
            scratch.reserve(len);
            let mut counts = vec![Counts([start; LANES]); 2 * labels];
            let mut purpose = Purpose::Count(&mut counts);
            assert_eq!(kernel.run(&run, &rows, &mut purpose, &mut scratch, &cancel), Ok(()));
            for (row, (counts, expected)) in counts.iter().zip(&expected).enumerate() {
                let expected = expected.map(|hits| hits.min(u16::MAX.into()) as u16);
                assert_eq!(counts.0, expected, "{kernel}, row {row}, round {round}");
            }

            let mut totals = [[[0; 8]; PLANES]; 3];
            let mut purpose = Purpose::Sum(&weights, &mut totals);
            assert_eq!(kernel.run(&run, &rows, &mut purpose, &mut scratch, &cancel), Ok(()));
            for (set, totals) in totals.iter().enumerate() {
                for (plane, lanes) in totals.iter().enumerate() {
                    let rows = at[set].map_or(0..0, |row| row..row + labels);
                    let products =
                        rows.filter(|row| usize::from(weights.more[*row]) >= plane).map(|row| {
                            let hits = expected[row].map(|hits| hits - u64::from(start));
                            let weights = weights.planes[plane][row].0;
                            hits.iter()
                                .zip(weights)
                                .map(|(hits, weight)| hits * u64::from(weight))
                                .sum::<u64>()
                        });
                    let sum: u64 = lanes.iter().sum();
                    assert_eq!(
                        sum,
                        products.sum::<u64>(),
                        "{kernel}, set {set}, plane {plane}, round {round}"
                    );
                }
            }
            cancel_stops(kernel, &run, &rows, &mut counts, &mut scratch);
        }
    }
}

fn cancel_stops(
    kernel: Kernel,
    run: &Run<'_>,
    rows: &Rows<'_>,
    counts: &mut [Counts],
    scratch: &mut Scratch,
) {
    let cancelled = Cancel::new();
    cancelled.cancel();
    let stopped = kernel.run(run, rows, &mut Purpose::Count(counts), scratch, &cancelled);
    assert_eq!(stopped, Err(Interrupt::Cancelled), "{kernel}");
}

#[test]
fn every_kernel_transposes() {
    let mut random = random();
    let tile: Tile = [(); TILE].map(|()| [(); TILE].map(|()| random.u16(..60_000)));
    for kernel in kernels() {
        let mut transposed = tile;
        let largest = kernel.transpose(&mut transposed);
        assert_eq!(Some(&largest), tile.iter().flatten().max(), "{kernel}");
        for (row, column) in (0..TILE).flat_map(|row| (0..TILE).map(move |column| (row, column))) {
            assert_eq!(transposed[column][row], tile[row][column], "{kernel}");
        }
    }
}
