//! Which build a result comes from, and which machine.

use std::sync::OnceLock;
use std::time::SystemTime;

use crate::Cpu;
use crate::machine::date::date_and_time;
use crate::machine::host_name;
use crate::version::version;

use crate::cli::print::report::Report;
use crate::cli::quote::escaped;

/// A build of the program and a machine.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The version with the commit, as journals name it.
    pub(crate) version: String,
    pub(crate) host: String,
    /// The brand of the CPU, if the operating system reports it.
    cpu: Option<String>,
    /// The CPUs of the machine, including those that this process may not use.
    logical_cpus: Option<usize>,
}

impl Origin {
    /// Returns this build and this machine. The first call asks the operating system, which takes longer than a small
    /// count, so only those ask who print the answer.
    pub(crate) fn here() -> &'static Self {
        static HERE: OnceLock<Origin> = OnceLock::new();
        HERE.get_or_init(|| {
            let cpu = Cpu::detect();
            Self {
                version: version(),
                host: host_name(),
                cpu: cpu.brand,
                logical_cpus: cpu.logical_cpus,
            }
        })
    }

    /// Returns the brand of the CPU as a text for people.
    pub(crate) fn cpu_text(&self) -> String {
        escaped(self.cpu.as_deref().unwrap_or("a CPU that is not known"))
    }
}

impl Report {
    /// Adds the fields that say where a result comes from: the build, this moment and the machine.
    pub(crate) fn origin(&mut self) -> &mut Self {
        let origin = Origin::here();
        let (date, time) = date_and_time(SystemTime::now());
        self.field("version", &*origin.version)
            .field("date", format!("{date}T{time}Z"))
            .field("host", &*origin.host)
            .field("cpu", origin.cpu.as_deref())
            .field("logical_cpus", origin.logical_cpus)
    }
}
