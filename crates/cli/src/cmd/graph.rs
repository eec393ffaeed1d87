//! `grammata graph`: draws the automaton of a grammar.

use crate::args::source::{self, SourceArgs};
use crate::draw::svg;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use clap::ValueEnum;
use grammata::automaton::graph;
use grammata::error::Error;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_states: Option<usize>,
}

/// How an automaton's states are drawn, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct DrawingArgs {
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_states: Option<usize>,
}

impl DrawingArgs {
    /// Returns the maximum number of states to draw.
    pub(crate) fn limit(&self) -> usize {
        self.format.limit(self.max_states)
    }

    /// Writes a graph, given in the DOT language, in the requested format. `is_truncated` says that states are missing.
    pub(crate) fn write(&self, dot: String, is_truncated: bool, output: &mut Output) -> Result<(), Failure> {
        let drawing = self.format.render(dot)?;
        show(&drawing, self.format.name(), self.output.as_deref(), is_truncated, output)
    }

    /// Notes that states beyond the limit are missing.
    pub(crate) fn note_truncated(&self) {
        messages::note(&format!(
            "only the first {} states are drawn (--max-states N draws more)",
            self.limit()
        ));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Graphviz's notation
    Dot,
    /// A picture
    Svg,
}

impl Format {
    /// Returns the value of `--format`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Dot => "dot",
            Format::Svg => "svg",
        }
    }

    /// Returns the maximum number of states to draw: the requested number, or one for which a drawing in this format is
    /// readable.
    pub(crate) fn limit(self, asked: Option<usize>) -> usize {
        asked.unwrap_or(match self {
            Format::Dot => 200,
            Format::Svg => 40,
        })
    }

    /// Converts a graph in the DOT language to this format.
    pub(crate) fn render(self, dot: String) -> grammata::error::Result<String> {
        match self {
            Format::Dot => Ok(dot),
            Format::Svg => svg::render(dot),
        }
    }
}

/// The report on a drawing.
#[derive(Serialize)]
struct Report<'a> {
    format: &'a str,
    /// Null if the drawing was written to a file.
    drawing: Option<&'a str>,
    file: Option<String>,
    truncated: bool,
}

/// Writes a drawing to a file or to standard output. JSON output is a report, which contains the drawing if no file is
/// given.
pub(crate) fn show(
    drawing: &str,
    format: &str,
    to: Option<&Path>,
    is_truncated: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if to.is_some() || !output.is_json() {
        write(drawing, to, output)?;
    }
    if output.is_json() {
        let file = to.map(|path| path.display().to_string());
        let drawing = to.is_none().then_some(drawing);
        output.report(&Report { format, drawing, file, truncated: is_truncated })?;
    }
    Ok(())
}

/// Writes a drawing to a file, or to standard output as it is.
pub fn write(drawing: &str, to: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    match to {
        Some(path) => std::fs::write(path, drawing).map_err(|cause| Error::io(path, &cause))?,
        None => output.write_all(drawing.as_bytes())?,
    }
    Ok(())
}

pub(crate) fn at_least_one(argument: &str) -> Result<usize, String> {
    argument.parse().ok().filter(|&n| n > 0).ok_or_else(|| "it must be a number, 1 or more".to_owned())
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let automaton = loaded.automaton(&limits)?;
    let limit = arguments.format.limit(arguments.max_states);
    let graph = graph::dot(&automaton, &loaded.grammar, limit).map_err(|error| loaded.locate(error))?;
    let (format, truncated) = (arguments.format, graph.truncated);
    show(&format.render(graph.dot)?, format.name(), arguments.output.as_deref(), truncated, output)?;
    if truncated {
        output.flush()?;
        messages::note(&format!("only the first {limit} states are drawn (--max-states N draws more)"));
    }
    Ok(Exit::Done)
}
