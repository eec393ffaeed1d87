//! Runs other programs from the repository's root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A result whose error is a sentence for a person.
pub type Result<T = ()> = std::result::Result<T, String>;

/// The repository's root: the folder above this package.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// Creates a command that runs in the root.
pub fn command(program: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).current_dir(root());
    command
}

/// Creates a command of the cargo that runs this task, or of `cargo` in the PATH if that is unknown.
pub fn cargo(arguments: &[&str]) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).as_ref() as &Path, arguments)
}

/// Prints and runs a command. It is an error if the command fails.
pub fn run(command: &mut Command) -> Result {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.status().map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
}

/// Returns whether a command runs and succeeds. Its output is not shown.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Formats a command for people.
pub fn show(command: &Command) -> String {
    let root = root();
    let program = Path::new(command.get_program());
    // a path relative to the root if inside it, otherwise the file name
    let program =
        program.strip_prefix(&root).ok().or_else(|| program.file_name().map(Path::new)).unwrap_or(program);
    let words = std::iter::once(program.as_os_str()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy().into_owned();
        if word.is_empty() || word.contains([' ', '"']) { format!("'{word}'") } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}
