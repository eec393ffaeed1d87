//! `grammata retrieve index`: writes a file of tools with their vectors.

use super::model;
use super::sources::CatalogueArgs;
use crate::args::limits::LimitArgs;
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::retrieval::store::Store;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Only documents that the file does not have yet from the same embedder are embedded; the file is replaced in one step.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    tools: CatalogueArgs,
    /// The folder of a sentence encoder
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    embedder: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The report.
#[derive(Serialize)]
struct Report {
    /// Number of tools in the file.
    tools: usize,
    /// Number of documents that were embedded; the vectors of the others were in the file.
    embedded: usize,
    /// Number of the embedded documents that were longer than the embedder's maximum and were truncated.
    cut: usize,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let mut embedder = model::embedder(&arguments.embedder, &limits)?;
    let catalogue = arguments.tools.load(&limits)?.catalogue;
    let path = &arguments.output;
    let old = if path.exists() { Some(Store::read(path, &limits)?) } else { None };
    let progress = Progress::start("embedding the tools");
    let (store, built) =
        Store::build(catalogue, arguments.tools.template.into(), &mut *embedder, old.as_ref())?;
    progress.finish();
    store.write(path)?;
    let tools = store.catalogue().tools().len();
    let (embedded, cut) = (built.embedded, built.truncated);
    match output.is_json() {
        true => output.report(&Report { tools, embedded, cut })?,
        false => writeln!(output, "{tools} tools; {embedded} documents embedded, {cut} of them cut")?,
    }
    Ok(Exit::Done)
}
