//! Which bits of the words to split on.

use super::super::kernel::{BitOrder, CHUNK_BITS, Layout};

/// Bits that the leaf of a deep join uses: five chunks.
const LEAF_BITS: usize = 30;

/// Bits of words short enough to stay in their order: six chunks.
const SHORT_BITS: usize = 36;

/// The bits to split on, at their places after the permutation.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitBits {
    /// Best first; 0 after the last one.
    pub(super) order: [u64; 64],
    /// All of them: the only bits in which two words can clash.
    pub(super) unused: u64,
}

/// The places of the bits of lists that are joined without a split: in their own order.
pub(super) fn plan_leaf(set: u64, layout: Layout) -> (BitOrder, SplitBits) {
    let places = bits_of(set).zip((0..).map(|number| layout.place(number)));
    let unused = places.clone().fold(0, |set, (_, place)| set | 1 << place);
    (BitOrder::new(places), SplitBits { order: [0; 64], unused })
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
/// a half-board can. Long lists are worth a search for `few_moves`.
pub(super) fn plan_splits(
    ranked: &[u32],
    used: u64,
    layout: Layout,
    few_moves: bool,
) -> (BitOrder, SplitBits) {
    let total = ranked.len();
    let best = if total <= SHORT_BITS { 0 } else { total - LEAF_BITS };
    let first = best.saturating_sub(CHUNK_BITS);
    let set = |bits: &[u32]| bits.iter().fold(0_u64, |set, bit| set | 1 << bit);
    let sources = [set(&ranked[best..]), set(&ranked[first..best]), set(&ranked[..first]), used];
    let mut next = 0;
    let groups = sources.map(|sources| {
        let numbers = next..next + sources.count_ones();
        next = numbers.end;
        (sources, numbers.fold(0_u64, |places, number| places | 1 << layout.place(number)))
    });
    let unused = groups[..3].iter().fold(0, |set, (_, places)| set | places);
    let place = if few_moves { with_few_moves(groups) } else { in_order(groups) };
    let mut splits = SplitBits { order: [0; 64], unused };
    for (split, &bit) in splits.order.iter_mut().zip(ranked) {
        *split = 1 << place[bit as usize].unwrap_or_default();
    }
    let all = sources.iter().fold(0, |set, some| set | some);
    let places = bits_of(all).filter_map(|bit| Some((bit, place[bit as usize]?)));
    (BitOrder::new(places), splits)
}

/// The numbers of the bits of a set.
fn bits_of(mut set: u64) -> impl Iterator<Item = u32> + Clone {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        bit
    })
}

/// Assigns the places of each group to its sources in order.
fn in_order(groups: [(u64, u64); 4]) -> [Option<u32>; 64] {
    let mut place = [None; 64];
    for (sources, places) in groups {
        for (from, to) in bits_of(sources).zip(bits_of(places)) {
            place[from as usize] = Some(to);
        }
    }
    place
}

/// Assigns the places of each group to its sources, by few different shifts: each takes as many bits
/// as it can.
fn with_few_moves(mut groups: [(u64, u64); 4]) -> [Option<u32>; 64] {
    let mut place = [None; 64];
    let moved = |(sources, places): (u64, u64), left: i32| {
        let distance = left.unsigned_abs();
        places & if left >= 0 { sources << distance } else { sources >> distance }
    };
    while groups.iter().any(|(sources, _)| *sources != 0) {
        let bits =
            |left: i32| groups.iter().map(|&group| moved(group, left).count_ones()).sum::<u32>();
        let left = (-63..=63).max_by_key(|&left| bits(left)).unwrap_or_default();
        for group in &mut groups {
            let places = moved(*group, left);
            for to in bits_of(places) {
                let from = to as i32 - left;
                place[from as usize] = Some(to);
                group.0 &= !(1 << from);
            }
            group.1 &= !places;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_move_to_places_of_their_own_by_few_shifts() {
        let cases = [(Layout::Dense, false), (Layout::Bytes, false), (Layout::Bytes, true)];
        for (layout, few_moves) in cases {
            for (total, used) in [(0, 3), (20, 0), (36, 6), (42, 0), (48, 14)] {
                // Every bit number below 62, in some order.
                let bits: Vec<u32> = (0..62).map(|at| at * 23 % 62).collect();
                let (ranked, rest) = bits.split_at(total);
                let used = rest[..used].iter().fold(0, |set, bit| set | 1 << bit);
                let (order, splits) = plan_splits(ranked, used, layout, few_moves);
                let taken = order.moves().iter().fold(0, |set, to| set | to.mask);
                let all = total as u32 + used.count_ones();
                assert_eq!(taken.count_ones(), all, "{total} bits, {layout:?}");
                assert_eq!(splits.order.iter().fold(0, |set, bit| set | bit), splits.unused);
                assert_eq!(splits.unused.count_ones() as usize, total);
                assert!(!few_moves || order.moves().len() <= 20, "{} moves", order.moves().len());
                let top_of_leaf = layout.place(LEAF_BITS as u32 - 1);
                let worst = &splits.order[total.saturating_sub(LEAF_BITS)..total];
                let limit = if total <= SHORT_BITS { u64::MAX } else { 2 << top_of_leaf };
                assert!(worst.iter().all(|&bit| bit < limit), "leaves take five chunks");
            }
        }
    }
}
