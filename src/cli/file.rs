//! Files that a command draws: pages and pictures.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::exit::{Exit, Failure};

/// A file for a drawing, which may replace an earlier drawing of the same kind, but nothing else.
pub(crate) struct OwnFile {
    /// The option that names it.
    option: &'static str,
    path: PathBuf,
    /// How all drawings of this kind begin.
    beginning: &'static str,
}

impl OwnFile {
    /// The file at this path, if it is free or holds what begins in this way, and if its folder can be
    /// written: no work is lost for a wrong path.
    pub(crate) fn new(
        option: &'static str,
        path: PathBuf,
        beginning: &'static str,
    ) -> Result<Self, Failure> {
        let file = Self { option, path, beginning };
        file.is_there().map_err(|reason| {
            Exit::Usage.because(format!("{option}: {}: {reason}", file.path.display()))
        })?;
        file.temporary().map_err(|error| file.cannot_write(&error))?;
        Ok(file)
    }

    /// Writes a drawing.
    pub(crate) fn write(&self, drawing: &str) -> Result<(), Failure> {
        self.replace(drawing).map_err(|error| self.cannot_write(&error))
    }

    fn cannot_write(&self, error: &io::Error) -> Failure {
        let (option, path) = (self.option, self.path.display());
        Exit::Failed.because(format!("{option}: cannot write {path}: {error}"))
    }

    /// Whether an earlier drawing is there. The error is the reason why it must not be replaced: links
    /// are not followed, so that nobody leads the drawing elsewhere.
    fn is_there(&self) -> Result<bool, String> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("cannot open it: {error}")),
            Ok(found) if found.is_file() && self.is_drawing() => Ok(true),
            Ok(_) => {
                Err("it is there already, and no file that this command wrote; name another, \
                 or remove it"
                    .to_owned())
            }
        }
    }

    fn is_drawing(&self) -> bool {
        let mut found = vec![0; self.beginning.len()];
        let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut found));
        read.is_ok() && found == self.beginning.as_bytes()
    }

    /// A file beside it, gone when it is dropped.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(self.path.parent().unwrap_or(Path::new("")))
    }

    /// Until the drawing is whole it has a temporary name, so nobody ever sees a part. Another file may
    /// have come since the first look, so there is a second one.
    fn replace(&self, drawing: &str) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(drawing.as_bytes())?;
        match self.is_there().map_err(io::Error::other)? {
            true => file.persist(&self.path)?,
            false => file.persist_noclobber(&self.path)?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What came while the drawing was made stays there.
    #[test]
    fn a_second_look_protects_what_has_come() {
        let folder = tempfile::tempdir().expect("room");
        let path = folder.path().join("status.html");
        let page = OwnFile::new("--html", path.clone(), "<page>").expect("it is free");
        page.write("<page>1").expect("room");
        page.write("<page>2").expect("a page may be replaced");
        assert_eq!(fs::read_to_string(&path).expect("a page"), "<page>2");

        fs::write(&path, "mine").expect("room");
        let error = page.write("<page>3").expect_err("it is no page");
        assert!(error.to_string().contains("it is there already"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "mine");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing temporary");
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().expect("room");
        let [page, link] = ["page.html", "link.html"].map(|name| folder.path().join(name));
        fs::write(&page, "<page>1").expect("room");
        std::os::unix::fs::symlink(&page, &link).expect("room");
        assert!(OwnFile::new("--html", page.clone(), "<page>").is_ok());
        assert!(OwnFile::new("--html", link, "<page>").is_err());
    }
}
