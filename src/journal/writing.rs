//! Whether a process is writing a journal right now.
//!
//! A writer holds a lock on its file until it ends, however it ends. So a lock that is held is a
//! process that lives, also if its units take hours. A lock that is free says that no process of this
//! host writes the file; it says nothing about other hosts, since some network file systems have locks
//! that hold only within one host, or none. Therefore every writer also gives a heartbeat: if it has
//! nothing to write, it sets the time of the file now and then. It is believed only of journals whose
//! names tell that a process of another host made them, or any process if there are no locks. All
//! other journals, those that a user named and packed ones, are written only under a lock that works.
//!
//! To look takes a shared lock for a moment. A writer that starts in this moment must not take it for
//! another writer, so it tries again a few times.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::name::{named_host, this_host};

/// How long a writer may leave its file as it is.
pub(super) const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How old the last sign of a living writer may be: the clocks of file servers differ a little, and a
/// busy one takes its time.
const RECENTLY: Duration = Duration::from_secs(60);

/// How often a lock that is held is tried again, and how long to wait before that.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Locks a journal for writing, until the file is closed.
pub(super) fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(PAUSE),
            result => return result,
        }
    }
    file.try_lock()
}

/// Sets the time of a file to now, by the clock of the file system. Whoever may write the file may do
/// that, while only its owner may set it to any other time. A heartbeat is not worth an error.
#[cfg(unix)]
pub(super) fn beat(file: &File) {
    use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens};
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    let times =
        Timestamps { last_access: special(UTIME_OMIT), last_modification: special(UTIME_NOW) };
    let _ = futimens(file, &times);
}

#[cfg(not(unix))]
pub(super) fn beat(file: &File) {
    let _ = file.set_modified(SystemTime::now());
}

/// Whether a process is writing the journal, as far as this host can tell.
pub(crate) fn is_being_written(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let host = named_host(path);
    let may_be_written = match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => return true,
        Ok(()) => {
            let _ = file.unlock();
            host.is_some_and(|host| host != this_host())
        }
        Err(TryLockError::Error(_)) => host.is_some(),
    };
    // The time of the file that was just opened: a network file system may remember an old one of
    // the path.
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    may_be_written && modified.is_ok_and(|at| is_recent(at, SystemTime::now()))
}

/// A time in the future, from a clock that is ahead, is recent as well.
fn is_recent(at: SystemTime, now: SystemTime) -> bool {
    now.duration_since(at).map_or(true, |ago| ago < RECENTLY)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// An empty file of this name in a folder of its own.
    fn create(test: &str, name: &str) -> (PathBuf, File) {
        let folder = std::env::temp_dir().join(format!("nqueens-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        let path = folder.join(name);
        let file = File::options().create(true).append(true).open(&path).expect("created");
        (path, file)
    }

    fn remove(path: &Path) {
        let _ = fs::remove_dir_all(path.parent().expect("a folder"));
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_journal_is_being_written_while_its_lock_is_held() {
        let (path, file) = create("held", "q.journal");
        assert!(!is_being_written(&path), "it was written just now, by nobody");
        lock(&file).expect("a local file system");
        file.set_modified(SystemTime::now() - HOUR).expect("its owner");
        assert!(is_being_written(&path), "its unit takes an hour");
        drop(file);
        assert!(!is_being_written(&path));
        assert!(!is_being_written(&path.with_file_name("none.journal")));
        remove(&path);
    }

    #[test]
    fn the_heartbeat_tells_of_journals_of_other_hosts() {
        let name = |host: &str| format!("n20-0001-of-0004.{host}.17.journal");
        let (own, _) = create("hosts", &name(&this_host()));
        assert!(!is_being_written(&own));
        let (other, file) = create("hosts", &name("elsewhere-9"));
        assert!(is_being_written(&other), "its lock may be invisible");
        file.set_modified(SystemTime::now() - HOUR).expect("its owner");
        assert!(!is_being_written(&other));
        beat(&file);
        assert!(is_being_written(&other));
        file.set_modified(SystemTime::now() + HOUR).expect("its owner");
        assert!(is_being_written(&other), "the other clock is ahead");
        remove(&own);
    }

    #[test]
    fn a_writer_is_not_refused_because_somebody_looks() {
        let (path, file) = create("looks", "q.journal");
        let looks = File::open(&path).expect("it is there");
        looks.try_lock_shared().expect("a local file system");
        let look = std::thread::spawn(move || {
            sleep(PAUSE);
            drop(looks);
        });
        lock(&file).expect("nobody writes");
        look.join().expect("no panic");
        let second = File::options().append(true).open(&path).expect("it is there");
        assert!(matches!(lock(&second), Err(TryLockError::WouldBlock)), "a second writer");
        remove(&path);
    }
}
