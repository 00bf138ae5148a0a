//! The journals that `merge`, `status` and `verify` read, and what they report on them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::slice;

use crate::error::JournalErrorKind;
use crate::journal_file::journals_in;
use crate::plan::done::Sum;
use crate::record::{BothPasses, Disagreement, Record, Records, Running, Shards, Votes};
use crate::{Agreement, Error, Shard};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::memory::stated_memory;
use crate::cli::print::format::{duration, json_seconds, many, ranges, shards_text, sum};
use crate::cli::print::published::print_differs;
use crate::cli::print::report::{Format, Report};
use crate::cli::quote::quoted;
use crate::cli::stderr::{message, print_first};
use crate::cli::values::path;
use crate::cli::warnings::warn_of;

/// Which journals, and how the report on them is printed.
#[derive(Debug, Args)]
pub(crate) struct JournalsArgs {
    #[command(flatten)]
    pub(crate) format: Format,

    /// Journals of a board, or folders of them; the count may still be running
    ///
    /// Journals of the first and of the second pass are compared.
    #[arg(required = true, value_name = "FILE|FOLDER", value_parser = path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Number of shards, to name the missing ones [default: as in the journals]
    #[arg(long, value_name = "K")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=Shard::MAX_SHARDS as u64))]
    pub(crate) shards: Option<usize>,
}

impl JournalsArgs {
    /// Reads the journals, which are of one plan, and warns of what is left out. Takes no locks. Both counts are `None`
    /// if no journal has begun.
    pub(crate) fn read(&self) -> Result<Records, Failure> {
        let records = Records::read_here(&self.paths, stated_memory()?)?;
        warn_of(&records);
        Ok(records)
    }

    /// Ends a command that found no journal that has begun. Nothing is complete, which scripts read from the exit code
    /// and from the JSON object.
    pub(crate) fn nothing_recorded(&self) -> Failure {
        let mut indices = Value::Null;
        if let Some(shards) = self.shards {
            let all: Vec<usize> = (0..shards).collect();
            indices = ranges(&all).into();
        }
        let mut report = Report::default();
        report
            .field("n", Value::Null)
            .field("plan", Value::Null)
            .field("total", Value::Null)
            .field("finished", 0)
            .field("missing", json!({ "units": null, "shards": self.shards, "indices": indices }));
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(", ");
        let has_journals = journals_in(&self.paths).is_ok_and(|files| !files.is_empty());
        let text = if has_journals {
            format!("no journal in {paths} holds a finished unit yet")
        } else {
            format!("there is no journal in {paths}: their names end in .journal")
        };
        Exit::Stopped.answer(self.format, report).because(text)
    }
}

/// What the journals of a plan hold together.
pub(crate) struct Journals<'a> {
    args: &'a JournalsArgs,
    pub(crate) left_out: &'a [Error],
    /// The first pass, the second one, or both in this order.
    pub(crate) counts: Vec<CountState<'a>>,
    /// How the first and the second pass compare, if both are there.
    pub(crate) both: Option<BothPasses>,
    /// The first units that differ between them.
    disagreements: Vec<Disagreement>,
}

/// The first or the second pass of a plan, at one moment.
pub(crate) struct CountState<'a> {
    pub(crate) record: &'a Record,
    /// The total, if every unit is settled, in the other count, too.
    pub(crate) total: Option<u128>,
    /// The processes that count now.
    pub(crate) running: Running<'a>,
    /// The number of shards that the user names, or on which the journals agree.
    pub(crate) named_shards: Option<usize>,
    pub(crate) shards: Shards,
}

impl<'a> Journals<'a> {
    /// Puts together what was read, and looks which processes count now.
    ///
    /// # Errors
    ///
    /// [`JournalsArgs::nothing_recorded`] if no journal has begun.
    pub(crate) fn new(records: &'a Records, args: &'a JournalsArgs) -> Result<Self, Failure> {
        let both = records.compare();
        let has_dispute = both.as_ref().is_some_and(BothPasses::has_dispute);
        let mut counts = Vec::new();
        for record in records.all() {
            let running = record.running();
            let named_shards = args.shards.or(record.agreed_shards());
            let shards = record.shards_beside(&running, named_shards)?;
            let total = record.total().filter(|_| !has_dispute);
            counts.push(CountState { record, total, running, named_shards, shards });
        }
        if counts.is_empty() {
            return Err(args.nothing_recorded());
        }
        let disagreements = match &both {
            Some(both) => records.disagreements(both),
            None => Vec::new(),
        };
        Ok(Self { args, left_out: records.left_out(), counts, both, disagreements })
    }

    /// Returns the total, if every unit is settled: no unit is missing, none has different numbers that are not
    /// settled, and none differs between the first and the second pass.
    pub(crate) fn total(&self) -> Option<u128> {
        match &self.both {
            Some(both) => both.total(),
            None => self.counts[0].total,
        }
    }

    /// Returns whether nothing is left to count: there is a total, and if there are two counts, every unit was counted
    /// twice.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.both {
            Some(both) => both.is_complete(),
            None => self.total().is_some(),
        }
    }

    /// Prints units that differ, and a total that differs from the published one. Returns the exit code of what was
    /// read, whether it is complete or not.
    pub(crate) fn judge(&self) -> Exit {
        if let Some(both) = &self.both
            && !both.differing.is_empty()
        {
            print_differences(both, &self.disagreements);
            return Exit::Failed;
        }
        let size = self.counts[0].record.plan().size();
        let Some(total) = self.total() else {
            // What could not be read may hold the missing units.
            let is_any_unread = self.left_out.iter().any(Error::is_of_file_system);
            return if is_any_unread { Exit::Failed } else { Exit::Done };
        };
        match Agreement::compare(total, size.published().total) {
            Agreement::Differs { expected } => {
                print_differs(format_args!("Q({size}) = {total}"), expected);
                Exit::Failed
            }
            _ => Exit::Done,
        }
    }

    /// Prints what is missing in each count, and what to do about it.
    pub(crate) fn print_what_is_missing(&self) {
        let names = match self.counts.len() {
            1 => &["the journals lack"][..],
            _ => &["the first pass lacks", "the second pass lacks"],
        };
        let paths: Vec<String> = self.args.paths.iter().map(|path| quoted(path)).collect();
        let paths = paths.join(" ");
        for (who, CountState { record, shards, .. }) in names.iter().zip(&self.counts) {
            if record.total().is_some() {
                continue;
            }
            let units = record.plan().units() - record.sum().units;
            let all = many(record.plan().units(), "unit");
            let mut where_missing = String::new();
            if shards.number > 1 {
                let unfinished = shards_text(&unfinished(shards), shards.number);
                where_missing = format!(", all in {unfinished}");
            }
            message!(
                "{who} {units} of {all}{where_missing}; how to count them: nqueens status {paths}"
            );
        }
    }

    /// Returns the journals of which lines are damaged and left out.
    pub(crate) fn damaged_files(&self) -> Vec<String> {
        let mut files = Vec::new();
        for error in self.left_out {
            if let Error::Journal(error) = error
                && error.kind() == JournalErrorKind::Damaged
            {
                files.push(error.path().display().to_string());
            }
        }
        files.dedup();
        files
    }

    /// Returns the report of `merge`, which is a part of that of `verify`.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report::default();
        let Some(both) = &self.both else {
            let count = &self.counts[0];
            report.plan(count.record.plan());
            count.add_facts(&mut report, self.damaged_files());
            count.add_costs(&mut report);
            report
                .field("counted_once", 0)
                .field("counted_twice", 0)
                .field("differing", 0)
                .field("differences", Value::Array(Vec::new()))
                .field("first", Value::Null)
                .field("second", Value::Null);
            return report;
        };
        let plan = self.counts[0].record.plan();
        let missing = json!({
            "units": plan.units() - both.done.units,
            "shards": null,
            "indices": null,
        });
        report.plan(plan).field("pass", "both");
        let total = both.total();
        add_facts(&mut report, &self.counts, both.done, total, &missing, self.damaged_files());
        report
            .row("twice", twice_text(both, plan.units()))
            .field("counted_once", both.done.units + both.differing.len() - both.counted_twice)
            .field("counted_twice", both.counted_twice)
            .field("differing", both.differing.len())
            .field("differences", self.disagreements.iter().map(difference).collect::<Vec<_>>());
        for (name, count) in ["first", "second"].into_iter().zip(&self.counts) {
            let mut part = Report::default();
            part.plan(count.record.plan());
            count.add_facts(&mut part, Vec::new());
            count.add_costs(&mut part);
            part.entry("machines", machines(count.record));
            let object = report.put_below(part);
            report.field(name, object);
        }
        report
    }
}

impl CountState<'_> {
    /// Adds what all reports on a count have beside the plan.
    pub(crate) fn add_facts(&self, report: &mut Report, damaged: Vec<String>) {
        let done = self.record.sum();
        // A script would misread the only shard of a count whose journals do not agree on the number of shards.
        let missing = json!({
            "units": self.record.plan().units() - done.units,
            "shards": self.named_shards,
            "indices": self.named_shards.map(|_| ranges(&unfinished(&self.shards))),
        });
        add_facts(report, slice::from_ref(self), done, self.total, &missing, damaged);
    }

    /// Adds how many journals there are, and what their units cost.
    fn add_costs(&self, report: &mut Report) {
        let files = self.record.files().len();
        let repeated = match self.record.repeated() {
            0 => "no unit recorded again".to_owned(),
            repeated => format!("units recorded again {}", many(repeated, "time")),
        };
        report
            .row("journals", format_args!("{files}, {repeated}"))
            .row("CPU time", duration(self.record.cpu_time()));
    }
}

/// Returns the shards of which units are missing, in increasing order.
fn unfinished(shards: &Shards) -> Vec<usize> {
    let mut unfinished = [&shards.running[..], &shards.missing].concat();
    unfinished.sort_unstable();
    unfinished
}

/// Adds what one count holds, or both together.
fn add_facts(
    report: &mut Report,
    counts: &[CountState<'_>],
    done: Sum,
    total: Option<u128>,
    missing: &Value,
    damaged: Vec<String>,
) {
    let mut files = 0;
    let mut disputed = 0;
    let mut settled = 0;
    let mut repeated = 0;
    let mut builds = BTreeSet::new();
    for CountState { record, .. } in counts {
        files += record.files().len();
        let open = record.open_disputes().count();
        disputed += open;
        settled += record.differences().len() - open;
        repeated += record.repeated();
        builds.extend(record.runs().map(|run| &*run.version));
    }
    let cpu_time = sum(counts.iter().map(|count| count.record.cpu_time()));
    let size = counts[0].record.plan().size();
    let published = match total {
        Some(total) => Agreement::compare(total, size.published().total),
        None => Agreement::Unknown,
    };
    if let Some(total) = total {
        report.row("total", total).row("published", published);
    }
    if let Some(first) = damaged.first() {
        let files = many(damaged.len(), "journal");
        report.row("damaged", format_args!("{files}, the first is {first}"));
    }
    if disputed > 0 {
        let units = many(disputed, "unit");
        report.row("disputed", format_args!("{units} with different numbers, to be counted again"));
    }
    if settled > 0 {
        let units = many(settled, "unit");
        report.row("settled", format_args!("{units} with different numbers"));
    }
    if builds.len() > 1 {
        let names: Vec<&str> = builds.iter().copied().collect();
        report.row("builds", format_args!("{}: {}", builds.len(), names.join(", ")));
    }
    report
        .field("total", total.map(|total| total.to_string()))
        .field("published", published.to_string())
        .field("finished", done.units)
        .field("solutions", done.solutions.to_string())
        .field("files", files)
        .field("damaged", damaged)
        .field("disputed", disputed)
        .field("settled", settled)
        .field("twice", repeated)
        .field("builds", builds.into_iter().collect::<Vec<_>>())
        .field("cpu_seconds", json_seconds(cpu_time))
        .field("missing", missing.clone());
}

/// Returns how many units were counted twice, as text.
pub(crate) fn twice_text(both: &BothPasses, units: usize) -> String {
    let twice = both.counted_twice;
    let units = many(units, "unit");
    let disputed = match both.disputed.len() {
        0 => String::new(),
        disputed => format!(", {disputed} with different numbers in one of the counts"),
    };
    match both.differing.len() {
        0 => format!("{twice} of {units} counted twice, all with equal counts{disputed}"),
        differing => format!("{twice} of {units} counted twice, {differing} DIFFER{disputed}"),
    }
}

/// Prints the units whose two counts differ, and what to do.
fn print_differences(both: &BothPasses, disagreements: &[Disagreement]) {
    let mut differences = Vec::new();
    for Disagreement { unit, first, second, .. } in disagreements {
        let [first, second] = [first, second].map(|votes| votes_text(votes));
        differences.push(format!("unit {unit} differs: first pass {first}, second pass {second}"));
    }
    print_first(differences.into_iter());
    let units = many(both.differing.len(), "unit");
    message!(
        "the counts differ in {units}: at least one machine made errors; 'nqueens verify' finds out which count is wrong; \
         move the journals of that host to another folder, and count again"
    );
}

/// Returns the numbers that lines hold for a unit, each with its hosts.
pub(crate) fn votes_text(votes: &[Votes]) -> String {
    let texts: Vec<String> = votes.iter().map(ToString::to_string).collect();
    texts.join(" and ")
}

/// Returns the machines that counted, each once.
fn machines(record: &Record) -> String {
    let machines: BTreeSet<&str> = record.runs().map(|run| &*run.machine).collect();
    machines.into_iter().collect::<Vec<_>>().join("; ")
}

/// Returns what the first and the second pass recorded for a unit.
fn difference(Disagreement { unit, first, second, .. }: &Disagreement) -> Value {
    json!({ "unit": unit, "first": votes(first), "second": votes(second) })
}

/// Returns the numbers that lines hold for a unit, each with its hosts, for JSON.
pub(crate) fn votes(votes: &[Votes]) -> Value {
    let mut list = Vec::new();
    for Votes { count, lines, hosts, .. } in votes {
        list.push(json!({ "count": count.to_string(), "lines": lines, "hosts": hosts }));
    }
    list.into()
}
