//! The hits of a heavy colour without a program, for batches in which they are few.
//!
//! A program does the same for every completion of a leaf, whether it fits a word or not. With many queens on each
//! sub-board hardly any does. A **walk** goes through the tree as a program does, and filters the words of a hundred
//! labels at once, but from the last rows on it follows each word by itself. With [`STATE_ROWS`] rows left, a word becomes
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
//! Rows are opened by shifts: the sums of a row's squares are neighbours in a word, and so are its differences. A
//! corner whose sum or difference is in no word would read a bit beside them, so words are spread first to have free
//! bits there, see [`SubBoards::spread`].

use std::ops::Range;

use super::kernel::{
    Ending, LANES, OpenRow, Opening, SLACK, STATE_ROWS, States, Unattacked, Words,
};
use super::program::Tree;
use super::sub_board::{MOST_ROWS, Queens, SubBoards};
use crate::cancel::Cancel;
use crate::engine::simd::Kernel;
use crate::engine::unit::Interrupt;

/// Blocks that are walked at once: the words of more do not fit the cache, those of fewer are too few deep in the
/// tree.
pub(super) const BLOCKS: usize = 2;
/// States of a row set that are gathered.
const ENOUGH: usize = 2048;
/// States in which queens are placed at once: there is room for a queen in every column.
const AT_ONCE: usize = 512;

/// What a walk does: words that are filtered, words that are opened for a row set, and queens that are placed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    filtered: u64,
    opened: u64,
    placed: u64,
}

/// What a kernel takes, in cycles, about, as measured from n = 22 to 26.
pub(super) struct Costs {
    filtered: f64,
    opened: f64,
    placed: f64,
    /// An item of a program, for each block.
    pub(super) item: f64,
}

impl Costs {
    pub(super) fn of(kernel: Kernel) -> Self {
        let [filtered, opened, placed, item] = match kernel {
            Kernel::Portable => [3.0, 17.0, 28.0, 25.0],
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => [2.0, 10.0, 28.0, 11.0],
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(_) => [1.5, 2.0, 6.0, 6.0],
        };
        Self { filtered, opened, placed, item }
    }

    /// The cycles of a walk.
    pub(super) fn of_walk(&self, work: Work) -> f64 {
        let Work { filtered, opened, placed } = work;
        self.filtered * filtered as f64 + self.opened * opened as f64 + self.placed * placed as f64
    }
}

/// Memory for walks.
#[derive(Default)]
pub(super) struct Walk {
    /// Words of some blocks, spread.
    words: Vec<u64>,
    /// The words that are left at each depth.
    kept: [Vec<u64>; MOST_ROWS],
    /// By row set, in the order of the tree.
    endings: Vec<Ending>,
    /// States with queens in the first of their rows, in the first two, and so on.
    placed: [States; STATE_ROWS],
}

/// What a walk is given, and the work that it has done.
struct Through<'a> {
    kernel: Kernel,
    boards: &'a SubBoards,
    tree: &'a Tree,
    cancel: &'a Cancel,
    visit: &'a mut dyn FnMut(usize, &States),
    work: Work,
}

impl Through<'_> {
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
            self.work.placed += own.len as u64;
            self.place(set, unattacked, row + 1, own, placed);
        }
    }
}

impl Walk {
    /// Forgets the words of the last walk.
    pub(super) fn begin(&mut self) {
        self.words.clear();
    }

    /// Adds words of a block, one in so many. Blocks have numbers below [`BLOCKS`].
    pub(super) fn add(
        &mut self,
        boards: &SubBoards,
        block: usize,
        words: Words<'_>,
        one_in: usize,
    ) {
        let (tag_at, first_label) = (boards.spread_bits(), (block * LANES) as u64);
        let spread = |word: &u64| {
            let label = (word >> words.tag_at) + first_label;
            boards.spread(word & ((1 << words.tag_at) - 1)) | label << tag_at
        };
        self.words.extend(words.own().iter().step_by(one_in).map(spread));
    }

    /// Visits the hits of each row set that is wanted, with its number in the class: states with the square of
    /// a queen in each row. Returns the work that it was.
    pub(super) fn run(
        &mut self,
        kernel: Kernel,
        boards: &SubBoards,
        tree: &Tree,
        is_wanted: impl Fn(usize) -> bool,
        cancel: &Cancel,
        visit: &mut dyn FnMut(usize, &States),
    ) -> Result<Work, Interrupt> {
        let label_bits = (BLOCKS * LANES).ilog2();
        assert!(boards.spread_bits() + label_bits <= u64::BITS, "words have room for labels");
        let endings = tree.sets.iter().map(|(rows, set)| {
            let (set, rows) = (*set as usize, rows.last_chunk().expect("so many rows"));
            let (unattacked, states) = (Unattacked::new(&tree.board, *rows), States::default());
            Ending { set, is_wanted: is_wanted(set), rows: *rows, unattacked, states }
        });
        self.endings = endings.collect();
        self.placed.iter_mut().for_each(|states| states.reserve(AT_ONCE * MOST_ROWS));
        let work = Work::default();
        let mut through = Through { kernel, boards, tree, cancel, visit, work };
        let (mut words, sets) = (std::mem::take(&mut self.words), 0..tree.sets.len());
        let len = words.len();
        words.resize(len + SLACK, 0);
        let all = Words { len, and_more: &words, tag_at: boards.spread_bits() };
        let walked = self.node(&mut through, sets.clone(), 0, Queens::default(), all);
        self.words = words;
        walked?;
        sets.for_each(|set| self.end(&mut through, set));
        Ok(through.work)
    }

    /// What is below some queens.
    fn node(
        &mut self,
        through: &mut Through<'_>,
        sets: Range<usize>,
        depth: usize,
        queens: Queens,
        words: Words<'_>,
    ) -> Result<(), Interrupt> {
        let Through { kernel, boards, tree, cancel, .. } = *through;
        if cancel.is_cancelled() {
            return Err(Interrupt::Cancelled);
        }
        if tree.rows() == depth + STATE_ROWS {
            self.open(through, sets, depth, queens, words);
            return Ok(());
        }
        let mut kept = std::mem::take(&mut self.kept[depth]);
        kept.resize(kept.len().max(words.len + SLACK), 0);
        let mut end = sets.start;
        for of_row in tree.sets[sets].chunk_by(|(one, _), (other, _)| one[depth] == other[depth]) {
            let (row, sets) = (of_row[0].0[depth], end..end + of_row.len());
            end = sets.end;
            for column in tree.board.each(tree.board.free(row, queens)) {
                let queen = boards.spread(tree.board.word(row, column));
                let len = kernel.join(&[queen], words, &mut kept);
                through.work.filtered += words.len as u64;
                if len > 0 {
                    let queens = queens.and(row, column);
                    let words = Words { len, and_more: &kept, ..words };
                    self.node(through, sets.clone(), depth + 1, queens, words)?;
                }
            }
        }
        self.kept[depth] = kept;
        Ok(())
    }

    /// Opens the last rows to the words, for each row set.
    fn open(
        &mut self,
        through: &mut Through<'_>,
        sets: Range<usize>,
        depth: usize,
        queens: Queens,
        words: Words<'_>,
    ) {
        let Through { kernel, boards, tree, .. } = *through;
        let rows = tree.sets[sets.clone()].iter().flat_map(|(rows, _)| &rows[depth..]);
        let rows = rows.fold(0_u32, |all, row| all | 1 << row);
        let open_row = |row| {
            let free = tree.board.free(row, queens).into();
            OpenRow { row, starts: boards.starts(row), free }
        };
        let rows = (0..MOST_ROWS as u32).filter(|row| rows >> row & 1 == 1).map(open_row).collect();
        let width = tree.board.columns.count_ones();
        let opening = Opening { width, taken: queens.columns.into(), rows };
        let endings = &mut self.endings[sets.clone()];
        for ending in endings.iter_mut().filter(|ending| ending.is_wanted) {
            ending.states.reserve(words.len);
            through.work.opened += words.len as u64;
        }
        kernel.open_rows(words, &opening, endings);
        for set in sets {
            if self.endings[set].states.len >= ENOUGH {
                self.end(through, set);
            }
        }
    }

    /// Places the last queens of the states of a row set.
    fn end(&mut self, through: &mut Through<'_>, set: usize) {
        let Self { endings, placed, .. } = self;
        let Ending { set, unattacked, states, .. } = &mut endings[set];
        through.place(*set, unattacked, 0, states, placed);
        states.len = 0;
    }
}
