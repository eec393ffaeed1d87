//! `grammata tools grammar`: writes or applies the grammar of turns that call tools.

use super::SetArgs;
use crate::args::{source, tokens};
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{counted, quoted};
use crate::io::{errors, messages};
use clap::ValueEnum;
use grammata::error::{ErrorKind, Result};
use grammata::mask::{CompiledGrammar, Compiler};
use grammata_agents::tools::{CallFormat, CallGrammar, Choice, GrammarOptions, Markers, ToolSet};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Without `--text` it says which tools can be called in the format. With it, each text is accepted or rejected, and its calls
/// are written, special tokens spelled by their names.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// The call format: a name (json, json-array, hermes, llama3, mistral, mistral-args, harmony, deepseek, react, python,
    /// gemma, qwen-coder, toolken, relation, endpoint, restgpt, http), or a file of TOML
    #[arg(long, value_name = "NAME")]
    call_format: String,
    /// Whether a turn calls tools
    #[arg(long, value_enum, default_value_t = ChoiceName::Auto)]
    choice: ChoiceName,
    /// A tool that may be called; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// The fewest calls of a turn that calls tools
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_calls: u32,
    /// The most calls of a turn
    #[arg(long, value_name = "N", default_value_t = 1)]
    max_calls: u32,
    /// A text to read; may be repeated
    #[arg(long, value_name = "TEXT")]
    text: Vec<String>,
    /// Write the grammar itself
    #[arg(long, conflicts_with = "text")]
    show: bool,
}

/// Whether a turn calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ChoiceName {
    /// It may
    Auto,
    /// It does
    Required,
    /// It does not
    None,
}

impl From<ChoiceName> for Choice {
    fn from(name: ChoiceName) -> Choice {
        match name {
            ChoiceName::Auto => Choice::Auto,
            ChoiceName::Required => Choice::Required,
            ChoiceName::None => Choice::None,
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    let limits = arguments.set.limits.get();
    let format = format(&arguments.call_format, &limits)?;
    let options = GrammarOptions::default()
        .choice(arguments.choice.into())
        .tools(arguments.tool.clone())
        .min_calls(arguments.min_calls)
        .max_calls(Some(arguments.max_calls.max(arguments.min_calls)))
        .markers(if arguments.text.is_empty() { Markers::Tokens } else { Markers::Text })
        .schema(GrammarOptions::arguments(limits.clone()));
    let made = format.grammar(&loaded.set, &options).map_err(|error| loaded.of_files(error))?;
    let document = |name: &str| loaded.set.tool(name).map_or(0, |tool| tool.document);
    let refused: Vec<_> = made.refused.iter().map(|(name, reason)| (document(name), reason)).collect();
    loaded.located(&refused).iter().for_each(messages::warning);
    if arguments.text.is_empty() {
        if output.is_json() {
            let grammar = arguments.show.then(|| made.grammar.to_string());
            let refused = made.refused.iter().map(|(name, _)| name.as_str()).collect();
            output.report(&Report { tools: &made.tools, refused, grammar })?;
        } else if arguments.show {
            writeln!(output, "{}", made.grammar.to_string().trim_end())?;
        } else {
            summary(&made, output)?;
        }
        return Ok(Exit::Done);
    }
    let vocabulary = tokens::bytes()?.vocabulary;
    let compiled = Compiler::new(Arc::new(vocabulary)).limits(limits).without_token_bounds();
    let compiled = compiled.compile(&made.grammar)?;
    if output.is_json() {
        output.list("texts")?;
    }
    let mut exit = Exit::Done;
    for text in &arguments.text {
        let read = read(text, &compiled, &format, &loaded.set)?;
        exit = if read.accepted { exit } else { Exit::Rejected };
        match output.is_json() {
            true => output.item(&read)?,
            false => write_read(&read, output)?,
        }
    }
    Ok(exit)
}

/// The report without texts.
#[derive(Serialize)]
struct Report<'a> {
    /// The names of the tools that can be called in the format.
    tools: &'a [String],
    /// The names of the tools that cannot. The reasons are among the diagnostics.
    refused: Vec<&'a str>,
    /// The grammar in human-readable notation. Null without `--show`.
    grammar: Option<String>,
}

/// The result of reading a text.
#[derive(Serialize)]
struct TextReport {
    accepted: bool,
    /// The text around the calls. Null if the text is rejected.
    text: Option<String>,
    calls: Vec<Call>,
    /// The place where the text is rejected. Null if it is accepted.
    at: Option<String>,
    expected: Option<String>,
}

impl TextReport {
    fn rejected(at: String, expected: String) -> TextReport {
        TextReport { accepted: false, text: None, calls: Vec::new(), at: Some(at), expected: Some(expected) }
    }
}

/// A call of a tool, in JSON.
#[derive(Serialize)]
struct Call {
    tool: String,
    arguments: serde_json::Map<String, Value>,
}

/// Checks a text against the grammar, then reads it with the reader of the format.
fn read(text: &str, compiled: &CompiledGrammar, format: &CallFormat, set: &ToolSet) -> Result<TextReport> {
    let mut matcher = compiled.matcher();
    if matcher.accept_bytes(text.as_bytes()).is_err() || !matcher.is_accepting() {
        matcher.reset();
        let explanation = matcher.explain(text.as_bytes())?;
        return Ok(TextReport::rejected(
            format!("byte {}", explanation.position()),
            explanation.expected_text(),
        ));
    }
    match format.read(text, set) {
        Ok(turn) => {
            let calls = turn.calls.into_iter();
            let calls = calls.map(|call| Call { tool: call.tool, arguments: call.arguments }).collect();
            Ok(TextReport { accepted: true, text: Some(turn.text), calls, at: None, expected: None })
        }
        Err(error) if error.kind() == ErrorKind::Rejected => {
            let diagnostic = error.diagnostic();
            let expected = diagnostic.allowed_text().unwrap_or_default();
            Ok(TextReport::rejected(diagnostic.place().to_string(), expected.to_owned()))
        }
        Err(error) => Err(error),
    }
}

fn write_read(read: &TextReport, output: &mut Output) -> std::io::Result<()> {
    if let (Some(at), Some(expected)) = (&read.at, &read.expected) {
        return writeln!(output, "rejected at {at}: expected {expected}");
    }
    writeln!(output, "accepted: {}", counted(read.calls.len(), "call"))?;
    if let Some(text) = read.text.as_deref().filter(|text| !text.is_empty()) {
        writeln!(output, "  text: {}", quoted(text.as_bytes()))?;
    }
    read.calls.iter().try_for_each(|call| {
        let arguments = serde_json::to_string(&call.arguments)?;
        writeln!(output, "  {}({arguments})", call.tool)
    })
}

/// Returns the call format of a name, or reads it from a file in TOML.
///
/// # Errors
/// The format or file does not exist, or the file cannot be read or is not a call format.
pub fn format(name: &str, limits: &grammata::limits::Limits) -> Result<CallFormat> {
    if let Some(format) = CallFormat::named(name) {
        return Ok(format);
    }
    let path = Path::new(name);
    if !path.is_file() {
        return Err(errors::unknown_call_format(name, CallFormat::names()));
    }
    let text = source::text(path, limits)?;
    CallFormat::from_toml(&text).map_err(|error| error.in_file(&source::name_of(path)))
}

fn summary(made: &CallGrammar, output: &mut Output) -> std::io::Result<()> {
    writeln!(output, "{} can be called, {} not", counted(made.tools.len(), "tool"), made.refused.len())?;
    made.tools.iter().try_for_each(|name| writeln!(output, "{}", quoted(name.as_bytes())))
}
