//! Promise: a plan is the same on every machine and in every build, and its hash names its list of units.
//! docs/GLOSSARY.md makes this promise under "Words", and docs/FORMAT.md under "Line 1".

use std::fmt::Write as _;

use nqueens::{Cancel, Engine, Kernel, Plan, Solution, Solutions};

use crate::common::{plan_of, size};

/// Journals of older versions must stay readable. If this test fails, units have changed: a new order
/// or meaning of units must be intended, and must be in the changelog.
#[test]
fn plan_hashes_stay_what_they_were() {
    let hash = |n, engine, rows| {
        let plan = plan_of(size(n), engine, Some(rows));
        (plan.units(), plan.hash())
    };
    let mut text = String::new();
    for n in [0, 1, 3, 4, 8, 13, 20, 25, 27] {
        for engine in [Engine::Colours, Engine::Bitmask] {
            let (units, hash) = hash(n, engine, 2);
            writeln!(text, "{n} {engine}: {units} units, {hash:08x}").expect("a string");
        }
    }
    for (n, rows) in [(8, 1), (8, 3), (18, 2), (22, 4)] {
        let (units, hash) = hash(n, Engine::Subtrees, rows);
        writeln!(text, "{n} subtrees {rows}: {units} units, {hash:08x}").expect("a string");
    }
    assert_eq!(text, include_str!("../data/plan-hashes.txt"));
}

#[test]
fn a_plan_hash_tells_plans_apart() {
    let mut hashes = Vec::new();
    for n in 0..=20 {
        for &engine in Engine::ALL {
            let rows = if engine == Engine::Subtrees { 1..=3 } else { 2..=2 };
            for rows in rows {
                hashes.push(plan_of(size(n), engine, Some(rows)).hash());
            }
        }
    }
    let all = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), all);
}

/// What a unit says of itself is enough to count it: it names each solution, and how many times it counts it.
#[test]
fn units_count_the_solutions_that_they_name() {
    for n in 0..=9 {
        let solutions: Vec<Solution> = Solutions::new(size(n)).collect();
        for engine in
            Engine::ALL.iter().copied().filter(|engine| Plan::new(size(n), *engine, None).is_ok())
        {
            let plan = plan_of(size(n), engine, None);
            let mut worker = plan.worker(Kernel::detect());
            for unit in 0..plan.units() {
                let domains = plan.domains(unit);
                let named: u64 = solutions.iter().map(|solution| domains.times(solution)).sum();
                assert_eq!(worker.count(unit, &Cancel::new()), Ok(named), "{plan}, unit {unit}");
            }
        }
    }
}
