//! `grammata-lab flow evaluate`: experiments over the queries of customers.

use super::experiment::{Arguments, Experiment};
use super::{change_runs, experiments};
use crate::queries;
use grammata::error::Error;
use grammata_cli::args::source;
use grammata_cli::cmd::graph::write;
use grammata_cli::io::output::{Exit, Failure, Output};
use std::io::Write;

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let domains: Result<Vec<_>, Error> =
        arguments.domains.iter().map(|path| grammata_cli::cmd::flow::read(path, &limits, false)).collect();
    let domains = domains?;
    let text = source::text(&arguments.queries, &limits)?;
    let queries =
        queries(&text, &limits).map_err(|error| error.in_file(&arguments.queries.display().to_string()))?;
    let report = if arguments.experiment == Experiment::Changes {
        change_runs::run(arguments, &queries, &limits)?
    } else {
        experiments::run(arguments, &domains, &queries, &limits)?
    };
    match output.is_json() {
        true => output.report(&serde_json::json!({ "report": report.to_markdown() }))?,
        false => writeln!(output, "{}", report.to_markdown())?,
    }
    if let Some(path) = &arguments.report {
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        let text = if is_html { report.to_html() } else { report.to_markdown() };
        write(&text, Some(path), output)?;
    }
    Ok(Exit::Done)
}
