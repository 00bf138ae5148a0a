//! The exit codes.
//!
//! The code is decided before the answer is printed, and kept if its reader has gone.

/// The ways in which the program ends, with their exit codes. [`Exit::meaning`] says what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Stopped = 3,
    Temporary = 4,
}

impl Exit {
    /// All exit codes, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] =
        [Self::Done, Self::Failed, Self::Usage, Self::Stopped, Self::Temporary];

    /// Returns what an exit code means. Help, manual pages and docs/JSON.md take their words from here.
    ///
    /// Schedulers retry a command that ends with code 4. So only what passes by waiting has that code.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => {
                "an error: a total that differs from the published one, two counts that differ, a disk, a permission, \
                 too little memory, a fault"
            }
            Self::Usage => "wrong usage",
            Self::Stopped => {
                "stopped, not complete, or nothing recorded yet: with a journal, the same command resumes"
            }
            Self::Temporary => {
                "temporarily impossible (memory that others use, a shard that is being counted): the same command works \
                 later, or on another machine"
            }
        }
    }

    /// Returns the code of two answers: a failure outweighs what could not be read, which outweighs what is not
    /// complete.
    pub(crate) fn and(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    /// Returns the place of an exit code among all codes, the gravest last.
    fn rank(self) -> usize {
        match self {
            Self::Done => 0,
            Self::Stopped => 1,
            Self::Temporary => 2,
            Self::Usage => 3,
            Self::Failed => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_complete_hides_no_failure() {
        for (one, other) in [(Exit::Stopped, Exit::Failed), (Exit::Failed, Exit::Stopped)] {
            assert_eq!(one.and(other), Exit::Failed);
        }
        assert_eq!(Exit::Temporary.and(Exit::Stopped), Exit::Temporary);
        assert_eq!(Exit::Done.and(Exit::Stopped), Exit::Stopped);
    }

    #[test]
    fn the_page_on_scripts_has_the_meanings_of_all_codes() {
        let page = include_str!("../../docs/JSON.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |\n", exit as u8, exit.meaning());
            assert!(page.contains(&row), "not in docs/JSON.md: {row}");
        }
    }

    #[test]
    fn each_code_outweighs_those_before_it() {
        let codes = [Exit::Done, Exit::Stopped, Exit::Temporary, Exit::Usage, Exit::Failed];
        for (place, one) in codes.into_iter().enumerate() {
            for other in &codes[..=place] {
                assert_eq!(one.and(*other), one);
                assert_eq!(other.and(one), one);
            }
        }
    }
}
