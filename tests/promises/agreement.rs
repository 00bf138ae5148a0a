//! Promise: the total of a board depends on the board alone. Engine, kernel, split rows and the number of threads
//! change nothing. README.md makes this promise under "How we know that it is right".

use nqueens::{Cancel, Count, Engine, Error, Kernel};
use proptest::prelude::*;

use crate::common::thread_pool;
use crate::common::{TEXTBOOK, cores, kernels, plan_of, size};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn split_rows_threads_and_kernel_change_nothing(
        n in 0u32..=13,
        rows in 1..=4_usize,
        threads in prop::sample::select(vec![1, 2, 3, 7]),
        kernel in prop::sample::select(kernels()),
        engine in prop::sample::select(vec![Engine::Subtrees, Engine::Colours]),
    ) {
        let count = Count::new(size(n))
            .engine(engine)
            .split_rows(rows)
            .threads(threads)
            .kernel(kernel);
        let reference = Count::new(size(n)).engine(Engine::Bitmask).run()?.total;
        prop_assert_eq!(count.run()?.total, reference);
    }
}

/// A thread of another pool only waits for the count, which has threads of its own.
#[test]
fn a_count_has_threads_of_its_own() {
    let pool = thread_pool(3);
    for (n, threads) in [(9, 1), (14, cores())] {
        let outcome = pool.install(|| Count::new(size(n)).run()).expect("a count");
        assert_eq!((outcome.total, outcome.threads), (size(n).published().total, threads));
    }
}

#[test]
fn thread_numbers_out_of_range_are_refused() {
    for threads in [0, 4097] {
        let refused = Count::new(size(8)).threads(threads).run();
        assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
    }
}

/// The subtotals by the column of the first row's queen, as chess programs "divide" a count.
#[test]
fn subtotals_by_first_column_are_palindromic_and_sum_to_the_total() {
    for (engine, largest) in TEXTBOOK {
        for n in 8..=12 {
            if n >= largest {
                continue; // it would double the time of all tests, and `counts` runs it
            }
            let plan = plan_of(size(n), engine, None);
            let mut subtotals = Vec::new();
            for unit in 0..plan.units() {
                let mut worker = plan.worker(Kernel::detect()).expect("memory");
                subtotals.push(worker.count(unit, &Cancel::new()).expect("a count"));
            }
            let mirrored: Vec<u64> = subtotals.iter().rev().copied().collect();
            assert_eq!(subtotals.len(), n as usize);
            assert_eq!(subtotals, mirrored, "{engine}, n = {n}");
            let total = subtotals.iter().map(|count| u128::from(*count)).sum();
            assert_eq!(nqueens::count(n), Ok(total), "{engine}, n = {n}");
        }
    }
}

#[test]
fn a_cancelled_count_reports_its_progress() {
    let cancel = Cancel::new();
    cancel.cancel();
    for &engine in Engine::ALL {
        let stopped = Count::new(size(12)).engine(engine).cancel_on(&cancel).run();
        let stopped = stopped.expect("a stop is no error");
        let found = (stopped.total, stopped.units_done, stopped.solutions);
        assert_eq!(found, (None, 0, 0), "{engine}");
    }
}
