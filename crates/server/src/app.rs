//! The parts of a running server, and how an order becomes requests to the model.

use crate::answer::Collector;
use crate::engine::{Engine, Output, Places};
use crate::errors::{ApiError, detail};
use crate::metrics::Metrics;
use crate::prompt;
use crate::request::{Format, Order};
use crate::tags::{Forms, Key};
use grammata::error::Error;
use grammata::mask::CompiledGrammar;
use grammata::matcher::Constraint;
use grammata::serve::GrammarCache;
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_agents::tools::{OutputReader, ReasoningMode, TagPreset};
use grammata_base::limits::Limits;
use grammata_decode::{ChatTemplate, GenerationOptions, PromptTokenizer, Request, SamplingParams};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// A model family's way of writing calls and reasoning.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) preset: TagPreset,
    /// Whether the family's markers are tokens of the vocabulary.
    pub(crate) has_marker_tokens: bool,
    pub(crate) reasoning: ReasoningMode,
}

pub(crate) struct App {
    /// The name of the model.
    pub(crate) name: String,
    /// Seconds since 1970 at which the server was started.
    pub(crate) created: u64,
    pub(crate) engine: Engine,
    pub(crate) grammars: GrammarCache,
    /// How many requests are compiled at a time.
    pub(crate) compiling: Arc<Semaphore>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) tokenizer: PromptTokenizer,
    pub(crate) template: Option<ChatTemplate>,
    pub(crate) family: Option<Family>,
    pub(crate) context: Option<usize>,
    pub(crate) limits: Limits,
    pub(crate) forms: Forms,
    pub(crate) metrics: Arc<Metrics>,
}

/// An order that can be given to the model.
pub(crate) struct Prepared {
    pub(crate) prompt: Vec<u32>,
    compiled: Option<CompiledGrammar>,
    options: GenerationOptions,
    /// How long the outputs may take, the time in the queue included.
    deadline: Option<Duration>,
    reader: Option<OutputReader>,
    /// The names of custom tools.
    custom: Arc<[String]>,
    /// What the order says and the masks do not enforce.
    pub(crate) warnings: Vec<Value>,
    /// Whether an answer, unlike calls, is free text.
    pub(crate) is_free: bool,
    /// Where the limit of an output is in the body.
    pub(crate) limit_place: &'static str,
}

impl Prepared {
    /// Returns what reads one of the outputs.
    pub(crate) fn collector(&self) -> Collector {
        Collector::new(self.reader.clone(), Arc::clone(&self.custom))
    }
}

impl App {
    /// Renders the prompt and compiles the grammar of an order, on a thread of its own. Compiling is slow for some
    /// schemas, so only a few orders are compiled at a time; those whose grammar is known do not wait for them.
    pub(crate) async fn prepare(self: &Arc<App>, order: Order) -> Result<Prepared, ApiError> {
        let key = order.key();
        let permit = match self.is_known(&order, key) {
            true => None,
            false => Some(Arc::clone(&self.compiling).acquire_owned().await.map_err(|_| ApiError::ended())?),
        };
        let app = Arc::clone(self);
        let prepared = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            app.prepare_now(&order, key)
        });
        prepared.await.unwrap_or_else(|_| Err(ApiError::fault()))
    }

    /// Whether the grammar of an order is compiled already, or there is nothing to compile that takes time.
    fn is_known(&self, order: &Order, key: Option<Key>) -> bool {
        match (key, &order.format) {
            (Some(key), _) => {
                let form = self.forms.get(key);
                form.is_some_and(|form| {
                    form.source.as_ref().is_none_or(|source| self.grammars.contains(source))
                })
            }
            (None, Format::Grammar { source, .. }) => self.grammars.contains(source),
            (None, _) => true,
        }
    }

    fn prepare_now(&self, order: &Order, key: Option<Key>) -> Result<Prepared, ApiError> {
        let form = self.form(order, key)?;
        let cached = form.source.as_ref().map(|source| self.grammars.get(source)).transpose();
        let cached = cached.map_err(|error| ApiError::of(&error, form.place))?;
        let mut warnings = form.warnings.clone();
        if let Some(cached) = &cached {
            warnings.extend(cached.warnings.iter().map(detail));
        }
        let prompt = prompt::tokens(self, order)?;
        let options = self.options(order, prompt.len())?;
        self.metrics.prompt_tokens.inc_by(prompt.len() as u64);
        let compiled = cached.map(|cached| cached.compiled.clone());
        let is_free = matches!(order.format, Format::Text);
        let custom = order.tools.iter().filter_map(|tool| tool["custom"]["name"].as_str());
        let custom = custom.map(str::to_owned).collect();
        Ok(Prepared {
            prompt,
            compiled,
            options,
            deadline: order.settings.time()?,
            reader: form.reader.clone(),
            custom,
            warnings,
            is_free,
            limit_place: order.max_tokens_name,
        })
    }

    fn options(&self, order: &Order, prompt: usize) -> Result<GenerationOptions, ApiError> {
        let settings = &order.settings;
        let room = self.context.map(|context| context.saturating_sub(prompt));
        if room == Some(0) {
            let context = self.context.unwrap_or_default();
            let message = format!("the prompt has {prompt} tokens, and the model's context {context}");
            return Err(ApiError::new(
                hyper::StatusCode::BAD_REQUEST,
                "context_length_exceeded",
                "messages".to_owned(),
                message,
            ));
        }
        if order.max_tokens == Some(0) {
            let name = order.max_tokens_name;
            return Err(ApiError::invalid(name, format!("`{name}` is 0; it must be at least 1")));
        }
        // chat completions sample at temperature 1 unless they say otherwise
        let sampling = SamplingParams::default()
            .temperature(settings.temperature.unwrap_or(1.0))
            .top_p(settings.top_p.unwrap_or(1.0))
            .top_k(settings.top_k.unwrap_or(0))
            .min_p(settings.min_p.unwrap_or(0.0))
            .repetition_penalty(settings.repetition_penalty.unwrap_or(1.0))
            .frequency_penalty(settings.frequency_penalty.unwrap_or(0.0))
            .presence_penalty(settings.presence_penalty.unwrap_or(0.0))
            .logit_bias(settings.biases(self.vocabulary.width())?)
            .seed(settings.seed.map_or_else(rand::random, i64::cast_unsigned));
        sampling.check().map_err(|error| ApiError::of(&error, sampling_place(&error)))?;
        Ok(GenerationOptions::default()
            .max_tokens(order.max_tokens.or(room).unwrap_or(DEFAULT_TOKENS))
            .complete(settings.complete.unwrap_or(true))
            .sampling(sampling)
            .end_tokens(self.vocabulary.eos().iter().map(|id| id.get()).collect())
            .stop(settings.stops()?)
            .min_tokens(settings.min_tokens.unwrap_or(0))
            .log_probabilities(order.log_probabilities)
            .alternatives(order.alternatives))
    }

    /// Gives the outputs of an order to the model, each with its own seed.
    pub(crate) fn submit(
        &self,
        prepared: &Prepared,
        mut places: Places,
        outputs: u32,
    ) -> Result<Vec<mpsc::UnboundedReceiver<Output>>, ApiError> {
        let submit = |index: u32| {
            let matcher = prepared
                .compiled
                .as_ref()
                .map(|compiled| Box::new(compiled.matcher()) as Box<dyn Constraint>);
            let mut options = prepared.options.clone();
            options.sampling.seed = options.sampling.seed.wrapping_add(u64::from(index));
            let request = Request::new(prepared.prompt.clone(), matcher, options);
            let request = match prepared.deadline {
                Some(deadline) => request.deadline(deadline),
                None => request,
            };
            self.engine.submit(&mut places, request).ok_or_else(ApiError::ended)
        };
        (0..outputs).map(submit).collect()
    }

    /// The text and the bytes of a token.
    pub(crate) fn token(&self, id: u32) -> (String, Vec<u8>) {
        let id = TokenId::new(id);
        let bytes = match self.vocabulary.special(id) {
            Some(name) => name.as_bytes().to_vec(),
            None => self.vocabulary.bytes(id).unwrap_or_default().to_vec(),
        };
        (String::from_utf8_lossy(&bytes).into_owned(), bytes)
    }
}

/// The tokens of an output if neither the request nor the model has a limit.
const DEFAULT_TOKENS: usize = 4096;

/// Returns the member of the body that an error of the settings of sampling is about.
fn sampling_place(error: &Error) -> &'static str {
    let message = error.diagnostic().message();
    let names = [
        "temperature",
        "top_p",
        "min_p",
        "repetition_penalty",
        "frequency_penalty",
        "presence_penalty",
        "logit_bias",
    ];
    names.into_iter().find(|name| message.contains(&format!("`{name}`"))).unwrap_or("temperature")
}
