//! Every command and option has a help text, and every example in help and pages runs.
//!
//! An example is a line of the help that begins with `nqueens`, and in README.md and docs:
//!
//! * a line that begins with `nqueens` in a block of `sh`,
//! * a line that begins with `$ nqueens` in a block of `text` or `console`,
//! * a command in `inline code`. If it has no operands, as in `nqueens merge --twice`, it only names a command and
//!   options. Then the help must list them.
//!
//! Each example runs in a shell in a fresh folder, on small boards and with short times (see `Small`), and must end
//! with exit code 0. The journals that it reads are there, under the names that it gives them. The output in a block
//! of `console` must be what the program prints, apart from times and kernels.
//!
//! What cannot run here has a comment on the line before its block or paragraph: `<!-- not run: needs a cluster -->`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use nqueens::Kernel;

use crate::common::{NQUEENS, arg, fresh_folder, nqueens, output, result, run, stderr, stdout};

/// The help of a command, or of the program if the name is empty.
fn help_of(command: &str) -> String {
    let args: &[&str] = if command.is_empty() { &["--help"] } else { &[command, "--help"] };
    let help = output(args);
    assert_eq!((help.status.code(), stderr(&help)), (Some(0), ""), "{args:?}");
    stdout(&help).to_owned()
}

/// All commands but `help`, as the help of the program lists them.
pub(crate) fn command_names() -> Vec<String> {
    let help = help_of("");
    let (_, list) = help.split_once("\nCommands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The lines of a help that name an argument or an option, with the line below each. Their texts are indented further.
fn entries(help: &str) -> Vec<(&str, &str)> {
    let mut lines = help.lines().peekable();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        let is_indented = (1..=6).contains(&indent(line));
        if is_indented && line.trim_start().starts_with(['-', '<', '[']) {
            entries.push((line, lines.peek().copied().unwrap_or_default()));
        }
    }
    entries
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The long names of all options in a help: `--journal`.
pub(crate) fn option_names(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (entry, _) in entries(help) {
        let mut words = entry.split([' ', ',']);
        names.extend(words.find(|word| word.starts_with("--")).map(str::to_owned));
    }
    names
}

/// The long and short names of a command's options that have a value.
fn options_with_value(command: &str) -> Vec<String> {
    let help = output(&[command, "--help"]);
    let mut names = Vec::new();
    for (entry, _) in entries(stdout(&help)) {
        // `-j, --journal <PATH>`; an argument without a name is only `<N>`.
        if let Some((option, _)) = entry.trim_start().split_once(" <") {
            names.extend(option.split(", ").map(str::to_owned));
        }
    }
    names
}

/// The arguments and options in a help that have no text. A text follows after two spaces or on the next line.
fn entries_without_text(help: &str) -> Vec<&str> {
    let mut lacking = Vec::new();
    for (entry, next) in entries(help) {
        let is_in_line = entry.trim().contains("  ");
        let is_below = indent(next) > 6 && next.trim_start().starts_with(char::is_alphabetic);
        if !is_in_line && !is_below {
            lacking.push(entry);
        }
    }
    lacking
}

#[test]
fn every_command_and_option_has_a_help_text() {
    let program = help_of("");
    let (_, list) = program.split_once("\nCommands:\n").expect("a list of commands");
    let commands = command_names();
    assert!(commands.len() > 5, "{program}");
    for (line, command) in list.lines().zip(&commands) {
        let text = line.trim_start().strip_prefix(&**command).expect("in this order");
        assert!(text.starts_with("  ") && text.trim().len() > 10, "{line}");
    }
    for command in &commands {
        let help = help_of(command);
        assert_eq!(entries_without_text(&help), [""; 0], "{command}: {help}");
        assert!(help.contains("\nOptions:\n") && help.contains("\nUsage: "), "{help}");
    }
}

#[test]
fn an_option_without_a_text_is_noticed() {
    let short = "Options:\n      --out <FOLDER>  \n  -h, --help          Print help\n";
    assert_eq!(entries_without_text(short), ["      --out <FOLDER>  "]);
    let long = "Options:\n  -q, --quiet\n\n      --json\n          Print one JSON object\n";
    assert_eq!(entries_without_text(long), ["  -q, --quiet"]);
    let default = "      --kernel <NAME>\n          [default: auto]\n";
    assert_eq!(entries_without_text(default).len(), 1);
    assert_eq!(option_names(&(long.to_owned() + short)), ["--quiet", "--json", "--out", "--help"]);
}

/// A command in a page or in a help, and where it stands.
#[derive(Debug)]
struct Example {
    place: String,
    command: String,
    /// Whether it stands in a sentence. There it may only name a command.
    is_inline: bool,
}

/// The examples in the help of the program and of each command.
fn examples_in_help() -> Vec<Example> {
    let mut examples = Vec::new();
    for name in [String::new()].into_iter().chain(command_names()) {
        let help = help_of(&name);
        let (_, lines) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("none: {help}"));
        let before = examples.len();
        for line in lines.lines() {
            // What an example does follows after two spaces.
            let command = line.trim_start().split("  ").next().expect("a command").to_owned();
            assert!(command.starts_with("nqueens "), "{line}");
            let place = format!("nqueens {name} --help").replace("  ", " ");
            examples.push(Example { place, command, is_inline: false });
        }
        assert!(examples.len() >= before + 2, "'nqueens {name} --help' has no two examples");
    }
    examples
}

/// The pages with examples.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    for entry in fs::read_dir("docs").expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages.sort_unstable();
    pages
}

/// The beginning of the comment on what cannot run here. The reason follows, then ` -->`.
const NOT_RUN: &str = "<!-- not run: ";

/// The examples in a page.
fn examples_in_page(name: &str, text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    // The language of the block in which a line is, and whether the block or paragraph has the comment.
    let (mut block, mut is_left_out) = (None, false);
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let line = line.trim_start();
        if let Some(reason) = line.strip_prefix(NOT_RUN) {
            assert!(reason.trim_end_matches("-->").trim().len() > 5, "{place}: give a reason");
            is_left_out = true;
        } else if let Some(language) = line.strip_prefix("```") {
            is_left_out &= block.is_none();
            block = if block.is_none() { Some(language) } else { None };
        } else if block.is_none() && line.is_empty() {
            is_left_out = false;
        } else if !is_left_out {
            let commands = match block {
                Some("sh") => command_in_shell(line).into_iter().collect(),
                Some("text" | "console") => {
                    line.strip_prefix("$ ").and_then(command_in_shell).into_iter().collect()
                }
                Some(_) => Vec::new(),
                None => commands_in_sentence(&place, line),
            };
            let is_inline = block.is_none();
            for command in commands {
                let (place, command) = (place.clone(), command.to_owned());
                examples.push(Example { place, command, is_inline });
            }
        }
    }
    examples
}

/// The command in a line of a shell, without the comment behind it.
fn command_in_shell(line: &str) -> Option<&str> {
    let command = line.split(" #").next().expect("a part").trim_end();
    command.starts_with("nqueens ").then_some(command)
}

/// The commands in `inline code`.
fn commands_in_sentence<'a>(place: &str, line: &'a str) -> Vec<&'a str> {
    let parts: Vec<&str> = line.split('`').collect();
    let is_broken = parts.len().is_multiple_of(2) && parts[parts.len() - 1].starts_with("nqueens ");
    assert!(!is_broken, "{place}: write the command in one line, so that it can be searched");
    let code = parts.into_iter().skip(1).step_by(2);
    code.filter(|code| code.starts_with("nqueens ")).collect()
}

#[test]
fn examples_are_found_where_they_stand() {
    let page = "\
Run `nqueens count 8` or `cargo test`, or\n\
```sh\n\
nqueens cpu      # the machine\n\
cargo test\n\
```\n\
<!-- not run: needs a cluster -->\n\
```sh\n\
nqueens count 9\n\
```\n\
\n\
   ```text\n\
   $ nqueens count 10 | cat\n\
   nqueens: not complete\n\
   ```\n\
<!-- not run: takes a day -->\n\
`nqueens count 11`\n\
\n\
`nqueens count 12`\n";
    let found = examples_in_page("p", page);
    let found: Vec<_> =
        found.iter().map(|found| (&*found.place, &*found.command, found.is_inline)).collect();
    assert_eq!(
        found,
        [
            ("p:1", "nqueens count 8", true),
            ("p:3", "nqueens cpu", false),
            ("p:12", "nqueens count 10 | cat", false),
            ("p:18", "nqueens count 12", true),
        ]
    );
}

/// The board on which examples run.
const SMALL_BOARD: u32 = 8;
/// The least board that is replaced by it.
const LARGE_BOARD: u32 = 14;
/// The same for `compare`, which runs slow engines several times.
const LARGE_BOARD_TO_COMPARE: u32 = 11;

/// Makes an example small, and the files that it reads.
struct Small<'a> {
    /// The folder in which the example runs. It is the home folder, too.
    folder: &'a Path,
}

impl Small<'_> {
    /// Returns the command with small boards, short times, and values for the words in capitals.
    fn command(&self, command: &str) -> String {
        let mut words = command.split_whitespace();
        let mut small = vec![words.next().expect("the program").to_owned()];
        let name = words.next().expect("a command");
        small.push(name.to_owned());
        let with_value = options_with_value(name);
        let (mut option, mut operands, mut is_of_shell) = ("", 0, false);
        for word in words {
            is_of_shell |= word.starts_with(['|', '>', '<', ';', '&']);
            let word = if is_of_shell {
                self.make_parent(word.trim_start_matches('>'));
                word.to_owned()
            } else if word.starts_with('-') {
                option = word;
                word.to_owned()
            } else if with_value.iter().any(|name| name == option) {
                self.value(std::mem::take(&mut option), word)
            } else {
                operands += 1;
                self.operand(name, operands, word)
            };
            small.push(word);
        }
        small.join(" ")
    }

    fn value(&self, option: &str, value: &str) -> String {
        let is_number = value.parse::<u32>().is_ok();
        let small = match option {
            "--seconds" | "--seconds-limit" => "0.1",
            "--threads" | "-t" if is_number || value == "T" => "2",
            "--kernel" | "--kernels" if Kernel::NAMES.contains(&value) => "portable",
            "--shard" if value == "I/K" => "0/3",
            "--shards" if value == "K" => "3",
            "--units" if value == "K" => "5",
            "--seed" if value == "SEED" => "7",
            "--svg" if value == "FILE" => "picture.svg",
            "--html" if value == "FILE" => "page.html",
            "--out" if value == "FOLDER" => "manual",
            "--journal" | "-j" if value == "FILE" => "new.journal",
            "--journal" | "-j" if value == "FOLDER/" || value == "PATH" => "new/",
            "--journal" | "-j" | "--svg" | "--html" | "--out" => &self.local(value),
            "--against" => {
                let rows = output(&["compare", "8", "--repeat", "1", "--json"]);
                let file = if value == "FILE" { "rows.json" } else { value };
                fs::write(self.folder.join(file), rows.stdout).expect("room");
                file
            }
            _ => value,
        };
        small.to_owned()
    }

    fn operand(&self, command: &str, number: usize, word: &str) -> String {
        match (command, number) {
            ("merge" | "status" | "verify", _) => self.journals(word),
            ("unit", 2) => "3".to_owned(),
            ("compare", _) => small_boards(word, LARGE_BOARD_TO_COMPARE),
            ("count" | "table" | "list" | "estimate" | "unit", _) => {
                small_boards(word, LARGE_BOARD)
            }
            _ => word.to_owned(),
        }
    }

    /// Makes the journals that an example reads: a file, or a folder with both counts in shards.
    fn journals(&self, word: &str) -> String {
        let word = match word {
            "FILE" | "FILE..." => "q8.journal",
            "FOLDER" => "q8",
            word => word,
        };
        let word = self.local(word);
        let path = self.folder.join(&word);
        let Fixtures { first, second, shards } = Fixtures::get();
        if path.extension().is_some_and(|ending| ending == "journal") {
            let journal = if word.contains("second") { second } else { first };
            fs::copy(journal, &path).expect("room");
        } else {
            fs::create_dir_all(&path).expect("room");
            for shard in fs::read_dir(shards).expect("a folder") {
                let shard = shard.expect("readable");
                fs::copy(shard.path(), path.join(shard.file_name())).expect("room");
            }
        }
        word
    }

    /// Returns a path in the folder in place of this one.
    fn local(&self, path: &str) -> String {
        self.make_parent(path);
        path.trim_start_matches('/').to_owned()
    }

    /// Makes the folder of a file that an example writes, as if a user had it.
    fn make_parent(&self, path: &str) {
        let path = self.folder.join(path.trim_start_matches("~/").trim_start_matches('/'));
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
    }
}

/// A board size, a range or a list of them, of which the sizes from `large` on are replaced: `10-24` by `10-10`.
fn small_boards(word: &str, large: u32) -> String {
    if word == "N" {
        return SMALL_BOARD.to_string();
    }
    let small = |size: &str, least: u32| match size.parse::<u32>() {
        Ok(size) if size >= large => Some(SMALL_BOARD.max(least)),
        size => size.ok(),
    };
    let mut ranges = Vec::new();
    for range in word.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let Some(small_first) = small(first, 0) else { return word.to_owned() };
        let Some(small_last) = small(last, small_first) else { return word.to_owned() };
        if first == last {
            ranges.push(small_first.to_string());
        } else {
            ranges.push(format!("{small_first}-{small_last}"));
        }
    }
    ranges.join(",")
}

/// Journals of the small board.
struct Fixtures {
    first: PathBuf,
    second: PathBuf,
    /// A folder with three shards of both counts.
    shards: PathBuf,
}

impl Fixtures {
    fn get() -> &'static Self {
        static FIXTURES: OnceLock<Fixtures> = OnceLock::new();
        FIXTURES.get_or_init(|| {
            let folder = fresh_folder("examples-fixtures");
            let count = |place: &Path, options: &[&str]| {
                let n = SMALL_BOARD.to_string();
                let counted = output(&[&["count", &n, "--journal", arg(place)], options].concat());
                assert!(counted.status.success(), "{counted:?}");
            };
            let names = ["1.journal", "2.journal", "shards"];
            let [first, second, shards] = names.map(|name| folder.join(name));
            count(&first, &[]);
            count(&second, &["--second"]);
            fs::create_dir(&shards).expect("room");
            for shard in ["0/3", "1/3", "2/3"] {
                count(&shards, &["--shard", shard]);
                count(&shards, &["--shard", shard, "--second"]);
            }
            Self { first, second, shards }
        })
    }
}

/// Returns what is wrong with an example.
fn fault_of(example: &Example, folder: &Path) -> Option<String> {
    let words: Vec<&str> = example.command.split_whitespace().collect();
    let is_name = example.is_inline && words[2..].iter().all(|word| word.starts_with('-'));
    if is_name && words[1] != "help" {
        return fault_of_name(words[1], &words[2..]);
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("room");
    let command = Small { folder }.command(&example.command);
    let output = in_shell(&command, folder);
    let (code, _, messages) = result(&output);
    let ran = if command == example.command { String::new() } else { format!(" as '{command}'") };
    (code != Some(0)).then(|| format!("ran{ran}, exit code {code:?}: {}", messages.trim_end()))
}

/// Runs a command in a folder, which is the home folder as well, on a node of a cluster. A command that takes more than
/// a minute of CPU time is stopped, so it fails.
fn in_shell(command: &str, folder: &Path) -> std::process::Output {
    let program = Path::new(NQUEENS).parent().expect("a folder").display();
    let path = format!("{program}:{}", env::var("PATH").unwrap_or_default());
    let limited = format!("ulimit -t 60; {command}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).current_dir(folder).env("PATH", path).env("HOME", folder);
    shell.env_remove("NQUEENS_THREADS").env("i", "0");
    shell.env("SLURM_ARRAY_TASK_ID", "0").env("SLURM_CPUS_PER_TASK", "2");
    run(&mut shell)
}

/// Returns what is wrong with the name of a command, with options.
fn fault_of_name(command: &str, options: &[&str]) -> Option<String> {
    let help = run(&mut nqueens(&[command, "--help"]));
    if !help.status.success() {
        return Some("there is no such command".to_owned());
    }
    let known = option_names(stdout(&help));
    let unknown = options.iter().find(|option| !known.iter().any(|known| known == *option))?;
    Some(format!("{command} has no option {unknown}"))
}

/// Runs examples; returns a line for each that fails.
fn failures(examples: &[Example], folder: &str) -> Vec<String> {
    let folder = fresh_folder(folder);
    let mut failures = Vec::new();
    for example in examples {
        if let Some(fault) = fault_of(example, &folder) {
            failures.push(format!("{}: {}: {fault}", example.place, example.command));
        }
    }
    failures
}

#[test]
fn every_example_in_the_help_runs() {
    let failures = failures(&examples_in_help(), "examples-help");
    assert!(failures.is_empty(), "{} examples fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_example_in_the_pages_runs() {
    let mut examples = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        examples.extend(examples_in_page(arg(&path), &text));
    }
    assert!(examples.len() > 30, "{examples:?}");
    let failures = failures(&examples, "examples-pages");
    assert!(failures.is_empty(), "{} examples fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn an_example_that_does_not_run_is_noticed() {
    let of = |command: &str, is_inline| Example {
        place: "page:1".to_owned(),
        command: command.to_owned(),
        is_inline,
    };
    let examples = [
        of("nqueens count 24 --shard 1/40 --journal /shared/q24/ | cat", false),
        of("nqueens shard 24 --index 0 --shards 40 --out q24", false),
        of("nqueens merge q24 --into new.journal", true),
        of("nqueens merge --twice", true),
        of("nqueens merge --into", true),
        of("nqueens count 24 --journal q24", false),
        of("nqueens frobnicate", true),
    ];
    let failures = failures(&examples, "examples-failing");
    let reasons = [
        "'shard'",
        "'--into'",
        "merge has no option --into",
        "a slash behind it",
        "no such command",
    ];
    assert_eq!(failures.len(), reasons.len(), "{failures:?}");
    for (failure, reason) in failures.iter().zip(reasons) {
        assert!(failure.starts_with("page:1: nqueens ") && failure.contains(reason), "{failure}");
    }
}

#[test]
fn large_boards_become_small() {
    for (word, small) in [
        ("24", "8"),
        ("13", "13"),
        ("N", "8"),
        ("1-16", "1-8"),
        ("10-24", "10-10"),
        ("14-16", "8-8"),
        ("1,3-12,20", "1,3-12,8"),
        ("x", "x"),
        ("x-16", "x-16"),
    ] {
        assert_eq!(small_boards(word, LARGE_BOARD), small, "{word}");
    }
    let folder = fresh_folder("examples-small");
    let small = |command| Small { folder: &folder }.command(command);
    assert_eq!(small("nqueens estimate 28 --seconds 2m"), "nqueens estimate 8 --seconds 0.1");
    assert_eq!(small("nqueens count 24 --json --shard I/K"), "nqueens count 8 --json --shard 0/3");
    assert_eq!(
        small("nqueens verify q24 --units 1000 -t 8"),
        "nqueens verify q24 --units 1000 -t 2"
    );
    assert_eq!(small("nqueens merge /a/b.journal > 24"), "nqueens merge a/b.journal > 24");
    assert!(folder.join("a/b.journal").exists());
}

/// The commands in the `console` blocks of a page, each with the output that is shown.
fn outputs_in_page(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut outputs: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("an end");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => outputs.push((command, Vec::new())),
                None => outputs.last_mut().expect("a command comes first").1.push(line),
            }
        }
    }
    outputs
}

/// Pages show real output. Only times and the kernel's name differ from run to run.
#[test]
fn the_output_in_console_blocks_is_what_the_program_prints() {
    let folder = fresh_folder("examples-console");
    let mut compared = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        for (command, shown) in outputs_in_page(&text) {
            let output = in_shell(command, &folder);
            let printed = stdout(&output).lines().chain(stderr(&output).lines());
            let printed: Vec<String> = printed.map(comparable).collect();
            let shown: Vec<String> = shown.into_iter().map(comparable).collect();
            assert_eq!(shown, printed, "{}: {command}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 0, "no page shows output");
}

/// Replaces times and kernels in a line, and spaces between words by single ones.
fn comparable(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        if ["ns", "µs", "ms", "s"].contains(&word) {
            words.pop();
            words.push("TIME".to_owned());
        } else {
            words.push(without_decimals(word));
        }
    }
    let mut text = words.join(" ");
    for name in Kernel::NAMES {
        text = text.replace(&format!("kernel {name}"), "kernel NAME");
        text = text.replace(&format!("\"kernel\":\"{name}\""), "\"kernel\":\"NAME\"");
    }
    text
}

/// Replaces the numbers with a decimal point in a word.
fn without_decimals(word: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut text = word.to_owned();
    for part in word.split(|c| !is_of_number(c)) {
        if part.matches('.').count() == 1 && part.parse::<f64>().is_ok() {
            text = text.replace(part, "NUMBER");
        }
    }
    text
}

#[test]
fn only_times_and_kernels_may_differ_from_the_output_that_is_shown() {
    let line = "12   14200  1787   671 µs  agrees";
    assert_eq!(comparable(line), comparable("12 14200 1787 1.02 ms agrees"));
    assert_ne!(comparable(line), comparable("12 14200 1786 1.02 ms agrees"));
    let json = |kernel| format!("{{\"kernel\":\"{kernel}\",\"seconds\":0.000309}}");
    assert_eq!(comparable(&json("avx2")), comparable(&json("portable").replace("309", "41")));
    assert_ne!(comparable(&json("avx2")), comparable(&json("avx9")));
}
