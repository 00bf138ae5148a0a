//! The code of programs, in words of 32 bits. A compiler writes it, and kernels run it.
//!
//! ```text
//!     filter   2 depth      length  low and high half of the queen's word
//!     leaf     2 depth + 1  length  lengths of its sections, squares and pairs
//!              sections: the number of a row set, length, groups
//!              for each square its two bits of a word, one | other << 16
//!              for each pair its two parts, one | other << 16
//!     groups   items of each, length, and for each group of this length its label and items
//!     item     one half | other half << 16
//! ```
//!
//! A length counts 32-bit words of code, from the first word of the piece on. The length of a filter includes its
//! subtree. The three lengths of a leaf count only its sections, its squares and its pairs.
//!
//! Squares and pairs have numbers from 1 in their leaf, and 0 stands for none. The parts of a pair and the halves of
//! an item are offsets, eight times these numbers. CPUs can scale by eight, so an address is one step from the code.
//! All items of a group have the same label.

/// The number of a bit that no word has.
pub(super) const NO_BIT: u32 = 64;
/// The largest number of planes of a leaf: its squares, its pairs, and plane 0, which has all words.
pub(super) const MAX_PLANES: usize = 4096;
/// The distance between the offsets of successive squares or pairs.
pub(super) const OFFSET_SCALE: usize = 8;
const _: () = assert!(MAX_PLANES * OFFSET_SCALE <= 1 << 16, "an offset has 16 bits");
/// The largest number of items of a group. Each item has up to eight hits with a lane. Vectors add pairs of products
/// of these hits with coefficients, in 16 bits with a sign: 2 * 8 * 8 * 255 < 2^15.
pub(super) const MAX_GROUP: usize = 8;
/// The largest number of items of a section. A sum of 32 bits has room for the products of coefficients and numbers of
/// bits, sixteen to a sum: 16 * 255 * 8 * 65536 < 2^32.
pub(super) const MAX_ITEMS: usize = 1 << 16;
const _: () = assert!(16 * 255 * 8 * (MAX_ITEMS as u64) < 1 << 32, "sums of 32 bits have room");

/// The number of words of a filter before its subtree.
const FILTER: usize = 4;
/// The number of words of a leaf before its sections.
const LEAF: usize = 5;

/// Packs two small numbers into a word: the bits of a square, the parts of a pair, or the halves of an item.
pub(super) fn pack(one: u32, other: u32) -> u32 {
    one | other << 16
}

/// Returns the two numbers in a word.
#[inline(always)]
pub(super) fn unpack(word: u32) -> [usize; 2] {
    [(word & 0xffff) as usize, (word >> 16) as usize]
}

/// Returns a depth or a length as a word of code.
fn word_of(number: usize) -> u32 {
    u32::try_from(number).expect("code has less than 2^32 words")
}

/// A program, or a part of one, while it is written.
#[derive(Default)]
pub(super) struct Code(pub(super) Vec<u32>);

impl Code {
    /// Begins a filter and its subtree. Returns where it begins.
    pub(super) fn filter(&mut self, depth: usize, queen: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "half of it")]
        let low_half = queen as u32;
        let high_half = (queen >> 32) as u32;
        self.begin([2 * word_of(depth), 0, low_half, high_half])
    }

    /// Begins a leaf. Returns where it begins. Sections follow.
    pub(super) fn leaf(&mut self, depth: usize) -> usize {
        self.begin([2 * word_of(depth) + 1, 0, 0, 0, 0])
    }

    /// Begins a piece with these words, the second of which will be its length. Returns where it begins.
    fn begin<const WORDS: usize>(&mut self, piece: [u32; WORDS]) -> usize {
        self.0.extend(piece);
        self.0.len() - WORDS
    }

    /// Ends the piece that begins at `start`.
    fn end(&mut self, start: usize) {
        self.0[start + 1] = word_of(self.0.len() - start);
    }

    /// Ends the subtree of a filter. If the subtree is empty, removes the filter.
    pub(super) fn end_subtree(&mut self, start: usize) {
        if self.0.len() == start + FILTER {
            self.0.truncate(start);
        } else {
            self.end(start);
        }
    }

    /// Ends a leaf with its squares and pairs. If the leaf has no sections, removes it.
    pub(super) fn end_leaf(&mut self, start: usize, squares: &[u32], pairs: &[u32]) {
        let sections_len = self.0.len() - start - LEAF;
        if sections_len == 0 {
            self.0.truncate(start);
            return;
        }
        self.0[start + 2] = word_of(sections_len);
        self.0[start + 3] = word_of(squares.len());
        self.0[start + 4] = word_of(pairs.len());
        self.0.extend_from_slice(squares);
        self.0.extend_from_slice(pairs);
        self.end(start);
    }

    /// Moves groups to a section for a row set.
    pub(super) fn section(&mut self, set: u32, groups: &mut Groups) {
        let section = self.begin([set, 0]);
        for (items, groups) in (1..).zip(&mut groups.0) {
            if !groups.is_empty() {
                let of_length = self.begin([items, 0]);
                self.0.append(groups);
                self.end(of_length);
            }
        }
        self.end(section);
    }
}

/// A label and its items.
pub(super) type Group = [u32; 1 + MAX_GROUP];

/// The groups for a section, by the number of their items.
#[derive(Default)]
pub(super) struct Groups([Vec<u32>; MAX_GROUP]);

impl Groups {
    /// Adds a group with the first `items` items of this one, at least one.
    pub(super) fn add(&mut self, group: &Group, items: usize) {
        let groups = &mut self.0[items - 1];
        // The whole group is copied, because a copy of known length is fast.
        groups.extend_from_slice(group);
        groups.truncate(groups.len() - (MAX_GROUP - items));
    }
}

/// An instruction, as it is read.
pub(super) enum Instruction<'a> {
    /// Keeps the words at a depth that fit the queen, for the next depth. If any are left, the program continues with
    /// the subtree.
    Filter { queen: u64, subtree: &'a [u32] },
    /// Counts the completions of the words at a depth.
    Leaf(LeafCode<'a>),
}

/// The parts of a leaf.
pub(super) struct LeafCode<'a> {
    pub(super) sections: &'a [u32],
    pub(super) squares: &'a [u32],
    pub(super) pairs: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// Returns the first instruction of some code, its depth, and the code after the instruction and its subtree.
    /// Panics if the code is cut off, because solutions would be missing without notice.
    pub(super) fn first(code: &'a [u32]) -> Option<(usize, Self, &'a [u32])> {
        let [head, length, ..] = *code else {
            assert!(code.is_empty(), "a whole instruction");
            return None;
        };
        let depth = head as usize / 2;
        let behind = &code[length as usize..];
        let is_filter = head % 2 == 0;
        if is_filter {
            let ([.., low, high], subtree) =
                code.split_first_chunk::<FILTER>().expect("a whole filter");
            let queen = u64::from(*low) | u64::from(*high) << 32;
            return Some((depth, Self::Filter { queen, subtree }, behind));
        }
        let ([.., sections, squares, pairs], rest) =
            code.split_first_chunk::<LEAF>().expect("a whole leaf");
        let (sections, rest) = rest.split_at(*sections as usize);
        let (squares, rest) = rest.split_at(*squares as usize);
        let pairs = &rest[..*pairs as usize];
        Some((depth, Self::Leaf(LeafCode { sections, squares, pairs }), behind))
    }
}

/// Returns an iterator over sections, or over the groups of a section by their length. It yields the number with which
/// each piece begins, and the contents of the piece.
#[inline(always)]
pub(super) fn records(code: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let [number, length, ..] = rest else {
            assert!(rest.is_empty(), "whole pieces");
            return None;
        };
        let (piece, next) = rest.split_at(*length as usize);
        rest = next;
        Some((*number as usize, &piece[2..]))
    })
}
