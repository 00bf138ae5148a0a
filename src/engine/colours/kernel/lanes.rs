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
        // The last lane of a label is often not full. Two lanes are written at once, of which the second may be empty.
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
        let mut writer = LaneWriter {
            starts: &mut self.starts,
            present: &mut self.present,
            labels: &mut self.labels,
            len: 0,
        };
        let mut start = 0;
        for (label, end) in (0..).zip(ends) {
            // A label without words has the end 0.
            let end = end.max(start);
            // There is no branch for up to two lanes.
            writer.put(label, start, end);
            writer.put(label, end.min(start + 8), end);
            start += 16;
            while start < end {
                writer.put(label, start, end);
                start += 8;
            }
            start = end;
        }
        let len = writer.len;
        self.len = len;
        let whole = len.next_multiple_of(LANES);
        self.starts[len..whole].fill(0);
        self.present[len..whole].fill(0);
        self.labels[len..whole].fill(0);
    }

    /// Returns the layers, the last of which is filled up with lanes without words.
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

/// The lanes of a leaf while they are written.
struct LaneWriter<'a> {
    starts: &'a mut [u32],
    present: &'a mut [u8],
    labels: &'a mut [u8],
    len: usize,
}

impl LaneWriter<'_> {
    /// Writes a lane with the first eight of the words from `start` to `end`, or with all if there are fewer. Without
    /// words, the next lane takes its place.
    #[inline(always)]
    fn put(&mut self, label: u8, start: u32, end: u32) {
        self.starts[self.len] = start;
        self.present[self.len] = ((1_u32 << (end - start).min(8)) - 1) as u8;
        self.labels[self.len] = label;
        self.len += usize::from(start < end);
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
        let lanes = self.present.0.partition_point(|words| *words > 0);
        let mut nth = 0;
        let mut last_label = None;
        for (lane, label) in (0..).zip(self.labels.0).take(lanes) {
            nth = if last_label == Some(label) { nth + 1 } else { 0 };
            last_label = Some(label);
            if nth == nth_lanes.len() {
                nth_lanes.push(Bytes([NONE; LANES]));
            }
            nth_lanes[nth].0[label as usize % LANES] = lane;
        }
    }
}
