//! `grammata graph`: draws what a grammar goes through.

use super::messages;
use super::output::{Exit, Failure, Output};
use super::source::{self, SourceArgs};
use super::svg;
use clap::ValueEnum;
use grammata::automaton::graph;
use grammata::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most configurations to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
}

/// How an automaton's states are drawn, and where to.
#[derive(Debug, clap::Args)]
pub(super) struct DrawingArgs {
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
}

impl DrawingArgs {
    /// The most states that are drawn.
    pub(super) fn limit(&self) -> usize {
        self.format.limit(self.limit)
    }

    /// Writes a graph in the DOT language in the form that is asked for.
    pub(super) fn write(&self, dot: String, output: &mut Output) -> Result<(), Failure> {
        write(&self.format.render(dot)?, self.output.as_deref(), output)
    }

    /// Says that states beyond the limit are missing.
    pub(super) fn note_truncated(&self) {
        messages::note(&format!("only the first {} states are drawn (--limit N draws more)", self.limit()));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Graphviz's notation
    Dot,
    /// A picture
    Svg,
}

impl Format {
    /// How much is drawn: as much as is asked for, or what can still be read in this form.
    pub(super) fn limit(self, asked: Option<usize>) -> usize {
        asked.unwrap_or(match self {
            Format::Dot => 200,
            Format::Svg => 40,
        })
    }

    /// A graph in the DOT language in this form.
    pub(super) fn render(self, dot: String) -> grammata::error::Result<String> {
        match self {
            Format::Dot => Ok(dot),
            Format::Svg => svg::render(dot),
        }
    }
}

/// Writes a drawing to a file, or to standard output.
pub fn write(drawing: &str, to: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    match to {
        Some(path) => std::fs::write(path, drawing).map_err(|cause| Error::io(path, &cause))?,
        None => output.write_all(drawing.as_bytes())?,
    }
    Ok(())
}

pub(super) fn at_least_one(argument: &str) -> Result<usize, String> {
    argument.parse().ok().filter(|&n| n > 0).ok_or_else(|| "it must be a number, 1 or more".to_owned())
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let automaton = loaded.automaton(&limits)?;
    let limit = arguments.format.limit(arguments.limit);
    let graph = graph::dot(&automaton, &loaded.grammar, limit).map_err(|error| loaded.locate(error))?;
    write(&arguments.format.render(graph.dot)?, arguments.output.as_deref(), output)?;
    if graph.truncated {
        output.flush()?;
        messages::note(&format!("only the first {limit} configurations are drawn (--limit N draws more)"));
    }
    Ok(Exit::Done)
}
