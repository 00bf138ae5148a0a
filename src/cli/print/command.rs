//! Commands that are printed.

use crate::{Engine, Pass, Plan};

/// Returns the command that counts a plan. It names the engine if that is not the default, and the whole plan if
/// `is_exact`.
pub(crate) fn count_command(plan: &Plan, is_exact: bool) -> String {
    let mut command = format!("nqueens count {}", plan.size());
    if plan.pass() == Pass::Second {
        command += " --second";
    }
    if is_exact || plan.engine() != Engine::fastest_for(plan.size()) {
        command += &format!(" --engine {}", plan.engine());
    }
    if is_exact && let Some(rows) = plan.split_rows() {
        command += &format!(" --split-rows {rows}");
    }
    command
}
