//! The words of a block, and the words that are left at a leaf, cut into lanes.

/// The largest number of labels of a block.
pub(in crate::engine::colours) const BLOCK_LABELS: usize = 64;
/// The largest number of lanes of a layer.
pub(super) const MAX_LANES: usize = 64;
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

/// A byte for each label of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(in crate::engine::colours) struct Bytes(pub(in crate::engine::colours) [u8; BLOCK_LABELS]);

impl Bytes {
    /// Zeros.
    pub(in crate::engine::colours) const ZERO: Self = Self([0; BLOCK_LABELS]);
}

/// The lanes of a leaf: where the words of each lane begin, which words it has, and their label.
///
/// Lanes come in **turns**: the first turn has the first lane of each label, the second turn has the second lanes of
/// the labels that have one, and so on. In a turn the labels increase, apart from layers in order, which come first. So
/// most layers have each label once or twice, however many lanes it has. For example, if the labels 0, 1 and 2 have 20,
/// 3 and 9 words:
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
    /// The first label of each of the first layers, as far as these have a lane for each label in order.
    ordered: Vec<usize>,
}

impl Lanes {
    /// Makes room for leaves of this number of words.
    pub(super) fn reserve(&mut self, words: usize) {
        // The last lane of a label is often not full, and each lane is written before it is known whether it has words.
        let lanes = (words / SLOTS + 2 * BLOCK_LABELS + MAX_LANES + 1).max(self.starts.len());
        self.starts.resize(lanes, 0);
        self.present.resize(lanes, 0);
        self.labels.resize(lanes, 0);
    }

    /// Cuts words, ordered by label, into lanes for layers of this many lanes.
    #[expect(clippy::cast_possible_truncation, reason = "eight words in a lane, 64 labels")]
    #[inline(always)]
    pub(super) fn cut<const LANES: usize>(&mut self, words: Words<'_>) {
        let ends = ends_of_labels(words);
        let label_starts: [u32; BLOCK_LABELS] =
            std::array::from_fn(|label| if label == 0 { 0 } else { ends[label - 1] });
        let Self { starts, present, labels, len, ordered } = self;
        ordered.clear();
        find_ordered_layers::<LANES>(&label_starts, &ends, ordered);
        // There is no branch that asks whether a label has words left, because it could not be predicted: a lane
        // without words is written, too, and the next one takes its place.
        *len = 0;
        let mut write_first_lane = |label: usize, is_kept: bool| {
            let [start, end] = [label_starts[label], ends[label]];
            starts[*len] = start;
            labels[*len] = label as u8;
            present[*len] = present_bits(end - start);
            *len += usize::from(is_kept || start < end);
        };
        for &first_label in &*ordered {
            for label in first_label..first_label + LANES {
                write_first_lane(label, true);
            }
        }
        for first_label in (0..BLOCK_LABELS).step_by(LANES) {
            if !ordered.contains(&first_label) {
                for label in first_label..first_label + LANES {
                    write_first_lane(label, false);
                }
            }
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
        let whole = len.next_multiple_of(MAX_LANES);
        starts[*len..whole].fill(0);
        present[*len..whole].fill(0);
        labels[*len..whole].fill(0);
    }

    /// Returns the layers, the last of which is filled up with lanes without words.
    #[inline(always)]
    pub(super) fn layers<const LANES: usize>(&self) -> impl Iterator<Item = Layer<'_, LANES>> {
        (0..self.len).step_by(LANES).map(|first_lane| Layer {
            starts: self.starts[first_lane..].first_chunk().expect("whole layers"),
            present: self.present[first_lane..].first_chunk().expect("whole layers"),
            labels: self.labels[first_lane..].first_chunk().expect("whole layers"),
            first_label: self.ordered.get(first_lane / LANES).copied(),
        })
    }
}

/// Returns for each label where its words end, which is where the words of the next label begin.
#[inline(always)]
fn ends_of_labels(words: Words<'_>) -> [u32; BLOCK_LABELS] {
    let mut ends = [0; BLOCK_LABELS];
    for (end, word) in (1..).zip(words.own()) {
        ends[(word >> LABEL_SHIFT) as usize % BLOCK_LABELS] = end;
    }
    // A label without words ends where the one before it ends.
    let mut last_end = 0;
    for end in &mut ends {
        last_end = last_end.max(*end);
        *end = last_end;
    }
    ends
}

/// Finds the layers that can have a lane for each of their labels in order, with words or without, so that the leaf
/// needs no more layers. A layer in order needs no picking, because its lanes and the labels have the same places.
#[inline(always)]
fn find_ordered_layers<const LANES: usize>(
    label_starts: &[u32; BLOCK_LABELS],
    ends: &[u32; BLOCK_LABELS],
    ordered: &mut Vec<usize>,
) {
    let mut lanes = 0;
    // For each layer, the number of its labels without words.
    let mut empty_labels = [0; BLOCK_LABELS];
    for (label, (start, end)) in label_starts.iter().zip(ends).enumerate() {
        lanes += ((end - start) as usize).div_ceil(SLOTS);
        empty_labels[label / LANES] += usize::from(start == end);
    }
    let mut spare_lanes = lanes.next_multiple_of(LANES) - lanes;
    for (layer, empty_labels) in empty_labels[..BLOCK_LABELS / LANES].iter().enumerate() {
        if *empty_labels <= spare_lanes {
            spare_lanes -= empty_labels;
            ordered.push(layer * LANES);
        }
    }
}

/// Returns a bit for each of the first eight words of a lane, or for all if there are fewer.
#[expect(clippy::cast_possible_truncation, reason = "eight bits for eight words")]
#[inline(always)]
fn present_bits(words: u32) -> u8 {
    ((1_u32 << words.min(SLOTS as u32)) - 1) as u8
}

/// As many lanes as a kernel counts at once: 64 or 32.
pub(super) struct Layer<'a, const LANES: usize> {
    pub(super) starts: &'a [u32; LANES],
    /// A bit for each word that a lane has. In a layer that is not in order, lanes without words come last.
    pub(super) present: &'a [u8; LANES],
    pub(super) labels: &'a [u8; LANES],
    /// The label of the first lane, if the layer is in order: the next lanes have the next labels.
    pub(super) first_label: Option<usize>,
}

/// The number that stands for no lane.
const NONE: u8 = 0x80;

impl<const LANES: usize> Layer<'_, LANES> {
    /// Makes maps from labels to lanes. A map has one lane of each label, or [`NONE`], so each turn of which the layer
    /// has lanes gets a map of its own.
    pub(super) fn map_labels_to_lanes(&self, maps: &mut Vec<Bytes>) {
        maps.clear();
        let lanes = self.present.partition_point(|words| *words > 0);
        let mut next_label = 0;
        for (lane, label) in (0..).zip(*self.labels).take(lanes) {
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
