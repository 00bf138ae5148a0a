//! A journal that somebody else moves, replaces or cuts while it is written.
//!
//! A file that was unlinked lives as long as it is open: all of it can be copied to a new file.
//! What was cut off is gone; the new file then holds what is finished from now on.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::reader::read_from;

/// What happened to the file at `path`, of which this process has written `whole` bytes through
/// `file`; `None` if it is as it was left. A file system that gives no answer says nothing.
pub(super) fn change_of(path: &Path, file: &File, whole: u64) -> Option<String> {
    let own = file.metadata().ok()?;
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some("the journal was removed or moved".to_owned());
        }
        Ok(there) if !is_same_file(&own, &there) => {
            return Some("the journal was replaced by another file".to_owned());
        }
        _ => {}
    }
    let length = own.len();
    match length.cmp(&whole) {
        std::cmp::Ordering::Less => {
            Some(format!("the journal was cut from {whole} to {length} bytes"))
        }
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some("another process wrote to the journal".to_owned()),
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Other systems do not let go of the name of an open file.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Makes a file beside `path`, with the first `whole` bytes of `file` in it if they are still a
/// journal. Returns its path and how many bytes it holds: all or none.
pub(super) fn begin_beside(
    path: &Path,
    file: &File,
    whole: u64,
) -> io::Result<(PathBuf, File, u64)> {
    let (beside, mut new) = make_beside(path)?;
    // The name is new, so that a file system without locks does no harm.
    let _ = new.try_lock();
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

/// `q20.journal` becomes `q20.2.journal`, or what follows of that kind and is free.
fn make_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    for attempt in 2_u32.. {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{attempt}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        let beside = path.with_file_name(name);
        match OpenOptions::new().read(true).append(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (beside, file)),
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
    fn every_change_is_seen_and_told_apart() {
        let path = fresh("change");
        let mut file = OpenOptions::new().create(true).append(true).open(&path).expect("made");
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
    fn a_new_file_takes_the_next_free_name() {
        let path = fresh("beside");
        let names = [(); 3].map(|()| make_beside(&path).expect("made").0);
        let names = names.map(|path| path.file_name().expect("a name").to_owned());
        assert_eq!(names, ["q.2.journal", "q.3.journal", "q.4.journal"]);
        let bare = make_beside(&path.with_file_name("q20")).expect("made").0;
        assert!(bare.ends_with("q20.2"), "{bare:?}");
        let _ = fs::remove_dir_all(path.parent().expect("a folder"));
    }
}
