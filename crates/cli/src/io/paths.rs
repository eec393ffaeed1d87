//! Paths in arguments: files, and `-` for standard input.

use std::path::Path;

/// Returns the name of a file in messages: its path, or "standard input".
pub fn name_of(file: &Path) -> String {
    if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Returns whether a path is `-`, which means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}
