//! What several tests need: boards, kernels, files, journals, and runs of the program.

#![allow(dead_code, reason = "every test file uses a part of this")]

pub(crate) mod processes;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::ops::{Deref, DerefMut, Range};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::Duration;

use nqueens::journal::{JournalError, Record, Records, Run};
use nqueens::plan::Plan;
use nqueens::{BoardSize, Count, Engine, Error, Kernel, Outcome, Shard};

/// The program.
pub(crate) const NQUEENS: &str = env!("CARGO_BIN_EXE_nqueens");

/// The cores that the tests may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().expect("Linux knows").get()
}

/// The name of this host.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The version with the commit, as journals and results name it.
pub(crate) fn version() -> String {
    let line = printed(&["--version"]);
    let (version, commit) = line.trim_end().split_once(", commit ").expect("a version");
    format!("{}+{commit}", version.strip_prefix("nqueens ").expect("the name"))
}

/// A pool of threads that several counts can use.
pub(crate) fn thread_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// The names of all kernels, whether this CPU can run them or not.
pub(crate) const KERNELS: [&str; 4] = ["portable", "neon", "avx2", "avx512"];

/// The engines that a reader may know from a textbook, with the largest board that takes some seconds.
pub(crate) const TEXTBOOK: [(Engine, u32); 5] = [
    (Engine::Permutation, 12),
    (Engine::BoardScan, 13),
    (Engine::ColumnArray, 14),
    (Engine::BoolArrays, 14),
    (Engine::Bitmask, 16),
];

/// The engines that have kernels.
pub(crate) const WITH_KERNELS: [Engine; 2] = [Engine::Subtrees, Engine::Colours];

/// The bytes that a thread of engine `colours` may use, as a count says that has no memory.
pub(crate) fn colours_bytes(n: u32) -> u64 {
    let count = Count::new(size(n)).engine(Engine::Colours).threads(1).memory(0);
    match count.run() {
        Err(Error::LacksMemory(lack)) => lack.needed_bytes(),
        other => panic!("n = {n}: {other:?}"),
    }
}

/// The names of all engines.
pub(crate) fn engine_names() -> Vec<&'static str> {
    Engine::ALL.iter().map(|engine| engine.name()).collect()
}

pub(crate) fn size(n: u32) -> BoardSize {
    BoardSize::new(n).expect("in range")
}

/// A plan of a board that the engine counts.
pub(crate) fn plan_of(size: BoardSize, engine: Engine, split_rows: Option<usize>) -> Plan {
    Plan::new(size, engine, split_rows).expect("a plan")
}

/// The kernels to test: all that this CPU can run, or the one in `NQUEENS_TEST_KERNEL`. The first test that asks names
/// those that are skipped, for all tests.
pub(crate) fn kernels() -> Vec<Kernel> {
    static NAMED: Once = Once::new();
    if let Ok(name) = std::env::var("NQUEENS_TEST_KERNEL") {
        return vec![name.parse().expect("a kernel of this CPU")];
    }
    let available = Kernel::available();
    NAMED.call_once(|| {
        for name in KERNELS {
            if !available.iter().any(|kernel| kernel.name() == name) {
                note_skipped(&format!("kernel {name} does not run on this CPU"));
            }
        }
    });
    available
}

/// Says on stderr that a test, or a part of it, was skipped. The harness hides what tests print, but not what is
/// written to stderr itself.
pub(crate) fn note_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// A path for one test, with nothing there.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    let _ = fs::remove_file(&path);
    path
}

/// An empty folder for one test.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let folder = fresh(name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A path as an argument.
pub(crate) fn arg(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// The program with these arguments and with pipes for its output.
pub(crate) fn nqueens(args: &[&str]) -> Command {
    processes::unignore_signals();
    let mut command = Command::new(NQUEENS);
    command.args(args).env_remove("NQUEENS_THREADS");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A count that is recorded in this journal and prints its bare total.
pub(crate) fn count_into(n: &str, journal: &Path, args: &[&str]) -> Command {
    let mut command = nqueens(&["count", n, "--quiet", "--journal"]);
    command.arg(journal).args(args);
    command
}

/// Counts a board, and leaves the journal at this path.
pub(crate) fn journal_of(n: &str, path: &Path, args: &[&str]) {
    let folder = path.with_extension("made");
    let counted = run(&mut count_into(n, &folder, args));
    assert!(counted.status.success(), "{counted:?}");
    fs::rename(journal_in(&folder), path).expect("it is there");
    fs::remove_dir(folder).expect("it is empty");
}

/// Numbers of errors of Linux, as text for the variable `SHIM_ERRNO` of the library in `tests/shim`.
#[cfg(target_os = "linux")]
pub(crate) mod errno {
    pub(crate) const ENOENT: &str = "2";
    pub(crate) const EIO: &str = "5";
    pub(crate) const EBADF: &str = "9";
    pub(crate) const ENOMEM: &str = "12";
    pub(crate) const EACCES: &str = "13";
    pub(crate) const EINVAL: &str = "22";
    pub(crate) const ENFILE: &str = "23";
    pub(crate) const EMFILE: &str = "24";
    pub(crate) const ENOTTY: &str = "25";
    pub(crate) const ENOSPC: &str = "28";
    pub(crate) const EROFS: &str = "30";
    pub(crate) const ENOSYS: &str = "38";
    pub(crate) const ENOTSUP: &str = "95";
    pub(crate) const ESTALE: &str = "116";
}

/// Runs the program with these arguments.
pub(crate) fn output(args: &[&str]) -> Output {
    run(&mut nqueens(args))
}

/// Returns what the program prints with exit code 0 and without a message.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = output(args);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{args:?}");
    stdout(&output).to_owned()
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

/// A process that ends with its test, if the test fails.
pub(crate) struct Running(Option<Child>);

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("not finished")
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("not finished")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a command.
pub(crate) fn spawn(command: &mut Command) -> Running {
    Running(Some(command.spawn().expect("the program starts")))
}

/// Waits for the end of a process.
pub(crate) fn finish(mut running: Running) -> Output {
    let child = running.0.take().expect("not finished");
    child.wait_with_output().expect("the program ends")
}

/// Runs a command whose reader has left before it prints.
pub(crate) fn without_reader(command: &mut Command) -> Output {
    let mut child = spawn(command);
    drop(child.stdout.take());
    finish(child)
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("text")
}

/// Exit code, stdout and stderr.
pub(crate) fn result(output: &Output) -> (Option<i32>, &str, &str) {
    (output.status.code(), stdout(output), stderr(output))
}

/// The JSON object that the program printed.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The commands that messages print behind this text, one in each line that has it.
pub(crate) fn commands_after(text: &str, messages: &str) -> Vec<String> {
    let commands = messages.lines().filter_map(|line| line.split_once(text));
    commands.map(|(_, command)| command.to_owned()).collect()
}

/// Runs a command that a message printed, as a user would who pastes it into a shell.
pub(crate) fn run_in_shell(command: &str) -> Output {
    let output = shell(Path::new("."), command);
    assert!(output.status.success(), "{command}: {output:?}");
    output
}

/// The program was not killed. It printed no answer, and a message that gives all these reasons. Arguments that make no
/// sense by themselves get the message of the parser, which ends with the way to the help. All others get one line.
pub(crate) fn refused(output: &Output, code: i32, reasons: &[&str]) {
    assert_eq!((output.status.code(), stdout(output)), (Some(code), ""), "{output:?}");
    let message = stderr(output);
    if code == 2 && message.starts_with("error: ") {
        assert!(message.ends_with("For more information, try '--help'.\n"), "{message}");
    } else {
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.starts_with("nqueens: "), "{message}");
    }
    for reason in reasons {
        assert!(message.contains(reason), "no '{reason}' in: {message}");
    }
}

/// Counts a shard on two threads.
pub(crate) fn count_shard(n: u32, index: usize, shards: usize, folder: &Path) -> Outcome {
    let shard = Shard::new(index, shards).expect("in range");
    Count::new(size(n)).threads(2).shard(shard).journal(as_folder(folder)).run().expect("a shard")
}

/// The path with a slash behind it, which stands for a folder even if it is not there yet.
pub(crate) fn as_folder(path: &Path) -> PathBuf {
    path.join("")
}

/// Renames the journal of a shard: each process has one journal in a folder, and tests are all one process.
pub(crate) fn set_aside(outcome: &Outcome, name: &str) -> PathBuf {
    let path = outcome.journal.clone().expect("it was written");
    let aside = path.with_file_name(format!("{name}.journal"));
    fs::rename(path, &aside).expect("the folder can be written");
    aside
}

/// Journals of one pass, and what they hold.
#[derive(Debug)]
pub(crate) struct OnePass(pub(crate) Records);

impl Deref for OnePass {
    type Target = Record;

    fn deref(&self) -> &Record {
        self.0.first().or(self.0.second()).expect("it is there")
    }
}

impl OnePass {
    /// The indices of the shards that have to be run.
    pub(crate) fn missing_shards(&self, shards: usize) -> Result<Vec<usize>, Error> {
        let missing = self.0.missing_shards(self.plan().pass(), shards)?;
        Ok(missing.into_iter().map(Shard::index).collect())
    }
}

/// The number of counts in lines beyond the first one of each unit.
pub(crate) fn repeated(record: &Record) -> usize {
    record.runs().map(Run::units).sum::<usize>() - record.units_done()
}

/// The CPU time that all units took.
pub(crate) fn cpu_time(record: &Record) -> Duration {
    record.runs().map(Run::cpu_time).sum()
}

/// The journals in a folder, in the order of their names. If the folder is not there, it has none yet.
pub(crate) fn journals_in(folder: &Path) -> Vec<PathBuf> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".journal") && !name.starts_with('.') {
            journals.push(path);
        }
    }
    journals.sort();
    journals
}

/// Reads a journal, or those in a folder, of one pass. Whatever is left out is an error.
pub(crate) fn read(path: &Path) -> Result<Option<OnePass>, Error> {
    let records = Records::read(&[path])?;
    match records.left_out().first() {
        Some(error) => Err(error.clone()),
        None => Ok(only(records)),
    }
}

/// The only pass in some journals.
pub(crate) fn only(records: Records) -> Option<OnePass> {
    let is_first = records.first().is_some();
    let is_second = records.second().is_some();
    assert!(!is_first || !is_second, "they are of both passes");
    (is_first || is_second).then_some(OnePass(records))
}

/// Reads journals, and folders of them, of one count. Lines may be left out.
pub(crate) fn record_of(paths: &[impl AsRef<Path>]) -> OnePass {
    only(Records::read(paths).expect("readable")).expect("a journal has begun")
}

/// The only journal in a folder.
pub(crate) fn journal_in(folder: &Path) -> PathBuf {
    let files = journals_in(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// What a good journal holds, or a folder of them.
pub(crate) fn contents(path: &Path) -> OnePass {
    read(path).expect("readable").expect("a journal")
}

/// All counts of a record, by unit.
pub(crate) fn counts(record: &Record) -> BTreeMap<usize, u64> {
    let units = 0..record.plan().units();
    units.filter_map(|unit| Some((unit, record.count(unit)?))).collect()
}

/// The error of a journal, which is expected.
pub(crate) fn journal_error<T: Debug>(result: Result<T, Error>) -> JournalError {
    match result {
        Err(Error::Journal(error)) => error,
        other => panic!("an error of the journal was expected, not {other:?}"),
    }
}

/// The contents of a journal with at least one finished unit.
pub(crate) fn some_units(path: &Path) -> Option<OnePass> {
    read(path).ok().flatten().filter(|record| record.units_done() > 0)
}

/// Keeps the first lines of a journal.
pub(crate) fn keep_lines(path: &Path, lines: usize) {
    let text = fs::read_to_string(path).expect("text");
    let lines: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
    fs::write(path, lines.concat()).expect("room");
}

/// The first line of a journal, with its CRC.
pub(crate) fn first_line_with_check_digits(line: &str) -> String {
    format!("{line} {:08x}\n", crc32fast::hash(line.as_bytes()))
}

/// Another line of the journal with this first line, with its CRC.
pub(crate) fn with_check_digits(first: &str, line: &str) -> String {
    let plan = first.find(" n=").map_or("", |at| &first[at + 1..]);
    let fields: Vec<&str> = plan.split_whitespace().take(6).collect();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fields.join(" ").as_bytes());
    hasher.update(line.as_bytes());
    format!("{line} {:08x}\n", hasher.finalize())
}

/// Writes a journal in which the first eight units of engine `colours` have the count 0 in one line, and 1 in another.
pub(crate) fn eight_units_with_two_counts(n: u32, path: &Path) {
    units_with_two_counts(n, 8, path);
}

/// Writes a journal in which so many units of engine `colours`, the first ones, have the count 0 in one line, and 1 in
/// another. Each line holds eight units.
pub(crate) fn units_with_two_counts(n: u32, units: usize, path: &Path) {
    let plan = plan_of(size(n), Engine::Colours, None);
    let first = first_line_with_check_digits(&format!("nqueens-journal 2 version=0.1.0 {plan}"));
    let mut text = first.clone();
    for start in (0..units).step_by(8) {
        let end = start + 8;
        let weights: u64 = (start..end).map(|unit| plan.weight(unit)).sum();
        for count in [0, 1] {
            let counts = [count.to_string().as_str(); 8].join(",");
            let sum = count * weights;
            let line = format!(
                "done units={start}..{end} solutions={sum} elapsed-ms=1 busy-us=1 counts={counts}"
            );
            text += &with_check_digits(&first, &line);
        }
    }
    fs::write(path, text).expect("room");
}

/// The units of a `done` line.
pub(crate) fn units_of_line(line: &str) -> Range<usize> {
    let field = line.split(' ').find_map(|field| field.strip_prefix("units=")).expect("units");
    let (start, end) = field.split_once("..").expect("a range");
    start.parse().expect("a number")..end.parse().expect("a number")
}

/// A line of a journal without its CRC.
pub(crate) fn without_check_digits(line: &str) -> &str {
    line.trim_end().rsplit_once(' ').expect("a CRC").0
}

/// A `done` line with the count of its first unit raised, and with the right sum and CRC; and the
/// number of that unit.
pub(crate) fn raised(plan: &Plan, first: &str, line: &str, by: u64) -> (usize, String) {
    let (fields, counts) = without_check_digits(line).rsplit_once("counts=").expect("counts");
    let value = |name| fields.split(' ').find_map(|field| field.strip_prefix(name)).expect(name);
    let unit = value("units=").split("..").next().expect("a range").parse().expect("a number");
    let sum = value("solutions=");
    let new_sum = sum.parse::<u64>().expect("a sum") + by * plan.weight(unit);
    let fields = fields.replace(&format!("solutions={sum} "), &format!("solutions={new_sum} "));
    let first_len = counts.find(',').unwrap_or(counts.len());
    let (count, others) = counts.split_at(first_len);
    let count = count.parse::<u64>().expect("a count") + by;
    (unit, with_check_digits(first, &format!("{fields}counts={count}{others}")))
}

/// Raises the count of the first unit in each `done` line that is chosen by its number and text;
/// returns these units.
pub(crate) fn raise_counts(
    path: &Path,
    by: u64,
    mut choose: impl FnMut(usize, &str) -> bool,
) -> Vec<usize> {
    let plan = contents(path).plan().clone();
    let text = fs::read_to_string(path).expect("text");
    let mut units = Vec::new();
    let mut new_text = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with("done ") && choose(number, line) {
            let (unit, raised_line) = raised(&plan, &text, line, by);
            units.push(unit);
            new_text += &raised_line;
        } else {
            new_text += line;
        }
    }
    fs::write(path, new_text).expect("the folder can be written");
    units
}

/// Raises the count of the first unit in the first `done` line by one; returns that unit.
pub(crate) fn raise_first_count(path: &Path) -> usize {
    let mut is_first = true;
    let raised = raise_counts(path, 1, |_, _| std::mem::take(&mut is_first));
    raised[0]
}

/// Runs a command line in a folder, as a user pastes it into a shell. The name `nqueens` stands for the program.
pub(crate) fn shell(folder: &Path, line: &str) -> Output {
    let path = Path::new(NQUEENS).parent().expect("a folder").to_owned();
    let mut paths = path.into_os_string();
    paths.push(":");
    paths.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", paths);
    run(command.env_remove("NQUEENS_THREADS"))
}
