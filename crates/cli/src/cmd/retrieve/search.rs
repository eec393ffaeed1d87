//! `grammata retrieve search`: finds the best tools for a request.

use super::errors;
use super::pipeline::{Pipeline, PipelineArgs, kebab};
use crate::args::endpoint::{self, EndpointArgs};
use crate::args::limits::LimitArgs;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::quoted;
use grammata::error::Result;
use grammata_agents::retrieval::{Catalogue, Ranker};
use grammata_agents_drive::chat::Chat;
use grammata_agents_drive::retrieval::{ChatWriter, Dropped, Format, Run, RunQuery, RunTool, Source};
use serde::Serialize;
use std::io::Write;
use std::time::Instant;

/// Maximum number of characters of a description that are shown.
const SHOWN: usize = 70;

/// Shows the queries, then each tool with its best score, its name, and the number of the query that put it there.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The user's message
    #[arg(value_name = "REQUEST")]
    request: String,
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    chat: EndpointArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    if arguments.request.trim().is_empty() {
        return Err(crate::io::errors::empty_request().into());
    }
    let queries = &arguments.pipeline.queries;
    let mut chat = arguments.chat.load(queries.temperature.unwrap_or(0.0), queries.seed)?;
    let has_writer = chat.is_some() || queries.model.model.is_some();
    let (mut pipeline, _) = arguments.pipeline.load_for(0.0, has_writer, &limits)?;
    let found = match &mut chat {
        Some(model) if pipeline.mode.needs_model() => {
            let found = by_chat(arguments, &mut pipeline, &mut **model);
            endpoint::report(&model.usage());
            found?
        }
        _ => pipeline.with(|finder, mut writer| finder.find(&arguments.request, &[], writer.as_mut()))?,
    };
    for (number, query) in (1..).zip(&found.queries) {
        if let Some(kept) = query.embedded_tokens {
            messages::warning(&errors::query_cut(number, kept));
        }
    }
    if output.is_json() {
        output.report(&Report::new(&found))?;
        return Ok(Exit::Done);
    }
    show(&found, &pipeline.catalogue, pipeline.options.ranker, output)?;
    let times = &found.times;
    messages::plain(&format!(
        "generation {:.0} ms, embedding {:.1} ms, search {:.1} ms",
        times.generation_ms, times.embedding_ms, times.search_ms
    ));
    Ok(Exit::Done)
}

/// Finds tools with the queries of a model that is asked by chat.
fn by_chat(arguments: &Arguments, pipeline: &mut Pipeline, model: &mut dyn Chat) -> Result<Run> {
    let prompt = pipeline.prompt.clone();
    let most = u32::try_from(arguments.pipeline.queries.max_tokens).unwrap_or(u32::MAX);
    pipeline.with(|finder, _| {
        let examples = finder.examples(&arguments.request, &[]);
        let start = Instant::now();
        let hash = prompt.hash();
        let draft = ChatWriter::new(model, prompt, most).write(&arguments.request, &examples)?;
        let run = finder.find_with(&arguments.request, &draft, start.elapsed())?;
        Ok(Run { prompt: Some(hash), ..run })
    })
}

/// The report on a search: its members are those of [`Run`], but for the form of the mode and the unit of times.
#[derive(Serialize)]
struct Report<'a> {
    /// The request.
    utterance: &'a str,
    /// How the queries were made, a value of `--query-mode`.
    mode: String,
    /// The format of the model's output. Left out without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
    /// The SHA-256 of the prompt's instruction and template, in hexadecimal. Left out without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// The model's output, unchanged. Left out without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
    /// The distinct queries that were searched, in order.
    queries: &'a [RunQuery],
    /// Lines of the output that are not among the model's queries. Left out if there are none.
    #[serde(skip_serializing_if = "<[Dropped]>::is_empty")]
    dropped: &'a [Dropped],
    /// The text that the end of the output cut off. Left out if nothing was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<&'a str>,
    /// Whether the model gave no query, so that only the request was searched.
    fallback: bool,
    /// The tools, best first.
    tools: &'a [RunTool],
    times: TimesReport,
}

/// The times of the steps of a search.
#[derive(Serialize)]
struct TimesReport {
    generation_seconds: f64,
    embedding_seconds: f64,
    search_seconds: f64,
}

impl Report<'_> {
    fn new(run: &Run) -> Report<'_> {
        // all members are named, so that a new one is not forgotten here
        let Run { utterance, mode, format, prompt, raw, queries, dropped, cut, fallback, tools, times } = run;
        Report {
            utterance,
            mode: kebab(mode.name()),
            format: *format,
            prompt: prompt.as_deref(),
            raw: raw.as_deref(),
            queries,
            dropped,
            cut: cut.as_deref(),
            fallback: *fallback,
            tools,
            times: TimesReport {
                generation_seconds: times.generation_ms / 1e3,
                embedding_seconds: times.embedding_ms / 1e3,
                search_seconds: times.search_ms / 1e3,
            },
        }
    }
}

fn show(run: &Run, catalogue: &Catalogue, ranker: Ranker, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "queries ({}):", kebab(run.mode.name()))?;
    for (number, query) in (1..).zip(&run.queries) {
        let source = match query.source {
            Source::Model => "model",
            Source::Sentence => "sentence",
            Source::Utterance => "request",
        };
        writeln!(output, "{number:>3}. {source:<9} {}", quoted(query.text.as_bytes()))?;
    }
    if run.fallback {
        writeln!(output, "     the model wrote no query")?;
    }
    let how = match ranker {
        Ranker::Lexical => "lexical",
        Ranker::Dense => "dense",
        Ranker::Hybrid => "hybrid",
    };
    writeln!(output, "tools ({how}):")?;
    for RunTool { id, rank, query, score, .. } in &run.tools {
        let tool = catalogue.index_of(id).and_then(|index| catalogue.tools().get(index));
        let name = tool.map_or(id.as_str(), |tool| tool.name.as_str());
        let text: String = tool.map_or("", |tool| tool.description.as_str()).chars().take(SHOWN).collect();
        writeln!(
            output,
            "{rank:>3}. {score:<7.4} {} (query {}): {}",
            one_line(name),
            query + 1,
            one_line(&text)
        )?;
    }
    Ok(())
}

/// Returns a text of a catalogue without control characters, with white space collapsed.
fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
