//! Which processes are counting, and how long the rest of a count takes.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::Record;
use super::samples::RunKind;
use super::shards::ShardUnits;
use crate::cancel::Cancel;
use crate::forecast::{Cores, Forecast, Rest, Sample};
use crate::journal_file::{JournalFile, Reading, Run, is_being_written, read_journal};
use crate::plan::shard::Shard;

/// A shorter time without a line means nothing, because the clocks of two machines differ.
const MIN_SILENCE: Duration = Duration::from_secs(60);

/// The processes that are counting, as [`Record::running`] found them.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    record: &'a Record,
    processes: Vec<Process<'a>>,
}

/// A process that is writing a journal.
#[derive(Debug)]
struct Process<'a> {
    file: &'a JournalFile,
    run: &'a Run,
    pace: Pace,
}

/// What the lines of a process tell.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// The number of cores that the process got lately. `None` while there are few lines.
    cores: Option<f64>,
    /// The longest time from one line to the next.
    longest_gap: Duration,
}

impl Record {
    /// Looks which of the journals are being written at this moment, by their locks. Journals of complete shards are
    /// passed over.
    ///
    /// Some file systems do not show locks of other hosts. Then the processes of other hosts are not noticed.
    pub(crate) fn running(&self) -> Running<'_> {
        let mut shards = ShardsByNumber::default();
        let mut processes = Vec::new();
        for file in self.files() {
            let Some(run) = file.runs.last() else { continue };
            if shards.missing_in(run.shard, self) > 0 && is_being_written(&file.path) {
                processes.push(Process { file, run, pace: pace_of(file, run, self) });
            }
        }
        Running { record: self, processes }
    }

    /// Returns the part of the plan that is not finished.
    fn rest(&self) -> Rest {
        let done = self.sum();
        let total = self.plan().size().published().total;
        Rest {
            units: self.plan().units() - done.units,
            solutions: total.map(|total| total as f64 - done.solutions as f64),
        }
    }

    /// Returns the finished units of the runs of a kind.
    pub(crate) fn sample_of(&self, wanted: &RunKind) -> Sample {
        self.samples.of(|kind| kind == wanted)
    }
}

/// Reads the journal of a process again, and returns what the lines of its latest run tell.
fn pace_of(file: &JournalFile, run: &Run, record: &Record) -> Pace {
    let mut pace = Pace::default();
    let mut cores = Cores::by_lines(run.threads);
    let mut cpu_time = Duration::ZERO;
    let mut run_number = 0;
    let cancel = Cancel::new();
    let plan = [record.shared_plan()];
    let reading = Reading::new(&plan, &cancel);
    // If the journal cannot be read any more, nothing is known of its process.
    let _ = read_journal(&file.path, &reading, |line| {
        if line.run_number != run_number {
            run_number = line.run_number;
            pace = Pace::default();
            cores = Cores::by_lines(run.threads);
            cpu_time = Duration::ZERO;
        }
        let gap = line.done.elapsed.saturating_sub(cores.elapsed());
        pace.longest_gap = pace.longest_gap.max(gap);
        cpu_time = cpu_time.saturating_add(line.done.cpu_time);
        // Threads may write their lines in another order than they ended them.
        cores.add(line.done.elapsed.max(cores.elapsed()), cpu_time);
        Ok(())
    });
    Pace { cores: cores.mean(), ..pace }
}

impl Running<'_> {
    /// Returns whether no process is counting.
    pub(crate) fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Returns the journals that are being written.
    pub(crate) fn files(&self) -> impl Iterator<Item = &JournalFile> {
        self.processes.iter().map(|process| process.file)
    }

    /// Returns the number of all threads that are counting.
    pub(crate) fn threads(&self) -> usize {
        let threads = self.processes.iter().map(|process| process.run.threads);
        // A journal may pretend anything.
        threads.fold(0, usize::saturating_add)
    }

    /// Returns for each unit of the plan whether a process counts it, unless it is finished.
    pub(super) fn units(&self, units: usize) -> Vec<bool> {
        let mut is_counted = vec![false; units];
        for process in &self.processes {
            for range in process.run.shard.ranges(units) {
                is_counted[range].fill(true);
            }
        }
        is_counted
    }

    /// Returns the longest time for which a process has recorded nothing, if that is much longer than it took before
    /// from one line to the next: longer than a minute, and twice as long as the longest time. Then the process has
    /// perhaps been stopped.
    pub(crate) fn silence(&self, now: SystemTime) -> Option<Duration> {
        self.processes.iter().filter_map(|process| process.silence(now)).max()
    }

    /// Estimates how long the missing units take. Returns `None` while nothing is finished.
    ///
    /// The CPU time is that of all missing units. The wall time lasts until every process that is counting has completed
    /// its shard, and the cores are those that these processes use together.
    /// Both are `None` if no process is counting, or while too little is known.
    ///
    /// The sample is the work of runs with the kernel, CPU and number of threads of the runs that are counting. If no
    /// process is counting, the sample is all runs. The standard error is infinite if these runs are not like each
    /// other. It is also infinite if no run like the ones that are counting has finished a unit: then the sample is
    /// all runs.
    pub(crate) fn time_left(&self) -> Option<Forecast> {
        let mut current = kinds_of(self.processes.iter().map(|process| process.run));
        if current.is_empty() {
            current = kinds_of(self.record.runs());
        }
        let mut sample = self.record.samples.of(|kind| current.contains(kind));
        let is_like_current = !sample.is_empty();
        if !is_like_current {
            sample = self.record.samples.of(|_| true);
        }
        let cpu_seconds = Forecast::of_rest(&sample, self.record.rest(), None)?.cpu_seconds;
        let left = match self.last_end(&sample) {
            Some(last) => Forecast { cpu_seconds, ..last },
            None => Forecast { cpu_seconds, wall_seconds: None, cores: None, total: None },
        };
        let is_error_known = is_like_current && current.len() == 1;
        Some(if is_error_known { left } else { left.roughly() })
    }

    /// Returns the forecast of the process that ends last, with the cores of all processes.
    fn last_end(&self, sample: &Sample) -> Option<Forecast> {
        let cores_of_thread = self.cores_of_thread()?;
        let mut shards = ShardsByNumber::default();
        let mut ends = Vec::new();
        for process in &self.processes {
            let shard = process.run.shard;
            let rest = if shard.is_whole() {
                self.record.rest()
            } else {
                Rest { units: shards.missing_in(shard, self.record), solutions: None }
            };
            let cores = process.pace.cores.unwrap_or(cores_of_thread * process.run.threads as f64);
            ends.push(Forecast::of_rest(sample, rest, Some(cores))?);
        }
        let all_cores = ends.iter().filter_map(|end| end.cores).sum();
        let seconds = |end: &Forecast| end.wall_seconds.map_or(0.0, |seconds| seconds.value);
        let last = ends.into_iter().max_by(|one, other| seconds(one).total_cmp(&seconds(other)))?;
        Some(Forecast { cores: Some(all_cores), ..last })
    }

    /// Returns how many cores a thread got lately, on average over the processes of which that is known.
    fn cores_of_thread(&self) -> Option<f64> {
        let mut threads = 0.0;
        let mut cores = 0.0;
        for process in &self.processes {
            if let Some(cores_of_process) = process.pace.cores {
                threads += process.run.threads as f64;
                cores += cores_of_process;
            }
        }
        if threads == 0.0 { None } else { Some(cores / threads) }
    }
}

impl Process<'_> {
    /// Returns the time since the process recorded something, if that is unusually long.
    fn silence(&self, now: SystemTime) -> Option<Duration> {
        let silence = now.duration_since(self.file.modified?).ok()?;
        let usual = self.pace.longest_gap.saturating_mul(2);
        (silence > MIN_SILENCE.max(usual)).then_some(silence)
    }
}

/// How far each shard is, for each number of shards that was asked for.
#[derive(Default)]
struct ShardsByNumber(BTreeMap<usize, Vec<ShardUnits>>);

impl ShardsByNumber {
    /// Returns the number of units that are missing in a shard.
    fn missing_in(&mut self, shard: Shard, record: &Record) -> usize {
        let number = shard.count();
        let shards = self.0.entry(number).or_insert_with(|| record.shard_units(number));
        shards.get(shard.index()).map_or(0, |shard| shard.units - shard.finished)
    }
}

/// Returns the kinds of some runs, each once.
fn kinds_of<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<RunKind> {
    let mut kinds: Vec<RunKind> = Vec::new();
    for run in runs {
        if !kinds.iter().any(|kind| kind.has(run)) {
            kinds.push(RunKind::of(run));
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::board::size::BoardSize;
    use crate::count::Count;
    use crate::engine::{Engine, Kernel};
    use crate::journal_file::Journal;
    use crate::plan::Plan;
    use crate::plan::done::UnitsDone;
    use crate::record::samples::Samples;
    use crate::record::{Records, Shards};

    /// Reads the journals of two of three shards.
    fn two_of_three_shards() -> Record {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let size = BoardSize::new(10).expect("in range");
        for index in 0..2 {
            let shard = Shard::new(index, 3).expect("in range");
            let count = Count::new(size).shard(shard).threads(index + 1).journal(folder.path());
            count.run().expect("a count");
        }
        record_of(folder.path())
    }

    /// Reads the journals in a folder.
    fn record_of(folder: &Path) -> Record {
        Records::read(&[folder]).expect("good journals").first.expect("a count has begun")
    }

    /// Makes a record of processes, as if they were writing these journals.
    fn running<'a>(record: &'a Record, files: &'a [JournalFile]) -> Running<'a> {
        let process =
            |file: &'a JournalFile| Process { file, run: &file.runs[0], pace: Pace::default() };
        Running { record, processes: files.iter().map(process).collect() }
    }

    #[test]
    fn the_units_that_run_are_those_of_the_shards() {
        let record = two_of_three_shards();
        let running = running(&record, record.files());
        assert_eq!((running.is_empty(), running.threads()), (false, 3));
        let shards = |running: &Running<'_>, number| {
            let Shards { complete, running, missing, .. } =
                record.shards_beside(running, number).expect("in range");
            (complete, running, missing)
        };
        assert_eq!(shards(&running, 3), (vec![0, 1], vec![], vec![2]));
        let mut whole = record.files().to_vec();
        whole[1].runs[0].shard = Shard::WHOLE;
        let running = self::running(&record, &whole);
        assert_eq!(shards(&running, 3), (vec![0, 1], vec![2], vec![]));
        assert_eq!(shards(&running, 1), (vec![], vec![0], vec![]));
    }

    #[test]
    fn the_rest_is_what_no_shard_has_finished() {
        let record = two_of_three_shards();
        let done = record.sum();
        let rest = record.rest();
        assert!(0 < done.units && done.units < record.plan().units());
        assert_eq!(rest.units, record.plan().units() - done.units);
        assert_eq!(rest.solutions, Some(724.0 - done.solutions as f64));
    }

    #[test]
    fn a_process_is_silent_after_a_minute_and_twice_its_longest_gap() {
        let record = two_of_three_shards();
        let then = SystemTime::UNIX_EPOCH;
        let mut files = record.files().to_vec();
        for file in &mut files {
            file.modified = Some(then);
        }
        let mut running = running(&record, &files);
        let silence = |running: &Running<'_>, seconds| {
            let silence = running.silence(then + Duration::from_secs(seconds));
            silence.map_or(0, |silence| silence.as_secs())
        };
        assert_eq!([60, 61].map(|seconds| silence(&running, seconds)), [0, 61]);
        for process in &mut running.processes {
            process.pace.longest_gap = Duration::from_secs(100);
        }
        assert_eq!([200, 201].map(|seconds| silence(&running, seconds)), [0, 201]);
    }

    /// Units took one second on one thread and three on two.
    #[test]
    fn the_cpu_time_left_is_that_of_runs_like_the_ones_that_are_counting() {
        let mut record = two_of_three_shards();
        record.samples = Samples::new(record.plan().units());
        for block in 0..30 {
            for (kind, cpu_seconds) in [(0, 1), (1, 3)] {
                let unit = 1000 * (2 * block + kind);
                let units = unit..unit + 1;
                let cpu_time = Duration::from_secs(cpu_seconds);
                let run = record.files()[kind].runs[0].clone();
                record.samples.add(&run, &UnitsDone { units, cpu_time, ..UnitsDone::default() });
            }
        }
        let seconds_of_unit = |files: &[JournalFile]| {
            let forecast = running(&record, files).time_left().expect("sixty units");
            assert_eq!(forecast.wall_seconds, None);
            let seconds = forecast.cpu_seconds;
            let mean = seconds.value / record.rest().units as f64;
            (mean.round(), seconds.standard_error.is_finite())
        };
        let files = record.files();
        assert_eq!(seconds_of_unit(&files[..1]), (1.0, true));
        assert_eq!(seconds_of_unit(&files[1..]), (3.0, true));
        assert_eq!(seconds_of_unit(files), (2.0, false), "they differ");
        assert_eq!(seconds_of_unit(&[]), (2.0, false), "nobody knows who counts the rest");
        let mut others = files[..1].to_vec();
        others[0].runs[0].threads = 7;
        assert_eq!(seconds_of_unit(&others), (2.0, false), "none is like this one");
        let mut counting = running(&record, &files[..1]);
        counting.processes[0].pace.cores = Some(1.0);
        let forecast = counting.time_left().expect("sixty units");
        let wall_seconds = forecast.wall_seconds.expect("cores are known");
        assert_eq!(wall_seconds.value, 0.0, "its shard is complete");
        let mean = forecast.cpu_seconds.value / record.rest().units as f64;
        assert_eq!(mean.round(), 1.0, "the CPU time is that of all missing units");
    }

    /// A sample in which each unit took a second of CPU time.
    fn a_second_for_each_unit() -> Sample {
        let mut sample = Sample::new(1000);
        let cpu_time = Duration::from_secs(1000);
        sample.add(&UnitsDone { units: 0..1000, cpu_time, ..UnitsDone::default() });
        sample
    }

    #[test]
    fn the_process_that_ends_last_decides_the_wall_time() {
        let record = two_of_three_shards();
        let mut files = record.files().to_vec();
        files[1].runs[0].shard = Shard::new(2, 3).expect("in range");
        let mut running = running(&record, &files);
        running.processes[0].pace.cores = Some(0.5);
        running.processes[1].pace.cores = Some(2.0);
        // The shard of the first process is complete. The second process counts what is missing.
        let expected = record.rest().units as f64 / 2.0;
        for _ in 0..2 {
            let last = running.last_end(&a_second_for_each_unit()).expect("cores are known");
            let wall_seconds = last.wall_seconds.expect("cores are known");
            assert_eq!((wall_seconds.value, last.cores), (expected, Some(2.5)));
            running.processes.reverse();
        }
    }

    #[test]
    fn the_missing_units_are_those_of_the_shard() {
        let record = two_of_three_shards();
        let missing = record.rest().units;
        let mut shards = ShardsByNumber::default();
        let mut missing_in = |index, of| {
            let shard = Shard::new(index, of).expect("in range");
            shards.missing_in(shard, &record)
        };
        assert_eq!([0, 1, 2].map(|index| missing_in(index, 3)), [0, 0, missing]);
        assert_eq!(missing_in(0, 2) + missing_in(1, 2), missing);
    }

    #[test]
    fn an_unknown_process_gets_as_much_for_each_thread_as_the_others() {
        let record = two_of_three_shards();
        let mut files = record.files().to_vec();
        files[0].runs[0].threads = 4;
        let mut running = running(&record, &files);
        assert_eq!(running.cores_of_thread(), None);
        assert_eq!(running.last_end(&a_second_for_each_unit()), None);
        running.processes[1].pace.cores = Some(1.0);
        assert_eq!(running.cores_of_thread(), Some(0.5), "one core for two threads");
        // One core for the two threads of the second process, and two cores for the four threads of the first one.
        let last = running.last_end(&a_second_for_each_unit()).expect("one of them is known");
        assert_eq!(last.cores, Some(3.0));
        running.processes[0].pace.cores = Some(4.0);
        assert_eq!(running.cores_of_thread(), Some(5.0 / 6.0));
    }

    #[test]
    fn a_resumed_count_knows_the_units_of_runs_like_itself() {
        let record = two_of_three_shards();
        let run = record.files()[1].runs[0].clone();
        assert!(!record.sample_of(&RunKind::of(&run)).is_empty());
        let more_threads = Run { threads: 3, ..run };
        assert!(record.sample_of(&RunKind::of(&more_threads)).is_empty());
    }

    #[test]
    fn the_cores_of_a_process_are_those_of_the_latest_run_in_its_journal() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let size = BoardSize::new(12).expect("in range");
        let plan = Arc::new(Plan::new(size, Engine::Colours, None).expect("a plan"));
        let run = Run::of_this_process(Kernel::PORTABLE, 2, Shard::WHOLE);
        // Two runs of a minute. A second of CPU time was reported each second, then every two seconds.
        let mut unit = 0;
        let mut packed = String::new();
        for (reports, every) in [(60, 1), (30, 2)] {
            let mut journal = Journal::create(folder.path(), &plan, &run).expect("room");
            for report in 1..=reports {
                journal.append(&UnitsDone {
                    units: unit..unit + 1,
                    counts: vec![0],
                    elapsed: Duration::from_secs(every * report),
                    cpu_time: Duration::from_secs(1),
                    ..UnitsDone::default()
                });
                unit += 1;
            }
            let (path, _) = journal.finish().expect("room");
            packed += &fs::read_to_string(&path).expect("text");
            fs::remove_file(path).expect("it is there");
        }
        fs::write(folder.path().join("packed.journal"), packed).expect("room");
        let record = record_of(folder.path());
        let file = &record.files()[0];
        let pace = pace_of(file, file.runs.last().expect("two runs"), &record);
        assert_eq!((pace.cores, pace.longest_gap), (Some(0.5), Duration::from_secs(2)));
    }

    #[test]
    fn who_holds_the_journal_of_a_complete_shard_is_not_counting() {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let count = Count::new(BoardSize::new(8).expect("in range")).engine(Engine::Bitmask);
        count.threads(1).journal(folder.path()).run().expect("a count");
        let path = record_of(folder.path()).files()[0].path.clone();
        let holds_lock = || {
            let file = fs::File::open(&path).expect("it is there");
            file.try_lock().expect("nobody writes");
            record_of(folder.path()).running().threads()
        };
        assert_eq!(holds_lock(), 0);
        let text = fs::read_to_string(&path).expect("text");
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        fs::write(&path, lines[..lines.len() - 1].concat()).expect("room");
        assert_eq!(holds_lock(), 1, "a unit is missing");
    }
}
