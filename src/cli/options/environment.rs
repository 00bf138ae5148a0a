//! What the environment sets where a flag is missing: the threads, and the shard of a job array.

use std::env;

use nqueens::{MAX_THREADS, Shard};

use super::values::number_of_threads;
use crate::cli::exit::Failure;

/// Variables that set the number of threads, the first before the second.
pub(crate) const THREADS: [&str; 2] = ["NQUEENS_THREADS", "SLURM_CPUS_PER_TASK"];

/// Variables in which schedulers tell which task of an array this is, and its first number.
pub(crate) const ARRAY_INDEX: [(&str, usize); 7] = [
    ("SLURM_ARRAY_TASK_ID", 0),
    ("PBS_ARRAY_INDEX", 0),
    ("JOB_COMPLETION_INDEX", 0),
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    ("HQ_TASK_ID", 0),
    ("SGE_TASK_ID", 1),
    ("LSB_JOBINDEX", 1),
];

/// The number of threads: that of a variable, else the cores that this process may use.
pub(crate) fn default_threads() -> Result<usize, Failure> {
    for name in THREADS {
        if let Some(text) = env::var(name).ok().filter(|text| !text.is_empty()) {
            let number = number_of_threads(&text);
            return number.map_err(|error| Failure::Usage(format!("{name}: {error}")));
        }
    }
    Ok(num_cpus::get().clamp(1, MAX_THREADS))
}

/// The shard with the index that is given, else that of a variable.
pub(crate) fn shard(index: Option<String>, shards: usize) -> Result<Shard, Failure> {
    let of_array = || {
        ARRAY_INDEX.into_iter().find_map(|(name, first)| {
            // Grid Engine sets `undefined` outside of arrays, LSF sets 0.
            let text = env::var(name).ok()?;
            let is_set = !matches!(text.as_str(), "" | "undefined") && (first == 0 || text != "0");
            is_set.then_some((name, text, first))
        })
    };
    let Some((source, text, first)) = index.map(|text| ("--index", text, 0)).or_else(of_array)
    else {
        return Err(Failure::Usage(
            "--index: which shard? Give a number from 0, or run as a task of a job array"
                .to_owned(),
        ));
    };
    let index = text.parse::<usize>().ok().and_then(|number| number.checked_sub(first));
    index.and_then(|index| Shard::new(index, shards).ok()).ok_or_else(|| {
        let last = shards - 1 + first;
        Failure::Usage(format!("{source}: '{text}' is not a shard: choose {first} to {last}"))
    })
}
