//! Promise: an estimate covers the true time and total, and says so if it knows nothing. docs/JOURNAL.md makes this
//! promise under "Forecasts". How often its intervals cover the truth is checked in `src/forecast/`.

use std::time::Duration;

use nqueens::{Cancel, Count, Engine, Error};

#[cfg(target_os = "linux")]
use crate::common::processes::cpu_time_at_end;
use crate::common::{colours_bytes, json, output, size, stderr, stdout};
#[cfg(target_os = "linux")]
use crate::common::{finish, nqueens, spawn};

/// A unit of these engines takes hours or more. `src/forecast.rs` checks what boards cost with every engine.
#[test]
fn without_a_unit_an_estimate_is_what_boards_cost_elsewhere() {
    for engine in [Engine::Permutation, Engine::Subtrees] {
        let count = Count::new(size(32)).engine(engine).threads(2);
        let rough = count.estimate(Duration::from_millis(20)).expect("a rough estimate");
        for time in [rough.wall_seconds.expect("a wall time"), rough.cpu_seconds] {
            assert!(time.value > 1e9 && time.standard_error.is_infinite(), "{engine}: {rough:?}");
        }
        assert_eq!(rough.total, None, "{engine}");
    }
    let args = ["estimate", "32", "--seconds", "0.02", "--engine", "permutation"];
    let text = output(&args);
    assert_eq!((text.status.code(), stderr(&text)), (Some(0), ""), "{text:?}");
    assert!(stdout(&text).contains("sample       0 of "), "{text:?}");
    assert!(stdout(&text).contains("time         roughly "), "{text:?}");
    let json = json(&output(&[&args[..], &["--json"]].concat()));
    assert_eq!(json["units_sampled"], 0, "{json}");
    assert!(json["estimated_seconds"].is_number() && json["estimated_seconds_error"].is_null());
    assert!(json["estimated_total"].is_null(), "{json}");
}

#[test]
fn an_estimate_stands_beside_the_published_total() {
    let text = output(&["estimate", "12", "--seconds", "0.1"]);
    assert!(stdout(&text).contains(" (published: 14200)\n"), "{text:?}");
    let text = output(&["estimate", "28", "--seconds", "0.001", "--engine", "bitmask"]);
    assert!(!stdout(&text).contains("published"), "{text:?}");
}

#[test]
fn a_sample_is_not_compared_with_the_published_total() {
    // A board of some seconds, with units of milliseconds.
    let sample = output(&["estimate", "20", "--seconds", "0.02", "-t", "1", "--json"]);
    assert_eq!((sample.status.code(), stderr(&sample)), (Some(0), ""), "{sample:?}");
    let sample = json(&sample);
    let [units, sampled] =
        [&sample["units"], &sample["units_sampled"]].map(serde_json::Value::as_u64);
    assert!(Some(0) < sampled && sampled < units, "{sample}");
    assert_eq!(sample["counted"], false);
}

#[test]
fn a_sample_that_is_cancelled_before_a_unit_says_nothing() {
    let cancel = Cancel::new();
    cancel.cancel();
    let count = Count::new(size(32)).engine(Engine::Permutation).threads(1).cancel_on(&cancel);
    let stopped = count.estimate(Duration::from_secs(60));
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    let small = Count::new(size(8)).cancel_on(&cancel).estimate(Duration::from_secs(60));
    assert!(matches!(small, Err(Error::Cancelled)), "{small:?}");
}

#[test]
fn a_sample_of_all_units_is_the_total() {
    for n in 0..=12 {
        for engine in [Engine::Colours, Engine::Subtrees, Engine::Bitmask] {
            let count = Count::new(size(n)).engine(engine).threads(2);
            let forecast = count.estimate(Duration::from_secs(60)).expect("a sample");
            let estimated = forecast.total.expect("an estimate");
            let counted = nqueens::count(n).expect("a count") as f64;
            assert!(
                (estimated.value - counted).abs() < 1e-6 * counted.max(1.0),
                "n = {n}, {engine}"
            );
            for error in
                [estimated, forecast.wall_seconds.expect("a wall time"), forecast.cpu_seconds]
            {
                assert_eq!(error.standard_error, 0.0, "n = {n}, {engine}: {forecast:?}");
            }
        }
    }
}

/// The time on other cores is the CPU time over their number, whatever this machine does meanwhile, and the memory is
/// said, but not asked for.
#[test]
fn an_estimate_for_other_cores_is_the_cpu_time_over_their_number() {
    let args = ["estimate", "26", "--seconds", "0.1", "--cores", "1000000", "--threads", "1"];
    let text = output(&args);
    assert_eq!((text.status.code(), stderr(&text)), (Some(0), ""), "{text:?}");
    assert!(stdout(&text).contains(" on 1000000 CPUs like this one\n"), "{text:?}");
    assert!(stdout(&text).contains("TiB on 1000000 threads\n"), "{text:?}");
    let object = json(&output(&[&args[..], &["--json"]].concat()));
    let number = |name: &str| object[name].as_f64().expect(name);
    let expected = number("estimated_cpu_seconds") / 1e6;
    assert!((number("estimated_seconds") - expected).abs() < 1e-4 * expected, "{object}");
    assert_eq!((&object["cores"], &object["threads"]), (&1_000_000.into(), &1.into()));
    let memory = colours_bytes(26) * 1_000_000;
    assert_eq!(object["memory"], memory);
}

/// The same cores answer without a caution, because they were measured.
#[test]
fn an_estimate_for_more_cores_says_that_they_slow_each_other_down() {
    for (cores, is_said) in [("1", false), ("2", true), ("64", true)] {
        let args = ["estimate", "22", "--seconds", "0.1", "--threads", "1", "--cores", cores];
        let text = output(&args);
        assert_eq!(stdout(&text).contains("many CPUs slow each other down"), is_said, "{text:?}");
    }
}

/// A unit takes so long that the sample ends after the first ones.
#[test]
fn a_sample_that_is_too_small_says_so_and_has_no_total() {
    let args = ["estimate", "24", "--seconds", "0.4", "--threads", "1"];
    let text = output(&args);
    assert_eq!((text.status.code(), stderr(&text)), (Some(0), ""), "{text:?}");
    let lines: Vec<&str> = stdout(&text).lines().collect();
    let line = |name: &str| *lines.iter().find(|line| line.starts_with(name)).expect(name);
    assert!(
        line("sample ").ends_with(", too few to be fair: the cheap ones end first"),
        "{text:?}"
    );
    assert!(line("total ").contains(" unknown: the sample is too small (published: "), "{text:?}");
    let object = json(&output(&[&args[..], &["--json"]].concat()));
    assert!(object["estimated_total"].is_null() && object["units_sampled"] != 0, "{object}");
}

#[test]
fn memory_that_is_not_known_is_null() {
    let args = ["estimate", "31", "--seconds", "0.001", "--engine", "bitmask", "--json"];
    assert!(json(&output(&args))["memory"].is_null());
}

/// Four threads for each core. No machine counts the board in a second.
#[test]
fn an_estimate_says_how_many_cores_the_threads_got() {
    let threads = 4 * crate::common::cores();
    let threads = threads.to_string();
    let args = ["estimate", "24", "--seconds", "1", "--threads", &threads];
    let text = output(&args);
    assert_eq!((text.status.code(), stderr(&text)), (Some(0), ""), "{text:?}");
    let time = stdout(&text).lines().find(|line| line.starts_with("time ")).expect("a time");
    let got = format!(" ({threads} threads got ");
    assert!(time.contains(&got) && time.ends_with(" CPUs)"), "{time}");
}

/// Each thread gets a quarter of a core, so a unit takes four times as long as its CPU time, and much work is not
/// reported when the sample ends. What else the machine does may change during a sample, and a slow machine may finish
/// no unit, so there are several samples.
#[cfg(target_os = "linux")]
#[test]
fn the_time_is_the_cpu_time_over_the_cores_that_the_process_got() {
    let threads = (4 * crate::common::cores()).to_string();
    let mut differing = Vec::new();
    for seconds in ["2", "2", "2", "20"] {
        let args = ["estimate", "21", "--engine", "subtrees", "--threads", &threads, "--json"];
        let child = spawn(nqueens(&args).args(["--seconds", seconds]));
        let cpu_seconds = cpu_time_at_end(&child).as_secs_f64();
        let estimate = json(&finish(child));
        let number = |name: &str| estimate[name].as_f64().expect(name);
        let expected = cpu_seconds / number("sample_seconds");
        if let Some(cores) = estimate["cores_of_sample"].as_f64() {
            let ratio = number("estimated_seconds") * cores / number("estimated_cpu_seconds");
            assert!((ratio - 1.0).abs() < 0.1, "{ratio}: {estimate}");
            // At the end, the threads wait for the last unit.
            if (0.7..2.0).contains(&(cores / expected)) {
                return;
            }
        }
        differing.push((expected, estimate));
    }
    panic!("the process got other cores: {differing:?}");
}
