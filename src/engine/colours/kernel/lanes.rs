//! The words of a block, and the words that are left at a leaf, cut into lanes.

/// The largest number of labels of a block, and the number of lanes of a layer.
pub(in crate::engine::colours) const LANES: usize = 64;
/// The first bit of the label in a word. The bits from here on have room for the number of each label of a block.
pub(in crate::engine::colours) const LABEL_SHIFT: u32 = u64::BITS - LANES.ilog2();
/// The number of words of a lane.
pub(super) const SLOTS: usize = 8;

/// The number of words that may be read or written after the last one, because vectors are read and written whole.
pub(in crate::engine::colours) const SLACK: usize = 8;

/// Words of a block.
#[derive(Clone, Copy)]
pub(in crate::engine::colours) struct Words<'a> {
    /// The number of words. At least [`SLACK`] more follow them, with any contents.
    pub(in crate::engine::colours) len: usize,
    pub(in crate::engine::colours) padded: &'a [u64],
}

impl<'a> Words<'a> {
    /// Returns the words without what follows them.
    pub(in crate::engine::colours) fn own(self) -> &'a [u64] {
        &self.padded[..self.len]
    }
}

/// A byte for each label of a block, or for each lane of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(in crate::engine::colours) struct Bytes(pub(in crate::engine::colours) [u8; LANES]);

impl Bytes {
    /// Zeros.
    pub(in crate::engine::colours) const ZERO: Self = Self([0; LANES]);
}

/// The lanes of a leaf: where the words of each lane begin, which words it has, and their label.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    starts: Vec<u32>,
    present: Vec<u8>,
    labels: Vec<u8>,
    len: usize,
}

impl Lanes {
    /// Makes room for leaves of this number of words.
    pub(super) fn reserve(&mut self, words: usize) {
        // The last lane of a label is often not full, and a step writes two lanes.
        let lanes = (words / SLOTS + 2 * LANES + 2).max(self.starts.len());
        self.starts.resize(lanes, 0);
        self.present.resize(lanes, 0);
        self.labels.resize(lanes, 0);
    }

    /// Cuts words, ordered by label, into lanes.
    #[inline(always)]
    pub(super) fn cut(&mut self, words: Words<'_>) {
        let mut ends = [0_u32; LANES];
        for (at, word) in (1..).zip(words.own()) {
            ends[(word >> LABEL_SHIFT) as usize % LANES] = at;
        }
        let Self { starts, present, labels, .. } = self;
        let (mut start, mut len) = (0, 0);
        for (label, end) in (0..).zip(ends) {
            let end = end.max(start);
            let mut put = |start: u32| {
                starts[len] = start;
                present[len] = ((1_u32 << (end - start).min(8)) - 1) as u8;
                labels[len] = label;
                len += usize::from(start < end);
            };
            // There is no branch for up to two lanes.
            put(start);
            put(end.min(start + 8));
            start += 16;
            while start < end {
                put(start);
                start += 8;
            }
            start = end;
        }
        self.len = len;
        let whole = len.next_multiple_of(LANES);
        starts[len..whole].fill(0);
        present[len..whole].fill(0);
        labels[len..whole].fill(0);
    }

    pub(super) fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        (0..self.len).step_by(LANES).map(|first| {
            let bytes = |of: &[u8]| Bytes(*of[first..].first_chunk().expect("64 lanes"));
            Layer {
                starts: self.starts[first..].first_chunk().expect("64 lanes"),
                present: bytes(&self.present),
                labels: bytes(&self.labels),
            }
        })
    }
}

/// Sixty-four lanes.
pub(super) struct Layer<'a> {
    pub(super) starts: &'a [u32; LANES],
    /// A bit for each word that a lane has. Lanes without words come last.
    pub(super) present: Bytes,
    pub(super) labels: Bytes,
}

/// The number that stands for no lane.
const NONE: u8 = 0x80;

impl Layer<'_> {
    /// Finds the first lane of each label, then the second lane of each label, and so on.
    pub(super) fn nth_lanes(&self, nth_lanes: &mut Vec<Bytes>) {
        nth_lanes.clear();
        let (mut turn, mut last) = (0, None);
        for (lane, label) in
            (0..).zip(self.labels.0).take(self.present.0.partition_point(|words| *words > 0))
        {
            turn = if last == Some(label) { turn + 1 } else { 0 };
            last = Some(label);
            if turn == nth_lanes.len() {
                nth_lanes.push(Bytes([NONE; LANES]));
            }
            nth_lanes[turn].0[label as usize % LANES] = lane;
        }
    }
}
