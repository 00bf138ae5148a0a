//! What a running count reports is shown as progress and as messages.

use crate::forecast::rough_seconds;
use crate::{Error, Observer, Shard, SoFar, Start};

use crate::cli::failure::failure::Failure;
use crate::cli::failure::warnings::warn;
use crate::cli::output::command::count_command;
use crate::cli::output::progress::{Progress, Work};
use crate::cli::output::stderr::message;

impl Observer for Progress {
    fn started(&self, start: &Start<'_>) {
        let done = start.done.units;
        warn(start.left_out, start.disputes);
        let mut name = format!("n = {}", start.plan.size());
        if start.shard != Shard::WHOLE {
            name += &format!(" shard {}", start.shard);
        }
        let plan = start.plan;
        let work = Work::Count {
            command: count_command(plan, false),
            threads: start.threads,
            rough_seconds: rough_seconds(plan.size(), plan.engine(), start.kernel, start.threads),
            left: None,
        };
        self.begin(&name, [done, start.units], work);
    }

    fn units_done(&self, so_far: &SoFar<'_>) {
        self.record(so_far);
    }

    fn journal_lost(&self, lost: &Error) {
        message!("warning: {}", Failure::from(lost.clone()));
    }
}
