//! A journal that somebody else moves, replaces or cuts while it is being written.
//!
//! A deleted file exists as long as it is open, so all of it can be copied to a new file. What was
//! cut off is lost; the new file then holds only what is finished from now on.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::reader::read_from;
use super::writing::lock;

/// What happened to the file at `path`, open as `file`, which should have `whole` bytes. `None` if
/// nothing happened, or if the file system does not answer.
pub(super) fn change_of(path: &Path, file: &File, whole: u64) -> Option<String> {
    let own = file.metadata().ok()?;
    let length = own.len();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some("the journal was removed or moved".to_owned())
        }
        Ok(there) if !is_same_file(&own, &there) => {
            Some("the journal was replaced by another file".to_owned())
        }
        _ if length < whole => Some(format!("the journal was cut from {whole} to {length} bytes")),
        _ if length > whole => Some("another process wrote to the journal".to_owned()),
        _ => None,
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Creates a file beside `path`, and copies the first `whole` bytes of `file` to it if they are
/// still a journal. Returns its path, and how many bytes it holds: all or none.
pub(super) fn begin_beside(
    path: &Path,
    file: &File,
    whole: u64,
) -> io::Result<(PathBuf, File, u64)> {
    let (beside, mut new) = create_free(numbered(path))?;
    // Nobody knows the new name, so a file system without locks does no harm.
    let _ = lock(&new);
    let mut old = file;
    old.seek(SeekFrom::Start(0))?;
    let copied = io::copy(&mut old.take(whole), &mut new);
    new.seek(SeekFrom::Start(0))?;
    let is_good = matches!(copied, Ok(bytes) if bytes == whole)
        && matches!(read_from(BufReader::new(&new)), Ok(Some(contents)) if contents.torn == 0);
    if !is_good {
        new.set_len(0)?;
    }
    Ok((beside, new, if is_good { whole } else { 0 }))
}

/// `q20.2.journal`, `q20.3.journal` and so on for `q20.journal`.
pub(crate) fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    (2_u32..).map(|number| {
        let mut extension = OsString::from(number.to_string());
        if let Some(old) = path.extension() {
            extension.push(".");
            extension.push(old);
        }
        path.with_extension(extension)
    })
}

/// Creates the first of these files that does not exist yet.
pub(crate) fn create_free(paths: impl Iterator<Item = PathBuf>) -> io::Result<(PathBuf, File)> {
    for path in paths {
        match OpenOptions::new().read(true).append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn fresh(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("nqueens-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("the folder for temporary files can be written");
        folder.join("q.journal")
    }

    #[test]
    fn every_change_is_reported_by_name() {
        let path = fresh("change");
        let mut file = OpenOptions::new().create(true).append(true).open(&path).expect("created");
        file.write_all(b"0123456789").expect("room");
        assert_eq!(change_of(&path, &file, 10), None);
        let of = |whole| change_of(&path, &file, whole).unwrap_or_default();
        assert!(of(12).contains("cut from 12 to 10 bytes"), "{}", of(12));
        assert!(of(9).contains("another process wrote"), "{}", of(9));
        let copy = path.with_file_name("copy");
        fs::copy(&path, &copy).expect("room");
        fs::rename(&copy, &path).expect("the folder can be written");
        assert!(of(10).contains("replaced"), "{}", of(10));
        fs::remove_file(&path).expect("it is there");
        assert!(of(10).contains("removed"), "{}", of(10));
        let _ = fs::remove_dir_all(path.parent().expect("a folder"));
    }

    #[test]
    fn a_new_file_gets_the_next_free_name() {
        let path = fresh("beside");
        let names = [(); 3].map(|()| create_free(numbered(&path)).expect("created").0);
        let names = names.map(|path| path.file_name().expect("a name").to_owned());
        assert_eq!(names, ["q.2.journal", "q.3.journal", "q.4.journal"]);
        assert_eq!(numbered(Path::new("q20")).next(), Some(PathBuf::from("q20.2")));
        let _ = fs::remove_dir_all(path.parent().expect("a folder"));
    }
}
