//! `grammata procedure format`: writes a procedure in a standard layout.

use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::Error;
use grammata_agents::procedures;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Writes a procedure as YAML in one layout. Comments outside of its text are not kept.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The procedure: a file, or `-` for YAML on standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the file itself
    #[arg(long)]
    in_place: bool,
    /// Write nothing; the exit code is 1 if the layout is another one
    #[arg(long, conflicts_with = "in_place")]
    check: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The report on a formatted procedure.
#[derive(Serialize)]
struct Report<'a> {
    /// Whether the text of the file differs from the standard layout.
    changed: bool,
    /// The procedure in the standard layout. Null with `--check`, and if the file itself was written.
    text: Option<&'a str>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let (path, limits) = (&arguments.file, arguments.limits.get());
    let text = source::text(path, &limits)?;
    let formatted = procedures::format_in(&text, super::format(path), super::folder_of(path), &limits)
        .map_err(|error| error.in_file(&source::name_of(path)))?;
    let changed = formatted != text;
    let is_written = arguments.in_place && path.as_os_str() != "-";
    if is_written {
        std::fs::write(path, &formatted).map_err(|cause| Error::io(path, &cause))?;
    }
    if output.is_json() {
        let is_shown = !is_written && !arguments.check;
        output.report(&Report { changed, text: is_shown.then_some(formatted.as_str()) })?;
    }
    if arguments.check {
        return Ok(if changed { Exit::Rejected } else { Exit::Done });
    }
    if !is_written && !output.is_json() {
        output.write_all(formatted.as_bytes())?;
    }
    Ok(Exit::Done)
}
