//! Lists that have changed or do not fit are detected.

use super::*;
use crate::engine::Kernel;

const KERNEL: JoinKernel = JoinKernel(Kernel::Portable);

fn quadrants() -> QuadrantLists {
    QuadrantLists::new(KERNEL, HalvedBoard::new(12), true, &Cancel::new())
}

#[test]
fn every_flipped_bit_is_detected() {
    let mut quadrants = quadrants();
    assert!(quadrants.is_intact());
    let lengths = quadrants.table.as_ref().map(|table| [table.north.len(), table.starts.len()]);
    let [words, starts] = lengths.expect("a whole table");
    assert!(words > 1000 && starts > 100, "{words} words, {starts} starts");
    for at in [0, 1, words / 2, words - 1] {
        for bit in [0, 21, 63] {
            let mut flip = |north: bool| {
                let table = quadrants.table.as_mut().expect("a whole table");
                let words = if north { &mut table.north } else { &mut table.south };
                words[at] ^= 1 << bit;
                quadrants.is_intact()
            };
            for north in [true, false] {
                assert!(!flip(north), "word {at}, bit {bit}");
                assert!(flip(north), "flipped back");
            }
        }
    }
    quadrants.table.as_mut().expect("a whole table").starts[starts - 1] ^= 1;
    assert!(!quadrants.is_intact());
}

#[test]
fn lists_that_are_made_when_needed_are_not_shared() {
    let quadrants = QuadrantLists::new(KERNEL, HalvedBoard::new(12), false, &Cancel::new());
    assert!(quadrants.is_intact());
}

#[test]
#[should_panic(expected = "quadrant lists of 4294967296 words are too long")]
fn a_list_that_is_too_long_stops() {
    lists::start(1 << 32);
}
