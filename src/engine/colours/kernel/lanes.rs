//! The words of a block, and the words that are left at a leaf, cut into lanes.

/// The largest number of labels of a block.
pub(in crate::engine::colours) const BLOCK_LABELS: usize = 64;
/// The number of lanes of a layer.
pub(in crate::engine::colours) const LANES: usize = 64;
/// The first bit of the label in a word. The bits from here on have room for the number of each label of a block.
pub(in crate::engine::colours) const LABEL_SHIFT: u32 = u64::BITS - BLOCK_LABELS.ilog2();
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

/// A byte for each lane of a layer, or for each label of a block, of which there are as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(in crate::engine::colours) struct Bytes(pub(in crate::engine::colours) [u8; LANES]);

impl Bytes {
    /// Zeros.
    pub(in crate::engine::colours) const ZERO: Self = Self([0; LANES]);
}

/// The lanes of a leaf: where the words of each lane begin, which words it has, and their label.
///
/// Lanes come in **turns**: the first turn has the first lane of each label, the second turn has the second lanes of
/// the labels that have one, and so on. In a turn the labels increase. So most layers have each label once or twice,
/// however many lanes it has. For example, if the labels 0, 1 and 2 have 20, 3 and 9 words:
///
/// ```text
///     turn     first       second   third
///     label    0   1   2   0   2    0
///     words    8   3   8   8   1    4
/// ```
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
        // The last lane of a label is often not full, and each lane is written before it is known whether it has words.
        let lanes = (words / SLOTS + 2 * LANES + 1).max(self.starts.len());
        self.starts.resize(lanes, 0);
        self.present.resize(lanes, 0);
        self.labels.resize(lanes, 0);
    }

    /// Cuts words, ordered by label, into lanes.
    #[expect(clippy::cast_possible_truncation, reason = "eight words in a lane")]
    #[inline(always)]
    pub(super) fn cut(&mut self, words: Words<'_>) {
        let mut ends = [0_u32; BLOCK_LABELS];
        for (at, word) in (1..).zip(words.own()) {
            ends[(word >> LABEL_SHIFT) as usize % BLOCK_LABELS] = at;
        }
        let Self { starts, present, labels, len } = self;
        // There is no branch that asks whether a label has words left, because it could not be predicted: a lane
        // without words is written, too, and the next one takes its place.
        *len = 0;
        let mut start = 0;
        for (label, end) in (0..).zip(&mut ends) {
            // A label without words has the end 0.
            *end = start.max(*end);
            starts[*len] = start;
            labels[*len] = label;
            present[*len] = present_bits(*end - start);
            *len += usize::from(start < *end);
            start = *end;
        }
        let mut last_turn = 0..*len;
        while !last_turn.is_empty() {
            for lane in last_turn.clone() {
                let label = labels[lane];
                let end = ends[label as usize % BLOCK_LABELS];
                let start = end.min(starts[lane] + SLOTS as u32);
                starts[*len] = start;
                labels[*len] = label;
                present[*len] = present_bits(end - start);
                *len += usize::from(start < end);
            }
            last_turn = last_turn.end..*len;
        }
        let whole = len.next_multiple_of(LANES);
        starts[*len..whole].fill(0);
        present[*len..whole].fill(0);
        labels[*len..whole].fill(0);
    }

    /// Returns the layers, the last of which is filled up with lanes without words.
    pub(super) fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        (0..self.len).step_by(LANES).map(|first_lane| {
            let bytes = |of: &[u8]| Bytes(*of[first_lane..].first_chunk().expect("64 lanes"));
            Layer {
                starts: self.starts[first_lane..].first_chunk().expect("64 lanes"),
                present: bytes(&self.present),
                labels: bytes(&self.labels),
            }
        })
    }
}

/// Returns a bit for each of the first eight words of a lane, or for all if there are fewer.
#[expect(clippy::cast_possible_truncation, reason = "eight bits for eight words")]
#[inline(always)]
fn present_bits(words: u32) -> u8 {
    ((1_u32 << words.min(SLOTS as u32)) - 1) as u8
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
    /// Makes maps from labels to lanes. A map has one lane of each label, or [`NONE`], so each turn of which the layer
    /// has lanes gets a map of its own.
    pub(super) fn map_labels_to_lanes(&self, maps: &mut Vec<Bytes>) {
        maps.clear();
        let lanes = self.present.0.partition_point(|words| *words > 0);
        let mut next_label = 0;
        for (lane, label) in (0..).zip(self.labels.0).take(lanes) {
            // The labels increase until the next turn begins.
            if maps.is_empty() || label < next_label {
                maps.push(Bytes([NONE; BLOCK_LABELS]));
            }
            let map = maps.last_mut().expect("it was added");
            map.0[label as usize % BLOCK_LABELS] = lane;
            next_label = label + 1;
        }
    }
}
