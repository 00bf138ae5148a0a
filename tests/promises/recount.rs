//! Promise: the units of a plan have the counts of their solutions, and a recount finds these counts. README.md makes
//! this promise under "How we know that it is right".
//!
//! A recount of engine `colours` counts each colour by itself, as the engine does. Therefore these tests also visit
//! whole solutions, with white and black queens together. Of the program they use only the units: which columns each
//! row allows, and how many times a solution is counted.

use nqueens::plan::{Pass, Plan, RowDomains};
use nqueens::{Cancel, Engine, Kernel, Solution};

use crate::common::{kernels, plan_of, size};

fn plan(n: u32, engine: Engine, split_rows: usize) -> Plan {
    plan_of(size(n), engine, Some(split_rows))
}

/// Makes the plans of the first and of the second pass.
fn both_counts(n: u32, engine: Engine, split_rows: usize) -> [Plan; 2] {
    [Pass::First, Pass::Second].map(|pass| plan(n, engine, split_rows).for_pass(pass))
}

fn recount(plan: &Plan, unit: usize) -> u64 {
    plan.recount(unit, &Cancel::new()).expect("a count")
}

/// The queens of the first rows, and the squares of the next row that they attack along diagonals. Bit c is column c.
#[derive(Default)]
struct Queens {
    columns: Vec<u32>,
    columns_taken: u32,
    falling: u32,
    rising: u32,
}

/// Visits the solutions of a unit with these queens in the first rows, and returns the sum of the times that the unit
/// counts them.
fn visit_solutions(domains: &RowDomains, n: u32, queens: &mut Queens) -> u64 {
    let Queens { columns_taken, falling, rising, .. } = *queens;
    let row = queens.columns.len();
    if row == n as usize {
        // This checks each pair of queens once more.
        let solution = Solution::new(queens.columns.as_slice()).expect("no queen attacks another");
        return domains.times(&solution);
    }
    let free = domains.columns(row) & !(columns_taken | falling | rising);
    let mut count = 0;
    for column in (0..n).filter(|column| free >> column & 1 == 1) {
        let queen = 1 << column;
        queens.columns.push(column);
        queens.columns_taken = columns_taken | queen;
        queens.falling = (falling | queen) << 1;
        queens.rising = (rising | queen) >> 1;
        count += visit_solutions(domains, n, queens);
        queens.columns.pop();
    }
    count
}

/// Counts a unit solution by solution, and compares the result with a recount.
fn visit_and_recount(plan: &Plan, unit: usize) -> u64 {
    let n = plan.size().get();
    let visited = visit_solutions(&plan.domains(unit), n, &mut Queens::default());
    assert_eq!(recount(plan, unit), visited, "{plan}, recount of unit {unit}");
    visited
}

/// Counts these units with `count`, and compares the results with the count of each kernel. Returns the sum of the
/// counts times their weights.
fn compare_with_kernels(
    plan: &Plan,
    kernels: &[Kernel],
    units: impl IntoIterator<Item = usize>,
    count: fn(&Plan, usize) -> u64,
) -> u128 {
    let cancel = Cancel::new();
    let mut workers: Vec<_> =
        kernels.iter().map(|kernel| plan.worker(*kernel).expect("memory")).collect();
    let mut sum = 0;
    for unit in units {
        let expected = count(plan, unit);
        for (worker, kernel) in workers.iter_mut().zip(kernels) {
            let counted = worker.count(unit, &cancel).expect("a count");
            assert_eq!(counted, expected, "{plan}, kernel {kernel}, unit {unit}");
        }
        sum += u128::from(expected) * u128::from(plan.weight(unit));
    }
    sum
}

#[test]
fn every_unit_of_small_boards_has_the_count_of_its_solutions_and_they_sum_to_the_total() {
    let kernels = kernels();
    for &engine in Engine::ALL {
        let largest = match engine {
            Engine::Bitmask | Engine::Subtrees | Engine::Colours => 12,
            // They take longer.
            _ => 9,
        };
        let most_split_rows = if engine == Engine::Subtrees { 4 } else { 1 };
        for n in 0..=largest {
            for split_rows in 1..=most_split_rows {
                for plan in both_counts(n, engine, split_rows) {
                    let units = 0..plan.units();
                    let sum = compare_with_kernels(&plan, &kernels, units, visit_and_recount);
                    assert_eq!(Some(sum), size(n).published().total, "{plan}");
                }
            }
        }
    }
}

/// Units chosen at random: the same ones each time.
#[test]
fn units_of_larger_boards_have_the_counts_of_their_solutions() {
    let kernels = kernels();
    for (n, sample) in [(13, 100), (14, 100), (15, 40), (16, 20)] {
        let mut random = fastrand::Rng::with_seed(n.into());
        for plan in both_counts(n, Engine::Colours, 2) {
            let units = (0..sample).map(|_| random.usize(..plan.units()));
            compare_with_kernels(&plan, &kernels, units, visit_and_recount);
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
        compare_with_kernels(&plan, &kernels, (0..plan.units()).step_by(step), recount);
    }
    for n in 12..=14 {
        let plan = plan(n, Engine::Subtrees, 3);
        let units = (0..plan.units()).step_by(31);
        compare_with_kernels(&plan, &[Kernel::detect()], units, recount);
    }
}
