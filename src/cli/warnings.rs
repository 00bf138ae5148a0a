//! Warnings of what journals have left out, and of machines that made errors.

use crate::Error;
use crate::record::{Difference, Records};

use crate::cli::failure::Failure;
use crate::cli::stderr::print_first;

/// Warns of lines and journals that are left out, and of units with different numbers.
pub(crate) fn warn(left_out: &[Error], differences: &[Difference]) {
    let mut warnings = Vec::new();
    for error in left_out {
        warnings.push(format!("warning: left out: {}", Failure::from(error.clone())));
    }
    for difference in differences {
        let state = match difference.used {
            Some(count) => format!("more lines settle it as {count}"),
            None => "it is missing until it is counted again".to_owned(),
        };
        warnings.push(format!("warning: {difference}: a machine made an error; {state}"));
    }
    print_first(warnings.into_iter());
}

/// Warns of what journals have left out.
pub(crate) fn warn_of(records: &Records) {
    warn(records.left_out(), &[]);
    for record in records.all() {
        warn(&[], record.differences());
    }
}
