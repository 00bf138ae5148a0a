//! A folder that stands for `/` in tests of control groups.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that stands for `/`. It is removed at the end.
pub(crate) struct Root(PathBuf);

impl Root {
    /// Makes an empty folder, for a process in these groups.
    pub(crate) fn new(name: &str, groups: &str) -> Self {
        let folder = format!("nqueens-cgroup-{name}-{}", std::process::id());
        let root = Self(std::env::temp_dir().join(folder));
        root.file("proc/self/cgroup", groups);
        root
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, and makes its folders.
    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
