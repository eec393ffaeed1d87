//! `grammata tools prompt`: writes the documentation of tools for a prompt.

use super::SetArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use clap::ValueEnum;
use grammata_agents::tools::Level;
use grammata_decode::PromptTokenizer;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Writes the tools that can be called, at a level of detail. Descriptions are text of strangers: tokens are counted without
/// special tokens, and a prompt is to be encoded in the same way.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    set: SetArgs,
    /// How much to write
    #[arg(long, value_enum, default_value_t = LevelName::Compressed)]
    detail: LevelName,
    /// A tool that may be called; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// A tokenizer.json: tokens of each level, and their mean over tools, are written instead
    #[arg(long, value_name = "PATH")]
    tokenizer: Option<PathBuf>,
}

/// How much to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelName {
    /// Names
    Names,
    /// First sentences, and a line for each parameter
    Compressed,
    /// Names and types on one line
    Signature,
    /// The declaration as JSON
    Full,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Level {
        match name {
            LevelName::Names => Level::Names,
            LevelName::Compressed => Level::Compressed,
            LevelName::Signature => Level::Signature,
            LevelName::Full => Level::Full,
        }
    }
}

/// The documentation of a tool, in JSON.
#[derive(Serialize)]
struct TextReport<'a> {
    /// The name of the tool.
    name: &'a str,
    /// Its documentation at the level of detail.
    text: &'a str,
}

/// The length of the documentation at a level of detail, in JSON.
#[derive(Serialize)]
struct LevelReport<'a> {
    /// The level, a value of `--detail`.
    level: &'a str,
    /// Number of tokens of all tools.
    tokens: usize,
    /// Number of tools.
    tools: usize,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let loaded = arguments.set.load()?;
    if let Some(name) =
        arguments.tool.iter().find(|name| loaded.set.callable().all(|tool| tool.name != **name))
    {
        return Err(errors::unknown_tool(name, loaded.set.callable().map(|tool| tool.name.as_str())).into());
    }
    let is_chosen = |name: &String| arguments.tool.is_empty() || arguments.tool.contains(name);
    let tools: Vec<_> = loaded.set.callable().filter(|tool| is_chosen(&tool.name)).collect();
    if output.is_json() {
        output.list(if arguments.tokenizer.is_some() { "levels" } else { "tools" })?;
    }
    let Some(path) = &arguments.tokenizer else {
        for (at, tool) in tools.iter().enumerate() {
            let text = tool.documentation(arguments.detail.into(), at + 1);
            match output.is_json() {
                true => output.item(&TextReport { name: &tool.name, text: &text })?,
                false => writeln!(output, "{text}")?,
            }
        }
        return Ok(Exit::Done);
    };
    let tokenizer = PromptTokenizer::from_file(path, &arguments.set.limits.get())?;
    let full = Level::Full;
    let mut counts = Vec::new();
    for level in LevelName::value_variants() {
        let mut tokens = 0;
        for (at, tool) in tools.iter().enumerate() {
            tokens += tokenizer.encode_literal(&tool.documentation((*level).into(), at + 1))?.len();
        }
        counts.push((*level, tokens));
    }
    let of_full =
        counts.iter().find(|(level, _)| Level::from(*level) == full).map_or(0, |(_, tokens)| *tokens);
    for (level, tokens) in counts {
        let name = level.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let mean = tokens as f64 / tools.len().max(1) as f64;
        let saved = 100.0 * (1.0 - tokens as f64 / of_full.max(1) as f64);
        match output.is_json() {
            true => output.item(&LevelReport { level: &name, tokens, tools: tools.len() })?,
            false => {
                let tokens = counted(tokens, "token");
                writeln!(output, "{name:<11} {tokens}, {mean:.1} a tool, {saved:.0} % less than full")?;
            }
        }
    }
    Ok(Exit::Done)
}
