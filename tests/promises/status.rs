//! `status` tells which processes write now, what is finished, and how long the rest takes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, SystemTime};

use nqueens::Kernel;
use nqueens::record::journals_in;
use serde_json::Value;

use crate::common::processes::send;
use crate::common::{
    Running, arg, commands_after, contents, count_shard, fresh_folder, json, keep_lines, nqueens,
    output, raise_counts, refused, run, run_in_shell, set_aside, spawn, stderr, stdout,
};

const HOUR: Duration = Duration::from_secs(3600);

/// Starts a count with units that take years, and waits for its journal to begin.
pub(crate) fn start_endless(options: &[&str], place: &Path) -> (Running, PathBuf) {
    let count = ["count", "16", "--engine", "permutation", "--threads", "1", "--journal"];
    let mut child = spawn(nqueens(&count).arg(place).args(options));
    let journal = || {
        let files = journals_in(&[place.to_owned()]).ok()?;
        let has_run = |path: &&PathBuf| {
            fs::read_to_string(path)
                .is_ok_and(|text| text.lines().any(|line| line.starts_with("run ")))
        };
        files.iter().find(has_run).cloned()
    };
    let path = crate::common::processes::wait_for("a journal", &mut child, journal);
    (child, path)
}

fn set_age(path: &Path, age: Duration) {
    let file = File::options().append(true).open(path).expect("it is there");
    file.set_modified(SystemTime::now() - age).expect("its owner");
}

fn running(path: &Path) -> Value {
    json(&output(&["status", arg(path), "--json"]))["running"].clone()
}

#[test]
fn a_count_in_a_folder_is_running_until_its_process_ends() {
    for signal in ["TERM", "KILL"] {
        let folder = fresh_folder(&format!("status-{signal}"));
        let (mut child, path) = start_endless(&[], &folder);
        // A stopped process holds its lock.
        send("STOP", &child);
        set_age(&path, HOUR);
        assert_eq!(running(&folder), 1, "its unit takes long");
        send("CONT", &child);
        send(signal, &child);
        child.wait().expect("it ends");
        set_age(&path, Duration::ZERO);
        assert_eq!(running(&folder), 0, "SIG{signal}");
    }
}

#[test]
fn a_count_that_was_named_is_running_until_its_process_ends() {
    let path = fresh_folder("status-named").join("q.journal");
    let (mut child, _) = start_endless(&[], &path);
    assert_eq!(running(&path), 1);
    // What was joined with `cat` is no process.
    let packed = path.with_file_name("packed.journal");
    fs::write(&packed, fs::read(&path).expect("text")).expect("room");
    assert_eq!(running(&packed), 0);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(running(&path), 0);
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = fresh_folder("status-twice");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    let other = folder.join("..").join(folder.file_name().expect("a name")).join("q.journal");
    std::os::unix::fs::symlink(&path, folder.join("link.journal")).expect("room");
    for paths in [[&path, &path], [&path, &other], [&folder, &path], [&path, &folder]] {
        let merged = json(&output(&["merge", "--json", arg(paths[0]), arg(paths[1])]));
        assert_eq!((&merged["files"], &merged["twice"]), (&1.into(), &0.into()), "{paths:?}");
        assert_eq!(merged["total"], "724");
    }
    // An inode tells nothing: some file systems give all files the same. Twice does no harm.
    fs::hard_link(&path, folder.join("hard-link.journal")).expect("room");
    let merged = json(&output(&["merge", "--json", arg(&folder)]));
    assert_eq!((&merged["files"], &merged["twice"]), (&2.into(), &merged["units"]));
    assert_eq!(merged["total"], "724");
}

#[test]
fn the_last_record_is_as_old_as_the_file() {
    let path = fresh_folder("status-age").join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    set_age(&path, HOUR);
    let since = json(&output(&["status", "--json", arg(&path)]))["seconds_since_record"].as_f64();
    assert!(since.is_some_and(|since| (3599.0..3660.0).contains(&since)), "{since:?}");
    let shown = output(&["status", arg(&path)]);
    assert!(stdout(&shown).contains("last record  1h00m ago"), "{shown:?}");
}

/// Clocks differ by seconds. A file from the future says nothing of when it was written.
#[test]
fn a_record_that_is_to_come_has_no_age() {
    let folder = fresh_folder("status-future");
    let (path, page) = (folder.join("q.journal"), folder.join("page.html"));
    assert_eq!(output(&["count", "10", "--journal", arg(&path)]).status.code(), Some(0));
    let file = File::options().append(true).open(&path).expect("it is there");
    for (ahead, since) in [(Duration::from_secs(20), Some(0.0)), (HOUR, None)] {
        file.set_modified(SystemTime::now() + ahead).expect("its owner");
        let status = ["status", arg(&path), "--html", arg(&page)];
        let shown = output(&status);
        let is_told = stdout(&shown).contains("last record  0 s ago");
        assert_eq!(is_told, since.is_some(), "{shown:?}");
        let shown = fs::read_to_string(&page).expect("a page");
        assert_eq!(shown.contains("<dt>last record</dt><dd>0 s ago"), is_told, "{shown}");
        let told = json(&output(&[&status[..], &["--json"]].concat()));
        assert_eq!(told["seconds_since_record"].as_f64(), since);
    }
}

/// A plain journal is not called a shard, and the command that resumes it can be run as it is.
#[test]
fn the_text_has_the_command_that_resumes_the_count() {
    let folder = fresh_folder("status-resume").join("a 'b'");
    fs::create_dir(&folder).expect("room");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "11", "--journal", arg(&path)]).status.code(), Some(0));
    keep_lines(&path, 3);
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(!shown.contains("shard"), "{shown}");
    let command = shown.lines().find_map(|line| line.strip_prefix("resume       "));
    let resumed = run_in_shell(command.expect("a command"));
    assert!(stdout(&resumed).contains("total        2680\n"), "{resumed:?}");
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains("total        2680\n") && !shown.contains("resume"), "{shown}");
}

/// The command that `status` prints for these journals, if there is one.
fn resume_command(paths: &[PathBuf]) -> Option<String> {
    let paths: Vec<&str> = paths.iter().map(|path| arg(path)).collect();
    let status = json(&output(&[&["status", "--json"], &paths[..]].concat()));
    status["resume"].as_str().map(str::to_owned)
}

/// Runs the command that `status` prints for a journal or a folder of them. Returns the total that is there then.
fn total_after_resume(place: &Path) -> String {
    let command = resume_command(&[place.to_owned()]).expect("a command");
    run_in_shell(&command);
    stdout(&output(&["merge", "--quiet", arg(place)])).to_owned()
}

/// Counts shards of n = 12 on two threads, each into a journal of its own, of which these are the paths.
fn shards_of_12(folder: &Path, shards: &[(usize, usize)]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (index, of) in shards {
        let outcome = count_shard(12, *index, *of, folder);
        paths.push(set_aside(&outcome, &format!("{index}-of-{of}")));
    }
    paths
}

#[test]
fn the_command_resumes_a_damaged_journal() {
    let path = fresh_folder("resume-plain").join("q.journal");
    assert_eq!(output(&["count", "12", "--journal", arg(&path)]).status.code(), Some(0));
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replacen("done ", "gone ", 1)).expect("room");
    let paths = slice::from_ref(&path);
    let command = resume_command(paths).expect("a unit is missing");
    assert!(command.starts_with("nqueens count 12 --journal "), "{command}");
    assert_eq!(total_after_resume(&path), "14200\n");
    assert_eq!(resume_command(paths), None, "nothing is missing");
}

#[test]
fn the_command_resumes_a_second_count() {
    let path = fresh_folder("resume-second").join("q.journal");
    let counted = output(&["count", "12", "--second", "--journal", arg(&path)]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    keep_lines(&path, 3);
    let paths = slice::from_ref(&path);
    let command = resume_command(paths).expect("units are missing");
    assert!(command.starts_with("nqueens count 12 --second --journal "), "{command}");
    assert_eq!(total_after_resume(&path), "14200\n");
}

#[test]
fn the_command_counts_the_shards_that_are_missing() {
    let folder = fresh_folder("resume-shards").join("a 'b'");
    fs::create_dir(&folder).expect("room");
    let folders = slice::from_ref(&folder);
    shards_of_12(&folder, &[(1, 7), (3, 7)]);
    let command = resume_command(folders).expect("shards are missing");
    let numbers = "sh -c 'echo 0; echo 2; seq 4 6' | ";
    let counts = "xargs -I {} nqueens count 12 --shard {}/7 --journal ";
    assert!(command.starts_with(&[numbers, counts].concat()), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");

    let folder = fresh_folder("resume-shard");
    let folders = slice::from_ref(&folder);
    shards_of_12(&folder, &[(0, 3), (1, 3)]);
    let command = resume_command(folders).expect("a shard is missing");
    assert!(command.starts_with("nqueens count 12 --shard 2/3 --journal "), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");
    assert_eq!(resume_command(folders), None, "nothing is missing");
}

/// The journals do not say how the rest is cut.
#[test]
fn the_command_counts_everything_after_a_change_of_the_number_of_shards() {
    let folder = fresh_folder("resume-mixed");
    let folders = slice::from_ref(&folder);
    shards_of_12(&folder, &[(0, 3), (1, 3), (3, 4)]);
    let command = resume_command(folders).expect("units are missing");
    assert!(command.starts_with("nqueens count 12 --journal "), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");
}

/// What a process is counting, another one need not count.
#[test]
fn the_command_leaves_out_what_is_being_counted() {
    let folder = fresh_folder("resume-running");
    let folders = slice::from_ref(&folder);
    let (mut child, _) = start_endless(&["--shard", "1/3"], &folder);
    let shown = output(&["status", arg(&folder)]);
    let shards = "shards       running: shard 1 of 0-2; missing: shards 0,2 of 0-2\n";
    assert!(stdout(&shown).contains(shards), "{shown:?}");
    let command = resume_command(folders).expect("two shards are not being counted");
    let numbers = "sh -c 'echo 0; echo 2' | ";
    let counts = "xargs -I {} nqueens count 16 --engine permutation --shard {}/3 ";
    assert!(command.starts_with(&[numbers, counts].concat()), "{command}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let command = resume_command(folders).expect("no shard is being counted");
    assert!(command.starts_with("seq 0 2 | xargs "), "{command}");

    let path = fresh_folder("resume-running-whole").join("q.journal");
    let paths = slice::from_ref(&path);
    let (mut child, _) = start_endless(&[], &path);
    assert_eq!(resume_command(paths), None, "all units are being counted");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(resume_command(paths).is_some(), "no unit is being counted");
}

/// Where journals of several plans lie in a folder, a count of the board alone would not know which is meant.
#[test]
fn the_command_names_the_plan_where_it_is_not_the_default() {
    let folder = fresh_folder("resume-plans");
    // Without options it is engine colours.
    let plans = [&[][..], &["--engine", "bitmask"], &["--split-rows", "2"], &["--split-rows", "3"]];
    for (number, plan) in plans.into_iter().enumerate() {
        let path = folder.join(format!("{number}.journal"));
        let count = ["count", "14", "--journal", arg(&path)];
        assert_eq!(output(&[&count[..], plan].concat()).status.code(), Some(0), "{plan:?}");
        keep_lines(&path, 3);
        // Of several journals, so that their folder is named.
        fs::copy(&path, folder.join(format!("{number}-again.journal"))).expect("room");
    }
    let counts = || json(&output(&["status", "--json", arg(&folder)]))["counts"].clone();
    let before = counts();
    let before = before.as_array().expect("a list");
    let commands: Vec<&str> = before.iter().filter_map(|count| count["resume"].as_str()).collect();
    assert_eq!(commands.len(), plans.len(), "{before:?}");
    for command in commands {
        run_in_shell(command);
    }
    let after = counts();
    for count in after.as_array().expect("a list") {
        assert_eq!(count["total"], "365596", "{after}");
    }
}

/// No count would begin. `verify` names the wrong line and the command that takes it out, then there is one.
#[test]
fn there_is_no_command_while_a_unit_has_two_counts() {
    let folder = fresh_folder("resume-disputed");
    let mut paths = shards_of_12(&folder, &[(0, 3), (1, 3)]);
    paths.push(folder.join("wrong.journal"));
    fs::copy(&paths[0], &paths[2]).expect("room");
    assert_eq!(raise_counts(&paths[2], 1, |line, _| line == 2).len(), 1);
    assert_eq!(resume_command(&paths), None);
    let shown = output(&["status", arg(&folder)]);
    assert_eq!(shown.status.code(), Some(1), "{shown:?}");
    assert!(stderr(&shown).contains("'nqueens verify "), "{shown:?}");
    assert!(!stdout(&shown).contains("resume"), "{shown:?}");

    let verified = output(&["verify", arg(&folder)]);
    let commands = commands_after("their units are counted again: ", stderr(&verified));
    assert!(commands.len() == 1 && commands[0].contains("wrong.journal"), "{verified:?}");
    run_in_shell(&commands[0]);
    assert_eq!(total_after_resume(&folder), "14200\n");
}

/// The shards are counted into the folder of the journals, and what another board or only one shard left there is no
/// obstacle.
#[test]
fn the_command_works_beside_journals_of_another_board() {
    let folder = fresh_folder("resume-beside");
    let paths = shards_of_12(&folder, &[(0, 3), (1, 3)]);
    let other = folder.join("q10.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&other)]).status.code(), Some(0));
    let of_12 = || {
        let all = journals_in(slice::from_ref(&folder)).expect("a folder");
        all.into_iter().filter(|path| *path != other).collect::<Vec<_>>()
    };
    let command = resume_command(&paths[1..]).expect("two shards are missing");
    assert!(command.starts_with("sh -c 'echo 0; echo 2' | xargs "), "{command}");
    run_in_shell(&command);
    assert_eq!(of_12().len(), 3, "shard 0 was finished, and is not counted again");
    let merged = run(nqueens(&["merge", "--quiet"]).args(of_12()));
    assert_eq!(stdout(&merged), "14200\n");
}

#[test]
fn a_folder_of_several_counts_is_a_list() {
    let folder = fresh_folder("status-list");
    let path = |name: &str| folder.join(name);
    let whole = path("a10.journal");
    assert_eq!(output(&["count", "10", "--journal", arg(&whole)]).status.code(), Some(0));
    shards_of_12(&folder, &[(0, 3), (1, 3)]);
    // Folders within folders are not read.
    let inner = path("inner");
    fs::create_dir(&inner).expect("room");
    let hidden = inner.join("q9.journal");
    assert_eq!(output(&["count", "9", "--journal", arg(&hidden)]).status.code(), Some(0));

    let listed = output(&["status", arg(&folder)]);
    assert_eq!((listed.status.code(), stderr(&listed)), (Some(0), ""));
    let list = stdout(&listed);
    let reports: Vec<&str> = list.split("\n\n").collect();
    let [shards_text, whole_text] = reports[..] else { panic!("two reports: {list}") };
    assert!(whole_text.starts_with("n            10\n"), "{list}");
    assert!(whole_text.contains("\ntotal        724\n"), "{list}");
    assert!(shards_text.starts_with("n            12\n"), "{list}");
    let resume = "\nresume       nqueens count 12 --shard 2/3 --journal ";
    assert!(shards_text.contains(resume), "{list}");
    let counts = json(&output(&["status", arg(&folder), "--json"]))["counts"].clone();
    assert_eq!((&counts[0]["n"], &counts[1]["n"]), (&12.into(), &10.into()));
    assert_eq!(counts.as_array().map(Vec::len), Some(2), "{counts}");
    let html = output(&["status", arg(&folder), "--html", arg(&path("page.html"))]);
    assert_eq!(html.status.code(), Some(0), "{html:?}");
    let page = fs::read_to_string(path("page.html")).expect("a page");
    assert!(page.contains("<h2>10 queens</h2>") && page.contains("<h2>12 queens</h2>"), "{page}");
    for command in ["verify", "merge"] {
        let several = output(&[command, arg(&folder)]);
        refused(&several, 2, &["n=10 ", "n=12 ", "name the files or folders of one of them"]);
    }
    // What cannot be read hides nothing else.
    fs::write(path("z.journal"), "no journal").expect("room");
    let list = output(&["status", arg(&folder)]);
    assert_eq!((list.status.code(), stdout(&list).split("\n\n").count()), (Some(1), 2), "{list:?}");
    assert!(stderr(&list).contains("z.journal: is not a journal"), "{list:?}");
}

/// Every line of a journal is part of the sample, whichever run wrote it.
#[test]
fn the_time_left_is_that_of_the_lines() {
    let path = fresh_folder("status-forecast").join("q.journal");
    let count = ["count", "16", "--engine", "subtrees", "--journal", arg(&path)];
    assert_eq!(output(&count).status.code(), Some(0));
    let whole = contents(&path);
    let cpu: f64 = whole.runs().map(|run| run.cpu_time.as_secs_f64()).sum();
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines / 2);
    let status = json(&output(&["status", "--json", arg(&path)]));
    let number = |name: &str| status[name].as_f64().expect("a number");
    let (left, error) = (number("cpu_seconds_left"), number("cpu_seconds_left_error"));
    let truth = cpu - number("cpu_seconds");
    // The interval covers 19 of 20 truths, and nearly all within twice its width; one beside other tests is off
    // by more than the interval now and then.
    assert!((left - truth).abs() <= 2.0 * error.max(0.15 * truth), "{left} ± {error}, not {truth}");
    assert!(status["seconds_left"].is_null());
    // A few lines say nothing of the others.
    keep_lines(&path, 6);
    let status = json(&output(&["status", "--json", arg(&path)]));
    assert!(status["cpu_seconds_left"].is_f64() && status["cpu_seconds_left_error"].is_null());
    let shown = output(&["status", arg(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains(" measured, roughly "), "{shown}");
}

/// What a run took says little of one with another kernel, or another number of threads on the same cores.
#[test]
fn the_times_of_other_runs_are_rough() {
    let path = fresh_folder("status-other").join("q.journal");
    let count = |more: &[&str]| {
        let args = ["count", "16", "--engine", "subtrees", "--journal", arg(&path)];
        assert_eq!(output(&[&args[..], more].concat()).status.code(), Some(0), "{more:?}");
    };
    count(&["--threads", "16"]);
    let lines = fs::read_to_string(&path).expect("text").lines().count() / 2;
    let left = || {
        let status = json(&output(&["status", "--json", arg(&path)]));
        ["cpu_seconds_left", "cpu_seconds_left_error"].map(|name| status[name].as_f64())
    };
    keep_lines(&path, lines);
    let [before, error] = left();
    assert!(before.is_some() && error.is_some(), "half of it tells");
    for kernel in [&[][..], &["--kernel", "portable"]] {
        keep_lines(&path, lines);
        count(&[&["--threads", "2"], kernel].concat());
        // Of the second run only its first line is left.
        keep_lines(&path, lines + 1);
        assert_eq!(contents(&path).runs().count(), 2);
        assert_eq!(left(), [before, None], "{kernel:?}");
    }
}

/// Two shards, counted by different kernels where the CPU has some, else on other threads: the forecast is made from
/// the one that is being counted.
#[test]
fn a_forecast_rests_on_runs_like_the_one_that_counts() {
    let folder = fresh_folder("status-kinds");
    let shard = |shard: &str, kernel: Kernel, threads: &str| {
        let count = ["count", "16", "--shard", shard, "--engine", "subtrees", "--json"];
        let how = ["--kernel", kernel.name(), "--threads", threads, "--journal", arg(&folder)];
        let done = json(&output(&[&count[..], &how].concat()));
        PathBuf::from(done["journal"]["file"].as_str().expect("a path"))
    };
    let whole = shard("0/2", Kernel::Portable, "1");
    let other = shard("1/2", Kernel::detect(), "2");
    let cpu_time = |path: &Path| contents(path).cpu_time().as_secs_f64();
    let lines = fs::read_to_string(&other).expect("text").lines().count();
    let truth = cpu_time(&other);
    keep_lines(&other, lines / 2);
    let truth = truth - cpu_time(&other);
    let left = || {
        let status = json(&output(&["status", "--json", arg(&folder)]));
        ["cpu_seconds_left", "cpu_seconds_left_error"].map(|name| status[name].as_f64())
    };
    assert!(matches!(left(), [Some(_), None]), "nobody knows who counts the rest: {:?}", left());
    let writer = File::options().append(true).open(&other).expect("it is there");
    writer.lock().expect("a local file system");
    let [value, error] = left().map(|number| number.expect("half of the shard tells"));
    // Nearly all truths lie within twice the width of the interval, also beside other tests.
    let is_covered = (value - truth).abs() <= 2.0 * error.max(0.15 * truth);
    assert!(
        is_covered,
        "{value} ± {error}, not {truth}; the other shard took {}",
        cpu_time(&whole)
    );
}
