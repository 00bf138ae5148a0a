//! Which bits of the words to split on.

use super::super::kernel::{BitOrder, CHUNK_BITS};

/// Bits that the leaf of a deep join uses: five chunks.
const LEAF_BITS: usize = 30;

/// Bits of words short enough to stay in their order: six chunks.
const SHORT_BITS: usize = 36;

/// The bits to split on, at their places after the permutation.
pub(super) struct SplitBits {
    /// Best first; 0 after the last one.
    pub(super) order: [u64; 64],
    /// All of them: the only bits in which two words can clash.
    pub(super) unused: u64,
}

/// Sorts the bits of a set: first those that are most frequent in both samples.
pub(super) fn rank(set: u64, [x, y]: &[[u32; 64]; 2], ranked: &mut Vec<u32>) {
    ranked.clear();
    ranked.extend((0..64).filter(|bit| set >> bit & 1 == 1));
    // One number holds the score above the bit, which is cheap to sort. Samples have less than 2^10
    // words.
    for bit in &mut *ranked {
        let score = x[*bit as usize] * y[*bit as usize];
        *bit |= (!score & 0xf_ffff) << 6;
    }
    ranked.sort_unstable();
    for bit in ranked {
        *bit &= 63;
    }
}

/// The places of the bits, and the bits to split on. The best ones go to the top, in groups of a
/// chunk, so that a leaf that comes before all splits are used needs only one or two chunks more.
/// Bits that were split on already follow above: no pair of words clashes in them, but the factors of
/// a half-board can.
pub(super) fn plan_splits(ranked: &[u32], used: u64) -> (BitOrder, SplitBits) {
    let total = ranked.len();
    let unused = if total == 0 { 0 } else { u64::MAX >> (64 - total) };
    let mut splits = SplitBits { order: [0; 64], unused };
    let mut place = [None; 64];
    let best = if total <= SHORT_BITS { 0 } else { total - LEAF_BITS };
    let first = best.saturating_sub(CHUNK_BITS);
    let set = |bits: &[u32]| bits.iter().fold(0_u64, |set, bit| set | 1 << bit);
    let groups = [set(&ranked[best..]), set(&ranked[first..best]), set(&ranked[..first]), used];
    let mut next = 0;
    for group in groups {
        for bit in (0..64).filter(|bit| group >> bit & 1 == 1) {
            place[bit as usize] = Some(next);
            next += 1;
        }
    }
    for (split, &bit) in splits.order.iter_mut().zip(ranked) {
        *split = 1 << place[bit as usize].unwrap_or_default();
    }
    let places = (0..64).filter_map(|bit| Some((bit, place[bit as usize]?)));
    (BitOrder::new(places), splits)
}
