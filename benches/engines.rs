//! Every engine on a common board, and the fast engines on larger ones. Counts are asserted: a
//! benchmark of a wrong count is worthless.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once. Ids are `n=N/ENGINE`, `colours/n=N`,
//! `subtrees/n=N/THREADS-threads`, `ENGINE/n=N/kernel/KERNEL` and `colours/unit/n=N`.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use nqueens::plan::Plan;
use nqueens::{BoardSize, Cancel, Count, Engine, Kernel};

/// A board that the slowest engine counts in milliseconds.
const COMMON: u32 = 9;

fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

/// Measures a count of board `n`, without the start of its threads.
fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: impl Into<String>,
    n: u32,
    count: &Count<'_>,
) {
    let total = size(n).published().total.expect("published");
    group.throughput(Throughput::Elements(total.try_into().expect("a small board")));
    group.sample_size(10);
    group.bench_function(id.into(), |bencher| {
        bencher.iter_custom(|runs| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..runs {
                let outcome = count.run().expect("a count");
                assert_eq!(outcome.total, Some(total));
                elapsed += outcome.elapsed;
            }
            elapsed
        });
    });
}

fn all_engines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("n={COMMON}"));
    for &engine in Engine::ALL {
        let count = Count::new(size(COMMON)).engine(engine).threads(1);
        measure(&mut group, engine.name(), COMMON, &count);
    }
}

fn subtrees_by_threads(criterion: &mut Criterion) {
    for n in [14, 15] {
        let mut group = criterion.benchmark_group(format!("subtrees/n={n}"));
        for threads in [1, 2] {
            let count = Count::new(size(n)).engine(Engine::Subtrees).threads(threads);
            measure(&mut group, format!("{threads}-threads"), n, &count);
        }
    }
}

fn colours_by_board(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("colours");
    for n in 15..=18 {
        let count = Count::new(size(n)).engine(Engine::Colours).threads(1);
        measure(&mut group, format!("n={n}"), n, &count);
    }
}

fn fast_engines_by_kernel(criterion: &mut Criterion) {
    for (engine, n) in [(Engine::Subtrees, 14), (Engine::Colours, 16)] {
        let mut group = criterion.benchmark_group(format!("{engine}/n={n}/kernel"));
        for kernel in Kernel::available() {
            let count = Count::new(size(n)).engine(engine).kernel(kernel).threads(1);
            measure(&mut group, kernel.name(), n, &count);
        }
    }
}

/// A unit of a large board, by a worker that begins: its lists, its programs and its sum.
fn units_of_large_boards(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("colours/unit");
    for (n, unit, count) in [(22, 85_788, 12_626_804), (24, 340_453, 41_278_796)] {
        let plan = Plan::new(size(n), Engine::Colours, None).expect("a plan");
        group.sample_size(10);
        group.bench_function(format!("n={n}"), |bencher| {
            bencher.iter(|| {
                let mut worker = plan.worker(Kernel::detect()).expect("memory");
                assert_eq!(worker.count(unit, &Cancel::new()), Ok(count));
            });
        });
    }
}

criterion_group!(
    benches,
    all_engines,
    subtrees_by_threads,
    colours_by_board,
    fast_engines_by_kernel,
    units_of_large_boards
);
criterion_main!(benches);
