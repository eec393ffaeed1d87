//! `grammata tools grammar`: the turns in which tools are called.

use super::SetArgs;
use crate::output::{Exit, Failure, Output};
use crate::text::{counted, quoted};
use crate::{errors, messages, source, tokens};
use clap::ValueEnum;
use grammata::error::{ErrorKind, Result};
use grammata::mask::Compiler;
use grammata_agents::tools::{CallFormat, CallGrammar, Choice, GrammarOptions, Markers};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Without `--text` it says which tools can be called in the format. With it, each text is accepted or rejected, and its calls
/// are written as JSON, special tokens spelled by their names.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// The call format: a name (json, json-array, hermes, llama3, mistral, mistral-args, harmony, deepseek, react, python,
    /// gemma, qwen-coder, toolken, relation, endpoint, restgpt, http), or a file of TOML
    #[arg(long, value_name = "NAME")]
    format: String,
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
    #[arg(long)]
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
    let format = format(&arguments.format, &limits)?;
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
        if arguments.show {
            writeln!(output, "{}", made.grammar.to_string().trim_end())?;
        } else {
            summary(&made, output)?;
        }
        return Ok(Exit::Done);
    }
    let vocabulary = tokens::bytes()?.vocabulary;
    let compiled = Compiler::new(Arc::new(vocabulary)).limits(limits).without_token_bounds();
    let compiled = compiled.compile(&made.grammar)?;
    let mut exit = Exit::Done;
    for text in &arguments.text {
        let mut matcher = compiled.matcher();
        let accepted = matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
        if !accepted {
            matcher.reset();
            let explanation = matcher.explain(text.as_bytes())?;
            let (at, expected) = (explanation.position(), explanation.expected_text());
            writeln!(output, "rejected at byte {at}: expected {expected}")?;
            exit = Exit::Rejected;
            continue;
        }
        let turn = match format.read(text, &loaded.set) {
            Ok(turn) => turn,
            Err(error) if error.kind() == ErrorKind::Rejected => {
                let diagnostic = error.diagnostic();
                let expected = diagnostic.allowed_text().unwrap_or_default();
                writeln!(output, "rejected by the reader at {}: expected {expected}", diagnostic.place())?;
                exit = Exit::Rejected;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let calls = turn.calls.iter().map(|call| json!({"tool": call.tool, "arguments": call.arguments}));
        output.json(&json!({"text": turn.text, "calls": calls.collect::<Vec<_>>()}))?;
    }
    Ok(exit)
}

/// The call format of a name, or that of a file in TOML.
///
/// # Errors
/// There is no such format, or the file cannot be read.
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
