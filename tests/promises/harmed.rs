//! Promise: a journal that others move, remove or change while it is being written is reported at once, the result is
//! printed, nothing is called recorded that is not, and what the process still has is saved. docs/JOURNAL.md makes this promise under "A journal that others
//! move, remove or change" and "Two processes".

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command};

use crate::common::processes::{send, shim, wait_for, wait_for_units, wait_until_stopped};
use crate::common::{
    arg, as_folder, contents, count_into, finish, fresh_folder, keep_lines, nqueens, output,
    refused, result, run, shell, some_units, spawn, stderr, stdout,
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

/// The journal in which a process goes on, as its message says. If it is not at the path of the first one, the message
/// names the option that resumes it.
fn saved_journal(message: &str) -> PathBuf {
    let (_, rest) = message.split_once("all that it held is saved in ").expect("a message");
    let (saved, rest) = rest.split_once(", and the count goes on there").expect("a message");
    if let Some(advice) = rest.strip_prefix(": the same command with --journal ") {
        assert!(advice.starts_with(&format!("{saved} uses it\n")), "{message}");
    }
    PathBuf::from(saved)
}

#[test]
fn a_count_whose_journal_is_harmed_prints_its_total() {
    let harms: [(&str, Harm, &str); 7] = [
        ("removed", |path| fs::remove_file(path).expect("there"), "removed or moved"),
        (
            "moved",
            |path| fs::rename(path, path.with_extension("elsewhere.journal")).expect("there"),
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
            "was cut or written by another process",
        ),
        // The program sed puts a new file in the place of the old one.
        (
            "edited",
            |path| {
                let edit = Command::new("sed").args(["-i.bak", "3d"]).arg(path).status();
                assert!(edit.expect("sed is there").success());
            },
            "replaced by another file",
        ),
        ("overwritten", overwrite, "line 1 is damaged"),
        (
            "overwritten by another count",
            |path| {
                let other = path.with_extension("other.journal");
                assert!(run(&mut count_into("8", &other, &[])).status.success());
                let mut file = fs::OpenOptions::new().write(true).open(path).expect("there");
                file.write_all(&fs::read(other).expect("there")).expect("room");
            },
            "was overwritten by a journal of another count during the count (n=8 count=first engine=",
        ),
    ];
    for (name, harm, reason) in harms {
        let path = fresh_folder(&format!("record-harm-{name}")).join("q.journal");
        let mut child = spawn(&mut slow_count(&path));
        wait_for_units(&path, &mut child, 0);
        harm(&path);
        let output = finish(child);
        let (code, answer, message) = result(&output);
        assert!(message.contains(reason), "{name}: {message}");
        if reason.contains("removed") || reason.contains("replaced") {
            // The count has gone on in another file, and nothing is lost.
            assert_eq!((code, answer), (Some(0), TOTAL), "{name}: {message}");
            let saved = saved_journal(message);
            let is_path_free = reason == "removed or moved";
            assert_eq!(saved == path, is_path_free, "{name}: {message}");
            assert_eq!(saved.parent(), path.parent());
            assert_eq!(contents(&saved).total(), Some(95_815_104), "{name}");
            if is_path_free {
                assert_eq!(result(&run(&mut count_into(N, &path, &[]))).2, "", "the same command");
            }
            continue;
        }
        assert_eq!((code, answer), (Some(1), TOTAL), "{name}: {message}");
        assert!(message.contains("Q(17) = 95815104 is counted"), "{name}: {message}");
        if name == "cut" {
            // As the message says.
            assert!(message.contains("the same command counts what is missing"), "{message}");
            let again = run(&mut slow_count(&path));
            assert_eq!(result(&again), (Some(0), TOTAL, ""), "{name}");
        }
    }
}

/// What another process appended is a damaged line, and all units are in the others.
#[test]
fn a_line_of_somebody_else_costs_a_warning() {
    let folder = fresh_folder("harmed-appended");
    let path = folder.join("q.journal");
    let mut child = spawn(&mut slow_count(&path));
    wait_for_units(&path, &mut child, 0);
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("there");
    file.write_all(b"done units=1..2\n").expect("room");
    let counted = finish(child);
    assert_eq!((counted.status.code(), stdout(&counted)), (Some(0), TOTAL), "{counted:?}");
    assert!(stderr(&counted).contains("is damaged ("), "it is told at the end: {counted:?}");
    let text = fs::read_to_string(&path).expect("text");
    let number = 1 + text.lines().position(|line| line == "done units=1..2").expect("a line");
    let again = run(&mut slow_count(&path));
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), TOTAL), "{again:?}");
    let take_out = format!("sed -i.bak '{number}d' {}", arg(&path));
    let warning = format!("nqueens: warning: left out: {}: line {number} is", path.display());
    assert!(stderr(&again).starts_with(&warning), "{again:?}");
    let merged = output(&["merge", arg(&path)]);
    assert!(stderr(&merged).ends_with(&format!(": {take_out}\n")), "{merged:?}");
    assert!(shell(&folder, &take_out).status.success());
    assert_eq!(result(&run(&mut slow_count(&path))), (Some(0), TOTAL, ""));
}

/// What a process writes behind the cut begins with line 1, and a line that was cut in the middle harms no other one.
#[test]
fn a_journal_that_is_emptied_stays_a_journal() {
    for length in [0, 400] {
        let path = fresh_folder(&format!("harmed-emptied-{length}")).join("q.journal");
        let mut child = spawn(&mut long_count(&path));
        wait_for("some lines", &mut child, || {
            fs::metadata(&path).ok().filter(|file| file.len() > 500)
        });
        let file = fs::OpenOptions::new().write(true).open(&path).expect("there");
        file.set_len(length).expect("it can be cut");
        wait_for("new lines", &mut child, || {
            fs::metadata(&path).ok().filter(|file| file.len() > 900)
        });
        send("TERM", &child);
        let stopped = finish(child);
        assert_eq!(stopped.status.code(), Some(1), "{stopped:?}");
        assert!(
            stderr(&stopped).contains("the same command counts what is missing"),
            "{stopped:?}"
        );
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.starts_with("nqueens-journal 2 "), "{text}");
        let status = output(&["status", "--json", arg(&path)]);
        let damaged_lines = stderr(&status).matches("is damaged").count();
        assert_eq!(damaged_lines, usize::from(length > 0), "{status:?}");
        assert!(crate::common::json(&status)["finished"].as_u64() > Some(0), "{status:?}");
    }
}

/// The last look is at the end, whenever that comes.
#[test]
fn a_count_that_is_stopped_as_its_journal_is_removed_loses_nothing() {
    let path = fresh_folder("record-gone").join("q.journal");
    let mut command = count_into("20", &path, &["--kernel", "portable", "--threads", "1"]);
    let mut child = spawn(&mut command);
    let units = wait_for_units(&path, &mut child, 0);
    fs::remove_file(&path).expect("it is there");
    send("INT", &child);
    let output = finish(child);
    let (code, _, message) = result(&output);
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("removed or moved"), "{message}");
    assert!(message.contains("the same command resumes the count"), "{message}");
    assert_eq!(saved_journal(message), path);
    assert!(contents(&path).sum().units >= units);
}

/// All that a process knew is in a file with a name again, before anything else can happen to the process.
#[test]
fn a_kill_after_the_journal_was_removed_loses_nothing() {
    let removals: [(&str, Harm); 2] = [
        ("file", |path| fs::remove_file(path).expect("it is there")),
        ("folder", |path| {
            fs::remove_dir_all(path.parent().expect("a folder")).expect("it is there");
        }),
    ];
    for (name, remove) in removals {
        let folder = fresh_folder(&format!("harmed-killed-{name}")).join("q20");
        fs::create_dir(&folder).expect("room");
        let path = folder.join("q.journal");
        let args = ["--kernel", "portable", "--threads", "1"];
        let mut child = spawn(&mut count_into("20", &path, &args));
        let before = wait_for_units(&path, &mut child, 0);
        remove(&path);
        let after = wait_for_units(&path, &mut child, before - 1);
        assert!(after >= before, "{name}: {after} of {before} units");
        let more = wait_for_units(&path, &mut child, after);
        child.kill().expect("it runs");
        child.wait().expect("ended");
        let resumed = spawn(&mut count_into("20", &path, &["--progress", "never"]));
        send("TERM", &resumed);
        finish(resumed);
        assert!(contents(&path).sum().units >= more, "{name}");
    }
}

/// The folder of the journal is a file now, so the folder above takes the journal.
#[test]
fn a_journal_whose_folder_is_gone_is_saved_above_it() {
    let above = fresh_folder("record-gone-above");
    let folder = above.join("q17");
    fs::create_dir(&folder).expect("room");
    let path = folder.join("q.journal");
    let mut child = spawn(&mut slow_count(&path));
    wait_for_units(&path, &mut child, 0);
    fs::remove_dir_all(&folder).expect("it is there");
    fs::write(&folder, "a file").expect("room");
    let output = finish(child);
    let (code, answer, message) = result(&output);
    assert_eq!((code, answer), (Some(0), TOTAL), "{message}");
    let saved = saved_journal(message);
    assert_eq!(saved.parent(), Some(&*above));
    assert_eq!(contents(&saved).total(), Some(95_815_104));
}

/// What a process writes after another journal was copied over its own begins with line 1, so it can be told from the
/// other one.
#[test]
fn a_journal_that_is_copied_over_costs_no_line_that_comes_later() {
    let folder = fresh_folder("record-copied-over");
    let path = folder.join("q.journal");
    let other = folder.join("other");
    let mut command = count_into("12", &folder.join("q12.journal"), &[]);
    assert!(run(&mut command).status.success());
    fs::rename(folder.join("q12.journal"), &other).expect("there");
    let mut child = spawn(&mut long_count(&path));
    wait_for_units(&path, &mut child, 0);
    fs::write(&path, fs::read(&other).expect("there")).expect("room");
    let length = fs::metadata(&other).expect("there").len();
    wait_for("new lines", &mut child, || {
        fs::metadata(&path).ok().filter(|file| file.len() > length + 700)
    });
    send("TERM", &child);
    let stopped = finish(child);
    let message = stderr(&stopped);
    assert_eq!(stopped.status.code(), Some(1), "{message}");
    assert!(message.contains("was overwritten by a journal of another count"), "{message}");
    let merged = output(&["merge", arg(&path)]);
    let message = stderr(&merged);
    assert!(message.contains("belong to another count (n=19 count=first"), "{message}");
    assert!(!message.contains("sed -"), "{message}");
    let commands = crate::common::commands_after("to be used in its place: ", message);
    assert!(shell(&folder, &commands[0]).status.success());
    let parts = nqueens::record::journals_in(&[path.with_extension("apart")]).expect("a folder");
    let of_19: Vec<_> = parts.iter().filter(|path| arg(path).contains("n=19")).collect();
    assert!(contents(of_19[0]).sum().units > 0);
}

/// Half of Q(18).
fn shard(index: usize, place: &Path) -> Command {
    count_into("18", place, &["--shard", &format!("{index}/2")])
}

/// Half of Q(18): more than a second of work for one thread and the portable kernel.
fn slow_shard(index: usize, place: &Path) -> Command {
    let mut command = shard(index, place);
    command.args(["--kernel", "portable", "--threads", "1"]);
    command
}

#[test]
fn a_shard_whose_journal_is_removed_loses_nothing() {
    let folder = fresh_folder("record-shard");
    let mut child = spawn(&mut slow_shard(0, &folder));
    let journal = wait_for("a journal", &mut child, || {
        let path = fs::read_dir(&folder).ok()?.next()?.ok()?.path();
        some_units(&path).map(|_| path)
    });
    fs::remove_file(&journal).expect("it is there");
    let harmed = finish(child);
    let (code, part, message) = result(&harmed);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("removed or moved"), "{message}");
    let saved = saved_journal(message);
    assert_eq!(saved.file_name(), journal.file_name(), "its name was free");
    let merge = ["merge", "--quiet", arg(&folder)];
    let again = run(&mut shard(0, &folder));
    assert_eq!(result(&again), (Some(0), part, ""));
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 1, "nothing was left to count");
    let other = run(&mut shard(1, &folder));
    assert!(other.status.success(), "{other:?}");
    assert_eq!(result(&output(&merge)), (Some(0), "666090624\n", ""));
}

/// Whether the folder goes before or after it was first synced, the disk is not blamed.
#[test]
fn a_shard_whose_folder_is_removed_says_so() {
    let folder = fresh_folder("record-folder");
    let place = as_folder(&folder);
    let mut child = spawn(&mut slow_shard(0, &place));
    wait_for("a journal", &mut child, || some_units(&folder));
    fs::remove_dir_all(&folder).expect("it is there");
    let output = finish(child);
    let (code, _, message) = result(&output);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("removed or moved") && !message.contains("disk"), "{message}");
    let saved = fs::read_dir(&folder).expect("the process makes the folder again").count();
    assert_eq!(saved, 1);
    let again = run(&mut shard(0, &place));
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 1, "nothing was left to count");
}

/// Returns the lines that a process prints on stderr.
fn messages(child: &mut Child) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(child.stderr.take().expect("a pipe")).lines()
}

/// Reads messages up to one with this text, and returns that.
fn wait_for_line(messages: &mut Lines<BufReader<ChildStderr>>, wanted: &str) -> String {
    let mut lines = messages.map_while(Result::ok);
    let found = lines.find(|line| line.contains(wanted));
    found.unwrap_or_else(|| panic!("the count ended without '{wanted}'"))
}

/// Q(19): half a minute of work, so that a test that waits for a message in vain ends as well.
fn long_count(journal: &Path) -> Command {
    let args = ["--kernel", "portable", "--threads", "1", "--progress", "always"];
    count_into("19", journal, &args)
}

/// Long before the end, which may be weeks away; and nothing is lost if the file comes back over the new one.
#[test]
fn a_journal_that_is_gone_is_reported_while_the_count_goes_on() {
    let path = fresh_folder("harmed-at-once").join("q.journal");
    let away = path.with_extension("away");
    let mut command = long_count(&path);
    let mut child = spawn(&mut command);
    wait_for_units(&path, &mut child, 0);
    let mut messages = messages(&mut child);
    fs::rename(&path, &away).expect("there");
    let said = wait_for_line(&mut messages, "warning: ");
    assert!(said.contains("q.journal: was removed or moved during the count"), "{said}");
    fs::rename(&away, &path).expect("there");
    let said = wait_for_line(&mut messages, "warning: ") + "\n";
    let saved = saved_journal(&said);
    assert_ne!(saved, path, "the old file is there");
    send("TERM", &child);
    let advice = format!("; the same command with --journal {} resumes the count", saved.display());
    wait_for_line(&mut messages, &advice);
    assert_eq!(finish(child).status.code(), Some(3));
    assert!(contents(&saved).sum().units >= contents(&path).sum().units);
}

/// Makes the program see another inode number whenever it looks at a file.
fn with_changing_inodes(command: &mut Command) -> &mut Command {
    command.env("LD_PRELOAD", shim()).env("SHIM_INODES", "changing")
}

/// As on some network file systems and in some containers. The number says nothing, so nothing is harmed.
#[test]
fn a_file_system_that_changes_inode_numbers_harms_no_journal() {
    let folder = fresh_folder("harmed-inodes");
    let looks = run(with_changing_inodes(Command::new("stat").args(["-c", "%i", ".", "."])));
    let numbers: Vec<&str> = stdout(&looks).lines().collect();
    assert!(numbers.len() == 2 && numbers[0] != numbers[1], "the shim does nothing: {looks:?}");

    let path = folder.join("q.journal");
    let log = folder.join("syncs");
    let long = || {
        let mut command = count_into("22", &path, &["--kernel", "portable", "--threads", "1"]);
        with_changing_inodes(&mut command).env("SHIM_SYNC_LOG", &log);
        command
    };
    let mut units = 0;
    for _ in 0..2 {
        let _ = fs::remove_file(&log);
        let mut child = spawn(&mut long());
        // The file is looked at before each sync.
        wait_for("two syncs", &mut child, || {
            let syncs = fs::read_to_string(&log).unwrap_or_default();
            (syncs.matches("ended").count() >= 2).then_some(())
        });
        units = wait_for_units(&path, &mut child, units);
        send("TERM", &child);
        let stopped = finish(child);
        let message = stderr(&stopped);
        assert_eq!(stopped.status.code(), Some(3), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains("; the same command resumes the count"), "{message}");
    }
    // Also in a folder, and to the end.
    for args in [&["--shard", "0/2"][..], &["--shard", "1/2"], &[]] {
        let mut command = count_into("12", &as_folder(&folder.join("q12")), args);
        let counted = run(with_changing_inodes(&mut command));
        assert_eq!((counted.status.code(), stderr(&counted)), (Some(0), ""), "{args:?}");
    }
    let merge = run(with_changing_inodes(nqueens(&["merge", "-q"]).arg(folder.join("q12"))));
    assert_eq!(result(&merge), (Some(0), "14200\n", ""));
}

/// The process writes into a file without a name, and the copy lacks what comes from now on.
#[test]
fn a_journal_that_a_copy_replaced_is_noticed() {
    for are_inodes_changing in [false, true] {
        let path = fresh_folder("harmed-replaced").join("q.journal");
        let copy = path.with_extension("copy");
        let mut command = long_count(&path);
        if are_inodes_changing {
            with_changing_inodes(&mut command);
        }
        let mut child = spawn(&mut command);
        wait_for_units(&path, &mut child, 0);
        fs::copy(&path, &copy).expect("room");
        fs::rename(&copy, &path).expect("there");
        let mut messages = messages(&mut child);
        let said = wait_for_line(&mut messages, "warning: ");
        assert!(
            said.contains(
                "q.journal: was removed or moved during the count, or replaced by another file"
            ),
            "{said}"
        );
        let saved = saved_journal(&(said + "\n"));
        send("TERM", &child);
        let resumes = format!("with --journal {} resumes the count", saved.display());
        wait_for_line(&mut messages, &resumes);
        assert_eq!(finish(child).status.code(), Some(3));
        let held = some_units(&path).expect("the copy holds what was there before").sum().units;
        assert!(contents(&saved).sum().units >= held);
    }
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
        refused(&finish(second), 4, &["another process has locked this journal"]);
    };
    wait_for_line(&mut messages(&mut first), told);
    let held = some_units(&path).expect("units").sum().units;
    wait_for_line(&mut messages(&mut second), told);
    send("KILL", &first);
    send("KILL", &second);
    finish(first);
    finish(second);
    assert!(some_units(&path).expect("units").sum().units >= held);
}
