//! Promise: the units of a plan have the counts that plain backtracking finds. README.md makes this promise under "How
//! we know that it is right".

use nqueens::{Cancel, Engine, Kernel, Plan};

use crate::common::{kernels, plan_of, size};

fn plan(n: u32, engine: Engine, split_rows: usize) -> Plan {
    plan_of(size(n), engine, Some(split_rows))
}

/// Recounts every `step`-th unit, and compares the result with the count of each kernel. Returns the sum of the counts
/// times their weights.
fn recount(plan: &Plan, kernels: &[Kernel], step: usize) -> u128 {
    let cancel = Cancel::new();
    let mut workers: Vec<_> = kernels.iter().map(|kernel| plan.worker(*kernel)).collect();
    let mut sum = 0;
    for unit in (0..plan.units()).step_by(step) {
        let recounted = plan.recount(unit, &cancel).expect("a count");
        for (worker, kernel) in workers.iter_mut().zip(kernels) {
            let counted = worker.count(unit, &cancel).expect("a count");
            assert_eq!(counted, recounted, "{plan}, kernel {kernel}, unit {unit}");
        }
        sum += u128::from(recounted) * u128::from(plan.weight(unit));
    }
    sum
}

#[test]
fn every_unit_of_small_boards_is_recounted_with_each_kernel_and_they_sum_to_the_total() {
    let kernels = kernels();
    for n in 0..=12 {
        let mut plans = vec![plan(n, Engine::Colours, 2), plan(n, Engine::Bitmask, 2)];
        for split_rows in 1..=4 {
            plans.push(plan(n, Engine::Subtrees, split_rows));
        }
        for plan in plans {
            assert_eq!(Some(recount(&plan, &kernels, 1)), size(n).published().total, "{plan}");
        }
    }
}

#[test]
fn some_units_of_larger_boards_are_recounted() {
    let kernels = kernels();
    for n in 12..=18 {
        let plan = plan(n, Engine::Colours, 2);
        // An odd step, because units of one kind may come in pairs.
        let step = (plan.units() / 150).max(1) | 1;
        recount(&plan, &kernels, step);
    }
    for n in 12..=14 {
        recount(&plan(n, Engine::Subtrees, 3), &[Kernel::detect()], 31);
    }
}
