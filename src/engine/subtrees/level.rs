//! The buffer that holds the nodes of one row.

use crate::board::solution::Node;

/// The capacity of a level, a power of two so that one instruction keeps an index below it.
pub(super) const CAPACITY: usize = 256;

/// The lanes of the widest vector: a whole one may be written after the last node.
const LANES: usize = 16;

/// One field of the nodes of a level, with room for a vector after the last one.
#[derive(Clone, Debug)]
pub(crate) struct Field([u32; CAPACITY + LANES]);

impl Field {
    /// `W` nodes from `at` on. `W` is at most 16, and `at` is below the capacity: that is checked
    /// where a level grows, before each pass and in [`Level::push`]. So the remainder changes
    /// nothing, but it shows the compiler that no bounds check is needed.
    pub(crate) fn lanes<const W: usize>(&self, at: usize) -> &[u32; W] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        self.0[at % CAPACITY..].first_chunk().expect("W is at most LANES")
    }

    /// The same, mutable.
    pub(crate) fn lanes_mut<const W: usize>(&mut self, at: usize) -> &mut [u32; W] {
        const { assert!(W <= LANES) };
        debug_assert!(at < CAPACITY, "a level overflows");
        self.0[at % CAPACITY..].first_chunk_mut().expect("W is at most LANES")
    }
}

/// The nodes of one row, field by field, so that one vector load reads a field of many nodes.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) columns: Field,
    pub(crate) falling: Field,
    pub(crate) rising: Field,
    pub(crate) free: Field,
    pub(crate) len: usize,
}

impl Level {
    pub(crate) fn new() -> Self {
        let field = Field([0; CAPACITY + LANES]);
        Self {
            columns: field.clone(),
            falling: field.clone(),
            rising: field.clone(),
            free: field,
            len: 0,
        }
    }

    /// Writes a node after the last one, or over one.
    pub(crate) fn set(&mut self, index: usize, node: Node) {
        self.columns.lanes_mut::<1>(index)[0] = node.columns;
        self.falling.lanes_mut::<1>(index)[0] = node.falling;
        self.rising.lanes_mut::<1>(index)[0] = node.rising;
        self.free.lanes_mut::<1>(index)[0] = node.free;
    }

    pub(crate) fn get(&self, index: usize) -> Node {
        Node {
            columns: self.columns.lanes::<1>(index)[0],
            falling: self.falling.lanes::<1>(index)[0],
            rising: self.rising.lanes::<1>(index)[0],
            free: self.free.lanes::<1>(index)[0],
        }
    }

    /// Adds a node.
    ///
    /// # Panics
    ///
    /// If the level is full: the node would overwrite another.
    pub(crate) fn push(&mut self, node: Node) {
        assert!(self.len < CAPACITY, "a level of {} nodes overflows", self.len);
        self.set(self.len, node);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a level of 256 nodes overflows")]
    fn a_node_too_many_stops() {
        let mut level = Level::new();
        for _ in 0..=CAPACITY {
            level.push(Node { columns: 0, falling: 0, rising: 0, free: 1 });
        }
    }
}
