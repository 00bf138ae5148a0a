//! Promise: a count whose journal is moved, removed or cut goes on in a new file in the folder within seconds, and
//! loses no unit that the open file still held. docs/JOURNAL.md makes this promise under "What is promised".

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command};

use crate::common::processes::{
    send, units_found_by_resuming, wait_for, wait_for_units, wait_until, wait_until_stopped,
};
use crate::common::{
    arg, contents, count_into, finish, fresh_folder, journal_in, journals_in, json, output,
    record_of, refused, result, run, some_units, spawn, stderr, stdout,
};

/// Q(17): a second of work for one thread and the portable kernel.
const N: &str = "17";
const TOTAL: &str = "95815104\n";

/// A count that takes at least a second.
fn slow_count(folder: &Path) -> Command {
    count_into(N, folder, &["--kernel", "portable", "--threads", "1"])
}

/// Q(20): minutes of work. Nobody waits for its end.
fn long_count(folder: &Path) -> Command {
    let args = ["--kernel", "portable", "--threads", "1", "--progress", "never"];
    count_into("20", folder, &args)
}

/// A path in a new folder, for the folder of a count.
fn folder(name: &str) -> PathBuf {
    fresh_folder(&format!("harmed-{name}")).join("count")
}

/// What happens to a journal while it is being written.
type Harm = fn(&Path);

fn remove_file(path: &Path) {
    fs::remove_file(path).expect("it is there");
}

fn remove_folder(path: &Path) {
    fs::remove_dir_all(path.parent().expect("a folder")).expect("it is there");
}

/// Moves the journal out of the folder.
fn move_away(path: &Path) {
    let above = path.parent().expect("a folder").with_file_name("away");
    fs::rename(path, above).expect("it is there");
}

fn replace_by_longer_file(path: &Path) {
    let other = path.with_extension("other");
    fs::write(&other, "a letter\n".repeat(10_000)).expect("room");
    fs::rename(other, path).expect("it is there");
}

/// The program sed puts a new file in the place of the old one.
fn edit(path: &Path) {
    let edit = Command::new("sed").args(["-i", "3d"]).arg(path).status();
    assert!(edit.expect("sed is there").success());
}

/// As the shell does for `> file`.
fn empty(path: &Path) {
    cut(path, 0);
}

fn cut_in_a_line(path: &Path) {
    let length = fs::metadata(path).expect("it is there").len();
    cut(path, length - 5);
}

fn cut(path: &Path, length: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_len(length).expect("it can be cut");
}

/// Starts a count, and harms its journal once there are units in it.
fn harm(folder: &Path, mut count: Command, harm: Harm) -> crate::common::Running {
    let mut child = spawn(&mut count);
    wait_for_units(folder, &mut child, 0);
    harm(&journal_in(folder));
    child
}

/// The journal in which a process goes on, as its only message says.
fn saved_journal(message: &str) -> PathBuf {
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.starts_with("nqueens: warning: "), "{message}");
    let held = ".journal: was moved, removed or replaced; all that it held is in ";
    let (_, rest) = message.split_once(held).expect(message);
    let (saved, rest) = rest.split_once(", and the count goes on there").expect(message);
    assert_eq!(rest.trim_end(), "", "{message}");
    PathBuf::from(saved)
}

#[test]
fn a_count_whose_journal_is_harmed_ends_well() {
    let harms: [(&str, Harm); 6] = [
        ("removed", remove_file),
        ("replaced-beside-a-link", |path| {
            // The open file keeps a name, and a longer file takes its place.
            fs::hard_link(path, path.with_extension("kept")).expect("room");
            replace_by_longer_file(path);
        }),
        ("folder-removed", remove_folder),
        ("moved", move_away),
        ("replaced", replace_by_longer_file),
        ("edited", edit),
    ];
    for (name, harm_it) in harms {
        let folder = folder(name);
        let ended = finish(harm(&folder, slow_count(&folder), harm_it));
        let (code, answer, message) = result(&ended);
        assert_eq!((code, answer), (Some(0), TOTAL), "{name}: {message}");
        let saved = saved_journal(message);
        assert_eq!(saved.parent(), Some(&*folder), "{name}");
        assert_eq!(contents(&saved).total(), Some(95_815_104), "{name}");
        assert_eq!(record_of(&[&folder]).total(), Some(95_815_104), "{name}");
    }
}

/// What was cut off is gone, and the process says so. Whoever reads the folder then finds a journal that is good but
/// for the line that was cut.
#[test]
fn what_was_cut_off_is_counted_by_the_same_command() {
    let harms: [(&str, Harm); 2] = [("emptied", empty), ("cut", cut_in_a_line)];
    for (name, harm_it) in harms {
        let folder = folder(name);
        let ended = finish(harm(&folder, slow_count(&folder), harm_it));
        let (code, answer, message) = result(&ended);
        assert_eq!((code, answer), (Some(3), TOTAL), "{name}: {message}");
        let (warning, end) = message.split_once('\n').expect("two lines");
        let words = "was cut, and its last lines are lost; all others are in ";
        assert!(warning.starts_with("nqueens: warning: ") && warning.contains(words), "{warning}");
        let words = "Q(17) = 95815104 is counted, but its journal is not complete: ";
        assert!(end.contains(words) && end.lines().count() == 1, "{end}");
        assert!(end.ends_with(": the same command counts what is missing\n"), "{end}");
        assert_eq!(journals_in(&folder).len(), 2, "the old file is there");
        let merged = output(&["merge", "--quiet", arg(&folder)]);
        assert_eq!(merged.status.code(), Some(3), "{name}: {merged:?}");
        let again = run(&mut slow_count(&folder));
        let (code, answer, message) = result(&again);
        assert_eq!((code, answer), (Some(0), TOTAL), "{name}: {message}");
        // No line was lost but those that were cut off: a line that follows is not a part of one.
        let damaged = message.matches(": line ").count() + message.matches(": lines ").count();
        assert!(damaged <= 2 && !message.contains("lines "), "{name}: {message}");
        let is_of_damage = |line: &str| line.starts_with("nqueens: warning: left out: ");
        assert!(message.lines().all(is_of_damage), "{name}: {message}");
        assert_eq!(record_of(&[&folder]).total(), Some(95_815_104), "{name}");
    }
}

/// The lines that come after the cut are kept at once, and not only at the end.
#[test]
fn a_count_goes_on_with_its_lines_after_a_cut() {
    let folder = folder("goes-on");
    let mut child = harm(&folder, long_count(&folder), empty);
    wait_until("another journal", &mut child, || journals_in(&folder).len() == 2);
    let units = || record_of(&[&folder]).units_done();
    let before = units();
    wait_until("more units", &mut child, || units() > before);
    send("TERM", &child);
    let stopped = finish(child);
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    assert!(stderr(&stopped).contains("; the same command resumes the count"), "{stopped:?}");
    let status = output(&["status", "--json", arg(&folder)]);
    assert!(json(&status)["finished"].as_u64() > Some(before as u64), "{status:?}");
}

/// The last look at the file comes at the end, however soon that is.
#[test]
fn a_count_that_is_stopped_as_its_journal_is_removed_loses_nothing() {
    let folder = folder("stopped");
    let mut child = spawn(&mut long_count(&folder));
    let units = wait_for_units(&folder, &mut child, 0);
    remove_file(&journal_in(&folder));
    send("INT", &child);
    let stopped = finish(child);
    let message = stderr(&stopped);
    assert_eq!(stopped.status.code(), Some(3), "{message}");
    let (warning, rest) = message.split_once('\n').expect("lines");
    assert_eq!(saved_journal(warning), journal_in(&folder));
    assert!(rest.contains("; the same command resumes the count"), "{message}");
    assert!(contents(&folder).units_done() >= units);
}

/// All that a process knew is in a file with a name again within seconds, and the process adds to it.
#[test]
fn a_kill_after_the_journal_was_removed_loses_nothing() {
    let removals: [(&str, Harm); 2] =
        [("killed-file", remove_file), ("killed-folder", remove_folder)];
    for (name, remove) in removals {
        let folder = folder(name);
        let mut child = spawn(&mut long_count(&folder));
        let before = wait_for_units(&folder, &mut child, 0);
        remove(&journal_in(&folder));
        let after = wait_for_units(&folder, &mut child, before - 1);
        let more = wait_for_units(&folder, &mut child, after);
        child.kill().expect("it runs");
        child.wait().expect("ended");
        assert!(contents(&folder).units_done() >= more, "{name}");
        let found = units_found_by_resuming("20", &folder);
        assert!(found >= more, "{name}: {found} of {more} units");
    }
}

/// No file can be made in it. What was written before was moved with the folder.
#[test]
fn a_count_whose_folder_becomes_a_file_ends() {
    let folder = folder("file");
    let away = folder.with_file_name("away");
    let mut child = spawn(&mut long_count(&folder));
    let units = wait_for_units(&folder, &mut child, 0);
    fs::rename(&folder, &away).expect("it is there");
    fs::write(&folder, "a file").expect("room");
    refused(&finish(child), 1, &[arg(&folder), "cannot create the journal: "]);
    assert!(contents(&away).units_done() >= units);
}

/// Reads the messages of a process up to one with this text, and returns that.
fn wait_for_line(messages: &mut Lines<BufReader<ChildStderr>>, wanted: &str) -> String {
    let mut lines = messages.map_while(Result::ok);
    let found = lines.find(|line| line.contains(wanted));
    found.unwrap_or_else(|| panic!("the count ended without '{wanted}'"))
}

/// The lines that a process prints on stderr.
fn messages(child: &mut Child) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(child.stderr.take().expect("a pipe")).lines()
}

/// The end may be weeks away. Nor is anything lost if the file comes back over the new one.
#[test]
fn a_journal_that_is_gone_is_reported_while_the_count_goes_on() {
    let folder = folder("at-once");
    let mut child = spawn(&mut long_count(&folder));
    wait_for_units(&folder, &mut child, 0);
    let first = journal_in(&folder);
    let away = first.with_extension("away");
    let mut messages = messages(&mut child);
    fs::rename(&first, &away).expect("it is there");
    let saved = saved_journal(&wait_for_line(&mut messages, "warning: "));
    assert_eq!(saved, first, "its name was free");
    fs::rename(&away, &first).expect("it is there");
    let saved = saved_journal(&wait_for_line(&mut messages, "warning: "));
    assert_ne!(saved, first, "the old file is there");
    assert!(contents(&saved).units_done() >= contents(&first).units_done());
    // The new file shows as well that the process counts.
    refused(&run(&mut long_count(&folder)), 4, &["another count of the same shard"]);
    send("TERM", &child);
    assert_eq!(finish(child).status.code(), Some(3));
}

/// It is the same file, so nothing has to be done.
#[test]
fn a_journal_that_got_another_name_and_its_own_again_is_good() {
    let folder = folder("same");
    let mut child = spawn(&mut slow_count(&folder));
    wait_for_units(&folder, &mut child, 0);
    send("STOP", &child);
    wait_until_stopped(&mut child);
    let path = journal_in(&folder);
    let old = path.with_extension("old");
    fs::rename(&path, &old).expect("it is there");
    fs::hard_link(&old, &path).expect("it is there");
    send("CONT", &child);
    assert_eq!(result(&finish(child)), (Some(0), TOTAL, ""));
    assert_eq!(contents(&journal_in(&folder)).total(), Some(95_815_104));
}

/// The process does not see it, and whoever reads the folder does. Only the damaged lines are lost.
#[test]
fn lines_that_others_write_into_a_journal_are_left_out_by_the_next_command() {
    fn append(path: &Path) {
        let mut file = OpenOptions::new().append(true).open(path).expect("it is there");
        file.write_all(b"done units=1..2\n").expect("room");
    }
    fn overwrite(path: &Path) {
        let mut file = OpenOptions::new().write(true).open(path).expect("it is there");
        file.write_all(&[0; 800]).expect("room");
    }
    let harms: [(&str, Harm); 2] = [("appended", append), ("overwritten", overwrite)];
    for (name, harm_it) in harms {
        let folder = folder(name);
        let mut child = spawn(&mut slow_count(&folder));
        wait_until("some lines", &mut child, || {
            let path = some_units(&folder).map(|_| journal_in(&folder));
            path.is_some_and(|path| fs::metadata(path).is_ok_and(|file| file.len() > 1000))
        });
        let path = journal_in(&folder);
        harm_it(&path);
        assert_eq!(result(&finish(child)), (Some(0), TOTAL, ""), "{name}");
        let again = run(&mut slow_count(&folder));
        assert_eq!((again.status.code(), stdout(&again)), (Some(0), TOTAL), "{again:?}");
        let warning = format!("nqueens: warning: left out: {}: line", path.display());
        assert!(stderr(&again).starts_with(&warning), "{again:?}");
        assert!(stderr(&again).ends_with(" damaged\n"), "{again:?}");
        assert_eq!(record_of(&[&folder]).total(), Some(95_815_104), "{name}");
    }
}

/// Half of Q(18): more than a second of work for one thread and the portable kernel.
fn slow_shard(index: usize, folder: &Path) -> Command {
    let shard = format!("{index}/2");
    let args = ["--shard", &shard, "--kernel", "portable", "--threads", "1"];
    count_into("18", folder, &args)
}

#[test]
fn a_shard_whose_journal_is_removed_loses_nothing() {
    let folder = folder("shard");
    let ended = finish(harm(&folder, slow_shard(0, &folder), remove_file));
    let (code, part, message) = result(&ended);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(saved_journal(message), journal_in(&folder));
    assert_eq!(result(&run(&mut slow_shard(0, &folder))), (Some(0), part, ""));
    assert_eq!(journals_in(&folder).len(), 1, "nothing was left to count");
    assert!(run(&mut slow_shard(1, &folder)).status.success());
    let merged = output(&["merge", "--quiet", arg(&folder)]);
    assert_eq!(result(&merged), (Some(0), "666090624\n", ""));
}

/// Two processes that count a board at once would both count the same units, and twice the time would be lost.
#[test]
fn a_second_process_is_refused_unless_it_counts_another_shard() {
    let folder = folder("second");
    let shard = |index: &str| count_into("24", &folder, &["--shard", index, "--threads", "1"]);
    let mut first = spawn(&mut shard("0/2"));
    let units = wait_for_units(&folder, &mut first, 0);
    refused(&run(&mut shard("0/2")), 4, &[arg(&folder), "another count of the same shard"]);
    let mut other = spawn(&mut shard("1/2"));
    wait_for("units of the other shard", &mut other, || {
        let record = some_units(&folder)?;
        (record.runs().count() == 2 && record.units_done() > units).then_some(())
    });
    // Reading is allowed.
    let verify = output(&["verify", "--units", "0", arg(&folder)]);
    assert_eq!(verify.status.code(), Some(0), "{verify:?}");
    assert!(stderr(&verify).contains("not finished"), "{verify:?}");
    for child in [first, other] {
        send("TERM", &child);
        assert_eq!(finish(child).status.code(), Some(3));
    }
}
