//! The order of the bits in a join.

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
