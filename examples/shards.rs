//! Counts a board twice, in four processes: each shard and each pass is a process of its own, on one machine or on many
//! that share a folder. Then adds the shards up, compares the passes, and draws the first fundamental solutions.
//!
//! ```text
//! cargo run --release --example shards -- 16 q16
//! ```

use std::env;
use std::error::Error;
use std::process::Command;

use nqueens::journal::Records;
use nqueens::plan::Pass;
use nqueens::{BoardSize, Count, Shard, Solutions};

const SHARDS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    match &args[..] {
        [size, folder, shard, pass] => {
            count_shard(size.parse()?, folder, shard.parse()?, pass.parse()?)
        }
        [size, folder] => count_all(size.parse()?, folder),
        _ => Err("name the size of the board and a folder".into()),
    }
}

/// What one process does.
fn count_shard(
    size: BoardSize,
    folder: &str,
    shard: Shard,
    pass: Pass,
) -> Result<(), Box<dyn Error>> {
    let outcome = Count::new(size).journal(folder).shard(shard).pass(pass).threads(1).run()?;
    println!("shard {shard}, {pass} pass: {} units", outcome.units);
    Ok(())
}

fn count_all(size: BoardSize, folder: &str) -> Result<(), Box<dyn Error>> {
    let mut processes = Vec::new();
    for pass in [Pass::First, Pass::Second] {
        for index in 0..SHARDS {
            let shard = Shard::new(index, SHARDS)?;
            let args = [size.to_string(), folder.to_owned(), shard.to_string(), pass.to_string()];
            processes.push(Command::new(env::current_exe()?).args(args).spawn()?);
        }
    }
    for mut process in processes {
        process.wait()?;
    }

    let records = Records::read(&[folder])?;
    let both = records.compare().ok_or("a pass is missing")?;
    println!("{} units counted twice, {} differ", both.counted_twice, both.differing.len());
    println!(
        "Q({size}) = {:?}, compared with the published number: {}",
        records.total(),
        records.agreement()
    );
    for solution in Solutions::fundamental(size).take(2) {
        println!("{}", solution.to_unicode());
    }
    Ok(())
}
