//! Where the bits of a word stand in a join, and the tables of a leaf.

/// Bits of a probe word that one table lookup uses.
///
/// Six bits make tables of 64 entries. Five of these, for 30 bits, take 20 KiB for 512 build words and
/// 10 KiB for 256, which leaves room for the lists in the first-level cache. Seven bits were slower.
pub(crate) const CHUNK_BITS: usize = 6;

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

/// A permutation of the bits of a word. Bits that move equally far move together, by one shift, so no
/// bit extraction is needed, which some CPUs lack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitOrder {
    moves: [BitMove; 64],
    len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BitMove {
    /// Places to the left; to the right if negative.
    pub(crate) shift: i32,
    /// The bits at their destination.
    pub(crate) mask: u64,
}

/// Moves that leave all bits where they are.
pub(crate) const STAY: [BitMove; 2] =
    [BitMove { shift: 0, mask: u64::MAX }, BitMove { shift: 0, mask: 0 }];

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

    /// Whether every bit that is kept stays where it is.
    pub(crate) fn is_identity(&self) -> bool {
        self.moves().iter().all(|bits| bits.shift == 0)
    }

    pub(crate) fn moves(&self) -> &[BitMove] {
        &self.moves[..self.len]
    }
}

pub(super) const CHUNK_VALUES: usize = 1 << CHUNK_BITS;

/// The most chunks of a word: words have at most 62 bits.
pub(super) const MAX_CHUNKS: usize = 11;

/// For each value of a chunk, the build words of the block that do not clash with it, as bits.
pub(super) type Table<const WORDS: usize> = [[u64; WORDS]; CHUNK_VALUES];

/// The working memory of a thread's leaves.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for vector kernels"))]
pub(crate) enum Tables {
    /// For blocks of 256 build words.
    Four(Box<BlockTables<4>>),
    /// For blocks of 512 build words.
    Eight(Box<BlockTables<8>>),
    /// For blocks of 256 build words and probe words with a chunk in each byte.
    Bytes(Box<ByteTables>),
}

/// Memory in which no vector crosses the boundary of a cache line.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(super) struct CacheLines<T>(pub(super) T);

/// The tables of one block of build words, and space to make them. Each field fills whole cache lines.
#[repr(align(64))]
pub(crate) struct BlockTables<const WORDS: usize> {
    /// One for each chunk.
    pub(super) tables: [Table<WORDS>; MAX_CHUNKS],
    /// The bit slices of the block, of the low and of the high halves of its words.
    pub(super) slices: [[[u64; WORDS]; 32]; 2],
    /// A partial block.
    pub(super) padded: [[u64; WORDS]; 64],
}

/// Chunks of a word that has one in each byte.
pub(super) const BYTES: usize = 8;

/// The entry of value x starts at word 4 x: at the word whose number is the byte with x in its upper
/// six bits. Two more entries, which are not used, let the compiler see that every byte is the number
/// of a word that is followed by three more.
pub(super) type ByteTable = [[u64; 4]; CHUNK_VALUES + 2];

/// The tables of one block of 256 build words for [`Layout::Bytes`](super::Layout).
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for vector kernels"))]
#[repr(align(64))]
pub(crate) struct ByteTables {
    pub(super) tables: [ByteTable; BYTES],
    /// A partial block.
    pub(super) padded: [[u64; 4]; 64],
}

impl<const WORDS: usize> BlockTables<WORDS> {
    fn new() -> Box<Self> {
        Box::new(Self {
            tables: [[[0; WORDS]; CHUNK_VALUES]; MAX_CHUNKS],
            slices: [[[0; WORDS]; 32]; 2],
            padded: [[0; WORDS]; 64],
        })
    }
}

impl Tables {
    /// Tables for this layout, and blocks of 256 or 512 build words.
    pub(super) fn new(layout: Layout, block: usize) -> Self {
        match (layout, block) {
            (Layout::Bytes, _) => Self::Bytes(Box::new(ByteTables {
                tables: [[[0; 4]; CHUNK_VALUES + 2]; BYTES],
                padded: [[0; 4]; 64],
            })),
            (Layout::Dense, 512) => Self::Eight(BlockTables::new()),
            (Layout::Dense, _) => Self::Four(BlockTables::new()),
        }
    }
}

/// The bits of the first `count` build words in a slice: word p is bit p / `WORDS` of lane
/// p % `WORDS`.
pub(super) fn valid_words<const WORDS: usize>(count: usize) -> [u64; WORDS] {
    std::array::from_fn(|lane| {
        let rows = (count + WORDS - 1 - lane) / WORDS;
        if rows >= 64 { u64::MAX } else { (1 << rows) - 1 }
    })
}
