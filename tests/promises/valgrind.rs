//! Promise: the program runs under Valgrind. CONTRIBUTING.md makes this promise under "Paired runs".

use std::process::Command;

use crate::common::{NQUEENS, arg, fresh, result, run};

/// Runs the program under Valgrind, which is silent if it finds no error.
fn under_valgrind(args: &[&str]) -> std::process::Output {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", NQUEENS]).args(args);
    run(valgrind.env_remove("NQUEENS_THREADS"))
}

/// `scripts/check.sh ignored` runs the tests of a module `needs_...` where there is what they need.
mod needs_valgrind {
    use super::*;

    #[test]
    #[ignore = "needs valgrind"]
    fn a_count_and_its_journal_touch_no_wrong_memory() {
        let journal = fresh("valgrind.journal");
        let count = under_valgrind(&["count", "10", "--quiet", "--journal", arg(&journal)]);
        assert_eq!(result(&count), (Some(0), "724\n", ""));
        let merge = under_valgrind(&["merge", arg(&journal), "--quiet"]);
        assert_eq!(result(&merge), (Some(0), "724\n", ""));
        let colours = under_valgrind(&["count", "10", "--quiet", "--engine", "colours"]);
        assert_eq!(result(&colours), (Some(0), "724\n", ""));
    }
}
