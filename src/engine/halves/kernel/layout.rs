//! Where the bits of a word stand in a join.

use super::tables::CHUNK_BITS;

/// Where the bits of a word stand, so that a leaf finds its chunks of six bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Chunk c stands in the upper six bits of byte c. Entries of tables for 256 build words take 32
    /// bytes, so a byte is an eighth of the offset of its entry: a lookup needs no shift by odd
    /// distances and no mask. The lower two bits of the bytes are spare: words with more than 48 bits
    /// use them in quadrants, but not in half-boards.
    Bytes,
    /// Chunk c stands in the bits from 6 c on.
    Dense,
}

impl Layout {
    /// The most bits of half-boards.
    pub(crate) fn most_bits(self) -> u32 {
        match self {
            Self::Bytes => 48,
            Self::Dense => u64::BITS,
        }
    }

    /// The place of the bit with this number: chunk by chunk from the lowest place on, then the spare
    /// places from the top.
    pub(crate) fn place(self, number: u32) -> u32 {
        match self {
            Self::Bytes if number < 48 => {
                let (chunk, bit) = (number / CHUNK_BITS as u32, number % CHUNK_BITS as u32);
                8 * chunk + 2 + bit
            }
            Self::Bytes => {
                let spare = number - 48;
                8 * (7 - spare / 2) + spare % 2
            }
            Self::Dense => number,
        }
    }
}
