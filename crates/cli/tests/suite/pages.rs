//! Reads the pages of the documentation and the commands in their `console` blocks.

use std::path::Path;
use std::process::Command;

/// A command, the line of the page at which it begins, and the output that the page shows.
pub(crate) struct Example {
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) output: String,
}

pub(crate) fn root() -> &'static Path {
    Path::new(crate::ROOT)
}

pub(crate) fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the commands of the `console` blocks of a page that are to be checked.
pub(crate) fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut before, mut inside) = ("", false);
    for (index, line) in text.lines().enumerate() {
        match (inside, line) {
            (false, "```console") => inside = !before.starts_with("<!-- not checked: "),
            (true, "```") => inside = false,
            (true, line) => add(&mut examples, index + 1, line),
            (false, _) => {}
        }
        if !line.is_empty() {
            before = line;
        }
    }
    examples
}

fn add(examples: &mut Vec<Example>, number: usize, line: &str) {
    if let Some(command) = line.strip_prefix("$ ") {
        examples.push(Example { line: number, command: command.to_owned(), output: String::new() });
        return;
    }
    let example = examples.last_mut().unwrap_or_else(|| panic!("line {number}: output without a command"));
    match line.strip_prefix("> ") {
        Some(more) if example.output.is_empty() => {
            example.command.push('\n');
            example.command.push_str(more);
        }
        _ => {
            example.output.push_str(line);
            example.output.push('\n');
        }
    }
}

/// Runs a command of the shell in the root folder, with the folder of `program` first on the path. Returns what it
/// writes, and the exit code if it is not 0.
pub(crate) fn shell(command: &str, program: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root())
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let mut written = String::from_utf8(output.stdout).unwrap();
    if !written.is_empty() && !written.ends_with('\n') {
        written.push('\n');
    }
    written.push_str(&String::from_utf8(output.stderr).unwrap());
    match output.status.code() {
        Some(0) => {}
        code => written.push_str(&format!("(exit code {})\n", code.unwrap())),
    }
    written
}
