//! A recount of the units of any engine, given their domains, by backtracking.
//!
//! Squares that a unit forbids are treated as taken. In units of most engines the search places all queens, so it
//! visits each solution.
//!
//! In the units of engine `colours`, each row allows the columns of one parity, which decides whether the row has a
//! white queen or a black one. Queens of different colours share no diagonal. So a placement of black queens fits every
//! placement of white queens that takes the other columns, and there is **a search of each colour**. The first one
//! counts the placements of white queens by their columns. In the second one every placement of black queens adds the
//! number of white placements on the columns that it leaves, times the multiplicity of these columns.
//!
//! **Shared with engine `colours`:** the split into colours, the units and the multiplicities. None of the lists, trees
//! and kernels of the engine is used. Tests in tests/promises/recount.rs visit whole solutions, without the split.
//!
//! **Time** for two colours: 8 ms a unit at n = 20, 60 ms at 22, 0.9 s at 24, 82 s at 28. Visiting each solution takes
//! 1.5 s at n = 20. **Memory** 8 bytes for each set of columns: 7 MiB at n = 24, 90 MiB at 28.

use super::unit::{EVEN, Interrupt, Multiplicity, RowDomains};
use crate::board::size::BoardSize;
use crate::cancel::Cancel;

/// Counts the solutions of a unit, each as many times as the unit counts it.
pub(crate) fn count_domains(domains: &RowDomains, cancel: &Cancel) -> Result<u64, Interrupt> {
    let allowed = domains.allowed[..domains.size.rows()].iter().copied();
    let rows: Vec<(usize, u32)> = allowed.enumerate().collect();
    let mut solutions = 0;
    match &domains.multiplicity {
        None => place(&rows, Queens::default(), cancel, &mut |_| solutions += 1),
        Some(multiplicity) => solutions = count_by_colour(&rows, domains, multiplicity, cancel)?,
    }
    if cancel.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(solutions) }
}

/// Returns the bytes that a thread needs to recount a unit of engine `colours`. It needs a number for each pair of a
/// set of even columns and a set of odd ones, and the rank of each set. There are most pairs if each set has half of
/// the columns.
pub(crate) fn recount_bytes(size: BoardSize) -> u64 {
    let odd_columns = size.rows() / 2;
    let even_columns = size.rows().div_ceil(2);
    let even_sets = binomial(even_columns, even_columns / 2);
    let odd_sets = binomial(odd_columns, odd_columns / 2);
    let ranks_bytes = 8 << 16;
    8 * (even_sets * odd_sets) as u64 + ranks_bytes
}

/// Returns the number of sets of `size` numbers among `of` numbers.
pub(super) fn binomial(of: usize, size: usize) -> usize {
    (1..=size).fold(1, |sets, k| sets * (of + 1 - k) / k)
}

/// Counts the solutions on these rows, each with the multiplicity of its white columns.
fn count_by_colour(
    rows: &[(usize, u32)],
    domains: &RowDomains,
    multiplicity: &Multiplicity,
    cancel: &Cancel,
) -> Result<u64, Interrupt> {
    let board = domains.size.columns();
    let (white, black): (Vec<_>, Vec<_>) = rows.iter().partition(|(row, _)| domains.is_white(*row));
    let ranks = ranks();
    // White queens in even rows take even columns, so there are as many of them as white even columns.
    let even_sets = binomial(domains.size.rows().div_ceil(2), queens_in_rows(&white, 0));
    let odd_sets = binomial(domains.size.rows() / 2, queens_in_rows(&white, 1));
    let place_of = |columns: u32| {
        let even_rank = ranks[even_bits(columns) as usize];
        let odd_rank = ranks[even_bits(columns >> 1) as usize];
        even_rank * odd_sets + odd_rank
    };

    let mut white_placements = vec![0_u64; even_sets * odd_sets];
    place(&white, Queens::default(), cancel, &mut |columns| {
        white_placements[place_of(columns)] += 1;
    });
    let mut solutions = 0_u128;
    place(&black, Queens::default(), cancel, &mut |columns| {
        let white_columns = board & !columns;
        let placements = white_placements[place_of(white_columns)];
        if placements > 0 {
            solutions += u128::from(placements) * u128::from(multiplicity(white_columns));
        }
    });
    u64::try_from(solutions).map_err(|_| Interrupt::Overflow)
}

/// Returns the number of queens that these rows have in even rows (parity 0) or in odd rows (parity 1).
fn queens_in_rows(rows: &[(usize, u32)], parity: usize) -> usize {
    rows.iter().filter(|(row, _)| row % 2 == parity).count()
}

/// The row of the last queen, and the squares of this row that are taken by the queens so far.
#[derive(Clone, Copy, Default)]
struct Queens {
    row: usize,
    columns: u32,
    falling: u32,
    rising: u32,
}

/// Places a queen in each of these rows, from the top down, in every possible way, and calls `found` with the columns
/// of each placement. (Going from the middle outwards took as long.)
fn place(rows: &[(usize, u32)], above: Queens, cancel: &Cancel, found: &mut impl FnMut(u32)) {
    let Some((&(row, allowed), rows_below)) = rows.split_first() else {
        return found(above.columns);
    };
    if cancel.is_cancelled() {
        return;
    }
    let falling = above.falling << (row - above.row);
    let rising = above.rising >> (row - above.row);
    let mut free = allowed & !(above.columns | falling | rising);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        let columns = above.columns | queen;
        let below = Queens { row, columns, falling: falling | queen, rising: rising | queen };
        place(rows_below, below, cancel, found);
    }
}

/// Returns the rank of each set of 16 numbers among the sets of its size, in increasing order of the sets as binary
/// numbers.
fn ranks() -> Vec<usize> {
    let mut sets_of_size = [0; 17];
    let mut ranks = Vec::with_capacity(1 << 16);
    for set in 0..1_u32 << 16 {
        let rank = &mut sets_of_size[set.count_ones() as usize];
        ranks.push(*rank);
        *rank += 1;
    }
    ranks
}

/// Returns the even columns of a set, column 2c as bit c.
pub(super) fn even_bits(columns: u32) -> u32 {
    // Each step moves groups of bits together, so that the groups and the gaps between them become twice as long.
    let mut bits = columns & EVEN;
    bits = (bits | bits >> 1) & 0x3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff;
    (bits | bits >> 8) & 0x0000_ffff
}
