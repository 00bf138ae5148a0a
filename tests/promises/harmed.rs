//! Journals that are removed, moved or changed while they are being written: the result is told, and nothing is
//! called recorded that is not.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::processes::{send, wait_for, wait_for_units};
use crate::common::{
    arg, count_into, finish, fresh_folder, nqueens, result, run, some_units, spawn,
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
    let harms: [(&str, Harm, &str); 6] = [
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
            "is not a journal",
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
    assert!(message.contains("stopped after") && message.contains("removed or moved"), "{message}");
    assert!(!message.contains("resumes"), "{message}");
    assert!(
        message.contains("move it back if you can; the same command counts what is lost"),
        "{message}"
    );
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
        message.contains("shard 0 (of 0 to 0) is counted, but its journal needs attention"),
        "{message}"
    );
    assert!(message.contains("removed or moved"), "{message}");
    assert!(message.contains("the same command counts what is lost"), "{message}");
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
