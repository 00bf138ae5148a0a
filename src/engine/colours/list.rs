//! The placements on the even rows of one colour, in blocks of 64 labels.
//!
//! Each word has the number of its label within the block in its upper bits. Labels are ordered by the
//! number of their words, so that those of a block are alike; those without words are left out.

use std::cmp::Reverse;
use std::ops::Range;

use super::kernel::{LANES, SLACK};
use super::sub_board::{Queens, SubBoard, SubBoards};
use crate::engine::unit::WhichCount;

#[derive(Default)]
pub(super) struct List {
    words: Vec<u64>,
    pub(super) blocks: Vec<Block>,
    /// The first bit of a word's label.
    pub(super) tag_at: u32,
    /// The words as they are found.
    found: Vec<u64>,
    /// The columns of each run of them, and how many they are.
    runs: Vec<(u32, usize)>,
    /// By the columns of placements.
    places: Vec<Place>,
    /// The placements on the rows in the centre, which neighbours share.
    centre: Option<Half>,
    /// Those on outer rows, which all lists share, as far as they were needed.
    outer_halves: Vec<Half>,
}

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
    /// Lists the placements with these rows, some of them outer ones, whose labels are among `labels`.
    pub(super) fn fill(
        &mut self,
        boards: &SubBoards,
        rows: u32,
        outer: u32,
        labels: impl Iterator<Item = u32>,
        which: WhichCount,
    ) {
        let Self { words, blocks, tag_at, found, runs, places, centre, outer_halves } = self;
        let mut labels: Vec<u32> = labels.collect();
        places.clear();
        places.resize(boards.list.columns as usize + 1, Place::default());
        let columns = |label: &u32| boards.list.label(*label) as usize;
        labels.iter().for_each(|label| places[columns(label)].is_kept = true);
        found.clear();
        runs.clear();
        // Half of them at most, or there would be too many ways to fill them.
        let mut outer_rows = rows & outer;
        while 2 * outer_rows.count_ones() > rows.count_ones() + 1 {
            outer_rows &= outer_rows - 1;
        }
        let centre_rows = rows & !outer_rows;
        let centre = match centre {
            Some(half) if half.rows == centre_rows => half,
            _ => centre.insert(Half::new(&boards.list, centre_rows)),
        };
        let known = outer_halves.iter().position(|half| half.rows == outer_rows);
        let known = known.unwrap_or_else(|| {
            outer_halves.push(Half::new(&boards.list, outer_rows));
            outer_halves.len() - 1
        });
        let outer = &outer_halves[known];
        let mut fitting = vec![0; outer.groups.len()];
        for (one, ones) in &centre.groups {
            // No branches here nor in the innermost loop, for nobody could predict them.
            let mut len = 0;
            for (at, (other, _)) in outer.groups.iter().enumerate() {
                fitting[len] = at;
                len += usize::from((one & other == 0) & places[(one | other) as usize].is_kept);
            }
            for at in &fitting[..len] {
                let (other, others) = &outer.groups[*at];
                let (ones, others) = (&centre.words[ones.clone()], &outer.words[others.clone()]);
                let start = found.len();
                found.resize(start + ones.len() * others.len(), 0);
                let room = &mut found[start..];
                let mut len = 0;
                for one in ones {
                    for other in others {
                        room[len] = one | other;
                        len += usize::from(one & other == 0);
                    }
                }
                found.truncate(start + len);
                places[(one | other) as usize].at += len as u32;
                runs.push((one | other, len));
            }
        }

        labels.retain(|label| places[columns(label)].at > 0);
        if which == WhichCount::Second {
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
        let mut rest = &found[..];
        for (columns, len) in runs {
            let place = &mut places[*columns as usize];
            let (run, after) = rest.split_at(*len);
            for (to, word) in words[place.at as usize..].iter_mut().zip(run) {
                *to = word | u64::from(place.lane) << *tag_at;
            }
            place.at += *len as u32;
            rest = after;
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

/// The placements on some of the rows.
struct Half {
    rows: u32,
    words: Vec<u64>,
    /// Those with the same columns are together.
    groups: Vec<(u32, Range<usize>)>,
}

impl Half {
    fn new(board: &SubBoard, rows: u32) -> Self {
        let mut all = vec![(Queens::default(), 0)];
        for row in board.rows_from_middle.iter().filter(|row| rows >> *row & 1 == 1) {
            let with_row = |(queens, word): (Queens, u64)| {
                let columns = board.each(board.free(*row, queens));
                columns
                    .map(move |column| (queens.and(*row, column), word | board.word(*row, column)))
            };
            all = all.into_iter().flat_map(with_row).collect();
        }
        all.sort_by_key(|(queens, _)| queens.columns);
        let mut groups: Vec<(u32, Range<usize>)> = Vec::new();
        for (at, (queens, _)) in all.iter().enumerate() {
            match groups.last_mut() {
                Some((columns, group)) if *columns == queens.columns => group.end = at + 1,
                _ => groups.push((queens.columns, at..at + 1)),
            }
        }
        // Not in the memory of `all`, of which it needs a third.
        Self { rows, words: all.iter().map(|(_, word)| *word).collect(), groups }
    }
}
