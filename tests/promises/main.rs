//! The promises of the library and of the command line. Each module keeps one promise, and its first lines say which
//! one and where it is written. All modules are one binary, because one binary compiles in a fraction of the time of
//! many.

mod common;

// The total is exact, and every engine, kernel and unit agrees with a simpler way to count.
mod agreement;
mod check_unit;
mod counts;
mod plans;
mod recount;
mod second;
mod symmetry;
mod verify;

// Solutions are listed completely, and those with given queens are counted.
mod completions;
mod list;

// A count that was stopped or killed resumes, and loses no finished unit.
#[cfg(target_os = "linux")]
mod faults;
mod kill;
mod resume;
#[cfg(unix)]
mod signals;

// What a journal claims is on the disk.
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod record;

// Damage makes no number wrong, and costs only the lines that it hits.
mod damage;
mod disputed;
mod foreign;
#[allow(unreachable_pub, reason = "the package in `fuzz` compiles this file too")]
mod fuzzed;
mod journal;
mod journal_fuzz;
mod old_journals;

// An error says what it is about. A journal that others change, or that cannot be read, is reported as what it is.
mod errors;
#[cfg(target_os = "linux")]
mod harmed;
#[cfg(target_os = "linux")]
mod unreadable;

// Many processes and machines count a board together.
#[cfg(target_os = "linux")]
mod folders;
mod joined;
mod missing;
mod shards;

// The library can be used as its documentation shows.
mod library;
mod programs;

// Reports say what runs, what is finished, and how long the rest takes.
mod estimate;
mod observer;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod resume_commands;
#[cfg(unix)]
mod status;
#[cfg(unix)]
mod time_left;

// A count keeps within the memory and the cores that it has.
#[cfg(target_os = "linux")]
mod memory;
mod threads;

// The command line answers as its manuals say, and counting does not wait for those who read the answers.
mod answers;
mod compare;
mod earlier_report;
mod pictures;
#[cfg(target_os = "linux")]
mod unread;
mod usage;

// Help texts, manuals, drawings and examples are true, and a build names its sources.
mod commit;
mod console;
mod drawings;
mod examples;
mod generated;
mod help;

// The program runs under the tools that look into it.
#[cfg(target_os = "linux")]
mod valgrind;
