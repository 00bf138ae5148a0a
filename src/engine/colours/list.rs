//! The placements on the even rows of one colour, in blocks of 64 labels.
//!
//! Each word has the number of its label within the block in its upper bits. Labels are ordered by the
//! number of their words, so that those of a block are alike; those without words are left out.

use std::cmp::Reverse;
use std::ops::Range;

use super::kernel::{LANES, SLACK};
use super::sub_board::{Queens, SubBoard, SubBoards};
use crate::engine::unit::Pass;

#[derive(Debug, Default)]
pub(super) struct List {
    words: Vec<u64>,
    pub(super) blocks: Vec<Block>,
    /// The first bit of a word's label.
    pub(super) tag_at: u32,
    /// The placements as they are found: their columns and their words.
    found: Vec<(u32, u64)>,
    /// By the columns of placements.
    places: Vec<Place>,
}

#[derive(Debug)]
pub(super) struct Block {
    words: Range<usize>,
    /// Its labels, by lane.
    pub(super) labels: Vec<u32>,
}

/// Where the placements with some columns are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Their number at first, then where the next one goes.
    at: u32,
    lane: u32,
    is_kept: bool,
}

impl List {
    /// Lists the placements with these rows whose labels are among `labels`.
    pub(super) fn fill(
        &mut self,
        boards: &SubBoards,
        rows: u32,
        labels: impl Iterator<Item = u32>,
        pass: Pass,
    ) {
        let Self { words, blocks, tag_at, found, places } = self;
        let mut labels: Vec<u32> = labels.collect();
        places.clear();
        places.resize(boards.list.columns as usize + 1, Place::default());
        let columns = |label: &u32| boards.list.label(*label) as usize;
        labels.iter().for_each(|label| places[columns(label)].is_kept = true);
        found.clear();
        // The rows in the middle leave the fewest squares.
        let rows: Vec<u32> =
            boards.list.rows_from_middle.iter().copied().filter(|row| rows >> row & 1 == 1).collect();
        find(&boards.list, &rows, Queens::default(), 0, &mut |columns, word| {
            let place = &mut places[columns as usize];
            place.at += 1;
            if place.is_kept {
                found.push((columns, word));
            }
        });

        labels.retain(|label| places[columns(label)].at > 0);
        if pass == Pass::Second {
            labels.reverse();
        }
        labels.sort_by_key(|label| Reverse(places[columns(label)].at));
        *tag_at = boards.bits.max(64 - LANES.ilog2());
        blocks.clear();
        let mut end = 0;
        for labels in labels.chunks(1 << (64 - *tag_at)) {
            let start = end;
            for (lane, label) in (0..).zip(labels) {
                let place = &mut places[columns(label)];
                let next = end + place.at as usize;
                *place = Place { at: end as u32, lane, is_kept: true };
                end = next;
            }
            blocks.push(Block { words: start..end, labels: labels.to_vec() });
        }

        words.clear();
        words.resize(end + SLACK, 0);
        for (columns, word) in found {
            let place = &mut places[*columns as usize];
            words[place.at as usize] = *word | u64::from(place.lane) << *tag_at;
            place.at += 1;
        }
    }

    pub(super) fn words(&self, block: usize) -> &[u64] {
        &self.words[self.blocks[block].words.clone()]
    }

    /// The words of a block, and those that follow.
    pub(super) fn words_from(&self, block: usize) -> &[u64] {
        &self.words[self.blocks[block].words.start..]
    }

    /// The most words of a block.
    pub(super) fn longest_block(&self) -> usize {
        self.blocks.iter().map(|block| block.words.len()).max().unwrap_or(0)
    }
}

/// Finds each placement with these rows: its columns and its word.
fn find(
    board: &SubBoard,
    rows: &[u32],
    queens: Queens,
    word: u64,
    found: &mut impl FnMut(u32, u64),
) {
    let Some((row, rest)) = rows.split_first() else { return found(queens.columns, word) };
    for column in board.each(board.free(*row, queens)) {
        let word = word | board.word(*row, column);
        if rest.is_empty() {
            found(queens.columns | 1 << column, word);
        } else {
            find(board, rest, queens.and(*row, column), word, found);
        }
    }
}
