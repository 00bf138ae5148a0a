//! What a unit means: its count, found by a plain backtracker that keeps to the unit's row sets.

use super::Random;
use crate::cancel::Cancel;
use crate::engine::halves::Halves;
use crate::engine::halves::units::Unit;
use crate::engine::{Kernel, Resources, Units};
use crate::size::BoardSize;

/// Calls `found` with the column of each row, for every placement in which the queen of row r
/// stands in one of the columns `allowed[r]`.
fn placements(allowed: &[u32], found: &mut dyn FnMut(&[u32])) {
    fn place(allowed: &[u32], columns: &mut Vec<u32>, found: &mut dyn FnMut(&[u32])) {
        let row = columns.len();
        if row == allowed.len() {
            found(columns);
            return;
        }
        for column in (0..allowed.len() as u32).filter(|column| allowed[row] >> column & 1 == 1) {
            let is_free = columns.iter().enumerate().all(|(other, &taken)| {
                taken != column && taken.abs_diff(column) as usize != row - other
            });
            if is_free {
                columns.push(column);
                place(allowed, columns, found);
                columns.pop();
            }
        }
    }
    place(allowed, &mut Vec::new(), found);
}

fn bit(set: u32, at: usize) -> bool {
    set >> at & 1 == 1
}

/// The outer rows (or columns) of a board: all of them, but for the middle one of an odd board.
fn outer(size: usize) -> Vec<usize> {
    (0..size).filter(|&row| size.is_multiple_of(2) || row != size / 2).collect()
}

/// The eight images of a placement.
fn images(columns: &[u32]) -> Vec<Vec<u32>> {
    let last = columns.len() as u32 - 1;
    let mut images = vec![columns.to_vec()];
    for at in 0..7 {
        let before = &images[at];
        let mut image = vec![0; columns.len()];
        for (row, &column) in before.iter().enumerate() {
            // Transpose and mirror by turns: this goes round all eight.
            if at % 2 == 0 {
                image[column as usize] = row as u32;
            } else {
                image[row] = last - column;
            }
        }
        images.push(image);
    }
    images
}

/// The set E of a placement, by outer row.
fn east_rows(columns: &[u32]) -> u32 {
    let size = columns.len();
    let east = |&(_, row): &(usize, usize)| columns[row] as usize >= size.div_ceil(2);
    outer(size).into_iter().enumerate().filter(east).fold(0, |set, (at, _)| set | 1 << at)
}

/// What a unit should count: the placements with its row set, each as often as it has images
/// (equal ones counted apiece) divided by the images that fall on the unit.
///
/// The representative of the eight images is the one whose set E is smallest among those with
/// at least half of the north-eastern queens, so a placement belongs to the unit if its own E is
/// that smallest one.
fn canonical_count(size: usize, rows: u32) -> u64 {
    let half = size / 2;
    let outer = outer(size);
    let west: u32 = (1 << half) - 1;
    let east = west << size.div_ceil(2);
    let mut allowed = vec![1 << half; size];
    for (at, &row) in outer.iter().enumerate() {
        allowed[row] = if bit(rows, at) { east } else { west };
    }
    let north_east = |set: u32| (set & west).count_ones();
    let (mut eighths, mut count) = (0, 0);
    placements(&allowed, &mut |columns| {
        let keys: Vec<u32> = images(columns)
            .iter()
            .map(|image| east_rows(image))
            .filter(|&set| 2 * north_east(set) as usize >= half)
            .collect();
        if keys.iter().min() == Some(&rows) {
            // All images that land on this unit are found here too: share the eight among them.
            eighths += 8 * 840 / keys.iter().filter(|&&key| key == rows).count() as u64;
        }
        count += 1;
    });
    assert!(eighths.is_multiple_of(840), "{count} placements share their images evenly");
    eighths / 840
}

/// Eight for each placement whose middle queens stand as the unit asks.
fn off_centre_count(size: usize, below: u32, rows: u32) -> u64 {
    let half = size / 2;
    let west: u32 = (1 << half) - 1;
    let queen = half + below as usize;
    let mut allowed = vec![0; size];
    for (at, &row) in outer(size).iter().enumerate() {
        allowed[row] = if bit(rows, at) { west << (half + 1) } else { west };
    }
    allowed[queen] = 1 << half;
    // The middle row's queen stands east of the centre, nearer than the middle column's.
    allowed[half] = ((1 << below) - 2) << half;
    let mut count = 0;
    placements(&allowed, &mut |_| count += 8);
    count
}

/// Compares the chosen units of a board, and their weights, with the plain backtracker.
fn check(size: u32, kernel: Kernel, choose: &mut dyn FnMut(usize) -> Vec<usize>) {
    let halves = Halves::new(BoardSize::new(size).expect("in range"));
    let resources = Resources { kernel, threads: 1, memory: 1 << 30 };
    let prepared = halves.prepare(&resources, &Cancel::new()).expect("a small board fits");
    let mut worker = prepared.worker();
    for index in choose(halves.len()) {
        let unit = halves.units.unit(index);
        let expected = match unit {
            Unit::Canonical { rows } => canonical_count(size as usize, rows),
            Unit::OffCentre { below, rows } => off_centre_count(size as usize, below, rows),
        };
        let count = worker.count(index, &Cancel::new()).expect("nobody cancels");
        assert_eq!(count * halves.weight(index), expected, "n = {size}, {unit:?}, {kernel}");
    }
}

#[test]
fn units_count_the_placements_they_stand_for() {
    let mut random = Random(3);
    for size in 4..=14 {
        for kernel in Kernel::available() {
            check(size, kernel, &mut |units| (0..60).map(|_| random.below(units)).collect());
        }
    }
    for size in [15, 16] {
        check(size, Kernel::detect(), &mut |units| (0..6).map(|_| random.below(units)).collect());
    }
}

/// Boards of both parities whose halves have an even number of rows: here all four flips keep
/// k = h/2, and each weight from 1 to 4 occurs.
#[test]
fn units_of_balanced_quadrants_are_right_one_by_one() {
    for size in [8, 9, 12] {
        check(size, Kernel::detect(), &mut |units| (0..units).collect());
    }
}
