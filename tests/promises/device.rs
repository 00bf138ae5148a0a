//! Promise: if the disk loses what it has taken, the count ends with exit code 1, and the same command comes to the
//! right total from what the disk still has. docs/JOURNAL.md makes this promise under "What is promised".
//!
//! The disk is ext4 on a loop device, in an image without blocks for files, on a file system that is filled up. The
//! blocks of ext4 itself are there, so the disk lives on while the bytes of files are lost: `write` succeeds, and a
//! sync does not. Only mounting the disk again shows what it has.

/// See `needs_root` in `faults.rs`.
mod needs_loop_devices {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output, Stdio};

    use crate::common::processes::wait_for_units;
    use crate::common::{arg, contents, count_into, finish, record_of, run, spawn, stderr, stdout};

    /// Q(18): seconds of work for one thread and the portable kernel, and a journal of 80 kB.
    const N: &str = "18";
    const TOTAL: &str = "666090624\n";
    /// Q(14): over before the first second, when a count syncs its journal.
    const SHORT: &str = "14";
    const SHORT_TOTAL: &str = "365596\n";

    /// A disk that keeps files as long as the file system below it has room.
    struct Disk {
        below: PathBuf,
        folder: PathBuf,
    }

    fn try_to(program: &str, args: &[&str], path: &Path) -> bool {
        let mut command = Command::new(program);
        let status = command.args(args).arg(path).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn must(program: &str, args: &[&str], path: &Path) {
        assert!(try_to(program, args, path), "this test needs root and loop devices: {program}");
    }

    impl Disk {
        fn new(name: &str) -> Self {
            let path =
                |what| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("device-{name}-{what}"));
            let disk = Self { below: path("below"), folder: path("disk") };
            disk.unmount();
            disk.make_folders();
            must("mount", &["-t", "tmpfs", "-o", "size=48m", "tmpfs"], &disk.below);
            let image = disk.image();
            must("fallocate", &["-l", "32m"], &image);
            let whole = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
            must("mkfs.ext4", &["-q", "-E", whole], &image);
            // It writes zeros as holes.
            must("fallocate", &["-l", "32m"], &image);
            disk.mount();
            // Now only the blocks of files are holes.
            must("fstrim", &[], &disk.folder);
            disk
        }

        fn make_folders(&self) {
            for folder in [&self.below, &self.folder] {
                fs::create_dir_all(folder).expect("the folder can be made");
            }
        }

        fn image(&self) -> PathBuf {
            self.below.join("image")
        }

        /// The folder of a count.
        fn count(&self) -> PathBuf {
            self.folder.join("count")
        }

        fn mount(&self) {
            let image = self.image();
            must("mount", &["-o", "loop", arg(&image)], &self.folder);
        }

        fn unmount(&self) {
            for folder in [&self.folder, &self.below] {
                let _ = try_to("umount", &[], folder) || try_to("umount", &["-l"], folder);
            }
        }

        /// Leaves no room below: from now on the disk loses what it has no block for.
        fn fill(&self) {
            must("sync", &["-f"], &self.folder);
            let mut file = File::create(self.below.join("others")).expect("a file system");
            while file.write_all(&[1; 4096]).is_ok() {}
        }

        /// Makes room, and forgets what only the memory of the system holds.
        fn mend(&self) {
            let _ = fs::remove_file(self.below.join("others"));
            must("umount", &[], &self.folder);
            self.mount();
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            self.unmount();
        }
    }

    /// Slow enough to see its disk fail.
    fn slow_count(folder: &Path) -> Command {
        count_into(N, folder, &["--kernel", "portable", "--threads", "1"])
    }

    /// The program ended with code 1, and one line names the journal. It printed the total if the count had come to its
    /// end, and nothing else.
    fn blames_the_journal(output: &Output, folder: &Path, total: &str) {
        let message = stderr(output);
        assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{message}");
        assert!(["", total].contains(&stdout(output)), "{output:?}");
        assert!(message.contains(arg(folder)), "{message}");
        assert!(message.contains("cannot sync the journal: "), "{message}");
    }

    /// The same command comes to the right total.
    fn resumes(n: &str, folder: &Path, total: &str) {
        let output = run(&mut count_into(n, folder, &[]));
        let message = stderr(&output);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), total), "{message}");
        let is_of_damage = |line: &str| line.starts_with("nqueens: warning: left out: ");
        assert!(message.lines().all(is_of_damage), "{message}");
        assert!(record_of(&[folder]).total().is_some());
    }

    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_ends_the_count() {
        let disk = Disk::new("count");
        let folder = disk.count();
        let mut child = spawn(&mut slow_count(&folder));
        wait_for_units(&folder, &mut child, 0);
        disk.fill();
        blames_the_journal(&finish(child), &folder, TOTAL);
        disk.mend();
        resumes(N, &folder, TOTAL);
    }

    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_from_the_start_costs_no_total() {
        let disk = Disk::new("short");
        let folder = disk.count();
        disk.fill();
        let output = run(&mut count_into(SHORT, &folder, &[]));
        blames_the_journal(&output, &folder, SHORT_TOTAL);
        assert_eq!(stdout(&output), SHORT_TOTAL, "the count ended");
        assert!(stderr(&output).contains("Q(14) = 365596 is counted, but "), "{output:?}");
        disk.mend();
        resumes(SHORT, &folder, SHORT_TOTAL);
    }

    /// Its journal is never written again.
    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_costs_nothing_of_an_earlier_run() {
        let disk = Disk::new("earlier");
        let folder = disk.count();
        let mut child = spawn(&mut slow_count(&folder));
        wait_for_units(&folder, &mut child, 0);
        child.kill().expect("it runs");
        child.wait().expect("ended");
        let before = contents(&folder).units_done();
        disk.fill();
        blames_the_journal(&run(&mut slow_count(&folder)), &folder, TOTAL);
        disk.mend();
        assert!(record_of(&[&folder]).units_done() >= before);
        resumes(N, &folder, TOTAL);
    }
}
