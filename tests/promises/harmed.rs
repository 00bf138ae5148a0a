//! Journals that are removed, moved or changed while they are being written: the result is told, and nothing is
//! called recorded that is not.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;

use crate::common::processes::{send, shim, wait_for, wait_for_units, wait_until_stopped};
use crate::common::{
    arg, count_into, finish, fresh_folder, keep_lines, nqueens, refused, result, run, some_units,
    spawn,
};

/// Q(17): a second of work for one thread and the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";

/// A count of some seconds.
fn slow_count(journal: &Path) -> Command {
    count_into(N, journal, &["--kernel", "portable", "--threads", "1"])
}

/// What happens to a journal while it is being written.
type Harm = fn(&Path);

fn overwrite(path: &Path) {
    let mut file = fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all(&[0; 200]).expect("room");
}

#[test]
fn a_count_whose_journal_is_harmed_prints_its_total_and_fails() {
    let harms: [(&str, Harm, &str); 7] = [
        ("removed", |path| fs::remove_file(path).expect("there"), "removed or moved"),
        (
            "moved",
            |path| fs::rename(path, path.with_extension("elsewhere")).expect("there"),
            "removed or moved",
        ),
        (
            "replaced",
            |path| {
                let other = path.with_extension("other");
                fs::write(&other, "a letter\n").expect("room");
                fs::rename(other, path).expect("there");
            },
            "replaced by another file",
        ),
        (
            "cut",
            |path| {
                let file = fs::OpenOptions::new().write(true).open(path).expect("there");
                file.set_len(0).expect("it can be cut");
            },
            "is not a journal",
        ),
        (
            "appended",
            |path| {
                let mut file = fs::OpenOptions::new().append(true).open(path).expect("there");
                file.write_all(b"done units=1..2\n").expect("room");
            },
            "is damaged",
        ),
        ("overwritten", overwrite, "line 1 is damaged"),
        (
            "overwritten by another count",
            |path| {
                let other = path.with_extension("other");
                assert!(run(&mut count_into("8", &other, &[])).status.success());
                let mut file = fs::OpenOptions::new().write(true).open(path).expect("there");
                file.write_all(&fs::read(other).expect("there")).expect("room");
            },
            "was cut or written by another process",
        ),
    ];
    for (name, harm, reason) in harms {
        let path = fresh_folder(&format!("record-harm-{name}")).join("q.journal");
        let mut child = spawn(&mut slow_count(&path));
        wait_for_units(&path, &mut child, 0);
        harm(&path);
        let output = finish(child);
        let (code, answer, message) = result(&output);
        assert_eq!((code, answer), (Some(1), TOTAL), "{name}: {message}");
        assert!(message.contains(reason), "{name}: {message}");
        assert!(message.contains("Q(17) = 95815104 is counted"), "{name}: {message}");
        if name == "moved" {
            let again = run(&mut count_into(N, &path.with_extension("elsewhere"), &[]));
            assert_eq!(result(&again), (Some(0), TOTAL, ""), "it has every unit");
        }
    }
}

/// A count that is stopped tells as well that the same command would not resume it.
#[test]
fn a_stopped_count_whose_journal_is_gone_says_so() {
    let path = fresh_folder("record-gone").join("q.journal");
    let mut command = count_into("20", &path, &["--kernel", "portable", "--threads", "1"]);
    let mut child = spawn(&mut command);
    wait_for_units(&path, &mut child, 0);
    fs::remove_file(&path).expect("it is there");
    send("INT", &child);
    let output = finish(child);
    let (code, _, message) = result(&output);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("removed or moved"), "{message}");
    assert!(!message.contains("resumes"), "{message}");
    assert!(message.contains("move it back; the same command counts what is missing"), "{message}");
}

#[test]
fn a_shard_whose_journal_is_harmed_fails_and_loses_nothing() {
    let folder = fresh_folder("record-shard");
    let args = ["--kernel", "portable", "--threads", "1"];
    let shard = || {
        let mut command = nqueens(&["shard", N, "--index", "0", "--shards", "1", "--out"]);
        command.arg(&folder).args(args);
        command
    };
    let mut child = spawn(&mut shard());
    let journal = wait_for("a journal", &mut child, || {
        let path = fs::read_dir(&folder).ok()?.next()?.ok()?.path();
        some_units(&path).map(|_| path)
    });
    fs::remove_file(&journal).expect("it is there");
    let output = finish(child);
    let (code, _, message) = result(&output);
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.contains("shard 0 of 0-0 is counted, but its journal is not complete"),
        "{message}"
    );
    assert!(message.contains("removed or moved"), "{message}");
    assert!(message.contains("the same command counts what is missing"), "{message}");
    assert_eq!(shard().output().expect("the program starts").status.code(), Some(0));
    assert_eq!(
        result(&crate::common::output(&["merge", "--quiet", arg(&folder)])),
        (Some(0), TOTAL, "")
    );
    // Overwritten in place, with the same length: only reading it back shows that.
    let path = fresh_folder("record-shard-file").join("q.journal");
    let mut command = nqueens(&["shard", N, "--index", "0", "--shards", "1", "--out"]);
    let mut child = spawn(command.arg(&path).args(args));
    wait_for_units(&path, &mut child, 0);
    overwrite(&path);
    assert_eq!(finish(child).status.code(), Some(1));
}

/// Whether the folder goes before or after it was first synced, the disk is not blamed.
#[test]
fn a_shard_whose_folder_is_removed_says_so() {
    let folder = fresh_folder("record-folder");
    let mut shard = nqueens(&["shard", N, "--index", "0", "--shards", "1", "--out"]);
    shard.arg(&folder).args(["--kernel", "portable", "--threads", "1"]);
    let mut child = spawn(&mut shard);
    wait_for("a journal", &mut child, || some_units(&folder));
    fs::remove_dir_all(&folder).expect("it is there");
    let output = finish(child);
    let (code, _, message) = result(&output);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("removed or moved") && !message.contains("disk"), "{message}");
    assert_eq!(run(&mut shard).status.code(), Some(0), "the same command makes the folder again");
}

/// Long before the end, which may be weeks away; and all is well if the file comes back.
#[test]
fn a_journal_that_is_gone_is_reported_while_the_count_goes_on() {
    let path = fresh_folder("harmed-at-once").join("q.journal");
    let away = path.with_extension("away");
    let mut command = count_into("22", &path, &["--kernel", "portable", "--progress", "always"]);
    let mut child = spawn(&mut command);
    wait_for_units(&path, &mut child, 0);
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut wait_for_line = |wanted: &str| {
        let found = lines.find_map(|line| line.ok().filter(|line| line.contains(wanted)));
        found.unwrap_or_else(|| panic!("the count ended without '{wanted}'"))
    };
    fs::rename(&path, &away).expect("there");
    let said = wait_for_line("warning: ");
    assert!(said.contains("q.journal: was removed or moved during the count"), "{said}");
    fs::rename(&away, &path).expect("there");
    send("TERM", &child);
    wait_for_line("; the same command resumes the count");
    assert_eq!(finish(child).status.code(), Some(3));
}

/// A copy that holds everything is as good as the file.
#[test]
fn a_journal_that_a_whole_copy_replaced_is_good() {
    let path = fresh_folder("harmed-copy").join("q.journal");
    let mut child = spawn(&mut slow_count(&path));
    wait_for_units(&path, &mut child, 0);
    send("STOP", &child);
    wait_until_stopped(&mut child);
    fs::rename(&path, path.with_extension("old")).expect("there");
    fs::hard_link(path.with_extension("old"), &path).expect("there");
    send("CONT", &child);
    assert_eq!(result(&finish(child)), (Some(0), TOTAL, ""));
}

/// What is true of the file is said, and the command that the message names comes to the total.
#[test]
fn a_journal_that_lost_whole_lines_is_resumed() {
    let path = fresh_folder("harmed-cut").join("q.journal");
    let mut child = spawn(&mut slow_count(&path));
    wait_for_units(&path, &mut child, 0);
    send("STOP", &child);
    wait_until_stopped(&mut child);
    keep_lines(&path, 2);
    send("CONT", &child);
    let cut = finish(child);
    let (code, answer, message) = result(&cut);
    assert_eq!((code, answer), (Some(1), TOTAL), "{message}");
    assert!(message.contains("was cut or written by another process"), "{message}");
    assert!(message.contains("the same command counts what is missing"), "{message}");
    assert!(!message.contains("set it aside"), "{message}");
    assert_eq!(result(&run(&mut slow_count(&path))), (Some(0), TOTAL, ""));
}

/// As on network file systems whose locks hold within one machine only: both processes are told, and no line of either
/// is cut off.
#[test]
fn two_writers_where_locks_do_nothing_are_both_told_and_lose_nothing() {
    let path = fresh_folder("harmed-two").join("q.journal");
    let writer = || {
        let mut command = count_into("20", &path, &["--kernel", "portable", "--threads", "1"]);
        command.env("LD_PRELOAD", shim()).env("SHIM_LOCKS", "none");
        command
    };
    let told = "was cut or written by another process during the count";
    let mut first = spawn(&mut writer());
    wait_for_units(&path, &mut first, 0);
    // The second one may be refused if the first one writes between its reading and its first line.
    let mut second = loop {
        let mut second = spawn(&mut writer());
        let before = fs::read(&path).expect("there");
        let begun = wait_for("a second run", &mut first, || {
            let text = fs::read_to_string(&path).ok()?;
            let is_there = text.matches("\nrun ").count() > 1;
            let has_ended = second.try_wait().expect("a status").is_some();
            (is_there || has_ended).then_some(is_there)
        });
        assert!(fs::read(&path).expect("there").starts_with(&before), "lines were cut off");
        if begun {
            break second;
        }
        refused(&finish(second), 4, &["another process is writing this journal"]);
    };
    let says = |child: &mut std::process::Child| {
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        lines.map_while(Result::ok).any(|line| line.contains(told))
    };
    assert!(says(&mut first), "the first writer heard nothing");
    let held = some_units(&path).expect("units").tally().units;
    assert!(says(&mut second), "the second writer heard nothing");
    send("KILL", &first);
    send("KILL", &second);
    finish(first);
    finish(second);
    assert!(some_units(&path).expect("units").tally().units >= held);
}
