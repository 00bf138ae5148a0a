//! Groups: half-boards that are not made yet.

use super::word_list::WordList;

/// A list of northern and a list of southern quadrants. Every pair of one of each that shares no bit
/// is a half-board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// Where the northern words start in the northern list of the half.
    pub(crate) north: u32,
    pub(crate) north_len: u32,
    /// Where the southern words start in the southern list of the half.
    pub(crate) south: u32,
    pub(crate) south_len: u32,
}

impl Group {
    /// The group of a list of half-boards: each goes with the first southern word, which has no bits.
    pub(crate) fn single(half_boards: usize) -> Self {
        Self { north: 0, north_len: half_boards as u32, south: 0, south_len: 1 }
    }

    /// The number of pairs, whether they share a bit or not.
    pub(crate) fn pairs(self) -> u64 {
        u64::from(self.north_len) * u64::from(self.south_len)
    }

    /// Appends the groups of the half-boards without and with a bit, if `northern` and `southern` words
    /// lack it. They come first in their lists.
    ///
    /// A half-board lacks a bit if both factors lack it. It has the bit if exactly one of them has it.
    #[inline]
    pub(crate) fn push_parts(
        self,
        northern: usize,
        southern: usize,
        without: &mut Vec<Self>,
        with: &mut Vec<Self>,
    ) {
        let (north, south) = (northern as u32, southern as u32);
        let lacks = Self { north_len: north, south_len: south, ..self };
        let north_has = Self {
            north: self.north + north,
            north_len: self.north_len - north,
            south_len: south,
            ..self
        };
        let south_has = Self {
            north_len: north,
            south: self.south + south,
            south_len: self.south_len - south,
            ..self
        };
        if lacks.pairs() > 0 {
            without.push(lacks);
        }
        with.extend([north_has, south_has].into_iter().filter(|group| group.pairs() > 0));
    }

    /// The northern and the southern words.
    pub(crate) fn words<'a>(&self, lists: [&'a [u64]; 2]) -> [&'a [u64]; 2] {
        let [north, south] = lists;
        [
            &north[self.north as usize..][..self.north_len as usize],
            &south[self.south as usize..][..self.south_len as usize],
        ]
    }
}

/// The pairs of all groups.
pub(crate) fn all_pairs(groups: &[Group]) -> u64 {
    groups.iter().map(|group| group.pairs()).sum()
}

/// Appends the words of groups to a list, one group after the other, and groups of the copies.
pub(crate) fn gather(
    lists: [&[u64]; 2],
    groups: &[Group],
    words: &mut WordList,
    copies: &mut Vec<Group>,
) {
    for group in groups {
        let [north, south] = group.words(lists).map(|list| {
            let start = words.len() as u32;
            words.extend_from_slice(list);
            start
        });
        copies.push(Group { north, south, ..*group });
    }
}

/// Chooses pairs of words at random, as many from each group as its share of all pairs, and appends
/// those that are half-boards. The choice is the same each time.
pub(crate) fn sample(lists: [&[u64]; 2], groups: &[Group], pairs: u64, out: &mut Vec<u64>) {
    let all = all_pairs(groups);
    // A sample needs no exact places, so a product takes the place of a division.
    let mut shaken = 0x9e37_79b9_7f4a_7c15_u64;
    let mut owed = 0;
    for group in groups {
        owed += group.pairs() * pairs;
        let [north, south] = group.words(lists);
        while owed >= all {
            owed -= all;
            shaken =
                shaken.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x6a09_e667_f3bc_c909);
            let at = |len: usize, random: u64| ((len as u64 * (random >> 32)) >> 32) as usize;
            let north = north[at(north.len(), shaken)];
            let south = south[at(south.len(), shaken << 32)];
            if north & south == 0 {
                out.push(north | south);
            }
        }
    }
}
