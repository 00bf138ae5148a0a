//! Promise: `status --html` writes a page that shows every count in any browser, whatever names and times the journals
//! have, and replaces the file in one step. docs/JOURNAL.md makes this promise under "What runs".

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use nqueens::record::journals_in;

use super::status::start_endless;
use crate::common::{
    arg, as_folder, contents, fresh_folder, journal_of, json, keep_lines, nqueens, output, refused,
    run, stderr, stdout, with_check_digits, without_check_digits,
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
    let journals = journals_in(&[&folder]).expect("a folder");
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
fn the_page_shows_shards_machines_and_how_to_resume() {
    let folder = three_shards("status-page");
    let page = page("page", &[arg(&folder)]);
    for part in [
        "<!doctype html>\n",
        "<h2>12 queens</h2>",
        "prefers-color-scheme: dark",
        "title=\"shard 0/4: complete, ",
        "title=\"shard 1/4: ",
        "title=\"shard 2/4: missing, 0 of ",
        "</i>1 complete</li>",
        "</i>0 running</li>",
        "</i>1 in part, not running</li>",
        "</i>2 missing</li>",
        "<h3>Machines</h3>",
        "sh -c 'for i in $(seq 1 3); do nqueens count 12 --engine subtrees --split-rows 2 \
         --shard $i/4 --journal &quot;$0&quot; ",
        "/q &amp; &lt;b&gt;'\\''s'",
    ] {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    for harm in ["<b>", "<script", "http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(harm), "{harm} in:\n{page}");
    }
    assert!(!page.contains("second count") && !page.contains("first count"), "{page}");
}

/// Returns the declarations of the style sheet for this selector.
fn style<'a>(page: &'a str, selector: &str) -> &'a str {
    let (_, rule) = page.split_once(&format!("{selector} {{")).expect(selector);
    rule.split('}').next().expect("declarations").trim()
}

/// Forced colours and print take backgrounds and colours away.
#[test]
fn states_differ_without_colours_and_backgrounds() {
    let page = page("borders", &[arg(&three_shards("status-borders"))]);
    let states = ["done", "run", "part", "none"];
    let widths_and_styles = states.map(|state| {
        let rule = style(&page, &format!(".legend .{state}, .grid .{state}"));
        let (_, border) = rule.split_once("border: ").expect("a border");
        border.split(" var(").next().expect("a width and a style").to_owned()
    });
    // Half of a square is 10 px, so the border of a complete shard fills it.
    assert_eq!(widths_and_styles, ["10px solid", "3px solid", "1px dashed", "1px solid"]);
    // What is done of the whole is a border as high as the bar.
    assert!(style(&page, ".bar").contains("height: 14px"), "{page}");
    assert!(style(&page, ".bar span").contains("border-top: 14px solid"), "{page}");
    assert!(
        style(&page, "@media (forced-colors: active)").contains("--done: CanvasText"),
        "{page}"
    );
    let kept = style(&page, ".bar, .bar span, .legend i, .grid i");
    for property in ["forced-color-adjust: none", " print-color-adjust: exact"] {
        assert!(kept.contains(property), "{kept}");
    }
}

/// On a phone a cell stands below another, with the title of its column before it.
#[test]
fn tables_fit_a_phone() {
    let page = page("phone", &[arg(&three_shards("status-phone"))]);
    let (_, table) = page.split_once("<h3>Machines</h3>").expect("a table");
    // The first part is before the table, the second is its head.
    let titles: Vec<&str> = table.split("<th").skip(2).filter_map(text_of).collect();
    assert_eq!(titles.len(), 7, "{table}");
    for title in titles {
        assert!(table.contains(&format!("data-title=\"{title}\">")), "no cell of {title}: {table}");
    }
    assert!(page.contains("@media (max-width: 40rem)"), "{page}");
    assert!(style(&page, "td::before").contains("content: attr(data-title)"), "{page}");
}

/// Returns the text behind the end of a tag.
fn text_of(cell: &str) -> Option<&str> {
    cell.split_once('>')?.1.split('<').next()
}

#[test]
fn a_plain_count_has_no_shards_on_its_page_and_a_finished_one_its_total() {
    let folder = fresh_folder("status-plain");
    let (mut child, _) = start_endless(&[], &folder);
    let running = page_with_code("running", &[arg(&folder)], 3);
    assert!(running.contains("<h3>Running</h3>") && !running.contains("Shard"), "{running}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let path = fresh_folder("status-finished");
    let count = ["count", "15", "--engine", "subtrees", "--split-rows", "4", "--journal"];
    assert_eq!(output(&[&count[..], &[arg(&path)]].concat()).status.code(), Some(0));
    let shown = output(&["status", arg(&path)]);
    assert!(stdout(&shown).contains("total        2279184\n"), "{shown:?}");
    let done = "done         ";
    let units = contents(&path).sum().units;
    assert!(units > 1000, "{units}");
    // Without spaces, so that it can be searched and parsed.
    assert!(stdout(&shown).contains(&format!("{done}{units} units, 100 %,")), "{shown:?}");
    assert_eq!(json(&output(&["status", "--json", arg(&path)]))["total"], "2279184");
    assert!(page("finished", &[arg(&path)]).contains("<dd>2279184</dd>"));
}

#[test]
fn the_page_shows_both_counts() {
    let folder = three_shards("status-both");
    let count = ["count", "12", "--second", "--engine", "subtrees", "--shard", "3/4", "--journal"];
    assert_eq!(output(&[&count[..], &[arg(&folder)]].concat()).status.code(), Some(0));
    let page = page("both", &[arg(&folder)]);
    assert!(
        page.contains("<h2>12 queens</h2>") && page.contains("<h2>12 queens, second count</h2>"),
        "{page}"
    );
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
    assert!(fs::read_to_string(&out).expect("text").ends_with("</html>\n"));
    let journal = journals_in(&[&folder]).expect("a folder")[0].clone();
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

/// As an administrator sets up a page that a web server reads.
#[test]
fn a_page_that_is_written_again_keeps_its_link_and_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = three_shards("status-link");
    let served = fresh_folder("html-served");
    let page = served.join("q12.html");
    let link = folder.join("status.html");
    symlink(&page, &link).expect("a link");
    let write = |out: &Path| output(&["status", arg(&folder), "--html", arg(out)]);
    // First the file behind the link is missing.
    for mode in [0o640, 0o604] {
        assert_eq!(write(&link).status.code(), Some(0));
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert!(fs::read_to_string(&page).expect("a page").ends_with("</html>\n"));
        fs::set_permissions(&page, fs::Permissions::from_mode(mode)).expect("its owner");
        fs::write(&page, "old").expect("room");
        assert_eq!(write(&link).status.code(), Some(0));
        assert!(fs::read_to_string(&page).expect("a page").ends_with("</html>\n"));
        let kept = fs::metadata(&page).expect("it is there").permissions().mode();
        assert_eq!(kept & 0o777, mode);
    }
    // A link that leads to a journal is replaced itself.
    let journal = journals_in(&[&folder]).expect("a folder")[0].clone();
    let before = fs::read(&journal).expect("readable");
    let harmful = folder.join("harmful.html");
    symlink(&journal, &harmful).expect("a link");
    assert_eq!(write(&harmful).status.code(), Some(0));
    assert!(!fs::symlink_metadata(&harmful).expect("it is there").is_symlink());
    assert_eq!(fs::read(&journal).expect("readable"), before);
}

/// Somebody may look at a page in any folder, and for as long as it takes.
#[test]
fn a_page_names_absolute_paths_and_does_not_load_itself_again() {
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
    assert!(running.contains("<h3>Running</h3>"), "{running}");
    assert!(!running.contains("http-equiv"), "{running}");
    assert!(running.contains("<a href=\"\">Load the page again</a>"), "{running}");
    let absolute = path.canonicalize().expect("it is there");
    let stopped = write("stopped.html");
    assert!(stopped.contains(&format!("--journal {}</code>", absolute.display())), "{stopped}");
    assert!(stopped.contains(&format!("journals in <code>{}<", path.display())), "{stopped}");
}

/// Two processes that count one board into a folder have one line each, with the host from the names of their journals.
#[test]
fn processes_that_look_alike_are_all_shown() {
    let folder = fresh_folder("status-alike");
    let (mut child, _) = start_endless(&[], &as_folder(&folder));
    let journal = journals_in(&[&folder]).expect("a folder")[0].clone();
    let name = journal.file_name().and_then(|name| name.to_str()).expect("a name");
    let host = name.split('.').nth(1).expect("a host");
    // The journal of another process of this host, which has just as much.
    let twin = folder.join(format!("n16-0000-of-0001.{host}.1.journal"));
    fs::copy(&journal, &twin).expect("room");
    let modified = fs::metadata(&journal).and_then(|file| file.modified()).expect("a time");
    let twin = File::options().append(true).open(&twin).expect("it is there");
    twin.set_modified(modified).expect("its owner");
    twin.lock().expect("a lock");
    let page = page_with_code("alike", &[arg(&folder)], 3);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let (_, table) = page.split_once("<h3>Running</h3>").expect("a table");
    let (table, _) = table.split_once("</table>").expect("an end");
    assert_eq!(table.matches("data-title=\"Threads\"").count(), 2, "{table}");
    assert_eq!(table.matches(&format!("data-title=\"Host\">{host}</td>")).count(), 2, "{table}");
    assert!(!table.contains("Shard"), "{table}");
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
            assert!(page.len() < 100_000 && page.contains("<h3>Machines</h3>"), "{}", page.len());
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
    assert!(page.contains(r">\u{202e}\u{2067}evil</td>") && !page.contains(marks), "{page}");
}
