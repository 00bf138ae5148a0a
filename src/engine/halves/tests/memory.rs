//! What a budget allows, and counts with little memory.

use crate::cancel::Cancel;
use crate::engine::Engine;
use crate::engine::halves::budget::{self, Limits};
use crate::engine::halves::half_board::HalvedBoard;
use crate::engine::halves::join::LEAST_PAIRS;
use crate::engine::halves::prepared::{PreparedHalves, SLACK_WORDS};
use crate::engine::halves::quadrants::pieces::{self, Pieces};
use crate::engine::halves::units::UnitList;
use crate::engine::simd::Kernel;
use crate::engine::tests::{kernels, random, size};
use crate::engine::unit::{Interrupt, MemoryUse, Pass, Prepared, Resources};
use crate::error::Error;
use crate::plan::Plan;

fn plan(n: u32, threads: usize, memory: u64) -> Result<(MemoryUse, Limits), Error> {
    let resources = Resources { kernel: Kernel::detect(), threads, memory };
    Plan::new(size(n), Engine::Halves, None).within_budget(&resources, 0, true)?;
    Ok(budget::plan(HalvedBoard::new(n), &resources))
}

#[test]
fn the_budget_decides_what_is_shared() {
    let memory = |n, memory| plan(n, 1, memory).map(|(memory, _)| (memory.shared, memory.strategy));
    assert_eq!(memory(18, 1 << 30), Ok((8 * 916_000, "quadrant lists shared")));
    assert_eq!(memory(18, 8 << 20), Ok((0, "quadrant lists by row set")));
    assert_eq!(memory(20, 48 << 20), Ok((8 * 2_040_000, "quadrant lists shared")));
    assert_eq!(memory(22, 1 << 30), Ok((0, "quadrant lists by row set")), "they are not shared");
    assert_eq!(memory(24, 20 << 20), Ok((0, "quadrant lists in pieces")));
    for n in [24, 32] {
        assert!(matches!(plan(n, 1, 1 << 20), Err(Error::MemoryBudget { .. })), "n = {n}");
    }
}

#[test]
fn a_plan_counts_all_its_threads() {
    let fits = |threads| plan(20, threads, 8 << 20).is_ok();
    assert!(fits(1) && fits(4));
    assert!(!fits(64));
}

#[test]
fn large_boards_need_little_memory() {
    let least = |n| budget::least_worker_bytes(HalvedBoard::new(n));
    for (n, most) in [(20, 4), (24, 32), (26, 64), (28, 200), (30, 600), (32, 2 << 10)] {
        let least = least(n);
        assert!(least <= most << 20, "n = {n}: {least}");
        assert!(plan(n, 1, least).is_ok() && plan(n, 1, least - 1).is_err(), "n = {n}: {least}");
    }
    assert!((4..32).all(|n| least(n) <= least(n + 1)));
}

#[test]
fn more_memory_never_lowers_a_limit() {
    for n in 4..=32 {
        let mut before: Option<(MemoryUse, Limits)> = None;
        for memory in (10..400).map(|step| 1.0905_f64.powi(step) as u64) {
            let now = plan(n, 3, memory).ok();
            if let Some((memory_use, limits)) = &now {
                assert!(
                    memory_use.shared + 3 * memory_use.per_thread <= memory,
                    "n = {n}: {now:?}"
                );
                assert!(limits.most_pairs >= LEAST_PAIRS, "n = {n}: {now:?}");
            }
            if let Some((_, before)) = before {
                let (_, now) = now.expect("more than enough");
                assert!(before.list_bytes <= now.list_bytes, "n = {n}: {before:?}, {now:?}");
                assert!(before.most_pairs <= now.most_pairs, "n = {n}: {before:?}, {now:?}");
            }
            before = now;
        }
        assert!(before.is_some(), "n = {n}");
    }
}

#[test]
fn units_count_the_same_with_any_memory() {
    let mut random = random();
    let cancel = Cancel::new();
    let mut in_pieces = 0;
    for (n, kernel) in (4..=19).zip(kernels().into_iter().cycle()) {
        let units = UnitList::new(size(n));
        let half = units.board.half;
        let (memory, limits) = plan(n, 1, 1 << 30).expect("it fits");
        let prepare = |pass, memory, limits| {
            PreparedHalves::new(&units, pass, kernel, (memory, limits), &cancel)
                .expect("not cancelled")
        };
        let roomy = prepare(Pass::First, memory, limits);
        let mut roomy = roomy.worker();
        let whole = pieces::list_bytes(half, false);
        // The smallest pieces of large boards take too long for a test.
        let halvings = if n < 15 { 24 } else { 8 };
        for _ in 0..6 {
            let list_bytes = whole >> random.u32(0..=halvings);
            let larger = random.u32(half.div_ceil(2)..=half);
            in_pieces +=
                u32::from(pieces::cut(half, [larger; 2], list_bytes) != [Pieces::whole(half); 2]);
            let limits = Limits { list_bytes, most_pairs: random.u64(0..200_000) };
            let tight = [Pass::First, Pass::Second]
                .map(|pass| prepare(pass, MemoryUse { shared: 0, ..memory }, limits));
            let mut tight = tight.each_ref().map(Prepared::worker);
            for _ in 0..3 {
                let unit = random.usize(..units.len());
                let expected = roomy.count(unit, &cancel);
                for tight in &mut tight {
                    assert_eq!(tight.count(unit, &cancel), expected, "n = {n}, {unit}, {limits:?}");
                }
            }
        }
    }
    assert!(in_pieces > 30, "only {in_pieces} limits made pieces");
}

/// Plans that allow too few words are found out while the lists are made.
#[test]
fn lists_longer_than_planned_are_cut_finer() {
    let mut random = random();
    let cancel = Cancel::new();
    for n in [22, 23] {
        let units = UnitList::new(size(n));
        let (memory, limits) = plan(n, 1, 1 << 30).expect("it fits");
        let memory = MemoryUse { shared: 0, ..memory };
        for pass in [Pass::First, Pass::Second] {
            let prepare = || {
                PreparedHalves::new(&units, pass, Kernel::detect(), (memory, limits), &cancel)
                    .expect("not cancelled")
            };
            let (roomy, mut tight) = (prepare(), prepare());
            let mut too_tight = prepare();
            for plan in &mut tight.list_plans.plans {
                let rows = plan.larger_quadrants;
                let least = pieces::bytes(rows, pieces::cut(units.board.half, rows, 0));
                plan.most_words = least.map(|bytes| bytes / 8 + SLACK_WORDS);
            }
            for plan in &mut too_tight.list_plans.plans {
                plan.most_words = [1000; 2];
            }
            let unit = random.usize(..units.len());
            let count = too_tight.worker().count(unit, &cancel);
            assert_eq!(count, Err(Interrupt::OutOfMemory), "n = {n}, {unit}");
            let (mut roomy, mut tight) = (roomy.worker(), tight.worker());
            for _ in 0..10 {
                let unit = random.usize(..units.len());
                assert_eq!(
                    tight.count(unit, &cancel),
                    roomy.count(unit, &cancel),
                    "n = {n}, {unit}"
                );
            }
        }
    }
}
