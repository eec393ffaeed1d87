//! Runs other programs from the repository's root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Calls `work` on each item, on as many threads as there are cores. Returns the results in the order of the items, or
/// the first error in this order; no further item is begun after an error.
pub fn in_parallel<I: Sync, R: Send + Sync>(
    items: &[I],
    work: impl Fn(&I) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Vec<OnceLock<Result<R>>> = items.iter().map(|_| OnceLock::new()).collect();
    let worker = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let (Some(item), Some(result)) = (items.get(place), results.get(place)) else { break };
            if result.get_or_init(|| work(item)).is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..threads.min(items.len()) {
            scope.spawn(worker);
        }
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
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
