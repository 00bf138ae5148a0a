//! The leaf of the join of engine `halves`, with each kernel that this CPU can run.
//!
//! `leaf/KERNEL/BUILDxPROBE`: one leaf, on random words like those of a real leaf; throughput in pairs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nqueens::{Kernel, internals};

/// Bits that a leaf uses after splits on the best ones.
const BITS: u32 = 30;

/// Words with each bit set once in four.
fn words(count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.u64(..) & random.u64(..) & (u64::MAX >> (64 - BITS))).collect()
}

fn leaf(criterion: &mut Criterion) {
    for (build, probe) in [(256, 512), (512, 512), (1024, 256)] {
        let (build, probe) = (words(build, 1), words(probe, 2));
        let fits = |word: &u64| build.iter().filter(|built| *built & word == 0).count();
        let expected: usize = probe.iter().map(fits).sum();
        let pairs = build.len() * probe.len();
        for kernel in Kernel::available() {
            let mut group = criterion.benchmark_group(format!("leaf/{kernel}"));
            group.throughput(Throughput::Elements(pairs as u64));
            let mut count = internals::leaf(kernel, &build, &probe, BITS);
            group.bench_function(format!("{}x{}", build.len(), probe.len()), |bencher| {
                bencher.iter(|| assert_eq!(count(), expected as u64));
            });
        }
    }
}

criterion_group!(benches, leaf);
criterion_main!(benches);
