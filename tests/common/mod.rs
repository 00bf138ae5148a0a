//! What several tests need.

use std::io::Write;

use nqueens::Kernel;

/// The kernels to test: all that this CPU can run, or the one in `NQUEENS_TEST_KERNEL`.
pub(crate) fn kernels() -> Vec<Kernel> {
    match std::env::var("NQUEENS_TEST_KERNEL") {
        Ok(name) => vec![Kernel::from_name(&name).expect("a kernel of this CPU")],
        Err(_) => {
            let available = Kernel::available();
            for name in Kernel::NAMES {
                if !available.iter().any(|kernel| kernel.name() == name) {
                    // The harness hides what tests print, but not what is written to stderr itself.
                    let _ = writeln!(
                        std::io::stderr(),
                        "skipped: kernel {name} does not run on this CPU"
                    );
                }
            }
            available
        }
    }
}
