//! `grammata tag`: writes the structural tag for a request to a model of a family.

use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::errors;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata::diagnostic::{Notation, Source};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_agents::tools::{ReasoningMode, TagOptions, TagPreset};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The tag is JSON that `check`, `mask` and `generate` read, as vLLM and SGLang do.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The family of the model, such as `qwen_3`, or a preset of your own: a file that ends with `.toml`
    #[arg(value_name = "FAMILY")]
    family: String,
    /// Tools as requests for chat completions have them, a JSON list; `-` for standard input [default: no tools]
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Which tools may or must be called: `auto`, `none`, `required`, the name of a function, or `tool_choice` as a
    /// JSON object
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    choice: String,
    /// A JSON Schema: the output is calls, or an answer in JSON by this schema, instead of calls in free text
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,
    /// Whether the model reasons first
    #[arg(long, value_name = "MODE", default_value = "enabled", value_parser = ["enabled", "disabled", "auto"])]
    reasoning: String,
    /// At most one call
    #[arg(long)]
    no_parallel: bool,
    /// Allow the members of arguments and of the answer in any order
    #[arg(long)]
    any_order: bool,
    /// Text and reasoning may hold the special tokens of the family
    #[arg(long)]
    allow_special_tokens: bool,
    /// Match the markers of the family by their tokens instead of as text
    #[arg(long)]
    token_markers: bool,
    /// The most whitespace at a place of arguments and of the answer, in characters [default: no bound]
    #[arg(long, value_name = "N")]
    max_whitespace: Option<u32>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let preset = preset(&arguments.family, &limits)?;
    let (file, text) = match &arguments.tools {
        Some(file) => (source::name_of(file), source::text(file, &limits)?),
        None => ("--tools".to_owned(), "[]".to_owned()),
    };
    let tools: Value =
        serde_json::from_str(&text).map_err(|cause| errors::not_json(Path::new(&file), &cause))?;
    let answer = match &arguments.answer {
        Some(file) => Some(Answer::read(file, &limits)?),
        None => None,
    };
    let choice = choice(&arguments.choice)?;
    let reasoning = arguments.reasoning.parse().unwrap_or(ReasoningMode::Enabled);
    let options = TagOptions::default()
        .tool_choice(choice.clone())
        .reasoning(reasoning)
        .parallel_tool_calls(!arguments.no_parallel)
        .any_order(arguments.any_order)
        .exclude_special_tokens(!arguments.allow_special_tokens)
        .max_whitespace_cnt(arguments.max_whitespace)
        .token_markers(arguments.token_markers)
        .answer(answer.as_ref().map(|answer| answer.schema.clone()))
        .limits(limits);
    let made = preset.structural_tag(&tools, &options).map_err(|error| match error.code() {
        "tools/tag-tools" | "tools/form" | "tools/definition" | "tools/left-out" => {
            error.in_source(&Source::new(&text, Notation::Json)).in_file(&file)
        }
        "limit/exceeded" | "tools/no-markers" => error,
        "tools/tag-choice" | "tools/unknown-tool" | "tools/no-tools" => {
            error.in_source(&Source::new(&choice.to_string(), Notation::Json)).in_file("--choice")
        }
        // what remains is about the schema of the answer
        _ => match &answer {
            Some(answer) => error.in_source(&answer.source()).in_file(&answer.file),
            None => error,
        },
    })?;
    let mut warnings = made.warnings;
    Source::new(&text, Notation::Json).locate(&mut warnings);
    warnings.into_iter().for_each(|warning| messages::warning(&warning.in_file(file.as_str())));
    if let Some(answer) = &answer {
        let mut warnings = made.answer_warnings;
        answer.source().locate(&mut warnings);
        warnings.into_iter().for_each(|warning| messages::warning(&warning.in_file(answer.file.as_str())));
    }
    output.document("tag", &made.tag)?;
    Ok(Exit::Done)
}

/// The schema of an answer, and its text.
struct Answer {
    file: String,
    text: String,
    schema: Value,
}

impl Answer {
    fn read(file: &Path, limits: &Limits) -> Result<Answer, Failure> {
        let text = source::text(file, limits)?;
        let schema = serde_json::from_str(&text).map_err(|cause| errors::not_json(file, &cause))?;
        Ok(Answer { file: source::name_of(file), text, schema })
    }

    fn source(&self) -> Source<'_> {
        Source::new(&self.text, Notation::Json)
    }
}

/// Returns the preset of a family. A name that ends with `.toml` is a file, from which the preset is read.
pub(crate) fn preset(family: &str, limits: &Limits) -> Result<TagPreset> {
    if !family.ends_with(".toml") {
        return TagPreset::named(family);
    }
    let text = source::text(Path::new(family), limits)?;
    let located = |error: Error| error.in_source(&Source::new(&text, Notation::Text)).in_file(family);
    TagPreset::from_toml(&text, limits).map_err(located)
}

/// Parses a choice: a keyword, a JSON object, or the name of a function.
fn choice(text: &str) -> Result<Value> {
    match text {
        "auto" | "none" | "required" => Ok(json!(text)),
        _ if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).map_err(|cause| errors::not_json(Path::new("--choice"), &cause))
        }
        name => Ok(json!({ "type": "function", "function": { "name": name } })),
    }
}
