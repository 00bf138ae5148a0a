//! Which part of a board a task of a job array counts.

use nqueens::Shard;

use super::exit::Failure;

/// Variables in which schedulers say which task of an array this is, and its first number.
const ARRAY_INDEX: [(&str, usize); 7] = [
    ("SLURM_ARRAY_TASK_ID", 0),
    ("PBS_ARRAY_INDEX", 0),
    ("JOB_COMPLETION_INDEX", 0),
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    ("HQ_TASK_ID", 0),
    ("SGE_TASK_ID", 1),
    ("LSB_JOBINDEX", 1),
];

/// The part to count: the flag, else what a scheduler says.
pub(super) fn shard(
    flag: Option<&str>,
    of: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Shard, Failure> {
    let of = number_of_shards(of)?;
    let said = || {
        ARRAY_INDEX.into_iter().find_map(|(name, first)| {
            // Grid Engine says `undefined` outside of arrays, LSF says 0.
            let text = variable(name).filter(|text| !text.is_empty() && text != "undefined")?;
            (first == 0 || text != "0").then_some((name, text, first))
        })
    };
    let given = flag.map(|text| ("--index", text.to_owned(), 0)).or_else(said);
    let Some((source, text, first)) = given else {
        return Err(Failure::Usage(
            "--index: which part? Give a number from 0, or run as a task of a job array".to_owned(),
        ));
    };
    let index = text.parse::<usize>().ok().and_then(|number| number.checked_sub(first));
    index.and_then(|index| Shard::new(index, of).ok()).ok_or_else(|| {
        let last = of - 1 + first;
        Failure::Usage(format!("{source}: '{text}' is not a part: choose {first} to {last}"))
    })
}

pub(super) fn number_of_shards(of: &str) -> Result<usize, Failure> {
    let most = Shard::MOST;
    of.parse().ok().filter(|of| (1..=most).contains(of)).ok_or_else(|| {
        Failure::Usage(format!("--of: '{of}' is not a number of parts: choose 1 to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(flag: Option<&str>, of: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
        let shard = shard(flag, of, variable);
        shard.map(|shard| shard.to_string()).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn the_part_is_the_flag_or_what_a_scheduler_says() {
        assert_eq!(part(Some("3"), "12", &[("SLURM_ARRAY_TASK_ID", "5")]), Ok("3/12".to_owned()));
        for (name, first) in ARRAY_INDEX {
            let text = (5 + first).to_string();
            assert_eq!(part(None, "12", &[(name, &text)]), Ok("5/12".to_owned()), "{name}");
        }
        let outside =
            [("SGE_TASK_ID", "undefined"), ("LSB_JOBINDEX", "0"), ("PBS_ARRAY_INDEX", "")];
        assert!(part(None, "12", &outside).expect_err("refused").contains("--index"));
    }

    #[test]
    fn parts_out_of_range_are_refused() {
        for (index, of, reason) in
            [("5", "5", "0 to 4"), ("-1", "5", "0 to 4"), ("x", "5", "0 to 4"), ("0", "0", "--of")]
        {
            let refused = part(Some(index), of, &[]).expect_err("refused");
            assert!(refused.contains(reason), "{refused}");
        }
        let refused = part(None, "5", &[("SGE_TASK_ID", "6")]).expect_err("refused");
        assert!(refused.contains("SGE_TASK_ID") && refused.contains("1 to 5"), "{refused}");
    }
}
