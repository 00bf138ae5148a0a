//! Units for which journals hold different numbers, and how more lines settle them.
//!
//! A machine has made an error. The unit is missing until one number stands in at least two lines, and in more lines
//! than any other number. So whoever counts what is missing counts the unit again, and the new line settles it, if
//! possible. Lines with equal texts are one line: it was copied, for example when journals were packed. The text of a
//! line has the time at which its units were finished, and how long they took. So two counts of a unit write equal
//! lines only if it takes microseconds, and then so does the next count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rayon::prelude::*;

use super::Record;
use crate::cancel::Cancel;
use crate::engine::Pass;
use crate::error::Error;
use crate::journal_file::{JournalFile, Reading, read_journal};

/// A unit for which there are different counts, so a machine has made an error.
///
/// A [`Record`] names the units for which journals hold different counts, and a [`Verdict`](crate::journal::Verdict)
/// those for which a recount found another count than the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of the unit in its plan.
    pub unit: usize,
    /// The pass that recorded the counts.
    pub pass: Pass,
    /// The recorded count that is used, not yet multiplied by the weight of the unit. `None` as long as no count stands
    /// in at least two lines, and in more than any other: then the unit is missing, and whoever resumes the count
    /// counts it again.
    pub used: Option<u64>,
    /// The count that a recount found. `None` if the unit was not recounted.
    pub recounted: Option<u64>,
    /// The recorded counts, in increasing order.
    pub(crate) votes: Vec<Votes>,
}

/// The lines with one of the counts that journals hold for a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Votes {
    /// The count of the unit, not yet multiplied by its weight.
    pub(crate) count: u64,
    /// The number of lines with this count. Copies of a line are one line.
    pub(crate) lines: usize,
    /// The hosts that counted it, or the files if their names have no host.
    pub(crate) hosts: BTreeSet<String>,
}

/// Writes `4 (node1, node2)`, or `4` if no line is known.
impl fmt::Display for Votes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hosts.is_empty() {
            return write!(f, "{}", self.count);
        }
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        write!(f, "{} ({})", self.count, hosts.join(", "))
    }
}

/// Writes `unit 17 was counted as 4 (node1) and 5 (node2)`.
/// With a recount, writes `unit 17 was counted as 4 (node1), and recounted as 5`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {} was counted as ", self.unit)?;
        if self.votes.is_empty() {
            // The lines could not be read again.
            f.write_str("different numbers")?;
        }
        let votes: Vec<String> = self.votes.iter().map(ToString::to_string).collect();
        f.write_str(&votes.join(" and "))?;
        match self.recounted {
            Some(recounted) => write!(f, ", and recounted as {recounted}"),
            None => Ok(()),
        }
    }
}

impl Difference {
    /// Returns the recorded counts in increasing order.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.votes.iter().map(|votes| votes.count)
    }

    /// Returns the hosts that recorded this count. They are those in the names of the journals, or the names themselves
    /// if these contain no host.
    pub fn hosts(&self, count: u64) -> impl Iterator<Item = &str> {
        let of_count = self.votes.iter().filter(move |votes| votes.count == count);
        of_count.flat_map(|votes| &votes.hosts).map(String::as_str)
    }

    /// Returns the hosts that recorded another count than the recount found, each once. There is none without a
    /// recount.
    ///
    /// ```no_run
    /// use nqueens::Cancel;
    /// use nqueens::journal::Records;
    ///
    /// let verdict = Records::read(&["q24"])?.verify(1000, 7, &Cancel::new())?;
    /// for difference in &verdict.differences {
    ///     let hosts: Vec<&str> = difference.wrong_hosts().into_iter().collect();
    ///     println!("{difference}: wrong on {}", hosts.join(", "));
    /// }
    /// # Ok::<(), nqueens::Error>(())
    /// ```
    pub fn wrong_hosts(&self) -> BTreeSet<&str> {
        let mut hosts = BTreeSet::new();
        if let Some(recounted) = self.recounted {
            for count in self.counts().filter(|count| *count != recounted) {
                hosts.extend(self.hosts(count));
            }
        }
        hosts
    }

    /// Returns whether a recount has shown that the count that is used is wrong.
    pub(crate) fn is_wrong_count_used(&self) -> bool {
        matches!((self.used, self.recounted), (Some(used), Some(recounted)) if used != recounted)
    }

    /// Makes the difference between all lines of a unit.
    fn between_lines(unit: usize, pass: Pass, votes: Vec<Votes>) -> Self {
        let mut most = 0;
        let mut settled = None;
        for of_count in &votes {
            if of_count.lines == most {
                settled = None;
            } else if of_count.lines > most {
                most = of_count.lines;
                settled = Some(of_count.count);
            }
        }
        let used = settled.filter(|_| most >= 2);
        Self { unit, pass, used, recounted: None, votes }
    }
}

impl Record {
    /// Looks up the lines of some units. Returns the votes of each unit that was found, in the order of their counts.
    ///
    /// # Errors
    ///
    /// The first reason for which a file could not be read again: then lines may lack.
    pub(super) fn votes(
        &self,
        units: &BTreeSet<usize>,
        reading: &Reading<'_>,
    ) -> Result<BTreeMap<usize, Vec<Votes>>, Error> {
        if units.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found: Vec<Vec<Line>> = self
            .files
            .par_iter()
            .map(|file| find_in(file, units, reading))
            .collect::<Result<_, _>>()?;
        let mut lines_of_counts: BTreeMap<usize, BTreeMap<u64, LinesAndHosts>> = BTreeMap::new();
        for (file, lines) in self.files.iter().zip(found) {
            for Line { unit, count, hash } in lines {
                let of_unit = lines_of_counts.entry(unit).or_default();
                let of_count = of_unit.entry(count).or_default();
                of_count.lines.insert(hash);
                of_count.hosts.insert(name_of_host(file));
            }
        }
        let mut votes = BTreeMap::new();
        for (unit, of_unit) in lines_of_counts {
            let mut of_counts = Vec::new();
            for (count, LinesAndHosts { lines, hosts }) in of_unit {
                of_counts.push(Votes { count, lines: lines.len(), hosts });
            }
            votes.insert(unit, of_counts);
        }
        Ok(votes)
    }

    /// Looks up the lines of some units. If a file cannot be read again, the only number of a unit is the one that is
    /// used, without a line and a host.
    pub(crate) fn votes_of(&self, units: &BTreeSet<usize>) -> BTreeMap<usize, Vec<Votes>> {
        let cancel = Cancel::new();
        let plan = [Arc::clone(&self.counts.plan)];
        let mut votes = self.votes(units, &Reading::new(&plan, &cancel)).unwrap_or_default();
        for &unit in units {
            if let Some(count) = self.count(unit) {
                let used = || vec![Votes { count, lines: 0, hosts: BTreeSet::new() }];
                votes.entry(unit).or_insert_with(used);
            }
        }
        votes
    }

    /// Settles the units with different counts as far as their lines do, and leaves the others out. If a journal could
    /// not be read, it may hold lines that outvote all others, so nothing is settled.
    pub(super) fn settle(&mut self, reading: &Reading<'_>, are_all_read: bool) {
        let disputed = std::mem::take(&mut self.counts.disputed);
        let mut votes = self.votes(&disputed, reading).unwrap_or_default();
        for unit in disputed {
            let of_unit = votes.remove(&unit).unwrap_or_default();
            let mut difference = Difference::between_lines(unit, self.plan().pass(), of_unit);
            difference.used = difference.used.filter(|_| are_all_read);
            self.counts.set(unit, difference.used);
            self.differences.push(difference);
        }
    }
}

/// A line that holds a unit.
struct Line {
    unit: usize,
    count: u64,
    /// The hash of the text of the line, in which its CRC is. If two texts have one hash, a vote is lost.
    hash: u64,
}

#[derive(Default)]
struct LinesAndHosts {
    /// The hashes of the different lines.
    lines: BTreeSet<u64>,
    hosts: BTreeSet<String>,
}

/// Reads a journal again, and returns its lines that hold some units.
fn find_in(
    file: &JournalFile,
    units: &BTreeSet<usize>,
    reading: &Reading<'_>,
) -> Result<Vec<Line>, Error> {
    let mut found = Vec::new();
    let read = read_journal(&file.path, reading, |line| {
        let done = &line.done;
        let mut held = units.range(done.units.clone()).peekable();
        if held.peek().is_none() {
            return Ok(());
        }
        let mut hasher = DefaultHasher::new();
        line.text.hash(&mut hasher);
        let hash = hasher.finish();
        for &unit in held {
            let count = done.counts[unit - done.units.start];
            found.push(Line { unit, count, hash });
        }
        Ok(())
    })?;
    match read.left_out.into_iter().find(Error::is_of_file_system) {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Returns the host that wrote a journal, or the name of the file if that has no host.
fn name_of_host(file: &JournalFile) -> String {
    match file.host() {
        Some(host) => host.to_owned(),
        None => file.path.file_name().unwrap_or_default().display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_settled_by_two_lines_and_more_than_any_other() {
        for (votes, settled) in [
            (&[(4, 1), (5, 1)][..], None),
            (&[(4, 2), (5, 1)], Some(4)),
            (&[(4, 1), (5, 2)], Some(5)),
            (&[(4, 2), (5, 2)], None),
            (&[(4, 3), (5, 2), (6, 2)], Some(4)),
            (&[(4, 2), (5, 2), (6, 3)], Some(6)),
            (&[(4, 1), (5, 1), (6, 1)], None),
            // The other line could not be read again.
            (&[(4, 1)], None),
            (&[], None),
        ] {
            let mut of_unit = Vec::new();
            for (count, lines) in votes {
                of_unit.push(Votes { count: *count, lines: *lines, hosts: BTreeSet::new() });
            }
            let difference = Difference::between_lines(0, Pass::First, of_unit);
            assert_eq!(difference.used, settled, "{votes:?}");
        }
    }

    #[test]
    fn a_difference_names_each_count_with_its_hosts() {
        let votes = |count, host: &str| Votes { count, lines: 1, hosts: [host.to_owned()].into() };
        let of_unit = vec![votes(4, "node1"), votes(5, "node2"), votes(6, "node3")];
        let mut difference = Difference::between_lines(17, Pass::First, of_unit);
        let text = "unit 17 was counted as 4 (node1) and 5 (node2) and 6 (node3)";
        assert_eq!(difference.to_string(), text);
        assert!(difference.wrong_hosts().is_empty(), "nothing was recounted");

        difference.recounted = Some(5);
        assert_eq!(difference.to_string(), format!("{text}, and recounted as 5"));
        assert!(difference.wrong_hosts().into_iter().eq(["node1", "node3"]));

        let difference = Difference::between_lines(17, Pass::First, Vec::new());
        assert_eq!(difference.to_string(), "unit 17 was counted as different numbers");
    }
}
