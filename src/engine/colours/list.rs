//! The placements on the even rows of one colour, in blocks of 32 labels.
//!
//! Each word has the number of its label within the block in its upper bits. Labels are ordered by the
//! number of their words, so that those of a block are alike; those without words are left out.

use std::cmp::Reverse;
use std::ops::Range;

use super::kernel::LANES;
use super::sub_board::SubBoards;
use crate::engine::unit::Pass;

#[derive(Debug, Default)]
pub(super) struct List {
    words: Vec<u64>,
    pub(super) blocks: Vec<Block>,
    /// The block and the lane of each label; [`NOWHERE`] without one.
    places: Vec<Place>,
    /// Bits of a word below the label's.
    pub(super) tag_at: u32,
}

#[derive(Debug)]
pub(super) struct Block {
    words: Range<usize>,
    /// Its labels, by lane.
    pub(super) labels: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    block: u32,
    lane: u32,
    /// The number of words, then the place of the next one.
    at: usize,
}

const NOWHERE: Place = Place { block: u32::MAX, lane: 0, at: 0 };

impl List {
    /// Lists the placements with these rows whose labels are among `labels`.
    pub(super) fn fill(
        &mut self,
        boards: &SubBoards,
        rows: u32,
        labels: impl Iterator<Item = u32>,
        pass: Pass,
    ) {
        let mut labels: Vec<u32> = labels.collect();
        self.places.clear();
        self.places.resize(1 << super::sub_board::MOST_ROWS, NOWHERE);
        labels.iter().for_each(|label| self.places[*label as usize].block = 0);
        visit(boards, rows, 0, 0, 0, &mut |label, _| self.places[label as usize].at += 1);

        let words_of = |label: &u32| self.places[*label as usize].at;
        labels.retain(|label| words_of(label) > 0);
        if pass == Pass::Second {
            labels.reverse();
        }
        labels.sort_by_key(|label| Reverse(words_of(label)));

        self.tag_at = boards.bits.max(64 - LANES.ilog2());
        let labels_in_block = 1 << (64 - self.tag_at);
        self.blocks.clear();
        let mut end = 0;
        for (block, labels) in (0..).zip(labels.chunks(labels_in_block)) {
            let start = end;
            for (lane, label) in (0..).zip(labels) {
                let place = &mut self.places[*label as usize];
                let words = place.at;
                *place = Place { block, lane, at: end };
                end += words;
            }
            self.blocks.push(Block { words: start..end, labels: labels.to_vec() });
        }

        self.words.clear();
        self.words.resize(end, 0);
        visit(boards, rows, 0, 0, 0, &mut |label, word| {
            let place = &mut self.places[label as usize];
            if place.block != NOWHERE.block {
                self.words[place.at] = word | u64::from(place.lane) << self.tag_at;
                place.at += 1;
            }
        });
    }

    pub(super) fn words(&self, block: usize) -> &[u64] {
        &self.words[self.blocks[block].words.clone()]
    }

    /// The most words of a block.
    pub(super) fn longest_block(&self) -> usize {
        self.blocks.iter().map(|block| block.words.len()).max().unwrap_or(0)
    }
}

/// Visits each placement with these rows: its label and its word.
fn visit(
    boards: &SubBoards,
    rows: u32,
    columns: u32,
    diagonals: u64,
    word: u64,
    found: &mut impl FnMut(u32, u64),
) {
    if rows == 0 {
        return found(boards.list.label(columns), word);
    }
    for (column, square) in boards.list.squares(rows.trailing_zeros()) {
        let bit = 1 << column;
        if columns & bit == 0 && diagonals & square.diagonals == 0 {
            let (diagonals, word) = (diagonals | square.diagonals, word | square.word);
            visit(boards, rows & (rows - 1), columns | bit, diagonals, word, found);
        }
    }
}
