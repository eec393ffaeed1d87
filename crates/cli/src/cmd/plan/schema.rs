//! `grammata plan schema`: writes the JSON Schema of specs.

use crate::io::output::{Exit, Failure, Output};
use grammata::syntax::automaton_spec;
use std::io::Write;

/// For editors that complete and check TOML and JSON by a schema.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    if output.is_json() {
        output.document("schema", &automaton_spec::schema())?;
        return Ok(Exit::Done);
    }
    serde_json::to_writer_pretty(&mut *output, &automaton_spec::schema()).map_err(std::io::Error::from)?;
    writeln!(output)?;
    Ok(Exit::Done)
}
