//! Makes an example small: small boards, short times, files in its own folder, and journals to read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::common::{arg, fresh_folder, journals_in, output, stdout};
use crate::help::entries;

/// The board on which examples run.
const SMALL_BOARD: u32 = 8;
/// The least board that is replaced by it.
const LARGE_BOARD: u32 = 14;
/// The least board that is replaced in an example of `compare`, which runs slow engines several times.
const LARGE_BOARD_TO_COMPARE: u32 = 11;

/// Makes an example small, and the files that it reads.
pub(super) struct Small<'a> {
    /// The folder in which the example runs. It is the home folder, too.
    pub(super) folder: &'a Path,
}

impl Small<'_> {
    /// Returns the command with small boards, short times, and values for the words in capitals.
    pub(super) fn command(&self, command: &str) -> String {
        let mut words = command.split_whitespace();
        let mut small = vec![words.next().expect("the program").to_owned()];
        let name = words.next().expect("a command");
        small.push(name.to_owned());
        let with_value = options_with_value(name);
        let mut option = "";
        let mut operands = 0;
        let mut is_of_shell = false;
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
            "--kernel" | "--kernels" if crate::common::KERNELS.contains(&value) => "portable",
            "--shard" if value == "I/K" => "0/3",
            "--shards" if value == "K" => "3",
            "--units" if value == "K" => "5",
            "--seed" if value == "SEED" => "7",
            "--svg" if value == "FILE" => "picture.svg",
            "--html" if value == "FILE" => "page.html",
            "--out" if value == "FOLDER" => "manual",
            "--journal" | "-j" if value == "FOLDER" => "new",
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

    /// Makes the journals that an example reads: a file, or a folder of the shards of a first pass or of a second pass.
    fn journals(&self, word: &str) -> String {
        let word = match word {
            "FILE" | "FILE..." => "q8.journal",
            "FOLDER" => "q8",
            word => word,
        };
        let word = self.local(word);
        let path = self.folder.join(&word);
        let Fixtures { first, second } = Fixtures::get();
        let shards = if word.contains("second") { second } else { first };
        if path.extension().is_some_and(|ending| ending == "journal") {
            let packed: Vec<Vec<u8>> =
                shards.iter().map(|file| fs::read(file).expect("a file")).collect();
            fs::write(&path, packed.concat()).expect("room");
        } else {
            fs::create_dir_all(&path).expect("room");
            for file in shards {
                fs::copy(file, path.join(file.file_name().expect("a name"))).expect("room");
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

/// The journals of three shards of the small board, of each count.
struct Fixtures {
    first: Vec<PathBuf>,
    second: Vec<PathBuf>,
}

impl Fixtures {
    fn get() -> &'static Self {
        static FIXTURES: OnceLock<Fixtures> = OnceLock::new();
        FIXTURES.get_or_init(Self::new)
    }

    fn new() -> Self {
        let [first, second] = ["examples-first", "examples-second"].map(fresh_folder);
        for shard in ["0/3", "1/3", "2/3"] {
            count_small_board(&first, &["--shard", shard]);
            count_small_board(&second, &["--shard", shard, "--second"]);
        }
        let [first, second] = [first, second].map(|folder| journals_in(&folder));
        Self { first, second }
    }
}

/// Counts the small board with these options, with journals in this folder.
fn count_small_board(folder: &Path, options: &[&str]) {
    let n = SMALL_BOARD.to_string();
    let counted = output(&[&["count", &n, "--journal", arg(folder)], options].concat());
    assert!(counted.status.success(), "{counted:?}");
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
