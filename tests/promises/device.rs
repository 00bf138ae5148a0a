//! Promise: what a journal claims is on the disk, also if the disk fails after it has taken the bytes. Then `write`
//! succeeds, `fdatasync` does not, and the system's cache shows what the disk has never held. Only mounting the disk
//! again shows what is there. docs/JOURNAL.md makes this promise under "A full or failing disk".
//!
//! The disk is ext4 on a loop device, in an image without blocks for files, on a file system that is filled up. ext4's
//! own blocks are there, so that it lives on while the bytes of files are lost. Where such an image ends in the middle
//! of a write, Linux 6 even reports success.

/// See `needs_root` in `faults.rs`.
mod needs_loop_devices {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    use crate::common::processes::wait_for_units;
    use crate::common::{
        count_into, finish, json, nqueens, result, run, shell, spawn, stderr, stdout,
    };

    /// Q(18): seconds of work for one thread and the portable kernel, and a file of 80 kB.
    const N: &str = "18";
    const TOTAL: &str = "666090624\n";
    /// Q(14): over before the first second, when a count looks at its disk.
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

        fn journal(&self) -> PathBuf {
            self.folder.join("q.journal")
        }

        fn mount(&self) {
            let image = self.image();
            let image = image.to_str().expect("a path in UTF-8");
            must("mount", &["-o", "loop", image], &self.folder);
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

        fn make_room(&self) {
            let _ = fs::remove_file(self.below.join("others"));
        }

        /// Forgets what only the system's memory holds.
        fn mount_again(&self) {
            must("umount", &[], &self.folder);
            self.mount();
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            self.unmount();
        }
    }

    fn count(n: &str, journal: &Path, args: &[&str]) -> Command {
        count_into(n, journal, &[&["--engine", "colours"], args].concat())
    }

    /// Slow enough to see its disk fail.
    fn slow_count(journal: &Path) -> Command {
        count(N, journal, &["--kernel", "portable", "--threads", "1"])
    }

    /// How long the count had run when it wrote its last whole record, in milliseconds.
    fn recorded_ms(journal: &Path) -> u64 {
        let text = fs::read_to_string(journal).unwrap_or_default();
        let last = text.rsplit("elapsed-ms=").next().and_then(|rest| rest.split_once(' '));
        last.and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
    }

    /// The number of finished units that the program finds in a journal, 0 if there is nothing but
    /// zeros; `None` if it says that the file is damaged and units are missing.
    fn units_of(journal: &Path) -> Option<u64> {
        if fs::read(journal).unwrap_or_default().iter().all(|byte| *byte == 0) {
            return Some(0);
        }
        let output = run(nqueens(&["status", "--json"]).arg(journal));
        if output.status.success() {
            return json(&output)["finished"].as_u64();
        }
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("damaged"), "{}", stderr(&output));
        None
    }

    /// The program ended with code 1 and named the file. It printed the total if the count had come to
    /// its end, and nothing else.
    fn tells_of_the_disk(output: &Output, journal: &Path, total: &str) {
        let message = stderr(output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(["", total].contains(&stdout(output)), "{output:?}");
        assert!(message.contains(journal.to_str().expect("UTF-8")), "{message}");
        assert!(!message.contains("panicked"), "{message}");
    }

    /// The message says what the disk still has, and does not call good what nobody has seen there.
    fn says_what_is_left(output: &Output) {
        let message = stderr(output);
        let left = ["that the disk has", "may be damaged", "is damaged"];
        assert!(left.iter().any(|words| message.contains(words)), "{message}");
        assert!(!message.contains("what was recorded before is good"), "{message}");
    }

    /// The same command comes to the right total. If line 1 is lost, so does the journal that the printed command
    /// makes. Returns the journal.
    fn resumes(n: &str, journal: &Path, total: &str) -> PathBuf {
        let output = run(&mut count(n, journal, &[]));
        let message = stderr(&output);
        if output.status.code() != Some(1) {
            assert_eq!((output.status.code(), stdout(&output)), (Some(0), total), "{message}");
            return journal.to_owned();
        }
        assert!(message.contains("line 1 is damaged"), "{message}");
        let command = &message[message.find("head -n 1 ").expect("a command")..];
        let folder = journal.parent().expect("a folder");
        let other = folder.join("OTHER.journal");
        let _ = fs::remove_file(&other);
        assert!(run(&mut count(n, &other, &["--shard", "0/1000000"])).status.success());
        assert!(shell(folder, command).status.success(), "{command}");
        let new = folder.join("NEW.journal");
        let output = run(&mut count(n, &new, &[]));
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), total), "{output:?}");
        new
    }

    /// The journal holds all units, and no line of it is damaged.
    fn is_undamaged(n: &str, journal: &Path, total: &str) {
        assert_eq!(result(&run(&mut count(n, journal, &[]))), (Some(0), total, ""));
    }

    /// What the program finds in its file after the disk has failed is still there when only the disk
    /// is left, or it says that the file is damaged.
    fn what_is_claimed_is_on_the_disk(disk: &Disk, n: &str, total: &str) {
        let journal = disk.journal();
        let claimed = units_of(&journal);
        disk.make_room();
        disk.mount_again();
        let units = units_of(&journal);
        if let (Some(claimed), Some(units)) = (claimed, units) {
            assert!(units >= claimed, "{claimed} units before, {units} on the disk");
        }
        resumes(n, &journal, total);
    }

    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_ends_the_count() {
        let disk = Disk::new("count");
        let journal = disk.journal();
        let mut child = spawn(&mut slow_count(&journal));
        wait_for_units(&journal, &mut child, 0);
        disk.fill();
        let output = finish(child);
        tells_of_the_disk(&output, &journal, TOTAL);
        what_is_claimed_is_on_the_disk(&disk, N, TOTAL);
        says_what_is_left(&output);
    }

    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_from_the_start_costs_no_total() {
        let disk = Disk::new("short");
        let journal = disk.journal();
        disk.fill();
        let output = run(&mut count(SHORT, &journal, &[]));
        tells_of_the_disk(&output, &journal, SHORT_TOTAL);
        assert_eq!(stdout(&output), SHORT_TOTAL, "the count ended");
        what_is_claimed_is_on_the_disk(&disk, SHORT, SHORT_TOTAL);
        says_what_is_left(&output);
    }

    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_costs_nothing_of_an_earlier_run() {
        let disk = Disk::new("earlier");
        let journal = disk.journal();
        let mut child = spawn(&mut slow_count(&journal));
        wait_for_units(&journal, &mut child, 0);
        child.kill().expect("it runs");
        child.wait().expect("ended");
        disk.fill();
        let before = units_of(&journal);
        tells_of_the_disk(&run(&mut slow_count(&journal)), &journal, TOTAL);
        let now = units_of(&journal);
        assert!(now.is_none() || now >= before, "{before:?} units before, {now:?} now");
        what_is_claimed_is_on_the_disk(&disk, N, TOTAL);
    }

    /// The system remembers what the disk has lost. The second run must not take it for recorded.
    #[test]
    #[ignore = "needs root and loop devices"]
    fn after_room_was_made_the_same_command_records_everything() {
        let disk = Disk::new("again");
        let journal = disk.journal();
        disk.fill();
        tells_of_the_disk(&run(&mut slow_count(&journal)), &journal, TOTAL);
        disk.make_room();
        let whole = resumes(N, &journal, TOTAL);
        let units = units_of(&whole);
        assert!(units.is_some_and(|units| units > 0), "all units are counted");
        disk.mount_again();
        assert_eq!(units_of(&whole), units, "units on the disk");
        assert_eq!(resumes(N, &whole, TOTAL), whole, "line 1 is on the disk");
    }

    /// Whether the program notices or not: what it says is true.
    #[test]
    #[ignore = "needs root and loop devices"]
    fn a_disk_that_fails_for_a_moment_leaves_no_hole() {
        let disk = Disk::new("moment");
        let journal = disk.journal();
        let mut child = spawn(&mut slow_count(&journal));
        wait_for_units(&journal, &mut child, 0);
        disk.fill();
        // In the one and a half seconds of the program's own clock it looks at its disk. A failed sync
        // may cut the file back, and the count may end meanwhile.
        let filled = recorded_ms(&journal);
        while recorded_ms(&journal) < filled + 1500 && child.try_wait().expect("a status").is_none()
        {
            sleep(Duration::from_millis(10));
        }
        disk.make_room();
        let output = finish(child);
        if output.status.success() {
            assert_eq!(stdout(&output), TOTAL);
            disk.mount_again();
            is_undamaged(N, &journal, TOTAL);
        } else {
            tells_of_the_disk(&output, &journal, TOTAL);
            what_is_claimed_is_on_the_disk(&disk, N, TOTAL);
        }
    }
}
