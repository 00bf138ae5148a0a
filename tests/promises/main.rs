//! The promises of the library and of the command line, a module each: one binary compiles in a
//! fraction of the time of many.

mod commit;
mod common;

mod agreement;
mod cli;
mod compare;
mod counts;
mod damage;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod disk;
mod estimate;
mod examples;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod folders;
mod generated;
#[cfg(target_os = "linux")]
mod harmed;
mod journal;
mod journal_fuzz;
mod kill;
mod list;
#[cfg(target_os = "linux")]
mod memory;
mod observer;
mod old_journals;
#[cfg(unix)]
mod page;
mod plans;
#[cfg(target_os = "linux")]
mod record;
mod recount;
mod resume;
mod second;
mod shards;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod status;
mod symmetry;
#[cfg(target_os = "linux")]
mod unread;
mod verify;
