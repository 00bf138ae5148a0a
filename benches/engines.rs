//! Every engine on a common board, and the fast engines on larger ones. Counts are asserted: a
//! benchmark of a wrong count is worthless.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once. Ids are `n=N/ENGINE`, `colours/n=N`,
//! `subtrees/n=N/THREADS-threads` and `ENGINE/n=N/kernel/KERNEL`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use nqueens::known::known;
use nqueens::{BoardSize, Count, Engine, Kernel, thread_pool};

/// A board that the slowest engine counts in milliseconds.
const COMMON: u32 = 9;

/// Measures the count of a board with some settings.
fn measure<'a>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: impl Into<String>,
    n: u32,
    set: impl FnOnce(Count<'a>) -> Count<'a>,
) {
    let size = BoardSize::new(n).expect("in range");
    let total = known(size).total.expect("published");
    let count = set(Count::new(size));
    group.throughput(Throughput::Elements(total.try_into().expect("a small board")));
    group.sample_size(10).bench_function(id.into(), |bencher| {
        bencher.iter(|| assert_eq!(count.run().expect("a count").total, total));
    });
}

fn all_engines(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group(format!("n={COMMON}"));
    for engine in Engine::ALL {
        measure(&mut group, engine.name(), COMMON, |count| count.engine(engine).pool(&pool));
    }
}

fn subtrees_by_threads(criterion: &mut Criterion) {
    for n in [14, 15] {
        let mut group = criterion.benchmark_group(format!("subtrees/n={n}"));
        for threads in [1, 2] {
            let pool = thread_pool(threads).expect("threads");
            measure(&mut group, format!("{threads}-threads"), n, |count| {
                count.engine(Engine::Subtrees).pool(&pool)
            });
        }
    }
}

fn by_board(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group("colours");
    for n in 15..=18 {
        measure(&mut group, format!("n={n}"), n, |count| count.engine(Engine::Colours).pool(&pool));
    }
}

fn by_kernel(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    for (engine, n) in [(Engine::Subtrees, 14), (Engine::Colours, 16)] {
        let mut group = criterion.benchmark_group(format!("{engine}/n={n}/kernel"));
        for kernel in Kernel::available() {
            measure(&mut group, kernel.name(), n, |count| {
                count.engine(engine).kernel(kernel).pool(&pool)
            });
        }
    }
}

criterion_group!(benches, all_engines, subtrees_by_threads, by_board, by_kernel);
criterion_main!(benches);
