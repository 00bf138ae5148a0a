//! Promise: `status` prints a command that counts what is missing. docs/JOURNAL.md makes this promise under "What
//! runs".

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use super::status::start_endless;
use crate::common::{
    arg, count_shard, fresh_folder, journal_in, journals_in, json, keep_lines, nqueens, output,
    run, run_in_shell, set_aside, stdout,
};

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
pub(crate) fn shards_of_12(folder: &Path, shards: &[(usize, usize)]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (index, of) in shards {
        let outcome = count_shard(12, *index, *of, folder);
        paths.push(set_aside(&outcome, &format!("{index}-of-{of}")));
    }
    paths
}

/// A plain journal is not called a shard, and the command that resumes it can be run as it is.
#[test]
fn the_text_has_the_command_that_resumes_the_count() {
    let folder = fresh_folder("status-resume").join("a 'b'");
    assert_eq!(output(&["count", "11", "--journal", arg(&folder)]).status.code(), Some(0));
    keep_lines(&journal_in(&folder), 3);
    let shown = output(&["status", arg(&folder)]);
    let shown = stdout(&shown);
    assert!(!shown.contains("shard"), "{shown}");
    let command = shown.lines().find_map(|line| line.strip_prefix("resume       "));
    let resumed = run_in_shell(command.expect("a command"));
    assert!(stdout(&resumed).contains("total        2680\n"), "{resumed:?}");
    let shown = output(&["status", arg(&folder)]);
    let shown = stdout(&shown);
    assert!(shown.contains("total        2680\n") && !shown.contains("resume"), "{shown}");
}

#[test]
fn the_command_resumes_a_damaged_journal() {
    let folder = fresh_folder("resume-plain");
    assert_eq!(output(&["count", "12", "--journal", arg(&folder)]).status.code(), Some(0));
    let path = journal_in(&folder);
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replacen("done ", "gone ", 1)).expect("room");
    let paths = slice::from_ref(&folder);
    let command = resume_command(paths).expect("a unit is missing");
    let begins = "nqueens count 12 --engine subtrees --split-rows 2 --journal ";
    assert!(command.starts_with(begins), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");
    assert_eq!(resume_command(paths), None, "nothing is missing");
}

#[test]
fn the_command_resumes_a_second_count() {
    let folder = fresh_folder("resume-second");
    let counted = output(&["count", "12", "--second", "--journal", arg(&folder)]);
    assert_eq!(counted.status.code(), Some(0), "{counted:?}");
    keep_lines(&journal_in(&folder), 3);
    let paths = slice::from_ref(&folder);
    let command = resume_command(paths).expect("units are missing");
    assert!(command.starts_with("nqueens count 12 --second --engine subtrees "), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");
}

#[test]
fn the_command_counts_the_shards_that_are_missing() {
    let folder = fresh_folder("resume-shards").join("a 'b'");
    fs::create_dir(&folder).expect("room");
    let folders = slice::from_ref(&folder);
    shards_of_12(&folder, &[(1, 7), (3, 7)]);
    let command = resume_command(folders).expect("shards are missing");
    let begins = "sh -c 'for i in 0 2 $(seq 4 6); do nqueens count 12 --engine subtrees --split-rows 2 \
                  --shard $i/7 --journal ";
    assert!(command.starts_with(begins), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");

    let folder = fresh_folder("resume-shard");
    let folders = slice::from_ref(&folder);
    shards_of_12(&folder, &[(0, 3), (1, 3)]);
    let command = resume_command(folders).expect("a shard is missing");
    let begins = "nqueens count 12 --engine subtrees --split-rows 2 --shard 2/3 --journal ";
    assert!(command.starts_with(begins), "{command}");
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
    let begins = "nqueens count 12 --engine subtrees --split-rows 2 --journal ";
    assert!(command.starts_with(begins), "{command}");
    assert_eq!(total_after_resume(&folder), "14200\n");
}

/// What a process is counting, another one need not count.
#[test]
fn the_command_leaves_out_what_is_being_counted() {
    let folder = fresh_folder("resume-running");
    let folders = slice::from_ref(&folder);
    let (mut child, _) = start_endless(&["--shard", "1/3"], &folder);
    let shown = output(&["status", arg(&folder)]);
    let shards = "shards       running: shard 1/3; missing: shards 0/3, 2/3\n";
    assert!(stdout(&shown).contains(shards), "{shown:?}");
    let command = resume_command(folders).expect("two shards are not being counted");
    let begins =
        "sh -c 'for i in 0 2; do nqueens count 16 --engine permutation --shard $i/3 --journal ";
    assert!(command.starts_with(begins), "{command}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let command = resume_command(folders).expect("no shard is being counted");
    assert!(command.starts_with("sh -c 'for i in $(seq 0 2); do "), "{command}");

    let folder = fresh_folder("resume-running-whole");
    let paths = slice::from_ref(&folder);
    let (mut child, _) = start_endless(&[], &folder);
    assert_eq!(resume_command(paths), None, "all units are being counted");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(resume_command(paths).is_some(), "no unit is being counted");
}

/// Where journals of several plans lie in a folder, a count of the board alone would not know which is meant.
#[test]
fn the_command_names_the_plan() {
    let folder = fresh_folder("resume-plans");
    let plans = [
        &["--engine", "colours"][..],
        &["--engine", "bitmask"],
        &["--split-rows", "2"],
        &["--split-rows", "3"],
    ];
    let mut paths = Vec::new();
    for (number, plan) in plans.into_iter().enumerate() {
        let count = ["count", "14", "--journal", arg(&folder)];
        assert_eq!(output(&[&count[..], plan].concat()).status.code(), Some(0), "{plan:?}");
        let files = journals_in(&folder);
        let made = files.iter().find(|path| !paths.contains(*path)).expect("a new file");
        let path = folder.join(format!("{number}.journal"));
        fs::rename(made, &path).expect("it is there");
        keep_lines(&path, 3);
        paths.push(path);
    }
    for path in &paths {
        let before = journals_in(&folder);
        let command = resume_command(slice::from_ref(path)).expect("units are missing");
        run_in_shell(&command);
        let mut files = journals_in(&folder);
        files.retain(|file| !before.contains(file));
        assert_eq!(files.len(), 1, "{command}");
        files.push(path.clone());
        let merged = run(nqueens(&["merge", "--quiet"]).args(files));
        assert_eq!(stdout(&merged), "365596\n", "{command}");
    }
}

/// The shards are counted into the folder of the journals, and what another board or only one shard left there is no
/// obstacle.
#[test]
fn the_command_works_beside_journals_of_another_board() {
    let folder = fresh_folder("resume-beside");
    let paths = shards_of_12(&folder, &[(0, 3), (1, 3)]);
    assert_eq!(output(&["count", "10", "--journal", arg(&folder)]).status.code(), Some(0));
    let is_of_10 = |path: &PathBuf| arg(path).contains("n10-");
    let of_12 = || {
        let all = journals_in(&folder);
        all.into_iter().filter(|path| !is_of_10(path)).collect::<Vec<_>>()
    };
    let command = resume_command(&paths[1..]).expect("two shards are missing");
    assert!(command.starts_with("sh -c 'for i in 0 2; do "), "{command}");
    run_in_shell(&command);
    assert_eq!(of_12().len(), 3, "shard 0 was finished, and is not counted again");
    let merged = run(nqueens(&["merge", "--quiet"]).args(of_12()));
    assert_eq!(stdout(&merged), "14200\n");
}
