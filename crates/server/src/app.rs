//! The parts of a running server, and how an order becomes requests to the model.

use crate::engine::{Engine, Output, Places};
use crate::errors::{ApiError, detail};
use crate::metrics::Metrics;
use crate::prompt;
use crate::request::{Format, Order};
use grammata::error::Error;
use grammata::mask::CompiledGrammar;
use grammata::matcher::Constraint;
use grammata::serve::GrammarCache;
use grammata::syntax::Source;
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_agents::tools::{OutputReader, ReasoningMode, TagOptions, TagPreset};
use grammata_base::limits::Limits;
use grammata_decode::{ChatTemplate, GenerationOptions, PromptTokenizer, Request, SamplingParams};
use serde_json::Value;
use std::sync::Arc;
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
    pub(crate) metrics: Arc<Metrics>,
}

/// An order that can be given to the model.
pub(crate) struct Prepared {
    pub(crate) prompt: Vec<u32>,
    compiled: Option<CompiledGrammar>,
    options: GenerationOptions,
    pub(crate) reader: Option<OutputReader>,
    /// The names of custom tools.
    pub(crate) custom: Arc<[String]>,
    /// What the order says and the masks do not enforce.
    pub(crate) warnings: Vec<Value>,
    /// Whether an answer, unlike calls, is free text.
    pub(crate) is_free: bool,
    /// Where the limit of an output is in the body.
    pub(crate) limit_place: &'static str,
}

impl App {
    /// Renders the prompt and compiles the grammar of an order. It is slow for some schemas, so each order is prepared on
    /// a thread of its own, and no more than a few at a time.
    pub(crate) async fn prepare(self: &Arc<App>, order: Order) -> Result<Prepared, ApiError> {
        let permit = Arc::clone(&self.compiling).acquire_owned().await.map_err(|_| ApiError::ended())?;
        let app = Arc::clone(self);
        let prepared = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            app.prepare_now(&order)
        });
        prepared.await.unwrap_or_else(|_| Err(ApiError::ended()))
    }

    fn prepare_now(&self, order: &Order) -> Result<Prepared, ApiError> {
        let (source, place, reader, mut warnings) = self.grammar(order)?;
        let cached = source.map(|source| self.grammars.get(&source)).transpose();
        let cached = cached.map_err(|error| ApiError::of(&error, place))?;
        if let Some(cached) = &cached {
            warnings.extend(cached.warnings.iter().map(detail));
        }
        let prompt = prompt::tokens(self, order)?;
        let options = self.options(order, prompt.len())?;
        self.metrics.prompt_tokens.inc_by(prompt.len() as u64);
        let compiled = cached.map(|cached| cached.compiled.clone());
        let is_free = matches!(order.format, Format::Text);
        let custom = order.tools.iter().filter(|tool| tool["type"] == "custom").filter_map(name_of);
        let custom = custom.map(str::to_owned).collect();
        Ok(Prepared {
            prompt,
            compiled,
            options,
            reader,
            custom,
            warnings,
            is_free,
            limit_place: order.max_tokens_name,
        })
    }

    /// Returns the grammar of the outputs of an order, where in the body errors of it are, how they are read, and what is
    /// not enforced.
    #[allow(clippy::type_complexity)] // used once
    fn grammar(
        &self,
        order: &Order,
    ) -> Result<(Option<Source>, &'static str, Option<OutputReader>, Vec<Value>), ApiError> {
        let answer = match &order.format {
            Format::Text => None,
            Format::Schema { schema, place } => Some((schema, *place)),
            Format::Grammar { source, place } => {
                if !order.tools.is_empty() {
                    let message =
                        format!("`{place}` cannot be used together with `tools`; a JSON Schema can");
                    return Err(ApiError::unsupported(place, message));
                }
                return Ok((Some((**source).clone()), place, None, Vec::new()));
            }
        };
        let Some(family) = &self.family else {
            if !order.tools.is_empty() {
                let message = "this server was started without `--family`, so it does not know how the model writes calls";
                return Err(ApiError::unsupported("tools", message));
            }
            let schema = answer
                .map(|(schema, place)| (Source::JsonSchema(schema.to_string(), Format::options()), place));
            let (source, place) = schema.map_or((None, ""), |(source, place)| (Some(source), place));
            return Ok((source, place, None, Vec::new()));
        };
        let reasoning = match order.reasoning_effort.as_deref() {
            Some("none") => ReasoningMode::Disabled,
            _ => family.reasoning,
        };
        let options = TagOptions::default()
            .tool_choice(order.tool_choice.clone())
            .parallel_tool_calls(order.parallel_tool_calls)
            .reasoning(reasoning)
            .answer(answer.map(|(schema, _)| schema.clone()))
            .max_whitespace_cnt(Some(MOST_SPACE))
            .token_markers(family.has_marker_tokens)
            .limits(self.limits.clone());
        let tools = Value::Array(order.tools.clone());
        let made = family.preset.structural_tag(&tools, &options);
        let made =
            made.map_err(|error| ApiError::of(&error, place_of(&error, answer.map(|(_, place)| place))))?;
        let names = order.tools.iter().filter_map(name_of);
        let reader = family.preset.reader(names, reasoning).map_err(|error| ApiError::of(&error, "tools"))?;
        let warnings = made.warnings.iter().chain(&made.tool_warnings).chain(&made.answer_warnings);
        let warnings = warnings.map(detail).collect();
        Ok((Some(Source::structural_tag(made.tag.to_string())), "tools", Some(reader), warnings))
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
            .logit_bias(settings.biases()?)
            .seed(settings.seed.map_or_else(rand::random, i64::cast_unsigned));
        sampling.check().map_err(|error| ApiError::of(&error, sampling_place(&error)))?;
        Ok(GenerationOptions::default()
            .max_tokens(order.max_tokens.or(room).unwrap_or(DEFAULT_TOKENS))
            .complete(settings.complete.unwrap_or(true))
            .timeout(settings.time()?)
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

/// The most white space at a place of arguments and answers, in characters: models tend to repeat it without end.
const MOST_SPACE: u32 = 16;

/// The tokens of an output if neither the request nor the model has a limit.
const DEFAULT_TOKENS: usize = 4096;

/// Returns the member of the body that an error of a structural tag is about.
fn place_of(error: &Error, answer: Option<&'static str>) -> &'static str {
    match error.code() {
        "tools/tag-choice" | "tools/unknown-tool" | "tools/no-tools" => "tool_choice",
        "tools/tag-tools" | "tools/left-out" => "tools",
        _ => answer.unwrap_or("tools"),
    }
}

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

/// Returns the name of a function or a custom tool.
fn name_of(tool: &Value) -> Option<&str> {
    let named = tool.get("function").or_else(|| tool.get("custom")).unwrap_or(tool);
    named.get("name")?.as_str()
}
