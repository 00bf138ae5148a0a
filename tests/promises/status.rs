//! `status` tells which processes write now, and draws what it knows.
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, SystemTime};

use nqueens::record::journals_in;
use serde_json::Value;

use crate::common::processes::{send, wait_until};
use crate::common::{
    contents, finish, fresh_folder, json, nqueens, output, refused, run, stderr, stdout,
};

const HOUR: Duration = Duration::from_secs(3600);

/// A shard with one unit that takes years.
const ENDLESS: &[&str] = &["shard", "16", "--engine", "permutation", "--index", "0", "--shards"];

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Starts a shard, and waits for its journal to begin.
fn start(args: &[&str], out: &Path, variables: &[(&str, &str)]) -> (Child, PathBuf) {
    let args = [args, &["--threads", "1", "--out", text(out)]].concat();
    let mut child = nqueens(&args).envs(variables.iter().copied()).spawn().expect("it starts");
    let journal = || {
        let files = journals_in(&[out.to_owned()]).ok()?;
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

fn running(path: &Path, variables: &[(&str, &str)]) -> Value {
    let status = ["status", text(path), "--json"];
    json(&run(nqueens(&status).envs(variables.iter().copied())))["running"].clone()
}

#[test]
fn a_shard_is_running_until_its_process_ends() {
    for signal in ["TERM", "KILL"] {
        let folder = fresh_folder(&format!("status-{signal}"));
        let (mut child, path) = start(&[ENDLESS, &["1"]].concat(), &folder, &[]);
        // A stopped process holds its lock.
        send("STOP", &child);
        set_age(&path, HOUR);
        assert_eq!(running(&folder, &[]), 1, "its unit takes long");
        send("CONT", &child);
        send(signal, &child);
        child.wait().expect("it ends");
        set_age(&path, Duration::ZERO);
        assert_eq!(running(&folder, &[]), 0, "SIG{signal}");
    }
}

#[test]
fn a_count_that_was_named_is_running_until_its_process_ends() {
    let path = fresh_folder("status-named").join("q.journal");
    let (mut child, _) = start(&[ENDLESS, &["1"]].concat(), &path, &[]);
    assert_eq!(running(&path, &[]), 1);
    // What is packed is no process.
    let packed = path.with_file_name("packed.journal");
    let packing = output(&["merge", text(&path), "--into", text(&packed)]);
    assert_eq!(packing.status.code(), Some(3), "{}", stderr(&packing));
    set_age(&packed, Duration::ZERO);
    assert_eq!(running(&packed, &[]), 0);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(running(&path, &[]), 0);
}

#[test]
fn a_file_that_is_named_twice_counts_once() {
    let folder = fresh_folder("status-twice");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", text(&path)]).status.code(), Some(0));
    let other = folder.join("..").join(folder.file_name().expect("a name")).join("q.journal");
    std::os::unix::fs::symlink(&path, folder.join("link.journal")).expect("room");
    fs::hard_link(&path, folder.join("hard-link.journal")).expect("room");
    for paths in [[&path, &path], [&path, &other], [&folder, &path], [&path, &folder]] {
        let merged = json(&output(&["merge", "--json", text(paths[0]), text(paths[1])]));
        assert_eq!((&merged["files"], &merged["twice"]), (&1.into(), &0.into()), "{paths:?}");
        assert_eq!(merged["total"], "724");
    }
}

#[test]
fn the_last_record_is_as_old_as_the_file() {
    let path = fresh_folder("status-age").join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", text(&path)]).status.code(), Some(0));
    set_age(&path, HOUR);
    let since = json(&output(&["status", "--json", text(&path)]))["seconds_since_record"].as_f64();
    assert!(since.is_some_and(|since| (3599.0..3660.0).contains(&since)), "{since:?}");
    let shown = output(&["status", text(&path)]);
    assert!(stdout(&shown).contains("last record  1h00m ago"), "{shown:?}");
}

/// A plain journal is not called a shard, and the command that resumes it can be run as it is.
#[test]
fn the_text_has_the_command_that_resumes_the_count() {
    let folder = fresh_folder("status-resume").join("a 'b'");
    fs::create_dir(&folder).expect("room");
    let path = folder.join("q.journal");
    assert_eq!(output(&["count", "11", "--journal", text(&path)]).status.code(), Some(0));
    keep_lines(&path, 3);
    let shown = output(&["status", text(&path)]);
    let shown = stdout(&shown);
    assert!(!shown.contains("shard"), "{shown}");
    let command = shown.lines().find_map(|line| line.strip_prefix("resume       nqueens "));
    let command = format!("'{}' {}", env!("CARGO_BIN_EXE_nqueens"), command.expect("a command"));
    let resumed = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    assert!(stdout(&resumed).contains("total        2680\n"), "{resumed:?}");
    let shown = output(&["status", text(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains("end          reached\n") && !shown.contains("resume"), "{shown}");
}

/// Keeps the first lines of a journal.
fn keep_lines(path: &Path, lines: usize) {
    let text = fs::read_to_string(path).expect("text");
    let lines: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
    fs::write(path, lines.concat()).expect("room");
}

#[test]
fn a_folder_of_several_counts_is_a_list() {
    let folder = fresh_folder("status-list");
    let path = |name: &str| folder.join(name);
    let whole = path("q10.journal");
    assert_eq!(output(&["count", "10", "--journal", text(&whole)]).status.code(), Some(0));
    for index in ["0", "1"] {
        let args = ["shard", "12", "--index", index, "--shards", "3", "--out"];
        let shards = path("shards");
        assert_eq!(output(&[&args[..], &[text(&shards)]].concat()).status.code(), Some(0));
    }
    let listed = output(&["status", text(&folder)]);
    assert_eq!(listed.status.code(), Some(0));
    let list = stdout(&listed);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines[0], "count        n = 10, engine subtrees: 100 % done, 724 solutions");
    assert!(lines[1].starts_with("count        n = 12, engine subtrees: 6"), "{list}");
    assert!(lines[2].contains("for i in 2; do nqueens shard 12 --index $i --shards 3"), "{list}");
    let counts = json(&output(&["status", text(&folder), "--json"]))["counts"].clone();
    assert_eq!((&counts[0]["n"], &counts[1]["n"]), (&10.into(), &12.into()));
    let html = output(&["status", text(&folder), "--html", text(&path("page.html"))]);
    refused(&html, 2, &["--html: the journals are of several boards"]);
    let shards = path("shards");
    let both = [text(&whole), text(&shards)];
    for command in ["verify", "merge"] {
        let several = output(&[&[command], &both[..]].concat());
        refused(&several, 2, &["n=10 ", "n=12 ", "name the files or folders of one of them"]);
    }
    // What cannot be read hides nothing else.
    fs::write(path("z.journal"), "no journal").expect("room");
    let list = output(&["status", text(&folder)]);
    assert_eq!((list.status.code(), stdout(&list).lines().count()), (Some(1), 3), "{list:?}");
    assert!(stderr(&list).contains("z.journal: is not a journal"), "{list:?}");
}

/// Every line of a journal is part of the sample, whichever run wrote it.
#[test]
fn the_time_left_is_that_of_the_lines() {
    let path = fresh_folder("status-forecast").join("q.journal");
    let count = ["count", "16", "--engine", "subtrees", "--journal", text(&path)];
    assert_eq!(output(&count).status.code(), Some(0));
    let whole = contents(&path);
    let cpu: f64 = whole.runs().map(|run| run.cpu_time.as_secs_f64()).sum();
    let lines = fs::read_to_string(&path).expect("text").lines().count();
    keep_lines(&path, lines / 2);
    let status = json(&output(&["status", "--json", text(&path)]));
    let number = |name: &str| status[name].as_f64().expect("a number");
    let (left, error) = (number("cpu_seconds_left"), number("cpu_seconds_left_error"));
    let truth = cpu - number("cpu_seconds");
    // The interval covers 19 of 20 truths, and nearly all within twice its width; one beside other tests is off
    // by more than the interval now and then.
    assert!((left - truth).abs() <= 2.0 * error.max(0.15 * truth), "{left} ± {error}, not {truth}");
    assert!(status["seconds_left"].is_null());
    // A few lines say nothing of the others.
    keep_lines(&path, 6);
    let status = json(&output(&["status", "--json", text(&path)]));
    assert!(status["cpu_seconds_left"].is_f64() && status["cpu_seconds_left_error"].is_null());
    let shown = output(&["status", text(&path)]);
    let shown = stdout(&shown);
    assert!(shown.contains(" measured\n"), "{shown}");
}

/// A folder with a complete, a partial and a missing shard, whose name is not plain text.
fn three_shards(name: &str) -> PathBuf {
    let folder = fresh_folder(name).join("q & <b>'s");
    for index in ["0", "1"] {
        let args = ["shard", "12", "--index", index, "--shards", "4", "--out", text(&folder)];
        let counted = output(&[&args[..], &["--engine", "subtrees"]].concat());
        assert_eq!(counted.status.code(), Some(0), "{}", stderr(&counted));
    }
    // Only the first line of units is left of the second shard.
    let journals = journals_in(std::slice::from_ref(&folder)).expect("a folder");
    let second = journals[1].clone();
    keep_lines(&second, 3);
    folder
}

fn page(name: &str, args: &[&str]) -> String {
    let path = fresh_folder(&format!("html-{name}")).join("page.html");
    let written = output(&[&["status", "--html", text(&path)], args].concat());
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    fs::read_to_string(path).expect("a page")
}

#[test]
fn the_page_shows_shards_machines_and_how_to_resume() {
    let folder = three_shards("status-page");
    let page = page("page", &[text(&folder)]);
    for part in [
        "<!doctype html>\n",
        "<h1>12 queens</h1>",
        "prefers-color-scheme: dark",
        "title=\"shard 0: complete, ",
        "title=\"shard 1: ",
        "title=\"shard 2: missing, 0 of ",
        "</i>1 complete</li>",
        "</i>0 running</li>",
        "</i>1 in part, not running</li>",
        "</i>2 missing</li>",
        "<h3>Machines</h3>",
        "scripts/slurm/submit.sh 12 --indices 1-3 --shards 4 --out '",
        "for i in $(seq 1 3); do nqueens shard 12 --index $i --shards 4 --out '",
        "/q &amp; &lt;b&gt;'\\''s'",
    ] {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    for harm in ["<b>", "<script", "http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(harm), "{harm} in:\n{page}");
    }
    assert!(!page.contains("second count") && !page.contains("first count"), "{page}");
}

#[test]
fn a_plain_count_has_no_shards_on_its_page_and_a_finished_one_its_total() {
    let path = fresh_folder("status-plain").join("q.journal");
    let (mut child, _) = start(&[ENDLESS, &["1"]].concat(), &path, &[]);
    let running = page("running", &[text(&path)]);
    assert!(running.contains("<h3>Running</h3>") && !running.contains("Shard"), "{running}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let path = path.with_file_name("q15.journal");
    let count = ["count", "15", "--engine", "subtrees", "--split-rows", "4", "--journal"];
    assert_eq!(output(&[&count[..], &[text(&path)]].concat()).status.code(), Some(0));
    let shown = output(&["status", text(&path)]);
    assert!(stdout(&shown).contains("total        2\u{202f}279\u{202f}184\n"), "{shown:?}");
    let (done, units) = ("done         ", contents(&path).tally().units);
    let with_space = format!("{done}{}\u{202f}{:03} units, 100 %,", units / 1000, units % 1000);
    assert!(stdout(&shown).contains(&with_space), "{shown:?}");
    assert_eq!(json(&output(&["status", "--json", text(&path)]))["total"], "2279184");
    assert!(page("finished", &[text(&path)]).contains("<dd>2\u{202f}279\u{202f}184</dd>"));
}

/// Where nothing can be redrawn, the watch prints only what is new; it writes the page as well.
#[test]
fn a_watch_ends_when_all_is_finished() {
    let folder = fresh_folder("status-watch");
    let (path, out) = (folder.join("q.journal"), folder.join("page.html"));
    assert_eq!(output(&["count", "11", "--journal", text(&path)]).status.code(), Some(0));
    let whole = fs::read(&path).expect("a journal");
    keep_lines(&path, 3);
    let watch = ["status", text(&path), "--watch", "--html", text(&out)];
    let mut watch = nqueens(&watch).spawn().expect("it starts");
    wait_until("a page", &mut watch, || out.exists());
    let mut journal = File::options().append(true).open(&path).expect("it is there");
    let rest = &whole[fs::read(&path).expect("a journal").len()..];
    // Looks at what has not changed print nothing.
    std::thread::sleep(Duration::from_secs(4));
    journal.write_all(rest).expect("room");
    let watched = finish(watch);
    let shown = stdout(&watched);
    assert_eq!((watched.status.code(), stderr(&watched)), (Some(0), ""), "{shown}");
    assert_eq!(
        (shown.matches("n            11\n").count(), shown.matches("total ").count()),
        (2, 1)
    );
    assert!(fs::read_to_string(out).expect("a page").contains("100 %"));
    for format in ["--json", "--quiet"] {
        refused(&output(&["status", "--watch", format, text(&path)]), 2, &["--watch", format]);
    }
}

#[test]
fn the_page_shows_both_counts() {
    let folder = three_shards("status-both");
    let args = ["shard", "12", "--index", "3", "--shards", "4", "--second", "--out", text(&folder)];
    assert_eq!(output(&[&args[..], &["--engine", "subtrees"]].concat()).status.code(), Some(0));
    let page = page("both", &[text(&folder)]);
    assert!(page.contains("first count</h2>") && page.contains("second count</h2>"), "{page}");
    assert!(page.contains("--indices 0-2 --shards 4 --second --out"), "{page}");
}

#[test]
fn a_page_replaces_what_is_named_html_and_nothing_else() {
    let folder = three_shards("status-file");
    let out = folder.join("status.html");
    let write = |out: &Path, more: &[&str]| -> Output {
        output(&[&["status", text(&folder), "--html", text(out)], more].concat())
    };
    for _ in 0..2 {
        let written = write(&out, &[]);
        assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
        assert!(stdout(&written).contains("shards       missing: shards 1-3 (of 0 to 3)"));
    }
    assert!(fs::read_to_string(&out).expect("text").ends_with("</html>\n"));
    let journal = journals_in(std::slice::from_ref(&folder)).expect("a folder")[0].clone();
    let before = fs::read(&journal).expect("readable");
    for path in [&journal, &folder] {
        refused(&write(path, &[]), 2, &["--html", "name a file that ends in .html"]);
    }
    refused(&write(&folder.join("none").join("page.html"), &[]), 2, &["--html", "make folder"]);
    refused(&write(Path::new("-"), &[]), 2, &["--html", "name a file"]);
    assert_eq!(fs::read(&journal).expect("readable"), before);
    let files = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(files, 3, "two journals, a page, and nothing temporary");
}

/// Gives a field this value wherever a journal has it.
fn forge(path: &Path, field: &str, value: &str) {
    let journal = fs::read_to_string(path).expect("text");
    let forged = journal.split_inclusive('\n').map(|sealed| {
        let line = crate::common::unsealed(sealed);
        let Some((before, after)) = line.split_once(field) else { return sealed.to_owned() };
        // A machine's name is all the rest.
        let rest =
            if field == "machine=" { "" } else { &after[after.find(' ').expect("a field")..] };
        crate::common::seal(&journal, &format!("{before}{field}{value}{rest}"))
    });
    let forged: String = forged.collect();
    assert_ne!(forged, journal);
    fs::write(path, forged).expect("room");
}

/// Whatever a journal or the time of its file pretends.
#[test]
fn impossible_times_do_no_harm() {
    let path = fresh_folder("status-times").join("q.journal");
    assert_eq!(output(&["count", "10", "--journal", text(&path)]).status.code(), Some(0));
    for most in ["18446744073709551", "18446744073709551615"] {
        forge(&path, "elapsed-ms=", most);
        forge(&path, "busy-us=", most);
        // File systems take the last time that they know.
        for time in [0, 1 << 33, 1 << 62] {
            let file = File::options().append(true).open(&path).expect("it is there");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(time))
                .expect("its owner");
            let page = page("times", &[text(&path)]);
            assert!(page.len() < 100_000 && page.contains("<h3>Machines</h3>"), "{}", page.len());
            assert_eq!(output(&["status", text(&path)]).status.code(), Some(0));
        }
    }
}

#[test]
fn names_cannot_turn_the_direction_of_writing() {
    let path = fresh_folder("status-\u{202e}names").join("q\u{61c}.journal");
    let count = ["count", "10", "--journal", text(&path)];
    assert_eq!(output(&count).status.code(), Some(0));
    forge(&path, "machine=", "\u{202e}\u{2067}evil");
    let marks = ['\u{202e}', '\u{61c}', '\u{2067}'];
    for (args, wanted) in [
        (&count[..], "724"),
        (&["status", text(&path)], "reached"),
        (&["merge", text(&path)], "724"),
        (&["verify", text(&path)], "724"),
    ] {
        let output = output(args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).contains(wanted), "{output:?}");
        assert!(!stdout(&output).contains(marks) && !stderr(&output).contains(marks), "{output:?}");
    }
    let page = page("names", &[text(&path)]);
    assert!(page.contains(r">\u{202e}\u{2067}evil</td>") && !page.contains(marks), "{page}");
}
