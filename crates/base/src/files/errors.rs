//! Errors of files that are not allowed to be opened, or that take too long.

use crate::diagnostic::{Diagnostic, excerpt};
use crate::error::{Error, ErrorKind};
use std::fs::FileType;
use std::path::Path;
use std::time::Duration;

fn error(code: &'static str, path: &Path, message: impl Fn(&str) -> String) -> Diagnostic {
    let path = path.display().to_string();
    Diagnostic::new(code, message(&excerpt(&path))).in_file(path)
}

/// Returns the error of a path that refers to a folder, a pipe, a socket or a device. `kind` is what it refers to.
pub fn no_file(path: &Path, kind: FileType) -> Error {
    let diagnostic = error("io/no-file", path, |name| format!("`{name}` is not a regular file"));
    Error::new(
        ErrorKind::Io,
        diagnostic
            .found(name_of(kind))
            .allowed("a regular file")
            .help("give a file's path; write what a device or a pipe holds to a file first"),
    )
}

/// The error of a file that another process has locked.
pub(super) fn locked(path: &Path) -> Error {
    let diagnostic = error("io/locked", path, |name| format!("`{name}` is in use"));
    Error::new(
        ErrorKind::Io,
        diagnostic
            .found("another process that writes to the file")
            .allowed("one process at a time")
            .help("end the other process, or give another file"),
    )
}

/// The error of a name in a document or a model's folder that resolves to a file outside the folder.
pub(super) fn outside_folder(path: &Path, real: &Path, root: &Path) -> Error {
    let diagnostic = error("io/outside-folder", path, |name| format!("`{name}` leads out of its folder"));
    Error::new(
        ErrorKind::Io,
        diagnostic
            .found(format!("a link to `{}`", real.display()))
            .allowed(format!("files in `{}`", root.display()))
            .help("put the file itself in the place of the link"),
    )
}

/// The error of a pipe that was not closed before the deadline, after `read` bytes.
pub(super) fn slow_pipe(path: &Path, deadline: Duration, read: usize) -> Error {
    let diagnostic = error("io/slow-pipe", path, |name| format!("the pipe `{name}` was not closed in time"));
    Error::new(
        ErrorKind::Io,
        diagnostic
            .found(match read {
                0 => "no byte, or no writer".to_owned(),
                1 => "1 byte, and an open writer".to_owned(),
                _ => format!("{read} bytes, and an open writer"),
            })
            .allowed(format!("a writer that is done within {deadline:?}"))
            .help("write the data to a file first, and give that file"),
    )
}

#[cfg(unix)]
fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "neither a file nor a folder" }
}
