//! The record of a retrieval.

use super::{Draft, Dropped, Format, Mode};
use grammata::error::Result;
use grammata_agents::retrieval::Catalogue;
use grammata_agents::retrieval::retriever::{RetrievalOptions, Retriever, ToolQuery, Utterance};
use grammata_agents::retrieval::split::sentences;
use grammata_embeddings::{Embedder, Embeddings};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A retrieval with all its steps, written as one line of a JSON lines file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The request.
    pub utterance: String,
    /// The mode in which the queries were made.
    pub mode: Mode,
    /// The format of the model's output; `None` without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The SHA-256 of the prompt's text, in hexadecimal; `None` without a model. [`retrieve`] leaves the field `None`
    /// for the caller to fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The model's output, unchanged; `None` without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The distinct queries that were searched, in order.
    pub queries: Vec<RunQuery>,
    /// Lines of the output that are not among the model's queries, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
    /// The text that the end of the output cut off ([`Draft::cut`]); `None` if nothing was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Whether the model gave no query, so that only the request was searched.
    pub fallback: bool,
    /// The resulting list, best first.
    pub tools: Vec<RunTool>,
    /// The times of the steps.
    pub times: Times,
}

/// A query of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunQuery {
    /// The text.
    pub text: String,
    /// The source of the query.
    pub source: Source,
    /// The only category in which the query searches; `None` for all categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The sum of the log-probabilities of the query's tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_probability: Option<f64>,
    /// The number of the query's tokens in the model's output ([`Written::tokens`](super::Written::tokens)); 0 without
    /// a model.
    #[serde(default)]
    pub tokens: usize,
    /// The number of the query's tokens that the embedder read, if the embedder truncated the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_tokens: Option<usize>,
    /// The tools found for the query, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Ranked>,
}

/// The source of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A model.
    Model,
    /// A sentence of the request.
    Sentence,
    /// The request.
    Utterance,
}

/// A tool in a query's list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The tool's id.
    pub id: String,
    /// The score of the tool for the query.
    pub score: f64,
}

/// A tool of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTool {
    /// The tool's id.
    pub id: String,
    /// The function name of the tool ([`Catalogue::functions`]).
    #[serde(default)]
    pub function: String,
    /// The rank of the tool in the result, from 1.
    pub rank: usize,
    /// The query that contributed the tool, as an index into [`Run::queries`].
    pub query: usize,
    /// The rank of the tool for that query, from 1.
    pub query_rank: usize,
    /// The best score of the tool over all queries that found the tool.
    pub score: f64,
}

/// Times of a run in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Generating queries with the model.
    pub generation_ms: f64,
    /// Embedding the queries.
    pub embedding_ms: f64,
    /// Searching and merging the lists.
    pub search_ms: f64,
}

impl Run {
    /// Returns the run without the lists of its queries.
    pub fn without_lists(mut self) -> Run {
        self.queries.iter_mut().for_each(|query| query.tools.clear());
        self
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// An embedder, and the time that it took.
struct Timed<'e> {
    embedder: &'e mut dyn Embedder,
    time: Duration,
}

impl Embedder for Timed<'_> {
    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.embedder.max_tokens()
    }

    fn fingerprint(&mut self) -> Result<[u8; 32]> {
        self.embedder.fingerprint()
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Embeddings> {
        let start = Instant::now();
        let found = self.embedder.embed(texts);
        self.time += start.elapsed();
        found
    }
}

/// Retrieves tools for a request. The queries are those of `draft`, given with its format and the time that it took.
/// Without a draft, in the mode [`Split`](Mode::Split), the queries are the request's sentences. `utterance` decides
/// where the request itself is among the queries. If there are no other queries, the request alone is searched.
///
/// # Errors
/// Those of [`Retriever::retrieve`].
pub fn retrieve(
    request: &str,
    mode: Mode,
    draft: Option<(&Draft, Format, Duration)>,
    utterance: Utterance,
    (catalogue, retriever): (&Catalogue, &Retriever),
    embedder: Option<&mut dyn Embedder>,
    options: &RetrievalOptions,
) -> Result<Run> {
    let queries = arranged(request, mode, draft.map(|(draft, ..)| draft), utterance);
    let wanted: Vec<ToolQuery<'_>> = queries
        .iter()
        .map(|query| ToolQuery { text: &query.text, category: query.category.as_deref() })
        .collect();
    let start = Instant::now();
    let mut embedder = embedder.map(|embedder| Timed { embedder, time: Duration::ZERO });
    let lent = embedder.as_mut().map(|embedder| embedder as &mut dyn Embedder);
    let found = retriever.retrieve(&wanted, lent, options)?;
    let embedding = embedder.map_or(Duration::ZERO, |embedder| embedder.time);
    let search = start.elapsed().saturating_sub(embedding);
    let id = |tool: usize| catalogue.tools().get(tool).map(|tool| tool.id.clone()).unwrap_or_default();
    let kept = |number: usize| found.truncated.iter().find(|cut| cut.text == number).map(|cut| cut.kept);
    let with_lists = (0..).zip(&queries).zip(&found.queries).map(|((number, query), (_, hits))| RunQuery {
        embedded_tokens: kept(number),
        tools: hits.iter().map(|hit| Ranked { id: id(hit.tool), score: hit.score }).collect(),
        ..query.clone()
    });
    let best = |tool: usize| {
        let hits = found.queries.iter().flat_map(|(_, hits)| hits).filter(|hit| hit.tool == tool);
        hits.map(|hit| hit.score).fold(f64::NEG_INFINITY, f64::max)
    };
    let tools = (1..).zip(&found.tools).map(|(rank, found)| RunTool {
        id: id(found.tool),
        function: catalogue.functions().get(found.tool).cloned().unwrap_or_default(),
        rank,
        query: found.query,
        query_rank: found.rank,
        score: best(found.tool),
    });
    let draft_of = draft.map(|(draft, ..)| draft);
    Ok(Run {
        utterance: request.to_owned(),
        mode,
        format: draft.map(|(_, format, _)| format),
        prompt: None,
        raw: draft_of.map(|draft| draft.raw.clone()),
        queries: with_lists.collect(),
        dropped: draft_of.map(|draft| draft.dropped.clone()).unwrap_or_default(),
        cut: draft_of.and_then(|draft| draft.cut.clone()),
        fallback: draft_of.is_some_and(|draft| draft.queries.is_empty()),
        tools: tools.collect(),
        times: Times {
            generation_ms: draft.map_or(0.0, |(.., time)| milliseconds(time)),
            embedding_ms: milliseconds(embedding),
            search_ms: milliseconds(search),
        },
    })
}

/// Returns the distinct queries in order. Of queries with equal text and category, the first is kept.
fn arranged(request: &str, mode: Mode, draft: Option<&Draft>, utterance: Utterance) -> Vec<RunQuery> {
    let query = |text: String, source| RunQuery {
        text,
        source,
        category: None,
        log_probability: None,
        tokens: 0,
        embedded_tokens: None,
        tools: Vec::new(),
    };
    let own = match (draft, mode) {
        (Some(draft), _) => draft
            .queries
            .iter()
            .map(|written| RunQuery {
                category: written.category.clone(),
                log_probability: written.log_probability,
                tokens: written.tokens,
                ..query(written.text.clone(), Source::Model)
            })
            .collect(),
        (None, Mode::Split) => {
            sentences(request).into_iter().map(|text| query(text, Source::Sentence)).collect()
        }
        (None, _) => Vec::new(),
    };
    let whole = query(request.to_owned(), Source::Utterance);
    let all: Vec<RunQuery> = match utterance {
        Utterance::First => std::iter::once(whole).chain(own).collect(),
        Utterance::Nowhere if !own.is_empty() => own,
        Utterance::Last | Utterance::Nowhere => own.into_iter().chain([whole]).collect(),
    };
    let mut distinct: Vec<RunQuery> = Vec::new();
    for query in all {
        if !distinct.iter().any(|other| other.text == query.text && other.category == query.category) {
            distinct.push(query);
        }
    }
    distinct
}
