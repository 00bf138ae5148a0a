//! Every engine on a common board, and the fast engines on larger ones. Counts are asserted: a
//! benchmark of a wrong count is worthless.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once. Ids are `n=N/ENGINE`, `colours/n=N`,
//! `subtrees/n=N/THREADS-threads`, `ENGINE/n=N/kernel/KERNEL` and `colours/unit/n=N`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use nqueens::plan::Plan;
use nqueens::{BoardSize, Cancel, Count, Engine, Kernel};
use rayon::ThreadPool;

/// A board that the slowest engine counts in milliseconds.
const COMMON: u32 = 9;

fn thread_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

/// Measures a count of board `n`.
fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: impl Into<String>,
    pool: &ThreadPool,
    n: u32,
    count: &Count<'_>,
) {
    let total = size(n).published().total.expect("published");
    group.throughput(Throughput::Elements(total.try_into().expect("a small board")));
    group.sample_size(10);
    group.bench_function(id.into(), |bencher| {
        bencher
            .iter(|| assert_eq!(pool.install(|| count.run()).expect("a count").total, Some(total)));
    });
}

fn all_engines(criterion: &mut Criterion) {
    let pool = thread_pool(1);
    let mut group = criterion.benchmark_group(format!("n={COMMON}"));
    for &engine in Engine::ALL {
        let count = Count::new(size(COMMON)).engine(engine);
        measure(&mut group, engine.name(), &pool, COMMON, &count);
    }
}

fn subtrees_by_threads(criterion: &mut Criterion) {
    for n in [14, 15] {
        let mut group = criterion.benchmark_group(format!("subtrees/n={n}"));
        for threads in [1, 2] {
            let pool = thread_pool(threads);
            let count = Count::new(size(n)).engine(Engine::Subtrees);
            measure(&mut group, format!("{threads}-threads"), &pool, n, &count);
        }
    }
}

fn colours_by_board(criterion: &mut Criterion) {
    let pool = thread_pool(1);
    let mut group = criterion.benchmark_group("colours");
    for n in 15..=18 {
        let count = Count::new(size(n)).engine(Engine::Colours);
        measure(&mut group, format!("n={n}"), &pool, n, &count);
    }
}

fn fast_engines_by_kernel(criterion: &mut Criterion) {
    let pool = thread_pool(1);
    for (engine, n) in [(Engine::Subtrees, 14), (Engine::Colours, 16)] {
        let mut group = criterion.benchmark_group(format!("{engine}/n={n}/kernel"));
        for kernel in Kernel::available() {
            let count = Count::new(size(n)).engine(engine).kernel(kernel);
            measure(&mut group, kernel.name(), &pool, n, &count);
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
