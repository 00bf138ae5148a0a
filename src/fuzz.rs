//! What coverage-guided fuzzing runs: one function for each target in `fuzz/fuzz_targets`. Each of them takes any bytes
//! and panics if something that must hold does not.
//!
//! The functions stand beside the code that they try. They are there only for tests and for fuzzing, and are no part of
//! what the library promises. The test below runs them on the inputs in `fuzz/corpus`, which together reach whatever the
//! fuzzing has reached.

#[cfg(feature = "cli")]
pub use crate::cli::fuzz::{against, arguments, values};
pub use crate::journal::fuzz::first_line;
pub use crate::record::fuzz::{journal, plan};

#[cfg(all(test, feature = "cli"))]
mod tests {
    use std::fs;
    use std::panic::catch_unwind;
    use std::path::Path;

    use super::*;

    type Target = fn(&[u8]);

    /// The targets, with the names by which `cargo fuzz` knows them.
    const TARGETS: [(&str, Target); 5] = [
        ("journal", journal),
        ("first_line", first_line),
        ("against", against),
        ("values", values),
        ("arguments", arguments),
    ];

    #[test]
    fn what_fuzzing_has_reached_holds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
        if !folder.exists() {
            // A published package lacks this folder, because it is a package of its own.
            return;
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder.join("fuzz_targets")).expect("a folder") {
            let name = entry.expect("a file").path().with_extension("");
            names.push(name.file_name().expect("a name").to_owned());
        }
        names.sort_unstable();
        let mut tried = TARGETS.map(|(name, _)| name);
        tried.sort_unstable();
        assert_eq!(names, tried);
        for (name, target) in TARGETS {
            let inputs = fs::read_dir(folder.join("corpus").join(name)).expect("a folder");
            let mut number = 0;
            for input in inputs {
                let path = input.expect("a file").path();
                let bytes = fs::read(&path).expect("readable");
                let outcome = catch_unwind(|| target(&bytes));
                assert!(outcome.is_ok(), "{}", path.display());
                number += 1;
            }
            assert!(number > 0, "{name} has no inputs");
        }
    }
}
