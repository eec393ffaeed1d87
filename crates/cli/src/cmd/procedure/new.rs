//! `grammata procedure new`: writes a first procedure from tools.

use crate::cmd::tools::{SetArgs, read_options};
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::procedures::scaffold;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Writes a procedure that allows all tools of SERVER at any time, to be narrowed by hand: an API for each tool, with the
/// slots and schemas of its arguments. `grammata guard` takes it as it is. The tools may also be those of documents.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The name of the procedure
    #[arg(long, value_name = "NAME", default_value = "draft")]
    name: String,
    /// The new file that is written; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
}

/// The report on a new procedure.
#[derive(Serialize)]
struct Report<'a> {
    /// The procedure. Null if it was written to a file.
    text: Option<&'a str>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let set = &arguments.set;
    // the server checks the members of objects, so the slots need not
    let options = read_options(set).responses(true).open_objects(true);
    let tools = set.load_with(&options)?.set;
    let text = scaffold(&arguments.name, &tools, &set.limits.get());
    if let Some(path) = &arguments.output {
        let file = std::fs::File::create_new(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|cause| errors::io(path, &cause))?;
    }
    let shown = Some(text.as_str()).filter(|_| arguments.output.is_none());
    if output.is_json() {
        output.report(&Report { text: shown })?;
    } else if let Some(text) = shown {
        output.write_all(text.as_bytes())?;
    }
    Ok(Exit::Done)
}
