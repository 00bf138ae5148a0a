//! The states of a [walk](super::super::walk).

use super::SLACK;
use crate::engine::colours::sub_board::{MOST_ROWS, Queens, SubBoard};

/// The rows of a state: their squares fit 64 bits, with up to 16 columns.
pub(in crate::engine::colours) const STATE_ROWS: usize = 4;

/// States of one row set.
#[derive(Debug, Default)]
pub(in crate::engine::colours) struct States {
    /// So many, and room for more.
    pub(in crate::engine::colours) len: usize,
    /// The squares that are open in each row; in rows with a queen, its square.
    pub(in crate::engine::colours) squares: Vec<u64>,
    /// The columns taken above these rows, and from bit 16 on the label of the word.
    pub(in crate::engine::colours) labels: Vec<u64>,
}

impl States {
    /// Makes room for so many more.
    pub(in crate::engine::colours) fn reserve(&mut self, more: usize) {
        let room = (self.len + more + SLACK).max(self.squares.len());
        self.squares.resize(room, 0);
        self.labels.resize(room, 0);
    }
}

/// A row set, and the states that are gathered for it.
pub(in crate::engine::colours) struct Ending {
    /// Its number in its class.
    pub(in crate::engine::colours) set: usize,
    pub(in crate::engine::colours) rows: Vec<u32>,
    pub(in crate::engine::colours) unattacked: Unattacked,
    pub(in crate::engine::colours) states: States,
}

/// The squares of a state that a queen does not attack, with its own.
pub(in crate::engine::colours) struct Unattacked {
    /// The rows of the states.
    pub(in crate::engine::colours) rows: [usize; STATE_ROWS],
    /// The number of columns.
    pub(in crate::engine::colours) width: u32,
    /// By the row and the column of a queen.
    pub(in crate::engine::colours) by: [[u64; MOST_ROWS]; STATE_ROWS],
}

impl Unattacked {
    pub(in crate::engine::colours) fn new(board: &SubBoard, rows: [u32; STATE_ROWS]) -> Self {
        let width = board.columns.count_ones();
        let mut by = [[0; MOST_ROWS]; STATE_ROWS];
        for (at, by) in by.iter_mut().enumerate() {
            for (column, left) in (0..width).zip(by) {
                let queens = Queens::default().and(rows[at], column);
                let left_in = |other: usize| match other {
                    _ if other < at => board.columns,
                    _ if other == at => 1 << column,
                    _ => board.free(rows[other], queens),
                };
                let fields =
                    (0..STATE_ROWS).map(|row| u64::from(left_in(row)) << (width * row as u32));
                *left = fields.sum();
            }
        }
        Self { rows: rows.map(|row| row as usize), width, by }
    }
}
