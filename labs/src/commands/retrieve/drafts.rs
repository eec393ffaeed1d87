//! `grammata-lab retrieve drafts`: draws drafts of queries, and writes training data.

use crate::retrieval::drafts::Selection;
use crate::retrieval::metrics::{Judged, Relevance};
use crate::retrieval::training::{
    DraftRecord, PromptForm, TrainingOptions, TrainingRequest, write_training_data,
};
use grammata::error::Result;
use grammata_agents::retrieval::Template;
use grammata_agents::retrieval::requests::Request;
use grammata_agents_drive::retrieval::{Draft, Mode, Prompt, QueryWriter, retrieve};
use grammata_cli::args::limits::LimitArgs;
use grammata_cli::cmd::retrieve::pipeline::{Finder, Pipeline, PipelineArgs};
use grammata_cli::cmd::retrieve::{errors, sources};
use grammata_cli::io::output::{Exit, Failure, Output};
use grammata_cli::io::text::{hex, sha256};
use grammata_embeddings::Embedder;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Draws drafts of queries for each request, rewards each by MMRR of what is retrieved with it, and writes sft.jsonl,
/// drafts.jsonl, rejection.jsonl, preferences.jsonl and manifest.json. A run that was interrupted goes on; equal arguments give
/// equal files. Training is left to a trainer: train, and call again with the new weights and the next --iteration.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    #[command(flatten)]
    pipeline: PipelineArgs,
    /// Requests as JSON lines with id, query and relevant (ids of tools)
    #[arg(long, value_name = "FILE", help_heading = "Drafts")]
    requests: PathBuf,
    /// The folder that the files are written to
    #[arg(long, value_name = "FOLDER", help_heading = "Drafts")]
    output: PathBuf,
    /// Number of the round of drawing and training, from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Drafts")]
    iteration: usize,
    /// Drafts of a request
    #[arg(long, value_name = "N", default_value_t = 24, help_heading = "Drafts")]
    drafts: usize,
    /// Write prompts and completions as lists of messages, for a trainer that applies the chat template
    #[arg(long, help_heading = "Drafts")]
    chat: bool,
    /// Cut the descriptions of sft.jsonl to N words
    #[arg(long, value_name = "N", help_heading = "Drafts")]
    clip_words: Option<usize>,
    /// The best drafts of each request that are pooled
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Selection")]
    n_draft: usize,
    /// The least reward of a draft that is kept
    #[arg(long, value_name = "X", default_value_t = 0.05, help_heading = "Selection")]
    r_min: f64,
    /// The fewest needed tools that a kept draft retrieves
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Selection")]
    min_hits: usize,
    /// Of the pool, the percentage with the highest rewards
    #[arg(long, value_name = "X", default_value_t = 100.0, help_heading = "Selection")]
    p_top: f64,
    /// The least difference of rewards of a preference
    #[arg(long, value_name = "X", default_value_t = 0.1, help_heading = "Selection")]
    margin: f64,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let requests = sources::requests(&arguments.requests, &arguments.pipeline.tools.pairs, &limits)?;
    let (mut pipeline, _) = arguments.pipeline.load(1.0, &limits)?;
    if !pipeline.mode.needs_model() {
        return Err(errors::needs_model(pipeline.mode.name()).into());
    }
    let k = arguments.pipeline.k;
    let usable = |request: &Request| {
        let known = |id: &String| pipeline.catalogue.index_of(id).is_some();
        request.relevant.iter().flatten().all(known) && (1..=k).contains(&request.relevant.len())
    };
    let requests: Vec<Request> = requests.into_iter().filter(usable).collect();
    if requests.is_empty() {
        return Err(crate::commands::errors::no_requests().into());
    }
    let options = arguments.options();
    let settings = settings(arguments, &mut pipeline)?;
    let summary = pipeline.with(|finder, writer| {
        let Some(mut writer) = writer else { return Err(errors::needs_model(Mode::ZeroShot.name())) };
        let prompts: Result<Vec<TrainingRequest>> =
            requests.iter().map(|request| arguments.prompt(request, finder, writer.prompt())).collect();
        let by_id: HashMap<&str, &Request> = requests.iter().map(|r| (r.id.as_str(), r)).collect();
        write_training_data(&arguments.output, &prompts?, &options, &settings, &limits, |wanted, seeds| {
            let Some(request) = by_id.get(wanted.id.as_str()) else { return Ok(Vec::new()) };
            draw(request, seeds, arguments.iteration, finder, &mut writer)
        })
    })?;
    writeln!(
        output,
        "{} requests, {} of them drawn now; {} drafts kept, {} preferences; mean reward {:.4}, of the best drafts {:.4}",
        summary.requests,
        summary.drawn,
        summary.selected.kept.len(),
        summary.preferences,
        summary.mean_reward.0,
        summary.mean_reward.1
    )?;
    Ok(Exit::Done)
}

impl Arguments {
    fn options(&self) -> TrainingOptions {
        TrainingOptions::default()
            .iteration(self.iteration)
            .drafts(self.drafts)
            .selection(Selection {
                drafts: self.n_draft,
                least_reward: self.r_min,
                least_hits: self.min_hits,
                percent: self.p_top,
            })
            .margin(self.margin)
            .seed(self.pipeline.queries.seed)
            .prompts(if self.chat { PromptForm::Chat } else { PromptForm::Text })
    }

    fn prompt(&self, request: &Request, finder: &Finder<'_>, prompt: &Prompt) -> Result<TrainingRequest> {
        let examples = finder.examples(&request.query, &request.relevant);
        let tools = request.relevant.iter().filter_map(|group| {
            let index = finder.catalogue.index_of(group.first()?)?;
            finder.catalogue.tools().get(index)
        });
        let line = |text: String| {
            let words = text.split_whitespace().take(self.clip_words.unwrap_or(usize::MAX));
            words.collect::<Vec<_>>().join(" ")
        };
        let target: Vec<String> = tools.map(|tool| line(Template::Description.document(tool))).collect();
        Ok(TrainingRequest {
            id: request.id.clone(),
            instruction: prompt.instruction().to_owned(),
            rest: prompt.render(&request.query, &examples, "")?,
            relevant: request.relevant.iter().flatten().cloned().collect(),
            target: target.join("\n"),
        })
    }
}

/// Returns the settings that the drafts depend on, except the requests, and the hyper-parameters of the paper's
/// training.
fn settings(arguments: &Arguments, pipeline: &mut Pipeline) -> Result<Value> {
    let queries = &arguments.pipeline.queries;
    let embedder = pipeline.embedder.as_deref_mut().map(|embedder| embedder.fingerprint()).transpose()?;
    let catalogue = sha256(pipeline.catalogue.to_json_lines().as_bytes());
    Ok(json!({
        "catalogue_sha256": catalogue,
        "embedder_sha256": embedder.map(|fingerprint| hex(&fingerprint)),
        "weights_sha256": pipeline.weights_hash()?,
        "prompt_sha256": pipeline.prompt_hash(),
        "grammar_sha256": pipeline.grammar_hash()?,
        "mode": pipeline.mode,
        "format": pipeline.format,
        "sampler": "tokens masked one by one; not the model's distribution over words of the grammar",
        "temperature": queries.temperature.unwrap_or(1.0),
        "top_k": queries.top_k,
        "top_p": queries.top_p,
        "max_tokens": queries.max_tokens,
        "reward": { "metric": "MMRR", "k": arguments.pipeline.k, "ranker": pipeline.options.ranker,
                    "utterance": pipeline.utterance, "join": pipeline.options.join },
        "trainer": { "epochs": 1, "batch": 32, "learning_rate": 2e-5, "schedule": "constant", "weight_decay": 0.01,
                     "clip": 1.0, "loss": "tokens of the completion" },
    }))
}

fn draw(
    request: &Request,
    seeds: &[u64],
    iteration: usize,
    finder: &mut Finder<'_>,
    writer: &mut QueryWriter<'_>,
) -> Result<Vec<DraftRecord>> {
    let examples = finder.examples(&request.query, &request.relevant);
    let drafts = writer.drafts(&request.query, &examples, seeds)?;
    let format = writer.options().format;
    let rewarded = (0..).zip(seeds).zip(&drafts).map(|((number, &seed), draft)| {
        let ranking = with_draft(finder, request, draft, format)?;
        let (judged, ranking) = ranking;
        let round = |x: f64| (x * 1e4).round() / 1e4;
        Ok(DraftRecord {
            id: request.id.clone(),
            iteration,
            draft: number,
            seed,
            completion: draft.raw.clone(),
            queries: draft.queries.iter().map(|query| query.text.clone()).collect(),
            tokens: draft.tokens,
            logprob: draft.log_probability.map(round),
            reward: judged.mmrr(),
            recall: judged.recall_at(finder.options.k),
            hits: judged.gains().iter().filter(|gain| **gain).count(),
            ranking,
        })
    });
    rewarded.collect()
}

/// Retrieves tools with a draft, and judges the result.
fn with_draft(
    finder: &mut Finder<'_>,
    request: &Request,
    draft: &Draft,
    format: grammata_agents_drive::retrieval::Format,
) -> Result<(Judged, Vec<String>)> {
    let embedder = finder.embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder);
    let draft = Some((draft, format, Duration::ZERO));
    let tools = (finder.catalogue, finder.retriever);
    let run =
        retrieve(&request.query, Mode::ZeroShot, draft, finder.utterance, tools, embedder, finder.options)?;
    let ranking: Vec<String> = run.tools.into_iter().map(|tool| tool.id).collect();
    let list: Vec<usize> = ranking.iter().filter_map(|id| finder.catalogue.index_of(id)).collect();
    let judged = Judged::new(&list, &Relevance::of_request(request, finder.catalogue)?, finder.options.k)?;
    Ok((judged, ranking))
}
