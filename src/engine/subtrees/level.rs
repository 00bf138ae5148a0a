//! The buffer that holds the nodes of one row.

use crate::board::solutions::Node;

/// The capacity of a level, a power of two so that one instruction keeps an index below it.
pub(super) const CAPACITY: usize = 256;

/// The lanes of the widest vector: a whole one may be written after the last node.
const LANES: usize = 16;

/// The nodes of one row, field by field, so that one vector load reads a field of many nodes.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// Columns, falling, rising and free squares of each [`Node`], with room for a vector after the last one.
    fields: [[u32; CAPACITY + LANES]; 4],
    pub(super) len: usize,
}

impl Level {
    pub(super) const EMPTY: Self = Self { fields: [[0; CAPACITY + LANES]; 4], len: 0 };

    /// Each field of the `W` nodes from `at` on. `W` is at most 16, and `at` is below the capacity, which the order
    /// of passes guarantees. So the remainder changes nothing, but it shows the compiler that no bounds check is
    /// needed: with one, counts take 4 to 9 % longer.
    pub(super) fn lanes<const W: usize>(&self, at: usize) -> [&[u32; W]; 4] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        let fields = self.fields.each_ref();
        fields.map(|field| field[at % CAPACITY..].first_chunk().expect("W is at most LANES"))
    }

    /// Each field of the `W` nodes from `at` on, to be written.
    pub(super) fn lanes_mut<const W: usize>(&mut self, at: usize) -> [&mut [u32; W]; 4] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        let fields = self.fields.each_mut();
        fields.map(|field| field[at % CAPACITY..].first_chunk_mut().expect("W is at most LANES"))
    }

    /// Writes a node after the last one, or over one.
    pub(super) fn set(&mut self, at: usize, node: Node) {
        let [columns, falling, rising, free] = self.lanes_mut(at);
        (*columns, *falling) = ([node.columns], [node.falling]);
        (*rising, *free) = ([node.rising], [node.free]);
    }

    pub(super) fn get(&self, at: usize) -> Node {
        let [&[columns], &[falling], &[rising], &[free]] = self.lanes(at);
        Node { columns, falling, rising, free }
    }
}
