//! The work units of a count; docs/HALVES.md derives them.
//!
//! **Canonical units: even n, and odd n with a queen in the centre.** Without the middle row and
//! column of an odd board there are 2h outer rows, north = 0..h and south = h..2h. E is the set of the
//! h rows with their queens in the east. One E of each orbit under the flips is a unit. The
//! transposition, which swaps E and the set of columns with their queens in the south, is in the weight
//! of each solution (see [`canonical`](super::canonical)).
//!
//! **Off-centre units: odd n, no queen in the centre.** Let m = h be the middle. The middle column
//! has its queen in row r, the middle row in column c. Of the eight images of a solution exactly one
//! has r > m, c > m and c - m < r - m. A unit is (b, E), where b = r - m is in 2..=h and E is the set
//! of the other h - 1 rows of the east; its weight is 8.
//!
//! **Their order.** Units of one b and one number of southern rows come in tiles: each southern row set with
//! [`TILE`] northern ones, then the next southern one with the same. So a worker that keeps the lists of
//! as many northern row sets makes only southern lists, one for every eight units. At
//! n = 19 the northern lists took a tenth of the time. On large boards, where lists are long and take
//! little of the time, a tile has all northern row sets, and only their common prefixes are shared.
//!
//! **Invariants:** the number of units, and what each of them counts, depend on n alone.

use std::cmp::Ordering;

use super::canonical::CanonicalRows;
use super::half_board::HalvedBoard;
use crate::board::size::BoardSize;
use crate::engine::unit::{RowDomains, Weighing};

/// The northern row sets of a tile of off-centre units on small boards. Their lists, at most 0.6 MB at
/// n = 19 and 2.8 MB at n = 21, should stay in the second-level cache.
pub(crate) const TILE: usize = 8;
/// The largest h of boards with tiles.
const LARGEST_TILED: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The row set E among the outer rows; an odd board has a queen in its centre.
    Canonical {
        /// Bit r: outer row r has its queen in the east.
        rows: u32,
    },
    /// The queen of the middle column stands `below` rows south of the centre.
    OffCentre {
        /// b = r - m.
        below: u32,
        /// Bit r: outer row r has its queen in the east.
        rows: u32,
    },
}

/// All units of a board: the off-centre ones of an odd board, then the canonical ones.
#[derive(Debug)]
pub(crate) struct UnitList {
    pub(crate) board: HalvedBoard,
    /// The row sets E of the canonical units, in increasing order.
    canonical: Vec<u32>,
    off_centre: usize,
}

impl UnitList {
    /// The units of a board of at least four rows.
    pub(crate) fn new(size: BoardSize) -> Self {
        let board = HalvedBoard::new(size.get());
        Self { board, canonical: canonical_units(board.half), off_centre: off_centre_units(board) }
    }

    /// The number of units of a board, and the size of their list in bytes, without making it.
    pub(crate) fn forecast(size: BoardSize) -> (usize, u64) {
        let board = HalvedBoard::new(size.get());
        let canonical = number_of_canonical_units(board.half);
        (off_centre_units(board) + canonical, (canonical * size_of::<u32>()) as u64)
    }

    pub(crate) fn len(&self) -> usize {
        self.off_centre + self.canonical.len()
    }

    pub(crate) fn unit(&self, index: usize) -> Unit {
        if index >= self.off_centre {
            return Unit::Canonical { rows: self.canonical[index - self.off_centre] };
        }
        let half = self.board.half;
        let per_row = subsets(2 * half - 1, half - 1);
        let below = 2 + (index / per_row) as u32;
        let packed = nth_off_centre(half, index % per_row);
        // The row of the middle column's queen belongs to neither half: make room for it.
        let low = (1 << (half + below - 1)) - 1;
        Unit::OffCentre { below, rows: packed & low | (packed & !low) << 1 }
    }

    /// The number of images that each solution of the unit stands for, except for the transpositions
    /// of canonical units, which are in the unit's count.
    pub(crate) fn weight(&self, index: usize) -> u64 {
        match index.checked_sub(self.off_centre) {
            None => 8,
            Some(place) => CanonicalRows::new(self.board.half, self.canonical[place]).weight,
        }
    }
}

impl Unit {
    /// The solutions that the unit counts.
    pub(crate) fn domains(self, size: BoardSize) -> RowDomains {
        let (n, half) = (size.get(), size.get() / 2);
        let west = (1 << half) - 1;
        let east = west << (n - half);
        let (Self::Canonical { rows } | Self::OffCentre { rows, .. }) = self;
        let mut domains = RowDomains::whole_board(size);
        let is_middle = |row| n % 2 == 1 && row == half;
        for (outer, row) in (0..n).filter(|&row| !is_middle(row)).enumerate() {
            let is_east = rows >> outer & 1 == 1;
            domains.allowed[row as usize] = if is_east { east } else { west };
        }
        let middle = half as usize;
        match self {
            Self::Canonical { .. } => {
                if n % 2 == 1 {
                    domains.allowed[middle] = 1 << half;
                }
                let canonical = CanonicalRows::new(half, rows);
                let weight = move |northern| {
                    canonical.columns_weight(
                        canonical.complement(canonical.outer_columns(size, northern)),
                    )
                };
                domains.weighing =
                    Some(Weighing { rows: (1 << middle) - 1, weight: Box::new(weight) });
            }
            Self::OffCentre { below, .. } => {
                // Columns east of the centre, nearer to it than the middle column's queen.
                domains.allowed[middle] = ((1 << below) - 2) << half;
                domains.allowed[middle + below as usize] = 1 << half;
            }
        }
        domains
    }
}

/// The number of subsets of `size` of `of` things (n over k).
pub(crate) fn subsets(of: u32, size: u32) -> usize {
    if size > of {
        return 0;
    }
    (0..u64::from(size)).fold(1, |ways, at| ways * (u64::from(of) - at) / (at + 1)) as usize
}

/// Subset `index` of those with `size` of the numbers 0..`of`, in increasing order as binary numbers.
fn nth_subset(of: u32, size: u32, index: usize) -> u32 {
    let (mut size, mut index, mut set) = (size, index, 0);
    // The subsets of the numbers below `bit`, kept up to date by single factors.
    let mut smaller = subsets(of, size);
    for bit in (0..of).rev() {
        if size == 0 {
            break;
        }
        let with = smaller * size as usize / (bit as usize + 1);
        smaller -= with;
        if index >= smaller {
            index -= smaller;
            set |= 1 << bit;
            smaller = with;
            size -= 1;
        }
    }
    set
}

/// Row set `index` of h - 1 outer rows, of which h are in the north and h - 1, without the row of the
/// middle column's queen, in the south.
fn nth_off_centre(half: u32, mut index: usize) -> u32 {
    for southern in 0..half {
        let northern = half - 1 - southern;
        let (norths, souths) = (subsets(half, northern), subsets(half - 1, southern));
        if index < norths * souths {
            // A tile of all northern row sets, if their lists are too long to be kept.
            let tile = if half <= LARGEST_TILED { TILE } else { norths };
            let first = index / (tile * souths) * tile;
            let width = tile.min(norths - first);
            let place = index - first * souths;
            let north = nth_subset(half, northern, first + place % width);
            return nth_subset(half - 1, southern, place / width) << half | north;
        }
        index -= norths * souths;
    }
    unreachable!("a board has fewer off-centre units")
}

/// The number of off-centre units; 0 on an even board.
fn off_centre_units(board: HalvedBoard) -> usize {
    match board.gap {
        1 => (board.half as usize - 1) * subsets(2 * board.half - 1, board.half - 1),
        _ => 0,
    }
}

/// The number of orbits of row sets, by Burnside's lemma for each number k of rows in the north, h/2 or
/// more. C(h, k)² sets have k northern rows, and rev ~ maps C(h, k) of them to themselves, since their
/// northern rows determine the southern ones. If k = h/2, rev maps as many to themselves, and ~ none.
fn number_of_canonical_units(half: u32) -> usize {
    let orbits = (half.div_ceil(2)..=half).map(|north| {
        let ways = subsets(half, north);
        if 2 * north == half { (ways * ways + 2 * ways) / 4 } else { (ways * ways + ways) / 2 }
    });
    orbits.sum()
}

/// The row sets E of the canonical units, in increasing order.
///
/// E is the smallest of its images. The southern rows of most images are known from the northern rows of
/// E alone, so each set of northern rows is kept with the smallest of these.
fn canonical_units(half: u32) -> Vec<u32> {
    let all = 0..1_u32 << half;
    let mut by_size = vec![Vec::new(); half as usize + 1];
    for north in all.clone() {
        let smallest_south = CanonicalRows::smallest_south_of_images(half, north);
        by_size[north.count_ones() as usize].push((north, smallest_south));
    }
    // Allocated at once: while it grows, a list takes up to three times the memory. Each candidate is
    // written and then kept or not, since a branch on it would be mispredicted every other time.
    let mut units = vec![0; number_of_canonical_units(half) + 1];
    let mut found = 0;
    // If E is balanced, its complement is an image, which is decided by the southern rows alone.
    let is_below_complement = |south: u32| south < !south & ((1 << half) - 1);
    let is_smallest = |south: &u32| match (2 * south.count_ones()).cmp(&half) {
        Ordering::Less => true,
        Ordering::Equal => is_below_complement(*south),
        Ordering::Greater => false,
    };
    for south in all.filter(is_smallest) {
        for &(north, smallest_south) in &by_size[(half - south.count_ones()) as usize] {
            let rows = south << half | north;
            units[found] = rows;
            let is_tied = south == smallest_south && CanonicalRows::is_canonical(half, rows);
            found += usize::from(south < smallest_south || is_tied);
        }
    }
    units.truncate(found);
    debug_assert_eq!(units.len(), number_of_canonical_units(half), "the orbits were miscounted");
    units
}
