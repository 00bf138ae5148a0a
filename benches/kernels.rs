//! The parts of engine `halves`, with each kernel that this CPU can run.
//!
//! `leaf/KERNEL/BUILDxPROBE`: one leaf of the join, on random words like those of a real leaf;
//! throughput in pairs. `half-boards/KERNEL/n=N`: the lists of one unit; throughput in half-boards.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nqueens::{BoardSize, Kernel, internals};

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

fn half_boards(criterion: &mut Criterion) {
    let size = BoardSize::new(18).expect("in range");
    let unit = 5000;
    let mut made = Vec::new();
    for kernel in Kernel::available() {
        let mut group = criterion.benchmark_group(format!("half-boards/{kernel}"));
        internals::with_half_boards(size, kernel, |make| {
            let expected = make(unit);
            made.push(expected);
            group.throughput(Throughput::Elements(expected as u64));
            group.bench_function(format!("n={size}"), |bencher| {
                bencher.iter(|| assert_eq!(make(unit), expected));
            });
        })
        .expect("the lists fit");
    }
    assert!(made.iter().all(|count| *count == made[0] && *count > 0), "kernels agree: {made:?}");
}

criterion_group!(benches, leaf, half_boards);
criterion_main!(benches);
