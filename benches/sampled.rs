//! Boards too large to count here, from a sample of their units on one thread.
//!
//! ```text
//! cargo bench --bench sampled -- N UNITS [KERNEL]      for example: 22 300
//! ```
//!
//! Takes UNITS runs of eight neighbouring units (which share quadrant lists, as in a whole count),
//! spread evenly over the plan, and prints the seconds that the whole count would take on one
//! thread, with the standard error of the sample, and the estimated total beside the published one:
//! if these differ by more than their error the sample says nothing about time either. In test mode
//! it samples a small board.

use std::time::Instant;

use nqueens::known::known;
use nqueens::{BoardSize, Cancel, Engine, Kernel, Plan, Resources, memory};

/// Neighbouring units taken together.
const RUN: usize = 8;

fn main() {
    let numbers: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let number = |at: usize, default: usize| {
        numbers.get(at).map_or(default, |text| text.parse().expect("N and UNITS are numbers"))
    };
    let n = u32::try_from(number(0, 14)).expect("a board size");
    let wanted = number(1, 20);
    let kernel = numbers.get(2).map_or_else(Kernel::detect, |name| {
        Kernel::from_name(name).expect("a kernel that this CPU can run")
    });
    sample(BoardSize::new(n).expect("0 to 32"), wanted, kernel);
}

#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn sample(size: BoardSize, wanted: usize, kernel: Kernel) {
    let plan = Plan::new(size, Engine::Halves, None);
    let resources = Resources { kernel, threads: 1, memory: memory::default_budget() };
    let begun = Instant::now();
    let prepared = plan.prepare(&resources, &Cancel::new()).expect("enough memory");
    let preparation = begun.elapsed().as_secs_f64();
    let mut counter = prepared.counter();
    let runs = wanted.clamp(2, plan.units() / RUN);
    let (mut seconds, mut solutions) = (Vec::new(), Vec::new());
    for run in 0..runs {
        // The middle of each of `runs` equal parts of the plan.
        let first = (2 * run + 1) * plan.units() / (2 * runs) / RUN * RUN;
        let begun = Instant::now();
        let mut found = 0.0;
        for unit in first..plan.units().min(first + RUN) {
            let count = counter.count(unit, &Cancel::new()).expect("a count");
            found += count as f64 * plan.weight(unit) as f64;
        }
        seconds.push(begun.elapsed().as_secs_f64());
        solutions.push(found);
    }
    let scale = plan.units() as f64 / RUN as f64;
    let (time, time_error) = mean_and_error(&seconds);
    let (total, total_error) = mean_and_error(&solutions);
    let published = known(size).total.expect("a published board") as f64;
    println!(
        "n = {size}, kernel {kernel}, {runs} runs of {RUN} of {} units: {:.4} s ± {:.1} %, prepared in \
         {preparation:.2} s; estimated total {:.4e} ± {:.1} %, published {published:.4e}",
        plan.units(),
        time * scale + preparation,
        100.0 * time_error / time,
        total * scale,
        100.0 * total_error / total,
    );
}

/// The mean of a sample and its standard error.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn mean_and_error(sample: &[f64]) -> (f64, f64) {
    let len = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / len;
    let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (len - 1.0) / len).sqrt())
}
