//! The buffer that holds the nodes of one row.

use crate::board::solutions::Node;

/// The capacity of a level. It is a power of two, so that one instruction keeps an index below it.
pub(super) const CAPACITY: usize = 256;

/// The number of lanes of the widest vector. A whole vector may be written after the last node.
const MAX_LANES: usize = 16;

/// The nodes of one row. Each field of the nodes has its own array, so that one vector load reads a field of many
/// nodes.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// The columns, falling, rising and free squares of each [`Node`], with room for a vector after the last one.
    fields: [[u32; CAPACITY + MAX_LANES]; 4],
    pub(super) len: usize,
}

impl Level {
    pub(super) const EMPTY: Self = Self { fields: [[0; CAPACITY + MAX_LANES]; 4], len: 0 };

    /// Returns each field of the `W` nodes from `at` on, where `W` is at most 16.
    ///
    /// The order of passes guarantees that `at` is below the capacity, so the remainder changes nothing. But it shows
    /// the compiler that no bounds check is needed. With a bounds check, counts take 4 to 9 % longer.
    pub(super) fn lanes<const W: usize>(&self, at: usize) -> [&[u32; W]; 4] {
        const { assert!(W <= MAX_LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        let fields = self.fields.each_ref();
        fields.map(|field| field[at % CAPACITY..].first_chunk().expect("W is at most MAX_LANES"))
    }

    /// Returns each field of the `W` nodes from `at` on, to be written.
    pub(super) fn lanes_mut<const W: usize>(&mut self, at: usize) -> [&mut [u32; W]; 4] {
        const { assert!(W <= MAX_LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        let fields = self.fields.each_mut();
        fields
            .map(|field| field[at % CAPACITY..].first_chunk_mut().expect("W is at most MAX_LANES"))
    }

    /// Writes a node to this place, which may be in use or be the first one after the last node.
    pub(super) fn set(&mut self, at: usize, node: Node) {
        let [columns, falling, rising, free] = self.lanes_mut(at);
        *columns = [node.columns];
        *falling = [node.falling];
        *rising = [node.rising];
        *free = [node.free];
    }

    /// Returns the node in this place.
    pub(super) fn get(&self, at: usize) -> Node {
        let [&[columns], &[falling], &[rising], &[free]] = self.lanes(at);
        Node { columns, falling, rising, free }
    }
}
