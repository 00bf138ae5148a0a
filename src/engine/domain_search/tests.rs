//! Compares the domain search with the plain backtracker, on domains of all kinds.

use super::*;
use crate::engine::Engine;
use crate::engine::bitmask::Restricted;
use crate::engine::domains::Weighing;
use crate::engine::tests::{kernels, random, size, units};

fn agree(domains: &RowDomains) {
    let cancel = Cancel::new();
    let expected = Restricted.count(domains, &cancel);
    for kernel in kernels() {
        let counted = DomainSearch::new(kernel).count(domains, &cancel);
        assert_eq!(counted, expected, "{kernel}, {domains:?}");
    }
}

#[test]
fn whole_boards_are_counted() {
    (0..=9).for_each(|n| agree(&RowDomains::whole_board(size(n))));
}

/// Every weight from 0 to 3, on rows that are restricted to one half and on rows that are not.
#[test]
fn random_domains_and_weights_are_counted() {
    let mut random = random();
    for n in [4, 7, 8, 9, 10, 11, 12] {
        for _ in 0..20 {
            let mut domains = RowDomains::whole_board(size(n));
            let west = (1 << (n / 2)) - 1;
            for allowed in &mut domains.allowed[..n as usize] {
                *allowed &= [west, !west, u32::MAX, random.u32(..) | random.u32(..)]
                    [random.choose_multiple([0, 0, 0, 1, 1, 1, 2, 3], 1)[0]];
            }
            let row = random.usize(0..=n as usize);
            let weight = |columns: u32| u64::from(columns.wrapping_mul(0x9e37_79b9) >> 30);
            domains.weighing = Some(Weighing { row, weight: Box::new(weight) });
            agree(&domains);
        }
    }
}

#[test]
fn units_of_halves_are_counted() {
    for n in 0..=16 {
        let units = units(Engine::Halves, n, 1);
        let step = if n < 12 { 1 } else { (units.len() / 12) | 1 };
        (0..units.len()).step_by(step).for_each(|unit| agree(&units.domains(unit)));
    }
}

#[test]
#[should_panic(expected = "a solution counts 4 times")]
fn a_weight_that_is_too_large_stops() {
    let mut domains = RowDomains::whole_board(size(8));
    domains.weighing = Some(Weighing { row: 4, weight: Box::new(|_| 4) });
    let _ = DomainSearch::new(Kernel::Portable).count(&domains, &Cancel::new());
}

#[test]
fn a_cancelled_search_is_an_interrupt() {
    let cancel = Cancel::new();
    cancel.cancel();
    let domains = RowDomains::whole_board(size(8));
    let counted = DomainSearch::new(Kernel::Portable).count(&domains, &cancel);
    assert_eq!(counted, Err(Interrupt::Cancelled));
}
