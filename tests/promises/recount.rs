//! Units counted again by plain backtracking have the same counts.

use nqueens::{Cancel, Engine, Kernel, Plan};

use crate::common::{kernels, size};

fn plan(n: u32, engine: Engine, split_rows: usize) -> Plan {
    Plan::new(size(n), engine, Some(split_rows))
}

/// Compares every `step`-th unit.
fn recount(plan: &Plan, kernel: Kernel, step: usize) {
    let cancel = Cancel::new();
    let mut worker = plan.worker(kernel);
    for unit in (0..plan.units()).step_by(step) {
        let counted = worker.count(unit, &cancel).expect("a count");
        let recounted = plan.recount(unit, &cancel).expect("a count");
        assert_eq!(recounted, counted, "n = {}, {}, unit {unit}", plan.size(), plan.engine());
    }
}

#[test]
fn every_unit_of_small_boards_is_recounted_with_each_kernel() {
    for n in 0..=11 {
        for kernel in kernels() {
            recount(&plan(n, Engine::Colours, 2), kernel, 1);
            recount(&plan(n, Engine::Bitmask, 2), kernel, 1);
            for split_rows in 1..=4 {
                recount(&plan(n, Engine::Subtrees, split_rows), kernel, 1);
            }
        }
    }
}

#[test]
fn some_units_of_larger_boards_are_recounted() {
    for n in 12..=18 {
        for kernel in kernels() {
            let units = plan(n, Engine::Colours, 2);
            recount(&units, kernel, (units.units() / 150).max(1) | 1);
        }
    }
    for n in 12..=14 {
        recount(&plan(n, Engine::Subtrees, 3), Kernel::detect(), 31);
    }
}
