//! The number of threads: the flag, else a variable, else the cores that this process may use.

use std::env;

use nqueens::{Error, MAX_THREADS};

use crate::cli::exit::Failure;

/// Variables that set the number of threads, the first before the second.
const VARIABLES: [&str; 2] = ["NQUEENS_THREADS", "SLURM_CPUS_PER_TASK"];

pub(crate) fn number_of_threads(text: &str) -> Result<usize, Error> {
    let number = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    number.ok_or_else(|| Error::ThreadsOutOfRange { given: text.to_owned(), max: MAX_THREADS })
}

/// The number of threads without the flag.
pub(crate) fn default_threads() -> Result<usize, Failure> {
    threads_of(|name| env::var(name).ok())
}

fn threads_of(variable: impl Fn(&str) -> Option<String>) -> Result<usize, Failure> {
    for name in VARIABLES {
        if let Some(text) = variable(name).filter(|text| !text.is_empty()) {
            let number = number_of_threads(&text);
            return number.map_err(|error| Failure::Usage(format!("{name}: {error}")));
        }
    }
    Ok(num_cpus::get().clamp(1, MAX_THREADS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(variables: &[(&str, &str)]) -> Result<usize, String> {
        let value = |name: &str| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1);
        threads_of(|name| value(name).map(str::to_owned)).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn the_variables_beat_the_machine() {
        let both = [("NQUEENS_THREADS", "5"), ("SLURM_CPUS_PER_TASK", "3")];
        assert_eq!(chosen(&both), Ok(5));
        assert_eq!(chosen(&both[1..]), Ok(3));
        assert_eq!(chosen(&[("NQUEENS_THREADS", "")]), Ok(num_cpus::get()));
    }

    #[test]
    fn a_bad_number_of_threads_names_its_source() {
        for bad in ["0", "-1", "x", "4097", "99999999999999999999"] {
            let refused = chosen(&[("SLURM_CPUS_PER_TASK", bad)]).expect_err("refused");
            assert!(
                refused.contains("SLURM_CPUS_PER_TASK") && refused.contains("4096"),
                "{refused}"
            );
        }
    }
}
