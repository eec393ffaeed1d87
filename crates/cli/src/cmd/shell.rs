//! `grammata completions` and `grammata man`: write shell completions and manual pages.

use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use clap_complete::Shell;
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

/// The script goes to standard output. Put it where your shell looks for completions: in bash, for instance,
/// `grammata completions bash > ~/.local/share/bash-completion/completions/grammata`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes one page for the program and one for each command, such as `grammata-plan-count.1`. `man` finds pages in a folder `man1`
/// below one that `manpath` lists, such as `~/.local/share/man/man1`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder of the pages; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// The report of `completions`.
#[derive(Serialize)]
struct ScriptReport<'a> {
    /// The script for the shell.
    script: Cow<'a, str>,
}

/// The report of `man`.
#[derive(Serialize)]
struct PagesReport<'a> {
    /// The path of the folder with the pages.
    folder: &'a str,
}

pub(crate) fn completions(
    arguments: &CompletionArgs,
    mut command: clap::Command,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "grammata", &mut script);
    match output.is_json() {
        true => output.report(&ScriptReport { script: String::from_utf8_lossy(&script) })?,
        false => output.write_all(&script)?,
    }
    Ok(Exit::Done)
}

pub(crate) fn man(arguments: &ManArgs, command: clap::Command, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let io = |cause: std::io::Error| errors::io(folder, &cause);
    std::fs::create_dir_all(folder).map_err(io)?;
    clap_mangen::generate_to(command, folder).map_err(io)?;
    let name = folder.display().to_string();
    match output.is_json() {
        true => output.report(&PagesReport { folder: &name })?,
        false => writeln!(output, "{name}: see {}", folder.join("grammata.1").display())?,
    }
    Ok(Exit::Done)
}
