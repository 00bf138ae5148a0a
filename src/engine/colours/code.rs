//! The code of programs, as numbers of 32 bits. A compiler writes it, and kernels run it.
//!
//! ```text
//!     filter       2 depth      length  lower and upper 32 bits of the queen's word
//!     leaf         2 depth + 1  length  lengths of its sections, squares and combinations
//!                  sections: the number of a row set, length, groups
//!                  for each square its two bits of a word, one | other << 16
//!                  for each combination its two planes, one | other << 16
//!     groups       completions of each, length, and for each such group its label and completions
//!     completion   the planes of its two halves, one | other << 16
//! ```
//!
//! Filters, leaves, sections and groups are the **pieces** of code. The second number of each piece is its length, that
//! is, how many numbers it has, this one included. The length of a filter includes its subtree. The other three lengths
//! of a leaf count only its sections, its squares and its combinations.
//!
//! A **section** has the completions of a leaf for one row set. A completion has two halves. A half has no queen, one
//! queen (a square) or several (a **combination** of two smaller halves: [`completions`](super::completions)). For each
//! of them the kernel makes a plane. Planes are numbered in their leaf: 0 is the plane of the half without queens, then
//! come the squares, then the combinations. Code has eight times the number of a plane, its offset. CPUs can scale by
//! eight, so an address is one step from the code. All completions of a group have the same label.

/// The number of a bit that no word has.
pub(super) const NO_BIT: u32 = 64;
/// The largest number of planes of a leaf: its squares, its combinations, and plane 0, which has all words.
pub(super) const MAX_PLANES: usize = 4096;
/// The distance between the offsets of successive planes.
pub(super) const OFFSET_SCALE: usize = 8;
const _: () = assert!(MAX_PLANES * OFFSET_SCALE <= 1 << 16, "an offset has 16 bits");
/// The largest number of completions of a group. Each completion has up to eight hits with a lane. Vectors add products
/// of these hits with coefficients two by two, in 16 bits with a sign: 2 * 8 * 8 * 255 < 2^15.
pub(super) const MAX_GROUP: usize = 8;
/// The largest number of completions of a section. A sum of 32 bits has room for the products of coefficients and
/// numbers of bits, sixteen to a sum: 16 * 255 * 8 * 65536 < 2^32.
pub(super) const MAX_COMPLETIONS: usize = 1 << 16;
const _: () =
    assert!(16 * 255 * 8 * (MAX_COMPLETIONS as u64) < 1 << 32, "sums of 32 bits have room");

/// The length of a filter without its subtree.
const FILTER: usize = 4;
/// The length of a leaf without its sections, squares and combinations.
const LEAF: usize = 5;

/// Packs two small numbers into one: the bits of a square, the planes of a combination, or the halves of a completion.
pub(super) fn pack(one: u32, other: u32) -> u32 {
    one | other << 16
}

/// Returns the two small numbers that were packed into one.
#[inline(always)]
pub(super) fn unpack(packed: u32) -> [usize; 2] {
    [(packed & 0xffff) as usize, (packed >> 16) as usize]
}

/// Returns a depth or a length as a number of code.
fn code_of(number: usize) -> u32 {
    u32::try_from(number).expect("code has less than 2^32 numbers")
}

/// A program, or a part of it, while it is written.
#[derive(Default)]
pub(super) struct Code(pub(super) Vec<u32>);

impl Code {
    /// Begins a filter and its subtree. Returns where it begins.
    pub(super) fn filter(&mut self, depth: usize, queen: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "half of it")]
        let low_half = queen as u32;
        let high_half = (queen >> 32) as u32;
        self.begin([2 * code_of(depth), 0, low_half, high_half])
    }

    /// Begins a leaf. Returns where it begins. Sections follow.
    pub(super) fn leaf(&mut self, depth: usize) -> usize {
        self.begin([2 * code_of(depth) + 1, 0, 0, 0, 0])
    }

    /// Begins a piece with these numbers, the second of which will be its length. Returns where it begins.
    fn begin<const LEN: usize>(&mut self, piece: [u32; LEN]) -> usize {
        self.0.extend(piece);
        self.0.len() - LEN
    }

    /// Ends the piece that begins at `start`.
    fn end(&mut self, start: usize) {
        self.0[start + 1] = code_of(self.0.len() - start);
    }

    /// Ends the subtree of a filter. If the subtree is empty, removes the filter.
    pub(super) fn end_subtree(&mut self, start: usize) {
        if self.0.len() == start + FILTER {
            self.0.truncate(start);
        } else {
            self.end(start);
        }
    }

    /// Ends a leaf with its squares and combinations. If the leaf has no sections, removes it.
    pub(super) fn end_leaf(&mut self, start: usize, squares: &[u32], combinations: &[u32]) {
        let sections_len = self.0.len() - start - LEAF;
        if sections_len == 0 {
            self.0.truncate(start);
            return;
        }
        self.0[start + 2] = code_of(sections_len);
        self.0[start + 3] = code_of(squares.len());
        self.0[start + 4] = code_of(combinations.len());
        self.0.extend_from_slice(squares);
        self.0.extend_from_slice(combinations);
        self.end(start);
    }

    /// Moves groups to a section for the row set with this number.
    pub(super) fn section(&mut self, set_number: u32, groups: &mut Groups) {
        let section = self.begin([set_number, 0]);
        for (completions, groups) in (1..).zip(&mut groups.0) {
            if !groups.is_empty() {
                let of_length = self.begin([completions, 0]);
                self.0.append(groups);
                self.end(of_length);
            }
        }
        self.end(section);
    }
}

/// A label and completions with this label.
pub(super) type Group = [u32; group_len(MAX_GROUP)];

/// Returns the length of a group with this number of completions.
pub(super) const fn group_len(completions: usize) -> usize {
    1 + completions
}

/// The groups for a section, by the number of their completions.
#[derive(Default)]
pub(super) struct Groups([Vec<u32>; MAX_GROUP]);

impl Groups {
    /// Adds a group with the first `completions` completions of this one, at least one.
    pub(super) fn add(&mut self, group: &Group, completions: usize) {
        let groups = &mut self.0[completions - 1];
        // The whole group is copied, because a copy of known length is fast.
        groups.extend_from_slice(group);
        groups.truncate(groups.len() - (MAX_GROUP - completions));
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

/// A leaf, as it is read.
pub(super) struct LeafCode<'a> {
    pub(super) sections: &'a [u32],
    pub(super) squares: &'a [u32],
    pub(super) combinations: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// Reads the instruction with which some code begins. Returns its depth, the instruction, and the code after the
    /// instruction and its subtree. Panics if the code is cut off, because solutions would be missing without notice.
    pub(super) fn read(code: &'a [u32]) -> Option<(usize, Self, &'a [u32])> {
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
        let ([.., sections, squares, combinations], rest) =
            code.split_first_chunk::<LEAF>().expect("a whole leaf");
        let (sections, rest) = rest.split_at(*sections as usize);
        let (squares, rest) = rest.split_at(*squares as usize);
        let combinations = &rest[..*combinations as usize];
        Some((depth, Self::Leaf(LeafCode { sections, squares, combinations }), behind))
    }
}

/// Returns an iterator over pieces of code: over sections, or over the groups of a section by their length. It yields
/// the number with which each piece begins, and the contents of the piece.
#[inline(always)]
pub(super) fn pieces(code: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
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
