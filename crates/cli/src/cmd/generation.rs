//! Runs `grammata generate`.

use crate::args::model::Parts;
use crate::args::session::Session;
use crate::args::source::{self, Origin};
use crate::cmd::generate::{Arguments, Sampling};
use crate::cmd::generation_events::Events;
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::{errors, messages, text};
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::matcher::Constraint;
use grammata::syntax::json_schema;
use grammata::vocabulary::TokenId;
use grammata_decode::ort::OrtModel;
use grammata_decode::{
    BeamOptions, Decoder, Event, ExactSampling, ExactStatistics, FinishReason, Generation, GenerationOptions,
    Hypothesis, Message, PromptTokenizer, SamplingParams, Timings, beam_search, best_of,
};
use serde::Serialize;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns the grammar of the command, compiled for the model's vocabulary.
///
/// # Errors
/// The tokenizer file or the grammar cannot be read, or the grammar cannot be compiled within its limits.
pub(crate) fn session(arguments: &Arguments, parts: &Parts, tokenizer: &PromptTokenizer) -> Result<Session> {
    let limits = arguments.source.limits.get();
    let vocabulary = parts.vocabulary(&arguments.model_settings, tokenizer, &limits)?;
    let defaults = json_schema::Options::generation();
    Session::with_vocabulary(&arguments.source, vocabulary, &limits, defaults)
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let prompt = prompt(arguments, &parts, &tokenizer, &limits)?;
    let session = session(arguments, &parts, &tokenizer)?;
    let mut model = parts.load(&arguments.model_settings)?;
    let start = Instant::now();
    let ranked = arguments.search.beam.is_some() || arguments.search.best_of.is_some();
    let outputs =
        match ranked {
            true => ranked_outputs(arguments, &session, &mut model, &prompt).map_err(unusable_limit)?,
            false => vec![streamed(arguments, &session, &mut model, &prompt, output).map_err(|failure| {
                match failure {
                    Failure::Error(error) => unusable_limit(error).into(),
                    failure => failure,
                }
            })?],
        };
    let time = start.elapsed();
    let Some(best) = outputs.first() else { return Ok(Exit::Done) };
    let checker = Checker::new(&session, &limits)?;
    let verified = checker.check(&best.tokens)?;
    if output.is_json() {
        let mut report = Report::new(arguments, &session, best, &verified, time);
        if ranked {
            let others =
                outputs.iter().map(|output| Ok(OutputReport::new(output, &checker.check(&output.tokens)?)));
            report.hypotheses = Some(others.collect::<Result<_>>()?);
        }
        output.report(&report)?;
    } else {
        if ranked {
            output.write_all(best.text.as_bytes())?;
        }
        if std::io::stdout().is_terminal() {
            writeln!(output)?;
        }
    }
    output.flush()?;
    if ranked {
        list(&outputs);
    }
    summary(best, &verified, time);
    Ok(match verified {
        // a stop string, or a limit on tokens, context or time, ended the text before it was a word
        _ if !best.finish.is_complete() => Exit::Cut,
        Verified::Word => Exit::Done,
        Verified::Prefix | Verified::Rejected { .. } => Exit::Rejected,
    })
}

/// Turns the error that no text fits into the token limit into a usage error, because nothing was generated to reject.
pub(crate) fn unusable_limit(error: Error) -> Error {
    match error.code() {
        "matcher/budget" => Error::new(ErrorKind::Usage, error.diagnostic().clone()),
        _ => error,
    }
}

/// An output of the model.
struct Made {
    text: String,
    tokens: Vec<u32>,
    finish: FinishReason,
    /// For each token, the natural logarithm of the model's probability. Empty if it was not computed.
    log_probabilities: Vec<f64>,
    refused_mass: Vec<f64>,
    exact: Option<ExactStatistics>,
    log_probability: Option<f64>,
    /// `None` for outputs that share runs of the model.
    timings: Option<Timings>,
}

impl Made {
    fn of(generation: Generation) -> Made {
        let log_probability =
            (!generation.log_probabilities.is_empty()).then(|| generation.log_probability());
        Made {
            text: generation.text,
            tokens: generation.tokens,
            finish: generation.finish,
            log_probabilities: generation.log_probabilities,
            refused_mass: generation.refused_mass,
            exact: generation.exact,
            log_probability,
            timings: Some(generation.timings),
        }
    }

    fn of_hypothesis(hypothesis: Hypothesis) -> Made {
        Made {
            text: hypothesis.text,
            tokens: hypothesis.tokens,
            finish: hypothesis.finish,
            log_probabilities: Vec::new(),
            refused_mass: Vec::new(),
            exact: None,
            log_probability: Some(hypothesis.log_probability),
            timings: None,
        }
    }
}

/// Generates one output. Its text is written as it is generated, except with JSON output. After an error, JSON output
/// has the text so far.
fn streamed(
    arguments: &Arguments,
    session: &Session,
    model: &mut OrtModel,
    prompt: &[u32],
    output: &mut Output,
) -> Result<Made, Failure> {
    let constraint =
        (!arguments.unconstrained).then(|| Box::new(session.compiled.matcher()) as Box<dyn Constraint>);
    let vocabulary = session.compiled.vocabulary();
    let options = options(arguments, session);
    let mut decoder = Decoder::new(model, &**vocabulary, constraint, prompt, &options)?;
    let mut events =
        arguments.events.as_ref().map(|path| Events::new(&session.compiled, path)).transpose()?;
    let error = loop {
        let happened = decoder.next(model);
        let written = match (&happened, &mut events) {
            (Ok(Event::Token(token)), Some(events)) => events.token(token.id),
            (Ok(Event::Finished(reason)), Some(events)) if reason.is_complete() => events.end(),
            _ => Ok(()),
        };
        match (happened, written) {
            (Err(error), _) | (_, Err(error)) => break error,
            (Ok(Event::Text(piece)), _) if !output.is_json() => {
                output.write_all(piece.as_bytes())?;
                output.flush()?;
            }
            (Ok(Event::Text(_) | Event::Token(_)), _) => {}
            (Ok(Event::Finished(_)), _) => return Ok(Made::of(decoder.close(model))),
        }
    };
    let so_far = decoder.close(model);
    if output.is_json() && !so_far.tokens.is_empty() {
        output.report(&OutputReport {
            text: &so_far.text,
            tokens: &so_far.tokens,
            finish: "error",
            complete: false,
            verified: None,
            log_probability: None,
        })?;
    }
    Err(error.into())
}

/// Generates several outputs and returns them, best first.
fn ranked_outputs(
    arguments: &Arguments,
    session: &Session,
    model: &mut OrtModel,
    prompt: &[u32],
) -> Result<Vec<Made>> {
    let matcher = session.compiled.matcher();
    let constraint: Option<&dyn Constraint> = if arguments.unconstrained { None } else { Some(&matcher) };
    let vocabulary = &**session.compiled.vocabulary();
    let options = options(arguments, session);
    let exponent = arguments.search.length_exponent;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(width) = arguments.search.beam.map(count) {
        let GenerationOptions { max_tokens, complete, end_tokens, stop, .. } = options;
        let options = BeamOptions::default()
            .width(width)
            .length_exponent(exponent)
            .max_tokens(max_tokens)
            .complete(complete)
            .end_tokens(end_tokens)
            .stop(stop);
        let found = beam_search(model, vocabulary, constraint, prompt, &options)?;
        return Ok(found.into_iter().map(Made::of_hypothesis).collect());
    }
    let samples = arguments.search.best_of.map_or(1, count);
    let found = best_of(model, vocabulary, constraint, prompt, &options, samples, exponent)?;
    Ok(found.into_iter().map(|generation| Made { timings: None, ..Made::of(generation) }).collect())
}

pub(crate) fn options(arguments: &Arguments, session: &Session) -> GenerationOptions {
    let is_exact = arguments.sampling.sampling == Sampling::Exact;
    let exact = is_exact.then(|| ExactSampling::default().tries(arguments.sampling.tries));
    GenerationOptions::default()
        .max_tokens(arguments.max_tokens)
        .complete(!arguments.cut)
        .timeout(arguments.timeout)
        .sampling(sampling(arguments))
        .exact(exact)
        .end_tokens(session.compiled.vocabulary().eos().iter().map(|id| id.get()).collect())
        .stop(arguments.stop.clone())
        .log_probabilities(arguments.logprobs)
        .refused_mass(arguments.logprobs)
}

/// Returns the tokens of the prompt, which is written with the model's chat template if `--chat` is given.
fn prompt(
    arguments: &Arguments,
    parts: &Parts,
    tokenizer: &PromptTokenizer,
    limits: &Limits,
) -> Result<Vec<u32>> {
    let text = match (&arguments.prompt.text, &arguments.prompt.file) {
        (_, Some(path)) => {
            let bytes = source::read(path, limits.source_bytes)?;
            String::from_utf8(bytes).map_err(|e| errors::not_utf8(path, e.utf8_error().valid_up_to()))?
        }
        (text, None) => text.clone().unwrap_or_default(),
    };
    if !arguments.chat {
        return tokenizer.encode(&text, true);
    }
    let template = parts.template.as_ref().ok_or_else(|| errors::no_chat_template(&arguments.model))?;
    let system = arguments.system.as_ref().map(Message::system);
    let messages: Vec<Message> = system.into_iter().chain([Message::user(text)]).collect();
    tokenizer.encode(&template.render(&messages, true)?, false)
}

fn sampling(arguments: &Arguments) -> SamplingParams {
    let chosen = &arguments.sampling;
    SamplingParams::default()
        .temperature(chosen.temperature)
        .top_k(chosen.top_k)
        .top_p(chosen.top_p)
        .min_p(chosen.min_p)
        .repetition_penalty(chosen.repetition_penalty)
        .seed(chosen.seed)
}

/// Checks outputs against the grammar again, with new tables.
struct Checker(CompiledGrammar);

impl Checker {
    fn new(session: &Session, limits: &Limits) -> Result<Checker> {
        let vocabulary = Arc::clone(session.compiled.vocabulary());
        let compiler = Compiler::new(vocabulary).limits(limits.clone());
        Ok(Checker(compiler.compile(session.compiled.grammar())?))
    }

    fn check(&self, tokens: &[u32]) -> Result<Verified> {
        check(&self.0, tokens)
    }
}

/// Checks the bytes of tokens against a grammar, which should have been compiled for this check only. Special tokens
/// have no bytes and are skipped.
pub(crate) fn check(compiled: &CompiledGrammar, tokens: &[u32]) -> Result<Verified> {
    let vocabulary = compiled.vocabulary();
    let bytes: Vec<u8> = tokens
        .iter()
        .flat_map(|&token| vocabulary.bytes(TokenId::new(token)).unwrap_or_default())
        .copied()
        .collect();
    let explanation = compiled.matcher().explain(&bytes)?;
    Ok(match (explanation.is_viable(), explanation.may_end()) {
        (true, true) => Verified::Word,
        (true, false) => Verified::Prefix,
        (false, _) => {
            let (line, column) = text::line_column(&bytes, explanation.position());
            let expected = explanation.expected_text();
            Verified::Rejected { byte: explanation.position(), line, column, expected }
        }
    })
}

/// The result of checking a text against the grammar.
pub(crate) enum Verified {
    Word,
    Prefix,
    Rejected { byte: usize, line: usize, column: usize, expected: String },
}

impl Verified {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Verified::Word => "word",
            Verified::Prefix => "prefix",
            Verified::Rejected { .. } => "rejected",
        }
    }
}

impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verified::Word => f.write_str("checked: the text is a word of the grammar"),
            Verified::Prefix => f.write_str("checked: the text is a prefix of a word of the grammar"),
            Verified::Rejected { byte, line, column, expected } => write!(
                f,
                "checked: the text leaves the grammar at byte {byte}, line {line}, column {column}; \
                 expected {expected}"
            ),
        }
    }
}

/// Returns the share of `time` that masks took, 0 to 1.
fn share(timings: &Timings, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { timings.mask.as_secs_f64() / time.as_secs_f64() }
}

/// Writes the outputs to standard error in their order, each text on a line as a JSON string.
fn list(outputs: &[Made]) {
    for (number, output) in outputs.iter().enumerate() {
        let log_probability = output.log_probability.unwrap_or_default();
        let text = Value::String(output.text.clone());
        messages::plain(&format!("{}. log-probability {log_probability:.3}: {text}", number + 1));
    }
}

fn summary(output: &Made, verified: &Verified, time: Duration) {
    if let Some(timings) = &output.timings {
        let rate =
            timings.tokens_per_second().map(|rate| format!(", {rate:.1} tokens/s")).unwrap_or_default();
        messages::plain(&format!(
            "{} ({} forced) in {time:.2?}{rate}; prompt of {} in {:.1?}",
            text::counted(timings.tokens, "token"),
            timings.forced_tokens,
            text::counted(timings.prefill_tokens, "token"),
            timings.prefill,
        ));
        if timings.masks > 0 {
            messages::plain(&format!(
                "masks: {:.1?} a token, {:.1?} at most, {:.2} % of the time",
                timings.mask_mean(),
                timings.mask_max,
                100.0 * share(timings, time),
            ));
            if timings.overlapped_masks > 0 {
                messages::plain(&format!(
                    "{} of {} computed while the model ran, {} late ({:.1?} waited)",
                    timings.overlapped_masks,
                    text::counted(timings.masks, "mask"),
                    timings.late_masks,
                    timings.mask_wait,
                ));
            }
        }
    } else {
        messages::plain(&format!("{} in {time:.2?}", text::counted(output.tokens.len(), "token")));
    }
    if let Some(ExactStatistics { tries, refused_mass, .. }) = &output.exact {
        let share = 100.0 * refused_mass;
        messages::plain(&format!(
            "drawn exactly, tries: {}; the grammar refuses {share:.2} % of the model's texts or more",
            tries,
        ));
    }
    messages::plain(&output.finish.to_string());
    messages::plain(&verified.to_string());
}

/// An output, in JSON.
#[derive(Serialize)]
struct OutputReport<'a> {
    text: &'a str,
    tokens: &'a [u32],
    /// `complete`, `end-of-sequence`, `token-limit`, `context-limit`, `stop-string`, `timeout`, `exhausted`, `error`
    /// or `other`.
    finish: &'static str,
    complete: bool,
    /// `word`, `prefix` or `rejected`; null if an error ended the output.
    verified: Option<&'static str>,
    log_probability: Option<f64>,
}

impl OutputReport<'_> {
    fn new<'a>(output: &'a Made, verified: &Verified) -> OutputReport<'a> {
        OutputReport {
            text: &output.text,
            tokens: &output.tokens,
            finish: finish_name(&output.finish),
            complete: output.finish.is_complete(),
            verified: Some(verified.name()),
            log_probability: output.log_probability,
        }
    }
}

pub(crate) fn finish_name(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Complete => "complete",
        FinishReason::EndOfSequence => "end-of-sequence",
        FinishReason::TokenLimit { .. } => "token-limit",
        FinishReason::ContextLimit { .. } => "context-limit",
        FinishReason::StopString { .. } => "stop-string",
        FinishReason::Timeout { .. } => "timeout",
        FinishReason::Exhausted { .. } => "exhausted",
        _ => "other",
    }
}

/// Statistics of exact sampling, in JSON.
#[derive(Serialize)]
pub(crate) struct ExactReport {
    tries: usize,
    /// Model probability of the texts that are known to be refused, 0 to 1.
    refused_mass: f64,
}

impl ExactReport {
    pub(crate) fn new(statistics: &ExactStatistics) -> ExactReport {
        ExactReport { tries: statistics.tries, refused_mass: statistics.refused_mass }
    }
}

/// The report of `generate`.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    tokenizer: &'a str,
    #[serde(flatten)]
    best: OutputReport<'a>,
    /// For each token, with `--logprobs`.
    log_probabilities: Option<&'a [f64]>,
    /// For each token, the probability of the tokens that the grammar refused in its place, with `--logprobs`.
    refused_mass: Option<&'a [f64]>,
    /// With `--sampling exact`.
    exact: Option<ExactReport>,
    /// With `--beam` or `--best-of`: all outputs, best first.
    hypotheses: Option<Vec<OutputReport<'a>>>,
    /// Null for outputs that share runs of the model.
    timings: Option<TimingsReport>,
    prepare_seconds: f64,
    compile_seconds: f64,
    total_seconds: f64,
}

/// Timings of an output, in JSON.
#[derive(Serialize)]
struct TimingsReport {
    forced_tokens: usize,
    prompt_tokens: usize,
    tokens_per_second: Option<f64>,
    prefill_seconds: f64,
    mask_mean_seconds: f64,
    mask_max_seconds: f64,
    mask_share: f64,
    masks: usize,
    /// Number of masks that were computed while the model ran. `late_masks` counts those of them that were not ready
    /// when the model was.
    overlapped_masks: usize,
    late_masks: usize,
    /// How long logits waited for late masks, in total.
    mask_wait_seconds: f64,
}

impl<'a> Report<'a> {
    fn new(
        arguments: &Arguments,
        session: &'a Session,
        output: &'a Made,
        verified: &Verified,
        time: Duration,
    ) -> Report<'a> {
        let has_probabilities = arguments.logprobs && !output.log_probabilities.is_empty();
        let timings = output.timings.as_ref().map(|timings| TimingsReport {
            forced_tokens: timings.forced_tokens,
            prompt_tokens: timings.prefill_tokens,
            tokens_per_second: timings.tokens_per_second(),
            prefill_seconds: seconds(timings.prefill),
            mask_mean_seconds: seconds(timings.mask_mean()),
            mask_max_seconds: seconds(timings.mask_max),
            mask_share: share(timings, time),
            masks: timings.masks,
            overlapped_masks: timings.overlapped_masks,
            late_masks: timings.late_masks,
            mask_wait_seconds: seconds(timings.mask_wait),
        });
        Report {
            grammar: &session.origin,
            tokenizer: &session.vocabulary_name,
            best: OutputReport::new(output, verified),
            log_probabilities: has_probabilities.then_some(&output.log_probabilities[..]),
            refused_mass: has_probabilities.then_some(&output.refused_mass[..]),
            exact: output.exact.as_ref().map(ExactReport::new),
            hypotheses: None,
            timings,
            prepare_seconds: seconds(session.prepare_time),
            compile_seconds: seconds(session.compile_time),
            total_seconds: seconds(time),
        }
    }
}
