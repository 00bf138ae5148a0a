//! Counts a board, shows how far it is, and gives up after some seconds.
//!
//! ```text
//! cargo run --release --example progress -- 22 5
//! ```

use std::env;
use std::error::Error;
use std::thread;
use std::time::Duration;

use nqueens::{BoardSize, Cancel, Count};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let size: BoardSize = args.next().unwrap_or_else(|| "18".to_owned()).parse()?;
    let seconds: f64 = args.next().unwrap_or_else(|| "5".to_owned()).parse()?;

    let cancel = Cancel::new();
    let count = Count::new(size).cancel_on(&cancel).on_progress(|progress| {
        eprint!("\r{:.1} %, {} solutions ", 100.0 * progress.fraction(), progress.solutions());
    });
    thread::spawn(move || {
        thread::sleep(Duration::from_secs_f64(seconds));
        cancel.cancel();
    });

    let outcome = count.run()?;
    eprintln!();
    match outcome.total {
        Some(total) => println!(
            "Q({size}) = {total}, compared with the published number: {}",
            outcome.agreement
        ),
        None => println!("{} of {} units after {seconds} s", outcome.units_done, outcome.units),
    }
    Ok(())
}
