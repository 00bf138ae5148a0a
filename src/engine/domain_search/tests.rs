//! Against the plain backtracker, on domains of all kinds.

use super::*;
use crate::engine::domains::Weighing;
use crate::engine::subtrees::RestrictedSubtrees;
use crate::engine::{Engine, SplitRows, bitmask};
use crate::size::BoardSize;

fn agree(domains: &RowDomains) {
    let cancel = Cancel::new();
    let expected = bitmask::Restricted.count(domains, &cancel);
    for kernel in Kernel::available() {
        let mut search = DomainSearch::new(kernel);
        assert_eq!(search.count(domains, &cancel), expected, "{kernel}, {domains:?}");
    }
}

#[test]
fn whole_boards_are_counted() {
    for n in 0..=9 {
        agree(&RowDomains::whole_board(BoardSize::new(n).expect("in range")));
    }
}

/// Every weight from 0 to 3, on rows that are kept to a half and on rows that are not.
#[test]
fn random_domains_and_weights_are_counted() {
    let mut random = fastrand::Rng::with_seed(11);
    for n in [4, 7, 8, 9, 10, 11, 12] {
        for _ in 0..20 {
            let size = BoardSize::new(n).expect("in range");
            let mut domains = RowDomains::whole_board(size);
            let west = (1 << (n / 2)) - 1;
            for allowed in &mut domains.allowed[..size.rows()] {
                *allowed &= [west, !west, u32::MAX, random.u32(..) | random.u32(..)]
                    [random.choose_multiple([0, 0, 0, 1, 1, 1, 2, 3], 1)[0]];
            }
            let row = random.usize(0..=size.rows());
            let weight = |columns: u32| u64::from(columns.wrapping_mul(0x9e37_79b9) >> 30);
            domains.weighing = Some(Weighing { row, weight: Box::new(weight) });
            agree(&domains);
        }
    }
}

/// Compares every `step`-th unit with the other recounter that can count it.
fn agree_with_subtrees(n: u32, step: usize) {
    let size = BoardSize::new(n).expect("in range");
    let units = Engine::Halves.units(size, SplitRows::TWO);
    let cancel = Cancel::new();
    for kernel in Kernel::available() {
        let mut search = DomainSearch::new(kernel);
        let mut subtrees = RestrictedSubtrees::new(size, kernel);
        for unit in (0..units.len()).step_by(step) {
            let domains = units.domains(unit);
            let expected = subtrees.count(&domains, &cancel);
            assert_eq!(search.count(&domains, &cancel), expected, "n = {n}, {kernel}, unit {unit}");
        }
    }
}

#[test]
fn units_of_halves_are_counted_as_subtrees_counts_them() {
    for n in 0..=11 {
        agree_with_subtrees(n, 1);
    }
    for n in 12..=16 {
        agree_with_subtrees(n, [23, 97, 41, 397, 151][n as usize - 12]);
    }
}

#[test]
#[should_panic(expected = "a placement counts 4 times")]
fn a_weight_that_has_no_place_stops() {
    let mut domains = RowDomains::whole_board(BoardSize::new(8).expect("in range"));
    domains.weighing = Some(Weighing { row: 4, weight: Box::new(|_| 4) });
    let _ = DomainSearch::new(Kernel::Portable).count(&domains, &Cancel::new());
}

#[test]
fn a_cancelled_search_says_so() {
    let cancel = Cancel::new();
    cancel.cancel();
    let domains = RowDomains::whole_board(BoardSize::new(8).expect("in range"));
    let counted = DomainSearch::new(Kernel::Portable).count(&domains, &cancel);
    assert_eq!(counted, Err(Interrupt::Cancelled));
}
