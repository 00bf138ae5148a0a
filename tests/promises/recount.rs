//! Promise: the units of a plan have the counts that plain backtracking finds. README.md makes this promise under "How
//! we know that it is right".

use nqueens::known::known;
use nqueens::{Cancel, Engine, Kernel, Plan};

use crate::common::{kernels, size};

fn plan(n: u32, engine: Engine, split_rows: usize) -> Plan {
    Plan::new(size(n), engine, Some(split_rows))
}

/// Compares every `step`-th unit. Returns the sum of their counts times their weights.
fn recount(plan: &Plan, kernel: Kernel, step: usize) -> u128 {
    let cancel = Cancel::new();
    let mut worker = plan.worker(kernel);
    let mut sum = 0;
    for unit in (0..plan.units()).step_by(step) {
        let counted = worker.count(unit, &cancel).expect("a count");
        let recounted = plan.recount(unit, &cancel).expect("a count");
        assert_eq!(recounted, counted, "n = {}, {}, unit {unit}", plan.size(), plan.engine());
        sum += u128::from(counted) * u128::from(plan.weight(unit));
    }
    sum
}

#[test]
fn every_unit_of_small_boards_is_recounted_with_each_kernel_and_they_sum_to_the_total() {
    for n in 0..=12 {
        let subtrees = (1..=4).map(|split_rows| plan(n, Engine::Subtrees, split_rows));
        let others = [Engine::Colours, Engine::Bitmask].map(|engine| plan(n, engine, 2));
        for plan in subtrees.chain(others) {
            for kernel in kernels() {
                assert_eq!(Some(recount(&plan, kernel, 1)), known(size(n)).total, "{plan}");
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
