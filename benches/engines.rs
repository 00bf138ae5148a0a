//! Every engine on a common board, and the fast engines on larger ones. Counts are asserted: a
//! benchmark of a wrong count is worthless.
//!
//! `cargo bench` measures; `cargo bench -- --test` runs each once. Ids are `n=N/ENGINE`, `colours/n=N`,
//! `subtrees/n=N/THREADS-threads`, `ENGINE/n=N/kernel/KERNEL` and `colours/unit/n=N`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use nqueens::known::known;
use nqueens::{BoardSize, Cancel, Count, Engine, Kernel, Plan, thread_pool};

/// A board that the slowest engine counts in milliseconds.
const COMMON: u32 = 9;

/// Measures the count of a board with some settings.
fn measure<'a>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: impl Into<String>,
    n: u32,
    pool: &rayon::ThreadPool,
    set: impl FnOnce(Count<'a>) -> Count<'a>,
) {
    let size = BoardSize::new(n).expect("in range");
    let total = known(size).total.expect("published");
    let count = set(Count::new(size));
    group.throughput(Throughput::Elements(total.try_into().expect("a small board")));
    group.sample_size(10).bench_function(id.into(), |bencher| {
        bencher.iter(|| assert_eq!(pool.install(|| count.run()).expect("a count").total, total));
    });
}

fn all_engines(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group(format!("n={COMMON}"));
    for engine in Engine::ALL {
        measure(&mut group, engine.name(), COMMON, &pool, |count| count.engine(engine));
    }
}

fn subtrees_by_threads(criterion: &mut Criterion) {
    for n in [14, 15] {
        let mut group = criterion.benchmark_group(format!("subtrees/n={n}"));
        for threads in [1, 2] {
            let pool = thread_pool(threads).expect("threads");
            measure(&mut group, format!("{threads}-threads"), n, &pool, |count| {
                count.engine(Engine::Subtrees)
            });
        }
    }
}

fn by_board(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    let mut group = criterion.benchmark_group("colours");
    for n in 15..=18 {
        measure(&mut group, format!("n={n}"), n, &pool, |count| count.engine(Engine::Colours));
    }
}

fn by_kernel(criterion: &mut Criterion) {
    let pool = thread_pool(1).expect("a thread");
    for (engine, n) in [(Engine::Subtrees, 14), (Engine::Colours, 16)] {
        let mut group = criterion.benchmark_group(format!("{engine}/n={n}/kernel"));
        for kernel in Kernel::available() {
            measure(&mut group, kernel.name(), n, &pool, |count| {
                count.engine(engine).kernel(kernel)
            });
        }
    }
}

/// A unit of a large board, by a worker that begins: its lists, its programs and its sum.
fn units_of_large_boards(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("colours/unit");
    for (n, unit, count) in [(22, 85_788, 12_626_804), (24, 340_453, 41_278_796)] {
        let plan = Plan::new(BoardSize::new(n).expect("in range"), Engine::Colours, None);
        group.sample_size(10).bench_function(format!("n={n}"), |bencher| {
            let counted = || plan.worker(Kernel::detect()).count(unit, &Cancel::new());
            bencher.iter(|| assert_eq!(counted(), Ok(count)));
        });
    }
}

criterion_group!(
    benches,
    all_engines,
    subtrees_by_threads,
    by_board,
    by_kernel,
    units_of_large_boards
);
criterion_main!(benches);
