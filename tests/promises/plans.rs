//! Promise: a plan is the same on every machine and in every build, and its hash names its list of units.
//! docs/JOURNAL.md makes this promise under "Words", and docs/FORMAT.md under "Line 1".

use std::fmt::Write as _;

use nqueens::plan::Plan;
use nqueens::{Cancel, Engine, Kernel, Solution, Solutions};

use crate::common::{plan_of, size};

/// Journals of older versions must stay readable. If this test fails, units have changed: a new order
/// or meaning of units must be intended, and must be in the changelog.
#[test]
fn plan_hashes_stay_what_they_were() {
    let hash = |n, engine, rows| {
        let plan = plan_of(size(n), engine, Some(rows));
        (plan.units(), plan.id())
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
                hashes.push(plan_of(size(n), engine, Some(rows)).id());
            }
        }
    }
    let all = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), all);
}

/// Returns the number of sets of `size` numbers among `of` numbers.
fn binomial(of: u64, size: u64) -> u64 {
    (1..=size).fold(1, |sets, k| sets * (of + 1 - k) / k)
}

/// The number of units of engine `colours` has a closed form, with N = n / 2 and h = N / 2, both rounded down:
///
/// ```text
/// odd boards                ((n choose N) + (N choose h)) / 2
/// even boards, N is odd     ((n choose N) + 2^N) / 4
/// even boards, N is even    ((n choose N) + 2^N + (N choose h)) / 4
/// ```
///
/// By docs/COLOURS.md, rows that are images of each other have one unit. So by Burnside's lemma the number of units is
/// the mean, over the symmetries, of the number of choices of white rows that a symmetry leaves unchanged.
///
/// * *Odd boards:* white rows are a of the N + 1 even rows and a - 1 of the N odd ones, which over all a makes
///   (n choose N) choices. The other symmetry is the reversal. A choice that it leaves unchanged is made of pairs of
///   rows, and perhaps of the middle row, which is in the choice if the sets of its parity need an odd number of rows.
///   So half of the other rows decide, and over all a there are (N choose h) of these choices.
/// * *Even boards:* white rows are a of the N even rows and a of the N odd ones, which over all a makes (n choose N)
///   choices. The half-turn leaves those unchanged that have x = y, which are 2^N. One flip leaves those unchanged that
///   have 2a = N and y = M - 1 - x, which are M = (N choose h) if N is even. The other flip asks for x = M - 1 - x,
///   which no x has, because M is even.
#[test]
fn the_number_of_units_of_colours_has_a_closed_form() {
    for n in 4..=30 {
        let rows = u64::from(n);
        let choices = binomial(rows, rows / 2);
        let palindromes = binomial(rows / 2, rows / 4);
        let units = if n % 2 == 1 {
            (choices + palindromes) / 2
        } else if n % 4 == 0 {
            (choices + (1 << (n / 2)) + palindromes) / 4
        } else {
            (choices + (1 << (n / 2))) / 4
        };
        let plan = plan_of(size(n), Engine::Colours, None);
        assert_eq!(plan.units() as u64, units, "n = {n}");
    }
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
            let mut worker = plan.worker(Kernel::detect()).expect("memory");
            for unit in 0..plan.units() {
                let domains = plan.domains(unit);
                let named: u64 = solutions.iter().map(|solution| domains.times(solution)).sum();
                assert_eq!(worker.count(unit, &Cancel::new()), Ok(named), "{plan}, unit {unit}");
            }
        }
    }
}
