//! The placements on the even rows of one colour, in blocks of up to 64 labels.
//!
//! The queens of a placement are in two zones: the outer rows, and the rows in the centre. A label says which columns
//! are taken. For each way to divide these columns between the zones, each placement on one zone is tried with each
//! placement on the other. Neighbouring lists share the placements in one of the zones.
//!
//! The upper bits of a word hold the number of its label within the block. Labels are ordered by their number of
//! words, so that the labels of a block have about equally many. Labels without words are left out.
//!
//! A list that would have too many words is made in **stretches**, which have some of its labels each.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::kernel::{LABEL_SHIFT, SLACK, Words};
use super::squares::SubBoard;
use super::tree::Tree;
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::{Interrupt, Pass};

/// The largest number of rows of the centre zone, unless the outer zone has almost as many.
const MAX_CENTRE_ROWS: u32 = 6;
/// The number of words of a zone that are joined at once with all words of the other zone. There is room for each of
/// them with each of the others.
const MAX_AT_ONCE: usize = 64;
/// The number of words of all zones together above which zones are not kept.
const MAX_KEPT_WORDS: usize = 1 << 18;

/// The placements on the even rows of one colour.
pub(super) struct List {
    board: Arc<SubBoard>,
    centre: Arc<Zone>,
    outer: Arc<Zone>,
    /// The largest number of labels of a block.
    block_labels: usize,
    /// The labels to be listed.
    pub(super) to_list: Vec<u32>,
    /// The stretch that is listed: which of these labels have their words in the blocks. Nothing is listed if it is
    /// empty.
    stretch: Range<usize>,
    words: Vec<u64>,
    /// The labels of all blocks.
    labels: Vec<u32>,
    blocks: Vec<BlockOfList>,
    /// The words in the order in which they are found.
    found: Vec<u64>,
    /// The labels that have words.
    listed: Vec<ListedLabel>,
    /// Room for the sets of columns of the centre zone that fit into a label.
    fitting: Vec<u32>,
}

/// A block of a list: where its labels are, by their number within the block, and where its words are.
struct BlockOfList {
    labels: Range<usize>,
    words: Range<usize>,
}

/// A label of a stretch, and where its words were found.
struct ListedLabel {
    label: u32,
    found: Range<usize>,
}

/// Up to 64 labels and their words.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    /// The place of the block in its stretch.
    pub(super) number: usize,
    /// The labels, by their number within the block.
    pub(super) labels: &'a [u32],
    pub(super) words: Words<'a>,
}

impl List {
    /// Makes a list without labels.
    pub(super) fn new(zones: &Zones, block_labels: usize) -> Self {
        Self {
            board: Arc::clone(&zones.board),
            centre: Arc::default(),
            outer: Arc::default(),
            block_labels,
            to_list: Vec::new(),
            stretch: 0..0,
            words: Vec::new(),
            labels: Vec::new(),
            blocks: Vec::new(),
            found: Vec::new(),
            listed: Vec::new(),
            fitting: Vec::new(),
        }
    }

    /// Begins a list of other rows and other labels, in the same memory. `outer` has the rows that belong to the outer
    /// zone. Nothing is listed yet.
    pub(super) fn begin(
        &mut self,
        zones: &mut Zones,
        rows: u32,
        outer: u32,
        labels: impl Iterator<Item = u32>,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        self.to_list.clear();
        self.to_list.extend(labels);
        self.stretch = 0..0;
        self.blocks.clear();
        let (centre_rows, outer_rows) = divide_between_zones(rows, outer);
        zones.make_room(centre_rows, outer_rows);
        self.board = Arc::clone(&zones.board);
        self.centre = zones.zone(centre_rows, cancel)?;
        self.outer = zones.zone(outer_rows, cancel)?;
        Ok(())
    }

    /// Lists all labels as one stretch, however many words they have.
    pub(super) fn list_all(&mut self, kernel: Kernel, cancel: &Cancel) -> Result<(), Interrupt> {
        self.list_stretch(0, usize::MAX, kernel, cancel)?;
        assert_eq!(self.stretch.end, self.to_list.len(), "all labels are one stretch");
        Ok(())
    }

    /// Makes sure that a stretch from label number `from` on is listed, and returns where the next stretch begins. A
    /// stretch from there on that is listed already is kept, however long it is: so a list that fits into one stretch,
    /// or that [`List::list_all`] made, is made only once.
    pub(super) fn ensure_listed(
        &mut self,
        from: usize,
        stretch_words: usize,
        kernel: Kernel,
        cancel: &Cancel,
    ) -> Result<usize, Interrupt> {
        let is_listed = self.stretch.start == from && !self.stretch.is_empty();
        if !is_listed {
            self.list_stretch(from, stretch_words, kernel, cancel)?;
        }
        Ok(self.stretch.end)
    }

    /// Lists the labels from number `from` on, until they have `stretch_words` words or more together.
    fn list_stretch(
        &mut self,
        from: usize,
        stretch_words: usize,
        kernel: Kernel,
        cancel: &Cancel,
    ) -> Result<(), Interrupt> {
        self.stretch = 0..0;
        self.blocks.clear();
        let end = self.find(from, stretch_words, kernel, cancel)?;
        self.make_blocks();
        self.stretch = from..end;
        Ok(())
    }

    /// Finds the words of the labels from number `from` on, until there are `stretch_words` words or more, and lists
    /// the labels that have any. Returns where the next stretch begins.
    fn find(
        &mut self,
        from: usize,
        stretch_words: usize,
        kernel: Kernel,
        cancel: &Cancel,
    ) -> Result<usize, Interrupt> {
        let Self { board, centre, outer, to_list, found, listed, fitting, .. } = self;
        listed.clear();
        let mut end = from;
        let mut found_len = 0;
        fitting.clear();
        fitting.resize(centre.columns.len(), 0);
        for label in &to_list[from..] {
            let start = found_len;
            let columns = board.columns_of(*label);
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
                listed.push(ListedLabel { label: *label, found: start..found_len });
            }
            end += 1;
            if found_len >= stretch_words {
                break;
            }
        }
        Ok(end)
    }

    /// Orders labels by how many words they have, cuts them into blocks, and adds the number of its label to each word.
    /// Labels with equally many words come in the reverse order in the second pass.
    fn make_blocks(&mut self) {
        let Self { words, found, listed, labels, .. } = self;
        if self.board.pass == Pass::Second {
            listed.reverse();
        }
        listed.sort_by_key(|label| Reverse(label.found.len()));
        let words_len: usize = listed.iter().map(|label| label.found.len()).sum();
        labels.clear();
        words.clear();
        words.reserve(words_len + SLACK);
        for of_block in listed.chunks(self.block_labels) {
            let first_word = words.len();
            let first_label = labels.len();
            for (number, label) in (0_u64..).zip(of_block) {
                let tag = number << LABEL_SHIFT;
                labels.push(label.label);
                words.extend(found[label.found.clone()].iter().map(|word| word | tag));
            }
            self.blocks.push(BlockOfList {
                labels: first_label..labels.len(),
                words: first_word..words.len(),
            });
        }
        words.resize(words_len + SLACK, 0);
    }

    /// Returns the blocks that are listed.
    pub(super) fn blocks(&self) -> impl ExactSizeIterator<Item = Block<'_>> {
        self.blocks.iter().enumerate().map(|(number, block)| self.block(number, block))
    }

    fn block<'a>(&'a self, number: usize, block: &'a BlockOfList) -> Block<'a> {
        let words = Words { len: block.words.len(), padded: &self.words[block.words.start..] };
        Block { number, labels: &self.labels[block.labels.clone()], words }
    }
}

/// Divides rows between the centre and the outer zone. Rows move from one zone to the other until each has about half
/// of them, because there would be too many ways to fill a long zone.
fn divide_between_zones(rows: u32, outer: u32) -> (u32, u32) {
    let mut centre_rows = rows & !outer;
    let mut outer_rows = rows & outer;
    while outer_rows.count_ones() > centre_rows.count_ones() + 1 {
        centre_rows |= 1 << outer_rows.trailing_zeros();
        outer_rows &= !centre_rows;
    }
    while centre_rows.count_ones() > MAX_CENTRE_ROWS.max(outer_rows.count_ones() + 1) {
        outer_rows |= 1 << centre_rows.ilog2();
        centre_rows &= !outer_rows;
    }
    (centre_rows, outer_rows)
}

/// The zones of a sub-board by their rows. Neighbouring lists often share a zone, so zones are kept.
pub(super) struct Zones {
    board: Arc<SubBoard>,
    kept: BTreeMap<u32, Arc<Zone>>,
    /// The tree of the last zone that was made, for its memory.
    tree: Tree,
}

impl Zones {
    pub(super) fn new(board: SubBoard) -> Self {
        let board = Arc::new(board);
        Self { tree: Tree::new(&board), board, kept: BTreeMap::new() }
    }

    /// Forgets all zones if there are many words and one of these two zones is new.
    fn make_room(&mut self, centre_rows: u32, outer_rows: u32) {
        let are_kept = self.kept.contains_key(&centre_rows) && self.kept.contains_key(&outer_rows);
        let kept_words: usize = self.kept.values().map(|zone| zone.words.len()).sum();
        if !are_kept && kept_words > MAX_KEPT_WORDS {
            self.kept.clear();
        }
    }

    /// Returns the placements on these rows.
    fn zone(&mut self, rows: u32, cancel: &Cancel) -> Result<Arc<Zone>, Interrupt> {
        if let Some(zone) = self.kept.get(&rows) {
            return Ok(Arc::clone(zone));
        }
        self.tree.begin_rows(rows);
        let zone = Arc::new(Zone::new(&self.tree, cancel)?);
        self.kept.insert(rows, Arc::clone(&zone));
        Ok(zone)
    }
}

/// The placements on some of the rows.
#[derive(Default)]
struct Zone {
    /// The words, ordered by columns, and [`SLACK`] more.
    words: Vec<u64>,
    /// For each set of columns, where its words begin, and after the last set the end.
    starts: Vec<u32>,
    /// The sets of columns that have placements.
    columns: Vec<u32>,
}

impl Zone {
    /// Returns the placements on the rows of the only set of a tree.
    fn new(tree: &Tree, cancel: &Cancel) -> Result<Self, Interrupt> {
        // All placements are found twice: first to count them, and then to put each in its place. Keeping them in
        // between would take three times the memory.
        let sets = tree.board.columns as usize + 1;
        let mut starts = vec![0; sets + 2];
        tree.each_placement(cancel, &mut |columns, _| starts[columns as usize + 2] += 1);
        let mut columns = Vec::new();
        for set in 0..=tree.board.columns {
            if starts[set as usize + 2] > 0 {
                columns.push(set);
            }
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let words_len = starts[sets + 1] as usize;
        // Now the words of a set begin at the number behind its own place. With each word this number moves on, until
        // it is the end of the set, which is where the next set begins.
        let mut words = vec![0; words_len + SLACK];
        tree.each_placement(cancel, &mut |columns, word| {
            let next = &mut starts[columns as usize + 1];
            words[*next as usize] = word;
            *next += 1;
        });
        starts.truncate(sets + 1);
        if cancel.is_cancelled() {
            // Some placements may be missing.
            return Err(Interrupt::Cancelled);
        }
        Ok(Self { words, starts, columns })
    }

    /// Returns the placements with these columns.
    fn words(&self, columns: u32) -> Words<'_> {
        let start = self.starts[columns as usize] as usize;
        let end = self.starts[columns as usize + 1] as usize;
        Words { len: end - start, padded: &self.words[start..] }
    }
}
