//! Which shard of a plan: the flags, else what the scheduler of a job array tells.

use nqueens::Shard;

use crate::cli::exit::Failure;

/// Variables in which schedulers tell which task of an array this is, and its first number.
const ARRAY_INDEX: [(&str, usize); 7] = [
    ("SLURM_ARRAY_TASK_ID", 0),
    ("PBS_ARRAY_INDEX", 0),
    ("JOB_COMPLETION_INDEX", 0),
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    ("HQ_TASK_ID", 0),
    ("SGE_TASK_ID", 1),
    ("LSB_JOBINDEX", 1),
];

/// The shard with the index that is given, else that of a variable.
pub(crate) fn shard(
    index: Option<&str>,
    shards: usize,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Shard, Failure> {
    let of_array = || {
        ARRAY_INDEX.into_iter().find_map(|(name, first)| {
            // Grid Engine sets `undefined` outside of arrays, LSF sets 0.
            let text = variable(name).filter(|text| !text.is_empty() && text != "undefined")?;
            (first == 0 || text != "0").then_some((name, text, first))
        })
    };
    let given = index.map(|text| ("--index", text.to_owned(), 0)).or_else(of_array);
    let Some((source, text, first)) = given else {
        return Err(Failure::Usage(
            "--index: which shard? Give a number from 0, or run as a task of a job array"
                .to_owned(),
        ));
    };
    let index = text.parse::<usize>().ok().and_then(|number| number.checked_sub(first));
    index.and_then(|index| Shard::new(index, shards).ok()).ok_or_else(|| {
        let last = shards - 1 + first;
        Failure::Usage(format!("{source}: '{text}' is not a shard: choose {first} to {last}"))
    })
}

pub(crate) fn number_of_shards(text: &str) -> Result<usize, String> {
    let most = Shard::MOST;
    let number = text.parse().ok().filter(|shards| (1..=most).contains(shards));
    number.ok_or_else(|| format!("choose 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(index: Option<&str>, variables: &[(&str, &str)]) -> Result<usize, String> {
        let value = |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1);
        let shard = shard(index, 12, |name| value(name).map(str::to_owned));
        shard.map(Shard::index).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn the_shard_is_the_flag_or_what_a_scheduler_tells() {
        assert_eq!(chosen(Some("3"), &[("SLURM_ARRAY_TASK_ID", "5")]), Ok(3));
        for (name, first) in ARRAY_INDEX {
            assert_eq!(chosen(None, &[(name, &(5 + first).to_string())]), Ok(5), "{name}");
        }
        let outside =
            [("SGE_TASK_ID", "undefined"), ("LSB_JOBINDEX", "0"), ("PBS_ARRAY_INDEX", "")];
        assert!(chosen(None, &outside).expect_err("refused").contains("--index"));
    }

    #[test]
    fn shards_out_of_range_are_refused() {
        for index in ["12", "-1", "x"] {
            let refused = chosen(Some(index), &[]).expect_err("refused");
            assert!(refused.contains("--index") && refused.contains("0 to 11"), "{refused}");
        }
        let refused = chosen(None, &[("SGE_TASK_ID", "13")]).expect_err("refused");
        assert!(refused.contains("SGE_TASK_ID") && refused.contains("1 to 12"), "{refused}");
        for bad in ["0", "-1", "1000001", "x"] {
            assert!(number_of_shards(bad).expect_err("refused").contains("1 to 1000000"));
        }
    }
}
