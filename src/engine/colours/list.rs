//! The placements on the even rows of one colour, in blocks of up to 64 labels.
//!
//! The queens of a placement are in two zones: the outer rows, and the rows in the centre. A label says which columns
//! are taken. For each way to divide these columns between the zones, all pairs of a placement on one zone and a
//! placement on the other are tried. Neighbouring lists share the placements in one of the zones.
//!
//! The upper bits of a word hold the number of its label within the block. Labels are ordered by their number of
//! words, so that the labels of a block have about equally many. Labels without words are left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::kernel::{LABEL_SHIFT, SLACK, Words};
use super::squares::SubBoard;
use super::tree::Tree;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Interrupt, WhichCount};

/// The largest number of rows of the centre zone, unless the outer zone has almost as many.
const MAX_CENTRE_ROWS: u32 = 6;
/// The number of words of a zone that are joined at once with all words of the other zone: there is room for all
/// pairs.
const MAX_AT_ONCE: usize = 64;
/// The number of words of all zones together above which zones are not kept.
const MAX_KEPT: usize = 1 << 18;

/// The placements on the even rows of one colour.
pub(super) struct List {
    board: SubBoard,
    /// The largest number of labels of a block.
    block_labels: usize,
    /// The labels to be listed.
    pub(super) to_list: Vec<u32>,
    /// The part of these labels that is listed: all, unless there are too many words.
    section: Range<usize>,
    words: Vec<u64>,
    /// The labels of each block, by lane, and where its words are.
    blocks: Vec<(Vec<u32>, Range<usize>)>,
    /// The words in the order in which they are found.
    found: Vec<u64>,
    /// The rows in the centre, and the outer rows.
    rows: [u32; 2],
    /// The placements on each zone, by the rows of the zone. Neighbouring lists often share a zone, so zones are
    /// kept.
    zones: BTreeMap<u32, Zone>,
}

/// Up to 64 labels and their words.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    /// The place of the block in the list.
    pub(super) number: usize,
    /// The labels, by lane.
    pub(super) labels: &'a [u32],
    pub(super) words: Words<'a>,
}

impl List {
    pub(super) fn new(board: SubBoard, block_labels: usize) -> Self {
        Self {
            board,
            block_labels,
            to_list: Vec::new(),
            section: 0..0,
            words: Vec::new(),
            blocks: Vec::new(),
            found: Vec::new(),
            rows: [0; 2],
            zones: BTreeMap::new(),
        }
    }

    /// Begins a list for other rows and other labels. `outer` has the rows that belong to the outer zone. Nothing is
    /// listed yet.
    pub(super) fn begin(
        &mut self,
        rows: u32,
        outer: u32,
        labels: impl Iterator<Item = u32>,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        self.to_list.clear();
        self.to_list.extend(labels);
        self.section = 0..0;
        self.blocks.clear();
        // Outer rows move to the centre until the outer zone has about half of all rows: otherwise there would be too
        // many ways to fill it. For this reason rows also move from a long centre to the outer zone.
        let (mut centre_rows, mut outer_rows) = (rows & !outer, rows & outer);
        while outer_rows.count_ones() > centre_rows.count_ones() + 1 {
            centre_rows |= 1 << outer_rows.trailing_zeros();
            outer_rows &= !centre_rows;
        }
        while centre_rows.count_ones() > MAX_CENTRE_ROWS.max(outer_rows.count_ones() + 1) {
            outer_rows |= 1 << centre_rows.ilog2();
            centre_rows &= !outer_rows;
        }
        self.rows = [centre_rows, outer_rows];
        let kept: usize = self.zones.values().map(|zone| zone.words.len()).sum();
        if kept > MAX_KEPT && !self.rows.iter().all(|rows| self.zones.contains_key(rows)) {
            self.zones.clear();
        }
        for rows in self.rows {
            if let Entry::Vacant(place) = self.zones.entry(rows) {
                place.insert(Zone::new(&self.board, rows, cancel)?);
            }
        }
        Ok(())
    }

    /// Lists labels from number `from` on: all of them, or as many as have about `section_words` words together.
    /// Returns where the next section begins. If labels from `from` on are listed already, they are kept.
    pub(super) fn fill(
        &mut self,
        from: usize,
        section_words: usize,
        kernel: Kernel,
        cancel: &Cancel,
    ) -> Result<usize, Interrupt> {
        if self.section.start == from && !self.section.is_empty() {
            return Ok(self.section.end);
        }
        let Self { board, block_labels, to_list, section, words, blocks, found, rows, zones } =
            self;
        let [centre, outer] = rows.map(|rows| &zones[&rows]);
        let mut end = from;
        *section = 0..0;
        blocks.clear();
        let mut listed: Vec<(u32, Range<usize>)> = Vec::new();
        let mut found_len = 0;
        let mut fitting = vec![0; centre.columns.len()];
        for label in &to_list[from..] {
            let start = found_len;
            let columns = board.label(*label);
            // There is no branch here, because it could not be predicted.
            let mut len = 0;
            for one in &centre.columns {
                fitting[len] = *one;
                len += usize::from(one & !columns == 0);
            }
            for one in &fitting[..len] {
                if cancel.is_cancelled() {
                    return Err(Interrupt::Cancelled);
                }
                let others = outer.words(columns & !one);
                for ones in centre.words(*one).own().chunks(MAX_AT_ONCE) {
                    let room = found_len + ones.len() * others.len + SLACK;
                    found.resize(room.max(found.len()), 0);
                    found_len += kernel.join(ones, others, &mut found[found_len..]);
                }
            }
            if found_len > start {
                listed.push((*label, start..found_len));
            }
            end += 1;
            if found_len >= section_words {
                break;
            }
        }

        if board.which == WhichCount::Second {
            listed.reverse();
        }
        listed.sort_by_key(|(_, words)| Reverse(words.len()));
        words.clear();
        words.reserve(found_len + SLACK);
        for listed in listed.chunks(*block_labels) {
            let start = words.len();
            for (lane, (_, of_label)) in (0_u64..).zip(listed) {
                let tag = lane << LABEL_SHIFT;
                words.extend(found[of_label.clone()].iter().map(|word| word | tag));
            }
            let labels = listed.iter().map(|(label, _)| *label).collect();
            blocks.push((labels, start..words.len()));
        }
        words.resize(found_len + SLACK, 0);
        *section = from..end;
        Ok(end)
    }

    /// Returns the blocks that are listed.
    pub(super) fn blocks(&self) -> impl ExactSizeIterator<Item = Block<'_>> {
        self.blocks.iter().enumerate().map(|(number, (labels, Range { start, end }))| {
            let words = Words { len: end - start, padded: &self.words[*start..] };
            Block { number, labels, words }
        })
    }
}

/// The placements on some of the rows.
struct Zone {
    /// The words, ordered by columns, and [`SLACK`] more.
    words: Vec<u64>,
    /// For each set of columns, where its words begin, and after the last set the end.
    starts: Vec<u32>,
    /// The sets of columns that have placements.
    columns: Vec<u32>,
}

impl Zone {
    fn new(board: &SubBoard, rows: u32, cancel: &Cancel) -> Result<Self, Interrupt> {
        let tree = Tree::new(board, &[rows], std::iter::empty());
        // All placements are found twice, because keeping them in between would take three times the memory.
        let mut starts = vec![0; board.columns as usize + 2];
        tree.each_placement(cancel, &mut |columns, _| starts[columns as usize + 1] += 1);
        let sets = 0..=board.columns;
        let columns = sets.filter(|columns| starts[*columns as usize + 1] > 0).collect();
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let mut ends = starts.clone();
        let mut words = vec![0; ends[board.columns as usize + 1] as usize + SLACK];
        tree.each_placement(cancel, &mut |columns, word| {
            let end = &mut ends[columns as usize];
            words[*end as usize] = word;
            *end += 1;
        });
        let zone = Self { words, starts, columns };
        if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(zone) }
    }

    /// Returns the placements with these columns.
    fn words(&self, columns: u32) -> Words<'_> {
        let [start, end] = [0, 1].map(|next| self.starts[columns as usize + next] as usize);
        Words { len: end - start, padded: &self.words[start..] }
    }
}
