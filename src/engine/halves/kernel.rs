//! What a kernel does for the join.
//!
//! Every kernel offers the operations of [`JoinKernel`] under the same names:
//!
//! * [`portable`] plain `u64` words, runs everywhere;
//! * [`avx2`] four words per step, blocks of 256 build words;
//! * [`avx512`] eight words per step, blocks of 512 build words.
//!
//! They are chosen by type: [`JoinKernel`] is implemented for the tokens of [`Kernel`](crate::Kernel),
//! which prove that the CPU has the instructions. The few `unsafe` calls rely on that.

/// Implements [`JoinKernel`] for a token by the functions of the module that calls it: the door, the only
/// place where they are called from outside.
#[cfg(target_arch = "x86_64")]
macro_rules! implement_join_kernel {
    ($token:ident) => {
        // SAFETY, for all calls below: the functions need exactly the features that the token's
        // `detect` has checked, and a token cannot be made elsewhere.
        impl JoinKernel for $token {
            type Tables = Tables;
            const BLOCK: usize = 64 * WORDS;

            fn tables() -> Tables {
                Tables::new()
            }

            fn select(self, words: &[u64], avoid: u64, add: u64, out: &mut [u64]) -> usize {
                // SAFETY: see above.
                unsafe { select(words, avoid, add, out) }
            }

            fn combine(self, short: &[u64], long: &[u64], out: &mut [u64]) -> usize {
                // SAFETY: see above.
                unsafe { combine(short, long, out) }
            }

            fn permute_bits(self, words: &mut [u64], order: &BitOrder) {
                // SAFETY: see above.
                unsafe { permute_bits(words, order) }
            }

            fn positional_popcount(self, sample: &[u64]) -> [u8; 64] {
                // SAFETY: see above.
                unsafe { positional_popcount(sample) }
            }

            fn partition(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize {
                // SAFETY: see above.
                unsafe { partition(words, bit, out) }
            }

            fn nested_loop(self, build: &[u64], probe: &[u64]) -> u64 {
                // SAFETY: see above.
                unsafe { nested_loop(build, probe) }
            }

            fn count_bit_sliced(
                self,
                build: &[u64],
                probe: &[u64],
                bits: u32,
                tables: &mut Tables,
            ) -> u64 {
                // SAFETY: see above.
                unsafe { leaf::count_bit_sliced(build, probe, bits, tables) }
            }
        }
    };
}

pub(crate) mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

/// Bits of a probe word that one table look-up consumes.
///
/// Six bits make tables of 64 entries: five of them, for 30 bits, take 20 KiB with 512 build words and
/// 10 KiB with 256, which leaves room for the lists in a first-level cache. Seven bits were slower.
pub(crate) const CHUNK_BITS: usize = 6;

/// Entries of one table.
pub(crate) const CHUNK_VALUES: usize = 1 << CHUNK_BITS;

/// Most bits that the leaf can look at: the words have at most 62.
pub(crate) const MAX_CHUNKS: usize = 11;

/// How a list of half-boards is brought into the bit order of the join: bits that move equally far
/// move together, by one shift, so that no bit extraction is needed, which some CPUs lack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitOrder {
    moves: [BitMove; 64],
    len: usize,
}

/// Bits that move equally far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BitMove {
    /// Places to the left; to the right if negative.
    pub(crate) shift: i32,
    /// The bits at their destination.
    pub(crate) mask: u64,
}

impl BitOrder {
    /// The order that moves bit `source` to place `destination` for each of the given pairs and
    /// drops all other bits.
    pub(crate) fn new(pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut order = Self { moves: [BitMove::default(); 64], len: 0 };
        for (source, destination) in pairs {
            let shift = destination as i32 - source as i32;
            let known = order.moves[..order.len].iter().position(|at| at.shift == shift);
            let at = known.unwrap_or(order.len);
            order.len = order.len.max(at + 1);
            order.moves[at].shift = shift;
            order.moves[at].mask |= 1 << destination;
        }
        order
    }

    /// The moves.
    pub(crate) fn moves(&self) -> &[BitMove] {
        &self.moves[..self.len]
    }
}

/// Stops the process. Out of line, so that the stores that have room pay a comparison only.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn no_room(at: usize, len: usize) -> ! {
    panic!("no room for a vector at word {at} of {len}: words would be lost");
}

/// The operations that a kernel offers to the engine.
pub(crate) trait JoinKernel: Copy + Send + Sync {
    /// Working memory of [`count_bit_sliced`](Self::count_bit_sliced), one per thread.
    type Tables: Send;

    /// Patterns that one table holds side by side.
    const BLOCK: usize;

    /// Fresh working memory for the leaf.
    fn tables() -> Self::Tables;

    /// Writes `w | add` to `out` for every word `w` of `words` that shares no bit with `avoid`, and
    /// returns how many there are. `out` must have room for all words and [`SLACK`] more.
    ///
    /// [`SLACK`]: super::word_list::SLACK
    fn select(self, words: &[u64], avoid: u64, add: u64, out: &mut [u64]) -> usize;

    /// Writes `a | b` to `out` for every pair of a word of `short` and one of `long` that share no
    /// bit, and returns how many there are. `out` must have room for all pairs and
    /// [`SLACK`](super::word_list::SLACK) more.
    fn combine(self, short: &[u64], long: &[u64], out: &mut [u64]) -> usize;

    /// Brings the words into the order of the join.
    fn permute_bits(self, words: &mut [u64], order: &BitOrder);

    /// Counts, for every bit, the words of `sample` (at most 255) that have it.
    fn positional_popcount(self, sample: &[u64]) -> [u8; 64];

    /// Writes the words without `bit` to the front of `out`, the others to its end, and returns how
    /// many go to the front. `out` must be at least as long as `words`; what lies between the two
    /// parts is overwritten.
    fn partition(self, words: &[u64], bit: u64, out: &mut [u64]) -> usize;

    /// Counts the disjoint pairs by comparing every build word with every probe word.
    fn nested_loop(self, build: &[u64], probe: &[u64]) -> u64;

    /// Counts the disjoint pairs with bit-sliced tables. Only the lowest `bits` bits may be set.
    fn count_bit_sliced(
        self,
        build: &[u64],
        probe: &[u64],
        bits: u32,
        tables: &mut Self::Tables,
    ) -> u64;
}
