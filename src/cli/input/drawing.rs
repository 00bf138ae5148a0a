//! Drawings, which are the pages and pictures that a command writes to a file.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use tempfile::NamedTempFile;

use crate::cli::exit::Exit;
use crate::cli::failure::failure::Failure;
use crate::cli::input::values::path_in_folder;

/// Parses the name of a file for a drawing, which replaces an earlier one. Only names with this ending are
/// taken, so that no journal is ever overwritten.
pub(crate) fn drawing(ending: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    path_in_folder().try_map(move |path| match path.extension() {
        Some(found) if found == ending => Ok(path),
        _ => Err(format!("name a file that ends in .{ending}, which will be replaced")),
    })
}

/// Checks that a drawing can be written, before the work that makes it.
pub(crate) fn check_drawing(option: &str, path: &Path) -> Result<(), Failure> {
    match create_beside(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_write(option, path, &error)),
    }
}

/// Writes a drawing.
pub(crate) fn write_drawing(option: &str, path: &Path, drawing: &str) -> Result<(), Failure> {
    write_whole(path, drawing).map_err(|error| cannot_write(option, path, &error))
}

/// Writes a file. Until it is whole it has a temporary name, so that half of it is never seen.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_beside(path)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Creates a file beside the drawing, which is removed when it is dropped.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new(""));
    // Errors of `tempfile_in` end with the temporary name, which says nothing to users.
    let create = |path: &Path| File::options().write(true).create_new(true).mode(0o666).open(path);
    tempfile::Builder::new().make_in(folder, create)
}

fn cannot_write(option: &str, path: &Path, error: &io::Error) -> Failure {
    Exit::Failed.because(format!("{option}: cannot write {}: {error}", path.display()))
}
