//! Promise: every engine and every kernel counts the published total of all boards for which it is sensible. README.md
//! makes this promise under "How we know that it is right".

use nqueens::{Agreement, Count, Engine, Kernel};

use crate::common::{TEXTBOOK, WITH_KERNELS, kernels, size};

/// The largest board that takes some seconds.
fn largest(engine: Engine) -> u32 {
    match TEXTBOOK.iter().find(|(textbook, _)| *textbook == engine) {
        Some((_, largest)) => *largest,
        None if engine == Engine::Colours => 18,
        None => 16,
    }
}

/// Counts all boards but the largest ones.
fn count_with_every_engine(left_out: u32) {
    for &engine in Engine::ALL {
        for n in 0..=largest(engine) - left_out {
            let outcome = Count::new(size(n)).engine(engine).run().expect("a count");
            assert_eq!(outcome.total, size(n).published().total, "{engine}, n = {n}");
            assert_eq!(outcome.agreement, Agreement::Agrees, "{engine}, n = {n}");
        }
    }
}

fn count_with_every_kernel(left_out: u32) {
    for engine in WITH_KERNELS {
        for kernel in kernels() {
            for n in 0..=largest(engine) - left_out {
                let count = Count::new(size(n)).engine(engine).kernel(kernel);
                let outcome = count.run().expect("a count");
                assert_eq!(outcome.total, size(n).published().total, "{engine} {kernel}, n = {n}");
                assert_eq!(outcome.kernel, kernel);
            }
        }
    }
}

#[test]
fn every_engine_counts_the_published_totals() {
    count_with_every_engine(2);
}

#[test]
fn every_kernel_counts_the_published_totals() {
    count_with_every_kernel(2);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes 12 s"]
    fn every_engine_counts_all_boards_for_which_it_is_sensible() {
        count_with_every_engine(0);
    }

    #[test]
    #[ignore = "takes 4 s"]
    fn every_kernel_counts_all_boards_for_which_it_is_sensible() {
        count_with_every_kernel(0);
    }
}

#[test]
fn the_short_form_counts() {
    assert_eq!(nqueens::count(0), Ok(1), "one empty solution");
    assert_eq!(nqueens::count(2), Ok(0));
    assert_eq!(nqueens::count(3), Ok(0));
    assert_eq!(nqueens::count(14), Ok(365_596));
    assert!(nqueens::count(33).is_err());
}

#[test]
fn a_count_without_kernels_reports_the_portable_one() {
    let count = Count::new(size(6)).engine(Engine::Bitmask).kernel(Kernel::detect());
    assert_eq!(count.run().expect("a count").kernel, Kernel::PORTABLE);
}
