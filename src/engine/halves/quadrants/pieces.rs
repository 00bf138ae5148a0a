//! Pieces of a half, for counts with little memory.
//!
//! A *piece* of a half has the half-boards in which the queens of the highest two rows of its larger
//! quadrant stand in given columns. The lists of this quadrant, and those of all prefixes of its rows,
//! start with these two rows. So they shrink with the number of pieces, and with them nearly all the
//! memory of a half.
//!
//! Every half-board belongs to exactly one piece, so a unit is the sum over all pairs of an east and a
//! west piece. The price is time: the lists of the west are made again for each piece of the east, and
//! several small joins take longer than one large one.

/// Which half-boards of a half are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The open columns of the highest row of the larger quadrant, and of the next row.
    open: [u32; 2],
}

impl Piece {
    /// All half-boards.
    pub(crate) const WHOLE: Self = Self { open: [u32::MAX; 2] };

    /// The open columns of a row; the highest row has number 1.
    pub(super) fn open(self, row: u32) -> u32 {
        self.open.get(row as usize - 1).copied().unwrap_or(u32::MAX)
    }
}

/// How a half is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Columns of a quadrant.
    pub(super) half: u32,
    /// The number of neighbouring columns that each piece has of the highest row, and of the next row.
    widths: [u32; 2],
}

impl Pieces {
    /// One piece.
    pub(crate) fn whole(half: u32) -> Self {
        Self { half, widths: [half; 2] }
    }

    /// The next smaller pieces, if there are any for a quadrant with this many rows. The second row is
    /// cut when a piece has only one column of the highest row.
    pub(super) fn finer(self, rows: u32) -> Option<Self> {
        let widths = match self.widths {
            [first, second] if first > 1 && rows > 0 => [first - 1, second],
            [first, second] if second > 1 && rows > 1 => [first, second - 1],
            _ => return None,
        };
        Some(Self { widths, ..self })
    }

    /// The smallest pieces of a quadrant with this many rows.
    pub(super) fn finest(half: u32, rows: u32) -> Self {
        Self { half, widths: [1, if rows > 1 { 1 } else { half }] }
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Piece> {
        let [first, second] = self.widths.map(|width| {
            let all = u32::MAX >> (32 - self.half);
            let starts = (0..self.half).step_by(width as usize);
            // The only part of a row has no limit, as in `Piece::WHOLE`.
            let part = move |start| {
                if width == self.half { u32::MAX } else { !(u32::MAX << width) << start & all }
            };
            starts.map(part)
        });
        first.flat_map(move |first| {
            second.clone().map(move |second| Piece { open: [first, second] })
        })
    }

    /// The most words of a piece of lists with at most this many words.
    ///
    /// The columns of the highest row do not have equal shares: near the worst numbers of rows the
    /// largest share is up to 1.2 times the mean (1.3 with nearly all rows), and that of a pair of
    /// columns up to 2.5 times, because many pairs have none. Counted for h = 8, 10 and 11.
    pub(super) fn share(self, words: u64) -> u64 {
        let half = u64::from(self.half);
        let [first, second] = self.widths.map(u64::from);
        let of_first = (words * first * 5).div_ceil(half * 4);
        let of_both = (words * first * second * 5).div_ceil(half * half * 2);
        match () {
            () if first == half => words,
            () if second == half => of_first.min(words),
            () => of_both.min(of_first).min(words),
        }
    }
}
