//! `grammata tools`: one module for each subcommand.

mod check;
#[cfg(feature = "ort")]
pub mod encoding;
#[cfg(feature = "ort")]
pub mod exact;
mod generate;
#[cfg(feature = "ort")]
mod generation;
pub mod grammar;
mod list;
pub mod prompt;
mod request;

use crate::args::limits::LimitArgs;
use crate::args::server::ServerArgs;
use crate::args::source;
use crate::io::output::{Exit, Failure, Output};
use crate::io::{errors, messages};
use clap::Subcommand;
use grammata::diagnostic::{Diagnostic, Notation, Source};
use grammata::error::{Error, Result};
use grammata_agents::tools::{self, Document, GrammarOptions, ReadOptions, ToolSet, YamlPlaces};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Tools that a model may call: FILE is an OpenAPI document (JSON or YAML), MCP's `tools/list`, declarations of functions
/// for OpenAI, Anthropic, Gemini, BFCL or ToolBench, or a file of Python. Which one is recognised by itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List tools, and for each why it cannot be called
    List(list::Arguments),
    /// Check documents of tools
    Check(check::Arguments),
    /// Read and write turns that call tools, in a call format
    Grammar(grammar::Arguments),
    /// Write the documentation of tools for a prompt, and count its tokens
    Prompt(prompt::Arguments),
    /// Write the HTTP requests of calls; nothing is sent
    Request(request::Arguments),
    /// Let a model call tools for a request
    Generate(Box<generate::Arguments>),
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments, output),
        Command::Check(arguments) => check::run(arguments, output),
        Command::Grammar(arguments) => grammar::run(arguments, output),
        Command::Prompt(arguments) => prompt::run(arguments, output),
        Command::Request(arguments) => request::run(arguments, output),
        Command::Generate(arguments) => match generate::by_chat(arguments, output)? {
            Some(exit) => Ok(exit),
            #[cfg(feature = "ort")]
            None => generation::run(arguments, output),
            #[cfg(not(feature = "ort"))]
            None => Err(errors::no_onnx_runtime().into()),
        },
    }
}

/// Which tools.
#[derive(Clone, Debug, clap::Args)]
pub struct SetArgs {
    /// Documents of tools: files, or `-` for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["mcp", "http"], conflicts_with_all = ["mcp", "http"])]
    pub files: Vec<PathBuf>,
    /// Prefix for names of tools that occur in several files; give one for each file, in their order [default: the
    /// file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub label: Vec<String>,
    /// The address that a relative one in a document is resolved against
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// A parameter that the host fills in and no model writes; may be repeated
    #[arg(long, value_name = "NAME")]
    pub hide: Vec<String>,
    /// Allow undeclared members unless a schema forbids them
    #[arg(long)]
    pub open: bool,
    /// Arguments of operations are grouped: `path`, `query`, `header`, `cookie`, `body`
    #[arg(long)]
    pub grouped: bool,
    /// Treat repairs, repeated keys and meaningless keys of paths as errors
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    /// An MCP server whose list of tools is the document.
    pub of_server: ServerArgs,
    #[command(flatten)]
    /// The limits of reading.
    pub limits: LimitArgs,
}

/// A set of tools, with the names and texts of its documents.
pub struct Loaded {
    /// The set of tools.
    pub set: ToolSet,
    /// The names of the documents' files in messages, in the order of the arguments.
    pub names: Vec<String>,
    /// The texts of the documents, in the order of the arguments.
    pub texts: Vec<String>,
}

impl SetArgs {
    /// Reads the documents, or the list of the server, into one set of tools, and warns of names in `--hide` that no
    /// parameter has.
    ///
    /// # Errors
    /// There are more labels than documents, or a document cannot be read or declares no tools.
    pub fn load(&self) -> Result<Loaded> {
        self.load_with(&read_options(self))
    }

    /// Reads the documents, or the list of the server, like [`load`](SetArgs::load), with other options.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn load_with(&self, options: &ReadOptions) -> Result<Loaded> {
        let limits = self.limits.get();
        let mut read = Vec::new();
        if let Some((label, text)) = self.of_server()? {
            read.push((self.of_server.name().unwrap_or_default(), label, text));
        }
        for file in &self.files {
            read.push((source::name_of(file), stem(file), source::text(file, &limits)?));
        }
        if self.label.len() > read.len() {
            return Err(errors::too_many_labels(self.label.len(), read.len()));
        }
        let mut labels: Vec<String> = self.label.clone();
        labels.extend(read.iter().skip(labels.len()).map(|(_, label, _)| label.clone()));
        let (names, texts): (Vec<String>, Vec<String>) =
            read.into_iter().map(|(name, _, text)| (name, text)).unzip();
        let documents = labels.iter().zip(&texts).map(|(label, text)| Document { label, text });
        let mut set = tools::read(documents, options).map_err(|error| match names.as_slice() {
            [name] => error
                .map(|mut diagnostic| {
                    locate(&texts[0], [&mut diagnostic]);
                    diagnostic
                })
                .in_file(name),
            _ => error,
        })?;
        set.check(&GrammarOptions::arguments(limits));
        self.warn_of_hidden(labels.iter().zip(&texts).map(|(label, text)| Document { label, text }));
        Ok(Loaded { set, names, texts })
    }
}

impl SetArgs {
    /// Returns the label and the text of the server's list of tools; `None` if no server is given.
    ///
    /// # Errors
    /// Those of [`ServerArgs::read`].
    pub fn of_server(&self) -> Result<Option<(String, String)>> {
        let label = |server: String| if server.is_empty() { "server".to_owned() } else { server };
        Ok(self.of_server.read()?.map(|found| (label(found.server.clone()), found.text())))
    }

    /// Warns of names in `--hide` that no parameter has.
    fn warn_of_hidden<'d>(&self, documents: impl Iterator<Item = Document<'d>>) {
        if self.hide.is_empty() {
            return;
        }
        // the set that was read does not contain hidden parameters, so it is read again
        let Ok(open) = tools::read(documents, &read_options(self).hidden(Vec::new())) else { return };
        let all: Vec<serde_json::Value> = open.tools().iter().map(|tool| tool.arguments.value()).collect();
        let members = all.iter().filter_map(|schema| schema["properties"].as_object());
        let known: BTreeSet<&str> = members.flat_map(|members| members.keys().map(String::as_str)).collect();
        for name in self.hide.iter().filter(|name| !known.contains(name.as_str())) {
            messages::warning(&errors::nothing_hidden(name, known.iter().copied()));
        }
    }
}

/// Returns the options for reading the documents of a set of tools.
pub fn read_options(arguments: &SetArgs) -> ReadOptions {
    ReadOptions::default()
        .open_objects(arguments.open)
        .grouped(arguments.grouped)
        .hidden(arguments.hide.clone())
        .server(arguments.server.clone())
        .strict(arguments.strict)
        .limits(arguments.limits.get())
}

impl Loaded {
    /// Adds the names of all files to an error about the set.
    fn of_files(&self, error: Error) -> Error {
        error.in_file(&self.names.join(", "))
    }

    /// Adds files and lines to diagnostics, each given with the index of its document. Each document is scanned once.
    fn located(&self, diagnostics: &[(usize, &Diagnostic)]) -> Vec<Diagnostic> {
        let named = diagnostics.iter().map(|(document, diagnostic)| match self.names.get(*document) {
            Some(name) => (*diagnostic).clone().in_file(name.clone()),
            None => (*diagnostic).clone(),
        });
        let mut located: Vec<Diagnostic> = named.collect();
        for (index, text) in self.texts.iter().enumerate() {
            let of_document =
                located.iter_mut().zip(diagnostics).filter(|(_, (document, _))| *document == index);
            locate(text, of_document.map(|(diagnostic, _)| diagnostic));
        }
        located
    }
}

/// Adds the lines of a document in JSON, YAML or Python to diagnostics.
fn locate<'d>(text: &str, diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>) {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let source = Source::new(text, if is_json { Notation::Json } else { Notation::Text });
    match YamlPlaces::read(text).filter(|_| !is_json) {
        Some(places) => source.locate_with(diagnostics, |pointer| Some(places.find(pointer))),
        None => source.locate(diagnostics),
    }
}

/// Returns the name of a file without its ending; `tools` if the path has no file name.
pub fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "tools".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
