//! Files that a command writes: pictures, pages and manual pages. A file has its name only when it is complete, so half
//! of it is never seen.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use tempfile::NamedTempFile;

use crate::cli::advice::io_way_out;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::values::path;

/// Parses the name of a picture or page, which replaces a file of this name. The name must have this ending, so that no
/// journal is ever overwritten.
pub(crate) fn drawing(ending: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    path().try_map(move |path: PathBuf| match path.extension() {
        Some(found) if found == ending => Ok(path),
        _ => Err(format!("name a file that ends in .{ending}, which will be replaced")),
    })
}

/// Checks that a file can be written, before the work that makes it.
pub(crate) fn check_drawing(option: &str, path: &Path) -> Result<(), Failure> {
    match create_beside(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_write(option, path, error)),
    }
}

/// Writes a file, in place of an earlier one. `option` names it in the message of a failure.
pub(crate) fn write_drawing(option: &str, path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text).map_err(|error| cannot_write(option, path, error))
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_beside(path)?;
    // Errors of the temporary file itself would end with its name, which says nothing to users.
    file.as_file_mut().write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Creates a file beside this one, which is removed when it is dropped. Others may read it as far as the umask allows,
/// such as a web server.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let create = |path: &Path| File::options().write(true).create_new(true).mode(0o666).open(path);
    tempfile::Builder::new().make_in(folder, create)
}

/// Returns the failure for a file that cannot be written.
pub(crate) fn cannot_write(option: &str, path: &Path, error: io::Error) -> Failure {
    let (exit, way_out) = match error.kind() {
        ErrorKind::NotFound => (Exit::Usage, ": make its folder first"),
        kind => io_way_out(kind),
    };
    exit.because(format!("{option}: cannot write {}: {error}{way_out}", path.display()))
}
