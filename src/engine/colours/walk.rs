//! The hits of a heavy colour without a program, for batches in which they are few.
//!
//! A program does the same for every completion of a leaf, whether it fits a word or not. With many queens on each
//! sub-board hardly any does. A **walk** goes through the tree as a program does, and filters the words of a block
//! at once, but from the last rows on it follows each word by itself. With [`STATE_ROWS`] rows left, a word becomes
//! a **state**, the squares of these rows that are open to the word and to the queens above:
//!
//! ```text
//!     squares   last row | row | row | next row          a bit for each column
//!     label     label of the word | columns taken above
//! ```
//!
//! A state with a row without open squares is dropped. The states of a row set are gathered from many nodes, so that
//! vectors are full. Then queens are placed row by row: a queen is an AND with a constant, which leaves its own
//! square in its row, and in the rows behind it the squares that it does not attack. What is left after the last row
//! is a hit.
//!
//! Rows are opened by shifts: the sums of a row's squares are neighbours in a word, and so are its differences, see
//! [`SubBoard`](super::sub_board::SubBoard).

use super::kernel::{Ending, RowsOfSets, SLACK, STATE_ROWS, States, Unattacked, Words};
use super::program::Tree;
use super::sub_board::{MOST_ROWS, Queens};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// Words, or states of a row set, that are gathered.
const ENOUGH: usize = 2048;
/// States in which queens are placed at once: there is room for a queen in every column.
const AT_ONCE: usize = 512;

/// Memory for walks.
#[derive(Default)]
pub(super) struct Walk {
    /// The words that are left at each depth.
    kept: [Vec<u64>; MOST_ROWS],
    /// The words with [`STATE_ROWS`] rows left, of many nodes, and the columns that queens above them take.
    words: Vec<u64>,
    taken: Vec<u64>,
    /// States with queens in the first of their rows, in the first two, and so on.
    placed: [States; STATE_ROWS],
}

/// A walk through a tree.
struct Walker<'a> {
    kernel: Kernel,
    tree: &'a Tree,
    /// The first bit of a word's label.
    tag_at: u32,
    memory: &'a mut Walk,
    cancel: &'a Cancel,
    visit: &'a mut dyn FnMut(usize, &States),
}

impl Walk {
    /// Visits the hits of each row set that is to be counted, with its number in the class: states with the square
    /// of a queen in each row.
    pub(super) fn run(
        &mut self,
        kernel: Kernel,
        tree: &Tree,
        words: Words<'_>,
        rows: &RowsOfSets,
        cancel: &Cancel,
        visit: &mut dyn FnMut(usize, &States),
    ) -> Result<(), Interrupt> {
        let wanted = tree.sets.iter().filter(|(_, set)| rows[*set as usize].is_some());
        let endings = wanted.map(|(rows, set)| Ending {
            set: *set as usize,
            unattacked: Unattacked::new(&tree.board, *rows.last_chunk().expect("so many rows")),
            rows: rows.clone(),
            states: States::default(),
        });
        let mut endings: Vec<_> = endings.collect();
        self.placed.iter_mut().for_each(|states| states.reserve(AT_ONCE * MOST_ROWS));
        self.words.clear();
        self.taken.clear();
        let tag_at = words.tag_at;
        let mut walker = Walker { kernel, tree, tag_at, memory: self, cancel, visit };
        walker.node(&mut endings, 0, Queens::default(), words)?;
        walker.open(&mut endings);
        endings.iter_mut().for_each(|ending| walker.end(ending));
        Ok(())
    }
}

impl Walker<'_> {
    /// What is below some queens.
    fn node(
        &mut self,
        endings: &mut [Ending],
        depth: usize,
        queens: Queens,
        words: Words<'_>,
    ) -> Result<(), Interrupt> {
        if self.cancel.is_cancelled() {
            return Err(Interrupt::Cancelled);
        }
        if self.tree.rows() == depth + STATE_ROWS {
            self.memory.words.extend(words.own());
            self.memory.taken.resize(self.memory.words.len(), queens.columns.into());
            if self.memory.words.len() >= ENOUGH {
                self.open(endings);
            }
            return Ok(());
        }
        let board = &self.tree.board;
        let mut kept = std::mem::take(&mut self.memory.kept[depth]);
        kept.resize(kept.len().max(words.len + SLACK), 0);
        let sets = endings.len();
        for endings in endings.chunk_by_mut(|one, other| one.rows[depth] == other.rows[depth]) {
            let row = endings[0].rows[depth];
            for column in board.each(board.free(row, queens)) {
                let len = self.kernel.join(&[board.word(row, column)], words, &mut kept);
                if len > 0 {
                    let words = Words { len, and_more: &kept, ..words };
                    self.node(endings, depth + 1, queens.and(row, column), words)?;
                }
            }
            if endings.len() < sets {
                // The next words are for other row sets.
                self.open(endings);
            }
        }
        self.memory.kept[depth] = kept;
        Ok(())
    }

    /// Opens the last rows to the words that were gathered, for each row set.
    fn open(&mut self, endings: &mut [Ending]) {
        let Walk { words, taken, .. } = &mut *self.memory;
        let len = words.len();
        words.resize(len + SLACK, 0);
        taken.resize(len + SLACK, 0);
        endings.iter_mut().for_each(|ending| ending.states.reserve(len));
        let gathered = Words { len, and_more: words, tag_at: self.tag_at };
        self.kernel.open_rows(gathered, taken, &self.tree.board, endings);
        words.clear();
        taken.clear();
        for ending in endings.iter_mut().filter(|ending| ending.states.len >= ENOUGH) {
            self.end(ending);
        }
    }

    /// Places the last queens of the states of a row set.
    fn end(&mut self, ending: &mut Ending) {
        let mut placed = std::mem::take(&mut self.memory.placed);
        self.place(ending.set, &ending.unattacked, 0, &ending.states, &mut placed);
        self.memory.placed = placed;
        ending.states.len = 0;
    }

    /// Places queens in this row of the states of a row set, and in those behind it.
    fn place(
        &mut self,
        set: usize,
        unattacked: &Unattacked,
        row: usize,
        states: &States,
        placed: &mut [States],
    ) {
        let Some((own, placed)) = placed.split_first_mut() else {
            return (self.visit)(set, states);
        };
        for start in (0..states.len).step_by(AT_ONCE) {
            let some = start..states.len.min(start + AT_ONCE);
            self.kernel.place(states, some, row, unattacked, own);
            self.place(set, unattacked, row + 1, own, placed);
        }
    }
}
