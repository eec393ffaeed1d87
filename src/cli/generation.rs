//! `grammata generate` at work.

use super::generate::Arguments;
use super::messages;
use super::model::Parts;
use super::output::{Exit, Failure, Output};
use super::session::Session;
use super::source;
use super::{errors, text};
use crate::decode::{
    Constraint, FinishReason, Generation, GenerationOptions, Message, PromptTokenizer, SamplingParams,
    generate,
};
use crate::error::Result;
use crate::limits::Limits;
use crate::mask::Compiler;
use crate::vocabulary::TokenId;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let prompt = prompt(arguments, &parts, &tokenizer, &limits)?;
    let vocabulary = parts.vocabulary(&arguments.model_settings, &tokenizer, &limits)?;
    let session = Session::with_vocabulary(&arguments.source, vocabulary, &limits)?;
    let mut model = parts.load(&arguments.model_settings)?;
    let mut matcher = session.compiled.matcher();
    let constraint: Option<&mut dyn Constraint> = if arguments.raw { None } else { Some(&mut matcher) };
    let vocabulary = Arc::clone(session.compiled.vocabulary());
    let options = GenerationOptions {
        max_tokens: arguments.max_tokens,
        sampling: sampling(arguments),
        end_tokens: vocabulary.eos().iter().map(|id| id.get()).collect(),
        stop: Vec::new(),
    };
    let mut failure = None;
    let mut show = |piece: &str| {
        if arguments.json || failure.is_some() {
            return;
        }
        match output.write_all(piece.as_bytes()).and_then(|()| output.flush()) {
            Ok(()) => {}
            // nobody reads: the loop cannot be left from here, and there is nothing to save
            Err(cause) if cause.kind() == std::io::ErrorKind::BrokenPipe => Exit::Closed.exit(),
            Err(cause) => failure = Some(cause),
        }
    };
    let start = Instant::now();
    let generation = generate(&mut model, &*vocabulary, constraint, &prompt, &options, &mut show)?;
    let time = start.elapsed();
    if let Some(cause) = failure {
        return Err(cause.into());
    }
    let verified = Verified::of(&session, &generation, &limits)?;
    if arguments.json {
        output.json(&to_json(&session, &generation, &verified, time))?;
    } else if std::io::stdout().is_terminal() {
        writeln!(output)?;
    }
    output.flush()?;
    if !arguments.quiet {
        summary(&generation, &verified, time);
    }
    Ok(match (&generation.finish, &verified) {
        (finish @ (FinishReason::TokenLimit { .. } | FinishReason::ContextLimit { .. }), _)
            if !finish.is_complete() =>
        {
            Exit::Cut
        }
        (_, Verified::Word) => Exit::Done,
        (_, Verified::Prefix | Verified::Rejected { .. }) => Exit::Rejected,
    })
}

/// The prompt in tokens.
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
    SamplingParams {
        temperature: chosen.temperature,
        top_k: chosen.top_k,
        top_p: chosen.top_p,
        min_p: chosen.min_p,
        repetition_penalty: chosen.repetition_penalty,
        seed: chosen.seed,
        ..SamplingParams::default()
    }
}

/// What the text is to the grammar, found out once more with new tables.
enum Verified {
    Word,
    Prefix,
    Rejected { byte: usize, line: usize, column: usize, expected: String },
}

impl Verified {
    fn of(session: &Session, generation: &Generation, limits: &Limits) -> Result<Verified> {
        let vocabulary = session.compiled.vocabulary();
        let bytes: Vec<u8> = generation
            .tokens
            .iter()
            .flat_map(|&token| vocabulary.bytes(TokenId::new(token)).unwrap_or_default())
            .copied()
            .collect();
        let compiler = Compiler::new(Arc::clone(vocabulary)).limits(limits.clone());
        let explanation = compiler.compile(session.compiled.grammar())?.matcher().explain(&bytes)?;
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

    fn name(&self) -> &'static str {
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

/// The part of the whole time that masks took.
fn share(generation: &Generation, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { generation.timings.mask.as_secs_f64() / time.as_secs_f64() }
}

fn summary(generation: &Generation, verified: &Verified, time: Duration) {
    let timings = &generation.timings;
    let rate = timings.tokens_per_second().map(|rate| format!(", {rate:.1} tokens/s")).unwrap_or_default();
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
            100.0 * share(generation, time),
        ));
    }
    messages::plain(&generation.finish.to_string());
    messages::plain(&verified.to_string());
}

fn to_json(session: &Session, generation: &Generation, verified: &Verified, time: Duration) -> Value {
    let timings = &generation.timings;
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "grammar": session.grammar_name,
        "tokenizer": session.vocabulary_name,
        "text": generation.text,
        "tokens": generation.tokens,
        "finish": generation.finish.to_string(),
        "complete": generation.finish.is_complete(),
        "verified": verified.name(),
        "forced_tokens": timings.forced_tokens,
        "prompt_tokens": timings.prefill_tokens,
        "tokens_per_second": timings.tokens_per_second(),
        "compile_ns": ns(session.compile_time),
        "prefill_ns": ns(timings.prefill),
        "total_ns": ns(time),
        "mask_mean_ns": ns(timings.mask_mean()),
        "mask_max_ns": ns(timings.mask_max),
        "mask_share": share(generation, time),
    })
}
