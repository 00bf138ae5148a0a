//! The names of the journals of shards: `n28-0007-of-1000000.HOST.PID.journal`.
//!
//! A name says which shard a process counts, and on which host. It saves reading, and nothing relies on
//! it: users may rename files, and pack many into one.

use crate::engine::WhichCount;
use crate::plan::Plan;
use crate::shard::Shard;

/// What the names of journals of a second count have in front of the shard.
const SECOND: &str = "second-";

/// The name of a journal of this process.
pub(super) fn file_name(plan: &Plan, shard: Shard, number: u32) -> String {
    let (n, host, process) = (plan.size(), this_host(), std::process::id());
    let (index, shards) = (shard.index(), shard.shards());
    let count = match plan.which_count() {
        WhichCount::First => "",
        WhichCount::Second => SECOND,
    };
    let number = if number > 1 { format!(".{number}") } else { String::new() };
    format!("n{n}-{count}{index:04}-of-{shards:04}.{host}.{process}{number}.journal")
}

/// The board, the count and the shard in the name of a journal.
pub(super) fn named_shard(name: &str) -> Option<(u32, WhichCount, Shard)> {
    let (shard, _) = name.strip_prefix('n')?.split_once('.')?;
    let (n, shard) = shard.split_once('-')?;
    let (which, shard) = match shard.strip_prefix(SECOND) {
        Some(shard) => (WhichCount::Second, shard),
        None => (WhichCount::First, shard),
    };
    let (index, shards) = shard.split_once("-of-")?;
    let shard = Shard::new(index.parse().ok()?, shards.parse().ok()?).ok()?;
    Some((n.parse().ok()?, which, shard))
}

/// The name of this host as the names of journals have it.
fn this_host() -> String {
    let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".to_owned());
    host.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::reader::JournalFile;
    use super::*;
    use crate::board::size::BoardSize;
    use crate::engine::Engine;

    #[test]
    fn names_are_understood() {
        let host = |path: &str| {
            let file = JournalFile { path: PathBuf::from(path), ..JournalFile::default() };
            file.host().map(str::to_owned)
        };
        let size = BoardSize::new(12).expect("in range");
        for (index, shards) in [(0, 1), (7, 12), (123_456, 1_000_000)] {
            let shard = Shard::new(index, shards).expect("in range");
            for which in [WhichCount::First, WhichCount::Second] {
                let plan = Plan::new(size, Engine::Colours, None).of_count(which);
                for number in 1..4 {
                    let name = file_name(&plan, shard, number);
                    assert_eq!(named_shard(&name), Some((12, which, shard)), "{name}");
                    assert_eq!(host(&name), Some(this_host()), "{name}");
                }
            }
        }
        for other in ["packed.journal", "n28.journal", "n28-7.a.journal", "n28-7-of-7.a.journal"] {
            assert_eq!(named_shard(other), None, "{other}");
            assert_eq!(host(other), None, "{other}");
        }
        assert_eq!(host("n28-6-of-7.packed.journal"), None);
        let elsewhere = host("q28/n28-0006-of-0007.node-3-cluster.12.journal");
        assert_eq!(elsewhere.as_deref(), Some("node-3-cluster"));
    }
}
