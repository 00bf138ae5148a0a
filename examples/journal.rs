//! Forecasts a count, stops it half way, resumes it from its journals, and checks what they hold.
//!
//! ```text
//! cargo run --release --example journal -- 18 q18
//! ```

use std::env;
use std::error::Error;
use std::time::Duration;

use nqueens::journal::Records;
use nqueens::{BoardSize, Cancel, Count};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let size: BoardSize = args.next().unwrap_or_else(|| "18".to_owned()).parse()?;
    let folder = args.next().unwrap_or_else(|| format!("q{size}"));

    let count = Count::new(size).journal(&folder);
    let forecast = count.estimate(Duration::from_millis(200))?;
    println!(
        "expected: {} s of CPU time, {} s on 16 CPUs",
        forecast.cpu_seconds,
        forecast.on_cores(16)
    );

    // The finished units stay in the folder, even if the process is killed.
    let cancel = Cancel::new();
    let half = count.clone().cancel_on(&cancel).on_progress(|progress| {
        if progress.fraction() > 0.5 {
            cancel.cancel();
        }
    });
    let stopped = half.run()?;
    println!("stopped after {} of {} units", stopped.units_done, stopped.units);
    if let Some(record) = Records::read(&[&folder])?.first()
        && let Some(left) = record.time_left()
    {
        println!("left: {} s of CPU time", left.cpu_seconds);
    }

    let outcome = count.run()?;
    println!("resumed with {} units: Q({size}) = {:?}", outcome.units_before, outcome.total);

    // Anybody who has the folder can count some of its units again.
    let (sample, seed) = (50, 1);
    let verdict = Records::read(&[&folder])?.verify(sample, seed, &Cancel::new())?;
    for difference in &verdict.differences {
        println!("wrong: {difference}");
    }
    println!("recounted {} units, {} differ", verdict.recounted, verdict.differences.len());
    Ok(())
}
