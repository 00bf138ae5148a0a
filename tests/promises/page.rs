//! Promise: `status --html` writes a page that shows every count in any browser, whatever names and times the journals
//! have, and replaces the file in one step. docs/JOURNAL.md makes this promise under "What runs".

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use super::status::start_endless;
use crate::common::{
    NQUEENS, arg, as_folder, contents, fresh_folder, journal_of, journals_in, json, keep_lines,
    nqueens, output, refused, run, stderr, stdout, with_check_digits, without_check_digits,
};

/// A folder with a complete, a partial and a missing shard, whose name is not plain text.
fn three_shards(name: &str) -> PathBuf {
    let folder = fresh_folder(name).join("q & <b>'s");
    for shard in ["0/4", "1/4"] {
        let count = ["count", "12", "--engine", "subtrees", "--shard", shard, "--journal"];
        let counted = run(nqueens(&count).arg(as_folder(&folder)));
        assert_eq!(counted.status.code(), Some(0), "{}", stderr(&counted));
    }
    // Only the first line of units is left of the second shard.
    let journals = journals_in(&folder);
    let second = journals[1].clone();
    keep_lines(&second, 3);
    folder
}

fn page(name: &str, args: &[&str]) -> String {
    page_with_code(name, args, 0)
}

/// The page that a command writes, which ends with this exit code.
fn page_with_code(name: &str, args: &[&str], code: i32) -> String {
    let path = fresh_folder(&format!("html-{name}")).join("page.html");
    let written = output(&[&["status", "--html", arg(&path)], args].concat());
    assert_eq!(written.status.code(), Some(code), "{}", stderr(&written));
    fs::read_to_string(path).expect("a page")
}

#[test]
fn the_page_shows_the_text_and_a_square_for_each_shard() {
    let folder = three_shards("status-page");
    let page = page("page", &[arg(&folder)]);
    for part in [
        "<!DOCTYPE html>",
        "color-scheme: light dark",
        "<h2>Shards</h2>",
        "title=\"shard 0/4: complete, 36 of 36 units\">■</span>",
        "title=\"shard 1/4: in part, not running, ",
        "title=\"shard 2/4: missing, 0 of 36 units\">□</span>",
        "</span> 1 complete",
        "</span> 0 running",
        "</span> 1 in part, not running",
        "</span> 2 missing",
        "sh -c 'for i in $(seq 1 3); do nqueens count 12 --engine subtrees --split-rows 2 \
         --shard $i/4 --journal &quot;$0&quot; ",
        "/q &amp; &lt;b&gt;'\\''s'",
    ] {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    for harm in ["<b>", "<script", "http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(harm), "{harm} in:\n{page}");
    }
    assert!(!page.contains("second pass") && !page.contains("first pass"), "{page}");
}

/// The page shows each row of the text, with the same value.
#[test]
fn the_page_has_every_row_of_the_text() {
    let folder = three_shards("status-rows");
    let path = fresh_folder("html-rows").join("page.html");
    let written = output(&["status", "--html", arg(&path), arg(&folder)]);
    let page = fs::read_to_string(path).expect("a page");
    let mut rows = String::new();
    for line in stdout(&written).lines() {
        let (label, text) = line.split_at(13);
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        rows += &format!("<dt>{}</dt><dd>{}</dd>", label.trim(), text.replace('"', "&quot;"));
    }
    assert!(rows.contains("<dt>resume</dt>") && page.contains(&rows), "no {rows} in {page}");
}

/// Forced colours, print and a text browser take colours away.
#[test]
fn states_differ_without_colours() {
    let page = page("signs", &[arg(&three_shards("status-signs"))]);
    let (_, legend) = page.split_once("<h2>Shards</h2>").expect("squares");
    let mut signs = HashSet::new();
    for span in legend.split("</span>").take(4) {
        signs.extend(span.chars().last());
    }
    assert_eq!(signs.len(), 4, "{legend}");
}

#[test]
fn a_plain_count_has_no_shards_on_its_page_and_a_finished_one_its_total() {
    let folder = fresh_folder("status-plain");
    let (mut child, _) = start_endless(&[], &folder);
    let running = page_with_code("running", &[arg(&folder)], 3);
    let process = "<dt>running</dt><dd>1 of 1 journal, 1 thread";
    assert!(running.contains(process) && !running.contains("Shard"), "{running}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let path = fresh_folder("status-finished");
    let count = ["count", "15", "--engine", "subtrees", "--split-rows", "4", "--journal"];
    assert_eq!(output(&[&count[..], &[arg(&path)]].concat()).status.code(), Some(0));
    let shown = output(&["status", arg(&path)]);
    assert!(stdout(&shown).contains("total        2279184\n"), "{shown:?}");
    let done = "done         ";
    let units = contents(&path).units_done();
    assert!(units > 1000, "{units}");
    // Without spaces, so that it can be searched and parsed.
    assert!(stdout(&shown).contains(&format!("{done}{units} units, 100 %,")), "{shown:?}");
    assert_eq!(json(&output(&["status", "--json", arg(&path)]))["total"], "2279184");
    assert!(page("finished", &[arg(&path)]).contains("<dd>2279184</dd>"));
}

#[test]
fn the_page_shows_both_passes() {
    let folder = three_shards("status-both");
    let count = ["count", "12", "--second", "--engine", "subtrees", "--shard", "3/4", "--journal"];
    assert_eq!(output(&[&count[..], &[arg(&folder)]].concat()).status.code(), Some(0));
    let page = page("both", &[arg(&folder)]);
    for part in ["<h2>Shards</h2>", "<h2>Shards of the second pass</h2>", "<dt>twice</dt>"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    let command = "for i in $(seq 0 2); do nqueens count 12 --second --engine subtrees --split-rows 2 \
                   --shard $i/4 --journal ";
    assert!(page.contains(command), "{page}");
}

#[test]
fn a_page_replaces_what_is_named_html_and_nothing_else() {
    let folder = three_shards("status-file");
    let out = folder.join("status.html");
    let write = |out: &Path, more: &[&str]| -> Output {
        output(&[&["status", arg(&folder), "--html", arg(out)], more].concat())
    };
    for _ in 0..2 {
        let written = write(&out, &[]);
        assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
        assert!(stdout(&written).contains("shards       missing: shards 1/4 to 3/4"));
    }
    assert!(fs::read_to_string(&out).expect("text").ends_with("</html>"));
    let journal = journals_in(&folder)[0].clone();
    let before = fs::read(&journal).expect("readable");
    for path in [&journal, &folder] {
        refused(&write(path, &[]), 2, &["--html", "name a file that ends in .html"]);
    }
    refused(&write(&folder.join("none").join("page.html"), &[]), 2, &["--html: cannot write"]);
    refused(&write(Path::new("-"), &[]), 2, &["--html", "name a file"]);
    assert_eq!(fs::read(&journal).expect("readable"), before);
    let files = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(files, 3, "two journals, a page, and nothing temporary");
}

/// As far as the umask allows, others may read a page, such as a web server.
#[test]
fn a_page_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt;

    let folder = three_shards("status-mode");
    let page = fresh_folder("html-mode").join("q12.html");
    for (umask, mode) in [("022", 0o644), ("027", 0o640), ("022", 0o644)] {
        let script = format!("umask {umask}; exec \"$0\" status \"$1\" --html \"$2\"");
        let mut shell = Command::new("sh");
        let written = run(shell.args(["-c", &script, NQUEENS]).args([&folder, &page]));
        assert_eq!(written.status.code(), Some(0), "{written:?}");
        let found = fs::metadata(&page).expect("it is there").permissions().mode();
        assert_eq!(found & 0o777, mode, "umask {umask}");
    }
}

/// A link is replaced itself, so it never leads to a journal.
#[test]
fn a_page_replaces_a_link_and_not_what_it_leads_to() {
    let folder = three_shards("status-link");
    let journal = journals_in(&folder)[0].clone();
    let before = fs::read(&journal).expect("readable");
    let link = folder.join("status.html");
    std::os::unix::fs::symlink(&journal, &link).expect("a link");
    let written = output(&["status", arg(&folder), "--html", arg(&link)]);
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    assert!(!fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(fs::read(&journal).expect("readable"), before);
}

/// Somebody may look at a page in any folder.
#[test]
fn a_page_names_absolute_paths() {
    let folder = fresh_folder("status-absolute");
    let path = folder.join("q16");
    let (mut child, _) = start_endless(&[], &path);
    let write = |name: &str| {
        let mut status = nqueens(&["status", "q16", "--html", name]);
        let written = run(status.current_dir(&folder));
        assert!(written.status.code().is_some_and(|code| code == 0 || code == 3), "{written:?}");
        fs::read_to_string(folder.join(name)).expect("a page")
    };
    let running = write("running.html");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(running.contains("<dt>running</dt><dd>1 of 1 journal, 1 thread"), "{running}");
    let absolute = path.canonicalize().expect("it is there");
    let stopped = write("stopped.html");
    assert!(stopped.contains(&format!("--journal {}</dd>", absolute.display())), "{stopped}");
    assert!(stopped.contains(&format!("journals in {}<", path.display())), "{stopped}");
}

/// Two processes that count one board into a folder are two, although their journals hold the same.
#[test]
fn processes_that_look_alike_are_all_shown() {
    let folder = fresh_folder("status-alike");
    let (mut child, _) = start_endless(&[], &as_folder(&folder));
    let journal = journals_in(&folder)[0].clone();
    // The journal of another process of this host, which has just as much.
    let twin = folder.join("n16-0000-of-0001.host.1.journal");
    fs::copy(&journal, &twin).expect("room");
    let twin = File::options().append(true).open(&twin).expect("it is there");
    twin.lock().expect("a lock");
    let page = page_with_code("alike", &[arg(&folder)], 3);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(page.contains("<dt>running</dt><dd>2 of 2 journals, 2 threads"), "{page}");
    assert!(!page.contains("Shard"), "{page}");
}

/// Gives a field this value wherever a journal has it.
fn forge(path: &Path, field: &str, value: &str) {
    let journal = fs::read_to_string(path).expect("text");
    let mut forged = String::new();
    for whole_line in journal.split_inclusive('\n') {
        let line = without_check_digits(whole_line);
        let Some((before, after)) = line.split_once(field) else {
            forged += whole_line;
            continue;
        };
        // The name of a machine is the rest of its line. Every other field ends at a space.
        let rest_at =
            if field == "machine=" { after.len() } else { after.find(' ').expect("a field") };
        let rest = &after[rest_at..];
        forged += &with_check_digits(&journal, &format!("{before}{field}{value}{rest}"));
    }
    assert_ne!(forged, journal);
    fs::write(path, forged).expect("room");
}

/// Whatever a journal or the time of its file pretends.
#[test]
fn impossible_times_do_no_harm() {
    let path = fresh_folder("status-times").join("q.journal");
    journal_of("10", &path, &[]);
    for most in ["18446744073709551", "18446744073709551615"] {
        forge(&path, "elapsed-ms=", most);
        forge(&path, "busy-us=", most);
        // File systems take the last time that they know.
        for time in [0, 1 << 33, 1 << 62] {
            let file = File::options().append(true).open(&path).expect("it is there");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(time))
                .expect("its owner");
            let page = page("times", &[arg(&path)]);
            assert!(page.len() < 100_000 && page.contains("<dt>CPU time</dt>"), "{}", page.len());
            assert_eq!(output(&["status", arg(&path)]).status.code(), Some(0));
        }
    }
}

#[test]
fn names_cannot_turn_the_direction_of_writing() {
    let folder = fresh_folder("status-\u{202e}names");
    let path = folder.join("q\u{61c}.journal");
    journal_of("10", &path, &[]);
    let count = ["count", "10", "--journal", arg(&folder)];
    forge(&path, "machine=", "\u{202e}\u{2067}evil");
    let marks = ['\u{202e}', '\u{61c}', '\u{2067}'];
    for (args, wanted) in [
        (&count[..], "724"),
        (&["status", arg(&path)], "724"),
        (&["merge", arg(&path)], "724"),
        (&["verify", arg(&path)], "724"),
    ] {
        let output = output(args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).contains(wanted), "{output:?}");
        assert!(!stdout(&output).contains(marks) && !stderr(&output).contains(marks), "{output:?}");
    }
    let page = page("names", &[arg(&path)]);
    assert!(page.contains(r"/q\u{61c}.journal") && !page.contains(marks), "{page}");
}
