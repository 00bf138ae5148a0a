//! The placements on some rows of a sub-board, as a tree: a queen in the first row, then one in the second row, and
//! so on.
//!
//! A tree may have several row sets. Sets that begin with equal rows share the upper part of the tree, so the rows
//! that all sets have come first.

use std::ops::Deref;
use std::sync::Arc;

use super::squares::{Queens, SubBoard};
use super::subsets::MAX_ROWS;
use crate::cancel::Cancel;

/// The index of labels that are left out.
pub(super) const DROPPED: u32 = u32::MAX;

/// The placements on the rows of some sets.
pub(super) struct Tree {
    pub(super) board: Arc<SubBoard>,
    /// The row sets, ordered by their rows.
    pub(super) sets: Vec<RowSet>,
    /// For each set of columns, the index of its label among the labels of the tree, or [`DROPPED`]. It is empty in a
    /// tree without labels.
    pub(super) labels: Vec<u32>,
    /// The number of labels of the tree, without those that are left out.
    pub(super) labels_len: usize,
}

/// A row set of a class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowSet {
    /// The rows. The rows that all sets of the class have come first.
    pub(super) rows: Rows,
    /// The number of the row set in its class, from 0.
    pub(super) number: u32,
}

/// Some rows in their order. They are no vector, because there are many short ones, which come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rows {
    /// The rows, and zeros behind them.
    rows: [u32; MAX_ROWS],
    len: usize,
}

impl Rows {
    fn new(rows: impl Iterator<Item = u32>) -> Self {
        let mut these = Self { rows: [0; MAX_ROWS], len: 0 };
        for row in rows {
            these.rows[these.len] = row;
            these.len += 1;
        }
        these
    }
}

impl Deref for Rows {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.rows[..self.len]
    }
}

/// A queen in the next row of some sets.
pub(super) struct Child<'a> {
    pub(super) sets: &'a [RowSet],
    pub(super) row: u32,
    pub(super) column: u32,
}

impl Tree {
    /// Makes a tree without row sets.
    pub(super) fn new(board: &Arc<SubBoard>) -> Self {
        Self { board: Arc::clone(board), sets: Vec::new(), labels: Vec::new(), labels_len: 0 }
    }

    /// Makes this the tree of these row sets, with these labels, in the same memory. Other labels are left out.
    pub(super) fn begin(
        &mut self,
        board: &Arc<SubBoard>,
        sets: &[u32],
        labels: impl Iterator<Item = u32>,
    ) {
        self.board = Arc::clone(board);
        self.begin_sets(sets);
        self.labels.clear();
        self.labels.resize(board.columns as usize + 1, DROPPED);
        let mut labels_end = 0;
        for label in labels {
            self.labels[board.columns_of(label) as usize] = labels_end;
            labels_end += 1;
        }
        self.labels_len = labels_end as usize;
    }

    /// Makes this the tree of one row set of its board, without labels, in the same memory, to visit its placements.
    pub(super) fn begin_rows(&mut self, rows: u32) {
        self.labels.clear();
        self.labels_len = 0;
        self.begin_sets(&[rows]);
    }

    fn begin_sets(&mut self, sets: &[u32]) {
        let common = sets.iter().fold(u32::MAX, |all, rows| all & rows);
        let mut order = self.board.rows_from_middle.clone();
        order.sort_by_key(|row| common >> row & 1 == 0);
        self.sets.clear();
        for (number, set) in (0..).zip(sets) {
            let rows = order.iter().copied().filter(|row| set >> row & 1 == 1);
            self.sets.push(RowSet { rows: Rows::new(rows), number });
        }
        self.sets.sort_unstable();
    }

    /// Returns each queen in the next row of these sets.
    pub(super) fn children<'a>(
        &'a self,
        sets: &'a [RowSet],
        depth: usize,
        queens: Queens,
    ) -> impl Iterator<Item = Child<'a>> {
        let of_rows = sets.chunk_by(move |one, other| one.rows[depth] == other.rows[depth]);
        of_rows.flat_map(move |sets| {
            let row = sets[0].rows[depth];
            let columns = self.board.in_order(self.board.free(row, queens));
            columns.map(move |column| Child { sets, row, column })
        })
    }

    /// Visits the placements on the rows of the only set, with their columns and their word. After a cancellation
    /// some are left out.
    pub(super) fn each_placement(&self, cancel: &Cancel, visit: &mut impl FnMut(u32, u64)) {
        self.descend(0, Queens::default(), 0, cancel, visit);
    }

    /// Visits the placements below some queens, whose diagonals are in `word`.
    fn descend(
        &self,
        depth: usize,
        queens: Queens,
        word: u64,
        cancel: &Cancel,
        visit: &mut impl FnMut(u32, u64),
    ) {
        if depth == self.sets[0].rows.len() {
            return visit(queens.columns, word);
        }
        if cancel.is_cancelled() {
            return;
        }
        for Child { row, column, .. } in self.children(&self.sets, depth, queens) {
            let word = word | self.board.word(row, column);
            self.descend(depth + 1, queens.with(row, column), word, cancel, visit);
        }
    }

    /// Returns the index of a label among the labels of the tree.
    pub(super) fn index_of(&self, label: u32) -> usize {
        let index = self.labels[self.board.columns_of(label) as usize];
        assert!(index != DROPPED, "a label of a batch is a label of its class");
        index as usize
    }
}
