//! Drawings, which are the pages and pictures that a command writes to a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use tempfile::NamedTempFile;

use crate::record::IoError;

use crate::cli::failure::failure::Failure;
use crate::cli::failure::way_out::io_way_out;
use crate::cli::input::values::path;

/// Parses the name of a file for a drawing, which replaces an earlier one. Only names with this ending are
/// taken, so that no journal is ever overwritten.
pub(crate) fn drawing(ending: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    path().try_map(move |path: PathBuf| match path.extension() {
        Some(found) if found == ending => Ok(path),
        _ => Err(format!("name a file that ends in .{ending}, which will be replaced")),
    })
}

/// Checks that a drawing can be written, before the work that makes it.
pub(crate) fn check_drawing(option: &str, path: &Path) -> Result<(), Failure> {
    match create_beside(&target_of(path)) {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_write(option, path, error)),
    }
}

/// Writes a drawing.
pub(crate) fn write_drawing(option: &str, path: &Path, drawing: &str) -> Result<(), Failure> {
    write_whole(path, drawing).map_err(|error| cannot_write(option, path, error))
}

/// Writes a file. Until it is whole it has a temporary name, so that half of it is never seen.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let target = target_of(path);
    let mut file = create_beside(&target)?;
    // Errors of the file with a temporary name would end with that name.
    file.as_file_mut().write_all(text.as_bytes())?;
    if let Ok(replaced) = fs::metadata(&target) {
        keep_access(file.as_file(), &replaced)?;
    }
    file.persist(target)?;
    Ok(())
}

/// Returns the file to which the path leads, because a link stays where it is. If that file has another ending, the link
/// itself is replaced, because otherwise it could lead to a journal.
fn target_of(path: &Path) -> PathBuf {
    let target = match (path.canonicalize(), fs::read_link(path)) {
        (Ok(target), _) => target,
        // There is no file behind the link yet.
        (Err(_), Ok(link)) => path.parent().unwrap_or(Path::new("")).join(link),
        (Err(_), Err(_)) => path.to_owned(),
    };
    if target.extension() == path.extension() { target } else { path.to_owned() }
}

/// Gives a file the owner, the group and the mode of the file that it replaces, such as those that let a web server read
/// a page.
fn keep_access(file: &File, replaced: &fs::Metadata) -> io::Result<()> {
    // Only root may change the owner, and a user may change the group only to one of their own. If neither works, the new
    // file belongs to the user who writes it.
    if fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err() {
        let _ = fchown(file, None, Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

/// Creates a file beside the drawing, which is removed when it is dropped.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new(""));
    // Errors of `tempfile_in` end with the temporary name, which says nothing to users.
    let create = |path: &Path| File::options().write(true).create_new(true).mode(0o666).open(path);
    tempfile::Builder::new().make_in(folder, create)
}

/// Returns the failure for a file that cannot be written. `option` names it.
pub(crate) fn cannot_write(option: &str, path: &Path, error: io::Error) -> Failure {
    let error = IoError::from(error);
    let (exit, way_out) = io_way_out(path, "open", &error);
    exit.because(format!("{option}: cannot write {}: {error}{way_out}", path.display()))
}
