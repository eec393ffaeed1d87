//! The pipeline that finds tools for a request, from arguments.

use super::errors;
use super::model::{self, LoadedModel, ModelArgs, Shared};
use super::sources::{self, CatalogueArgs};
use crate::args::source;
use crate::io::messages::Progress;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::Compiler;
use grammata_agents::retrieval::fuse::Join;
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::retriever::Utterance;
use grammata_agents::retrieval::store::Store;
use grammata_agents::retrieval::{Bm25, Catalogue, Ranker, RetrievalOptions, Retriever, Template};
use grammata_agents_drive::retrieval::{
    Draft, Example, Format, Lines, Mode, Prompt, QueryWriter, Run, WriterOptions, Written, few_shot_examples,
    format_grammar, retrieve,
};
use grammata_decode::SamplingParams;
use grammata_embeddings::Embedder;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How tools are found.
#[derive(Debug, clap::Args)]
pub struct PipelineArgs {
    #[command(flatten)]
    /// The tools to search.
    pub tools: CatalogueArgs,
    /// A file with tools and their vectors (`grammata retrieve index`); with a catalogue it is brought up to date
    #[arg(long, value_name = "FILE", help_heading = "Tools")]
    pub index: Option<PathBuf>,
    /// How tools are ranked for one query [default: hybrid with --embedder, otherwise lexical]
    #[arg(long, value_enum, value_name = "RANKER", help_heading = "Search")]
    pub ranker: Option<RankerName>,
    /// The folder of a sentence encoder, for dense and hybrid search
    #[arg(long, value_name = "FOLDER", help_heading = "Search")]
    pub embedder: Option<PathBuf>,
    /// Number of tools
    #[arg(short, value_name = "N", default_value_t = 11, value_parser = positive, help_heading = "Search")]
    pub k: usize,
    /// The position of the request itself among the queries
    #[arg(hide_short_help = true, long, value_enum, default_value_t = Place::Last, value_name = "PLACE", help_heading = "Search")]
    pub utterance: Place,
    /// How the lists of the queries are merged
    #[arg(hide_short_help = true, long, value_enum, default_value_t = JoinName::InTurn, value_name = "RULE", help_heading = "Search")]
    pub join: JoinName,
    #[command(flatten)]
    /// How queries are written.
    pub queries: QueryArgs,
}

/// How queries are written.
#[derive(Debug, clap::Args)]
pub struct QueryArgs {
    /// The source of the queries [default: zero-shot with --model or --endpoint, otherwise split]
    #[arg(long, value_parser = modes(), value_name = "MODE", help_heading = "Queries")]
    pub query_mode: Option<Mode>,
    /// The form that a model's output has
    #[arg(long, value_parser = formats(), default_value = "lines", value_name = "FORMAT", help_heading = "Queries")]
    pub query_format: Format,
    /// A prompt of one's own: an instruction, a line `---`, and a Jinja template over request, examples and context
    #[arg(hide_short_help = true, long, value_name = "FILE", help_heading = "Queries")]
    pub prompt_template: Option<PathBuf>,
    /// Requests with the tools that they need, from which the few-shot prompt takes the nearest
    #[arg(long, value_name = "FILE", help_heading = "Queries")]
    pub few_shot_from: Option<PathBuf>,
    /// Keep only these lines of the examples, as with `--where`
    #[arg(hide_short_help = true, long, value_name = "MEMBER=VALUE,…", value_parser = source::name_and_value, help_heading = "Queries")]
    pub few_shot_where: Vec<(String, String)>,
    /// The most tokens that a model writes for a request
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 160, help_heading = "Queries")]
    pub max_tokens: usize,
    /// 0 takes the most probable token; higher values are more varied [default: 0, for drafts 1]
    #[arg(hide_short_help = true, long, value_name = "T", help_heading = "Queries")]
    pub temperature: Option<f32>,
    /// Only the K most probable tokens
    #[arg(hide_short_help = true, long, value_name = "K", default_value_t = 10, help_heading = "Queries")]
    pub top_k: usize,
    /// Only the most probable tokens that together reach P
    #[arg(hide_short_help = true, long, value_name = "P", default_value_t = 0.9, help_heading = "Queries")]
    pub top_p: f32,
    /// Equal seeds give equal queries
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 0, help_heading = "Queries")]
    pub seed: u64,
    #[command(flatten)]
    /// The language model.
    pub model: ModelArgs,
}

/// What ranks the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RankerName {
    /// By words (BM25)
    Lexical,
    /// By the cosine of vectors
    Dense,
    /// By reciprocal rank fusion of both
    Hybrid,
}

/// Where the request itself stands among the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Place {
    /// Before the others
    First,
    /// After the others
    Last,
    /// It is not a query
    None,
}

/// How the rankings of several queries are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JoinName {
    /// Each list in turn, with its next tool that is not in the result yet
    InTurn,
    /// Each list in turn, but a list whose next tool is in the result already adds none
    LoseTurn,
    /// By reciprocal rank fusion
    ReciprocalRanks,
    /// By the best score that a query gives a tool
    BestScore,
}

fn positive(argument: &str) -> std::result::Result<usize, String> {
    argument
        .parse()
        .ok()
        .filter(|&n: &usize| n > 0)
        .ok_or_else(|| "it must be a number, 1 or more".to_owned())
}

fn modes() -> impl TypedValueParser<Value = Mode> {
    let values = Mode::ALL.map(|(name, what, _)| PossibleValue::new(kebab(name)).help(kebab(what)));
    PossibleValuesParser::new(values).try_map(|name| {
        Mode::ALL
            .into_iter()
            .find(|(known, ..)| kebab(known) == name)
            .map(|(.., mode)| mode)
            .ok_or("no such mode")
    })
}

/// Replaces underscores of a library name by hyphens.
pub(super) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|(name, what, _)| PossibleValue::new(name).help(what));
    PossibleValuesParser::new(values).try_map(|name| {
        Format::ALL.into_iter().find(|(known, ..)| *known == name).map(|(.., f)| f).ok_or("no such format")
    })
}

/// The loaded parts that find tools for requests, and their settings.
pub struct Pipeline {
    /// The tools to search.
    pub catalogue: Catalogue,
    /// Ranks the tools.
    pub retriever: Retriever,
    /// The sentence encoder, if the ranker compares vectors.
    pub embedder: Option<Box<dyn Embedder>>,
    /// Settings for ranking and for joining rankings.
    pub options: RetrievalOptions,
    /// The source of the queries.
    pub mode: Mode,
    /// The format of written queries.
    pub format: Format,
    /// The place of the request itself among the queries.
    pub utterance: Utterance,
    /// The language model, if one is loaded to write queries.
    pub model: Option<LoadedModel>,
    /// The prompt of the model.
    pub prompt: Prompt,
    /// Settings for writing queries.
    pub writer_options: WriterOptions,
    /// Requests from which the prompt's examples are chosen.
    pub training: Vec<Request>,
    /// The limits on input.
    pub limits: Limits,
}

impl PipelineArgs {
    /// Loads all parts. Returns the pipeline and the requests that come with the tools. `temperature` is the default
    /// for the model.
    ///
    /// # Errors
    /// A file cannot be read, a part that another one needs is not named, or a model cannot be loaded.
    pub fn load(&self, temperature: f32, limits: &Limits) -> Result<(Pipeline, Vec<Request>)> {
        self.load_for(temperature, self.queries.model.model.is_some(), limits)
    }

    /// Like [`load`](PipelineArgs::load). `has_writer` says whether a model writes queries.
    pub(super) fn load_for(
        &self,
        temperature: f32,
        has_writer: bool,
        limits: &Limits,
    ) -> Result<(Pipeline, Vec<Request>)> {
        let queries = &self.queries;
        let default = if has_writer { Mode::ZeroShot } else { Mode::Split };
        let mode = queries.query_mode.unwrap_or(default);
        if mode.needs_model() && !has_writer {
            return Err(errors::needs_model(&kebab(mode.name())));
        }
        if mode == Mode::FewShot && queries.few_shot_from.is_none() {
            return Err(errors::needs_examples());
        }
        let ranker = self.ranker();
        let mut embedder = match (&self.embedder, ranker) {
            (_, Ranker::Lexical) => None,
            (Some(folder), _) => Some(model::embedder(folder, limits)?),
            (None, Ranker::Dense) => return Err(errors::needs_embedder("--ranker dense")),
            (None, Ranker::Hybrid) => return Err(errors::needs_embedder("--ranker hybrid")),
        };
        let (catalogue, template, vectors, requests) = {
            let lent = embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder);
            self.tools(lent, limits)?
        };
        let mut retriever = Retriever::new(&catalogue, template)?;
        if let Some(store) = vectors {
            retriever = retriever.with_vectors(store.vectors())?;
        }
        let training = match &queries.few_shot_from {
            Some(path) if mode == Mode::FewShot => sources::requests(path, &queries.few_shot_where, limits)?,
            _ => Vec::new(),
        };
        let prompt = match &queries.prompt_template {
            Some(path) => Prompt::from_text(&source::text(path, limits)?, limits)
                .map_err(|error| error.in_file(&source::name_of(path)))?,
            None => Prompt::new(mode, limits),
        };
        let pipeline = Pipeline {
            catalogue,
            retriever,
            embedder,
            options: RetrievalOptions::default().k(self.k).ranker(ranker).join(self.join()),
            mode,
            format: queries.query_format,
            utterance: self.utterance(),
            model: if mode.needs_model() { queries.model.load(limits)? } else { None },
            prompt,
            writer_options: queries.writer_options(mode, temperature),
            training,
            limits: limits.clone(),
        };
        Ok((pipeline, requests))
    }

    /// Returns the tools, the template of their documents, the vectors if there is an embedder or an index is reused,
    /// and the requests that come with the tools. Writes the index if it has changed.
    fn tools(
        &self,
        embedder: Option<&mut dyn Embedder>,
        limits: &Limits,
    ) -> Result<(Catalogue, Template, Option<Store>, Vec<Request>)> {
        let old = match &self.index {
            Some(path) if path.exists() || !self.tools.is_named() => Some(Store::read(path, limits)?),
            _ => None,
        };
        if let (Some(store), false) = (&old, self.tools.is_named()) {
            if let Some(embedder) = embedder {
                store.check_embedder(embedder)?;
            }
            return Ok((store.catalogue().clone(), store.template(), old, Vec::new()));
        }
        let set = self.tools.load(limits)?;
        let template = self.tools.template.into();
        let Some(embedder) = embedder else { return Ok((set.catalogue, template, None, set.requests)) };
        let progress = Progress::start("embedding the tools");
        let (store, built) = Store::build(set.catalogue.clone(), template, embedder, old.as_ref())?;
        progress.finish();
        if let (Some(path), true) = (&self.index, built.embedded > 0 || old.as_ref() != Some(&store)) {
            store.write(path)?;
        }
        Ok((set.catalogue, template, Some(store), set.requests))
    }

    fn ranker(&self) -> Ranker {
        match (self.ranker, &self.embedder) {
            (Some(RankerName::Lexical), _) | (None, None) => Ranker::Lexical,
            (Some(RankerName::Dense), _) => Ranker::Dense,
            (Some(RankerName::Hybrid), _) | (None, Some(_)) => Ranker::Hybrid,
        }
    }

    fn utterance(&self) -> Utterance {
        match self.utterance {
            Place::First => Utterance::First,
            Place::Last => Utterance::Last,
            Place::None => Utterance::Nowhere,
        }
    }

    fn join(&self) -> Join {
        match self.join {
            JoinName::InTurn => Join::InTurn,
            JoinName::LoseTurn => Join::LoseTurn,
            JoinName::ReciprocalRanks => Join::ReciprocalRanks,
            JoinName::BestScore => Join::BestScore,
        }
    }
}

impl QueryArgs {
    fn writer_options(&self, mode: Mode, temperature: f32) -> WriterOptions {
        let sampling = SamplingParams::default()
            .temperature(self.temperature.unwrap_or(temperature))
            .top_k(self.top_k)
            .top_p(self.top_p)
            .seed(self.seed);
        WriterOptions::default()
            .mode(mode)
            .format(self.query_format)
            .sampling(sampling)
            .max_tokens(self.max_tokens)
            .log_probabilities(true)
    }
}

impl Pipeline {
    /// Returns the SHA-256 of the prompt's instruction and template, in hexadecimal.
    pub fn prompt_hash(&self) -> String {
        self.prompt.hash()
    }

    /// Returns the SHA-256 of the text of the format's grammar, in hexadecimal; `None` if the format has no grammar.
    ///
    /// # Errors
    /// The grammar cannot be built within the limits.
    pub fn grammar_hash(&self) -> Result<Option<String>> {
        let grammar =
            format_grammar(self.format, self.mode, &Lines::default(), &self.catalogue, &self.limits)?;
        Ok(grammar.map(|grammar| crate::io::text::sha256(grammar.to_string().as_bytes())))
    }

    /// Returns the SHA-256 of the model's ONNX file, in hexadecimal, without further files of weights; `None` without a
    /// model.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn weights_hash(&self) -> Result<Option<String>> {
        self.model.as_ref().map(|model| model::file_hash(&model.path)).transpose()
    }

    /// Calls `work` with a finder, and with a query writer if there is a model.
    ///
    /// # Errors
    /// The grammar of the format cannot be built or compiled, or an error of `work`.
    pub fn with<R>(
        &mut self,
        work: impl FnOnce(&mut Finder<'_>, Option<QueryWriter<'_>>) -> Result<R>,
    ) -> Result<R> {
        let documents: Vec<&str> = self.training.iter().map(|request| request.query.as_str()).collect();
        let mut finder = Finder {
            catalogue: &self.catalogue,
            retriever: &self.retriever,
            embedder: self.embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder),
            options: &self.options,
            mode: self.mode,
            utterance: self.utterance,
            nearest: Bm25::new(&documents),
            training: &self.training,
        };
        let Some(loaded) = &mut self.model else { return work(&mut finder, None) };
        let grammar =
            format_grammar(self.format, self.mode, &Lines::default(), &self.catalogue, &self.limits)?;
        let compiler = Compiler::new(Arc::clone(&loaded.vocabulary)).limits(self.limits.clone());
        let grammar = grammar.map(|grammar| compiler.compile(&grammar)).transpose()?;
        let writer = QueryWriter::new(
            &mut *loaded.model,
            Arc::clone(&loaded.vocabulary),
            Box::new(Shared(Arc::clone(&loaded.encoder))),
            self.prompt.clone(),
            grammar,
            self.writer_options.clone(),
        );
        work(&mut finder, Some(writer))
    }
}

/// Finds tools by queries.
pub struct Finder<'p> {
    /// The tools to search.
    pub catalogue: &'p Catalogue,
    /// Ranks the tools.
    pub retriever: &'p Retriever,
    /// The sentence encoder, if the ranker compares vectors.
    pub embedder: Option<&'p mut dyn Embedder>,
    /// Settings for ranking and for joining rankings.
    pub options: &'p RetrievalOptions,
    /// The source of the queries.
    pub mode: Mode,
    /// The place of the request itself among the queries.
    pub utterance: Utterance,
    /// The index of the requests in `training`.
    pub nearest: Bm25,
    /// Requests from which the prompt's examples are chosen.
    pub training: &'p [Request],
}

impl Finder<'_> {
    /// Returns the examples for a request. `relevant` are the tools that it needs, which are kept out of the examples.
    pub fn examples(&self, request: &str, relevant: &[Vec<String>]) -> Vec<Example> {
        let needed: HashSet<&str> = relevant.iter().flatten().map(String::as_str).collect();
        few_shot_examples(request, &needed, self.training, &self.nearest, self.catalogue)
    }

    /// Finds tools with the descriptions of the needed tools as queries.
    ///
    /// # Errors
    /// Errors of the search, such as a failure of the embedder.
    pub fn perfect(&mut self, request: &Request) -> Result<Run> {
        let needed = request.relevant.iter().flatten().filter_map(|id| self.catalogue.index_of(id));
        let needed = needed.filter_map(|tool| self.catalogue.tools().get(tool));
        let queries =
            needed.map(|tool| Written { text: Template::Description.document(tool), ..Written::default() });
        let draft = Draft { queries: queries.collect(), ..Draft::default() };
        let draft = Some((&draft, Format::Raw, Duration::ZERO));
        let embedder = self.embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder);
        let catalogue = (self.catalogue, self.retriever);
        retrieve(&request.query, self.mode, draft, self.utterance, catalogue, embedder, self.options)
    }

    /// Finds the tools for a request. The needed tools, `relevant`, are kept out of the examples.
    ///
    /// # Errors
    /// Errors of the writer and of the search.
    pub fn find(
        &mut self,
        request: &str,
        relevant: &[Vec<String>],
        writer: Option<&mut QueryWriter<'_>>,
    ) -> Result<Run> {
        let embedder = self.embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder);
        let catalogue = (self.catalogue, self.retriever);
        let Some(writer) = writer else {
            return retrieve(request, self.mode, None, self.utterance, catalogue, embedder, self.options);
        };
        let needed: HashSet<&str> = relevant.iter().flatten().map(String::as_str).collect();
        let examples = few_shot_examples(request, &needed, self.training, &self.nearest, self.catalogue);
        let start = Instant::now();
        let draft = writer.write(request, &examples)?;
        let draft = Some((&draft, writer.options().format, start.elapsed()));
        let run = retrieve(request, self.mode, draft, self.utterance, catalogue, embedder, self.options)?;
        Ok(Run { prompt: Some(writer.prompt().hash()), ..run })
    }

    /// Finds the tools for a request whose queries were written before, in the given time.
    pub(super) fn find_with(&mut self, request: &str, draft: &Draft, time: Duration) -> Result<Run> {
        let embedder = self.embedder.as_deref_mut().map(|embedder| embedder as &mut dyn Embedder);
        let catalogue = (self.catalogue, self.retriever);
        let draft = Some((draft, Format::Raw, time));
        retrieve(request, self.mode, draft, self.utterance, catalogue, embedder, self.options)
    }
}
