//! Paths in arguments: files, and `-` for standard input.

use std::path::Path;

/// What a file is called in messages.
pub fn name_of(file: &Path) -> String {
    if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Whether a path stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}
