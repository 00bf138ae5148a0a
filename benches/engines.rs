//! Every engine on a common board, and the fast engines on larger ones. Counts are asserted: a
//! benchmark of a wrong count is worthless.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once. Ids are `n=N/ENGINE` and
//! `ENGINE/n=N/THREADS-threads` or `ENGINE/n=N/kernel/KERNEL`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nqueens::known::known;
use nqueens::{BoardSize, Count, Engine, Kernel, thread_pool};

/// A board that the slowest engine counts in milliseconds.
const COMMON: u32 = 9;

fn size_and_total(n: u32) -> (BoardSize, u128) {
    let size = BoardSize::new(n).expect("in range");
    (size, known(size).total.expect("published"))
}

fn throughput(total: u128) -> Throughput {
    Throughput::Elements(total.try_into().expect("a small board"))
}

fn all_engines(criterion: &mut Criterion) {
    let (size, total) = size_and_total(COMMON);
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group(format!("n={COMMON}"));
    group.throughput(throughput(total)).sample_size(20);
    for engine in Engine::ALL {
        group.bench_function(engine.name(), |bencher| {
            let count = Count::new(size).engine(engine).pool(&pool);
            bencher.iter(|| assert_eq!(count.run().expect("a count").total, total));
        });
    }
    group.finish();
}

fn subtrees_by_threads(criterion: &mut Criterion) {
    for n in [14, 15] {
        let (size, total) = size_and_total(n);
        let mut group = criterion.benchmark_group(format!("subtrees/n={n}"));
        group.throughput(throughput(total)).sample_size(10);
        for threads in [1, 2] {
            let pool = thread_pool(threads).expect("threads");
            group.bench_function(format!("{threads}-threads"), |bencher| {
                let count = Count::new(size).engine(Engine::Subtrees).pool(&pool);
                bencher.iter(|| assert_eq!(count.run().expect("a count").total, total));
            });
        }
        group.finish();
    }
}

fn by_board(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group("colours");
    group.sample_size(10);
    for n in 15..=18 {
        let (size, total) = size_and_total(n);
        group.throughput(throughput(total));
        group.bench_function(format!("n={n}"), |bencher| {
            let count = Count::new(size).engine(Engine::Colours).pool(&pool);
            bencher.iter(|| assert_eq!(count.run().expect("a count").total, total));
        });
    }
    group.finish();
}

fn by_kernel(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    for (engine, n) in [(Engine::Subtrees, 14), (Engine::Colours, 16)] {
        let (size, total) = size_and_total(n);
        let mut group = criterion.benchmark_group(format!("{engine}/n={n}/kernel"));
        group.throughput(throughput(total)).sample_size(10);
        for kernel in Kernel::available() {
            group.bench_function(BenchmarkId::from_parameter(kernel), |bencher| {
                let count = Count::new(size).engine(engine).kernel(kernel).pool(&pool);
                bencher.iter(|| assert_eq!(count.run().expect("a count").total, total));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, all_engines, subtrees_by_threads, by_board, by_kernel);
criterion_main!(benches);
