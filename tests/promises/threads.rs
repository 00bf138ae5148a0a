//! Promise: the number of threads is `--threads`, otherwise `NQUEENS_THREADS`, otherwise the usable cores, and no
//! variable of a scheduler is read. docs/CLUSTER.md makes this promise under "Threads".

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::common::{
    arg, fresh_folder, json, note_skipped, nqueens, refused, result, run, stderr, stdout,
};

#[test]
fn threads_come_from_the_flag_then_from_the_variable() {
    let threads = |args: &[&str], variable: Option<&str>| {
        let mut command = nqueens(&["count", "8", "--json"]);
        let variables = variable.map(|value| ("NQUEENS_THREADS", value));
        json(&run(command.args(args).envs(variables)))["threads"].as_u64()
    };
    assert_eq!(threads(&["--threads", "7"], Some("5")), Some(7));
    assert_eq!(threads(&[], Some("5")), Some(5));
    let cores = Some(crate::common::cores() as u64);
    assert_eq!(threads(&[], None), cores);
    assert_eq!(threads(&[], Some("")), cores);
}

#[test]
fn a_bad_variable_is_named() {
    let most = (4 * crate::common::cores()).max(64);
    for value in ["many", "0", "-1", "4097"] {
        let output = run(nqueens(&["count", "8"]).env("NQUEENS_THREADS", value));
        let choose = format!("choose 1 to {most}");
        refused(&output, 2, &[&format!("NQUEENS_THREADS: '{value}'"), &choose]);
    }
    // It would be ignored if only text were looked for.
    let no_text = OsStr::from_bytes(b"2\xff");
    for command in [["count", "8"], ["table", "8"], ["compare", "8"], ["cpu", "--quiet"]] {
        let output = run(nqueens(&command).env("NQUEENS_THREADS", no_text));
        refused(&output, 2, &["NQUEENS_THREADS: '2\u{fffd}': choose 1 to"]);
    }
}

/// As schedulers bind jobs. The largest number of threads is 64 on all of these machines, because four for each core
/// would be fewer.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_bound_to_some_cores_uses_these() {
    use std::process::Command;

    use crate::common::NQUEENS;

    let usable = usable_cores();
    for cores in 1..=usable.len().min(3) {
        let list = usable[..cores].join(",");
        let bound = |args: &[&str]| {
            let mut taskset = Command::new("taskset");
            taskset.args(["-c", &list, NQUEENS]).args(args).env_remove("NQUEENS_THREADS");
            run(&mut taskset)
        };
        assert_eq!(result(&bound(&["cpu", "-q"])), (Some(0), &*format!("{cores}\n"), ""));
        let count = bound(&["count", "8", "--json"]);
        assert_eq!(json(&count)["threads"].as_u64(), Some(cores as u64), "{count:?}");
        let most = bound(&["count", "8", "--json", "--threads", "64"]);
        assert_eq!(json(&most)["threads"], 64, "{most:?}");
        refused(&bound(&["count", "8", "--threads", "65"]), 2, &["choose 1 to 64"]);
    }
}

/// Eight threads share one CPU, so each of them has it for an eighth of the time at most. A board of a few units is no
/// sign of that.
#[cfg(target_os = "linux")]
#[test]
fn a_comparison_says_that_threads_had_too_few_cpus() {
    let picture = crate::common::fresh("threads-busy.svg");
    let mut taskset = std::process::Command::new("taskset");
    taskset.args(["-c", &usable_cores()[0], crate::common::NQUEENS]);
    taskset.args(["compare", "6", "16", "--engines", "subtrees", "--threads", "8"]);
    taskset.args(["--repeat", "2", "--csv", "--svg", arg(&picture)]);
    let output = run(&mut taskset);
    let message = stderr(&output);
    assert_eq!((output.status.code(), message.lines().count()), (Some(0), 1), "{message}");
    let parts = message.split_once("nqueens: a thread had a CPU for only ").expect("a warning");
    let (percent, rest) = parts.1.split_once('%').expect("a share");
    assert!(percent.parse::<u32>().expect("a number") <= 13, "{message}");
    assert!(rest.starts_with(" of the time (n = 16, subtrees "), "{message}");

    let row = stdout(&output).lines().last().expect("a row");
    let share: f64 = row.split(',').nth(16).expect("a column").parse().expect("a share");
    assert!(0.0 < share && share < 0.13, "{row}");
    let picture = std::fs::read_to_string(picture).expect("a picture");
    let caption = format!("; each thread had a CPU for at least {percent}% of the time; nqueens ");
    assert!(picture.contains(&caption), "{picture}");
}

/// The numbers of the cores that this process may use.
#[cfg(target_os = "linux")]
fn usable_cores() -> Vec<String> {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let mut cores = Vec::new();
    for part in list.expect("a list").trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend((number(first)..=number(last)).map(|core| core.to_string()));
    }
    cores
}

/// Job files pass them as options. A variable that is read unasked would choose other shards and threads than those
/// that the command names.
#[test]
fn no_variable_of_a_scheduler_is_read() {
    const VARIABLES: [&str; 11] = [
        "SLURM_CPUS_PER_TASK",
        "SLURM_ARRAY_TASK_ID",
        "SLURM_ARRAY_TASK_COUNT",
        "PBS_ARRAY_INDEX",
        "PBS_ARRAYID",
        "JOB_COMPLETION_INDEX",
        "AWS_BATCH_JOB_ARRAY_INDEX",
        "HQ_TASK_ID",
        "SGE_TASK_ID",
        "LSB_JOBINDEX",
        "OMP_NUM_THREADS",
    ];
    if crate::common::cores() == 1 {
        note_skipped("with one core, a limit of one thread shows nothing");
    }
    for value in ["1", "none"] {
        // A count in a folder could be a shard.
        let folder = fresh_folder("threads-variables");
        let mut count = nqueens(&["count", "10", "--json", "--journal", arg(&folder)]);
        let output = run(count.envs(VARIABLES.map(|name| (name, value))));
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
        let object = json(&output);
        assert_eq!(object["total"], "724");
        assert_eq!(object["shard"], Value::Null);
        assert_eq!(object["threads"].as_u64(), Some(crate::common::cores() as u64));
    }
}
