//! The generation loop.

use super::constraint::Constraint;
use super::errors;
use super::model::{Feed, Model, Rows};
use super::sampler::{Sampler, SamplingParams};
use super::sequences::SequenceId;
use super::text::TextStream;
use super::timings::Timings;
use crate::error::Result;
use std::fmt;
use std::time::Instant;

/// What the loop must know of a vocabulary.
pub trait Detokenizer {
    /// Number of token ids; masks have this many bits.
    fn token_count(&self) -> usize;

    /// The bytes that `token` stands for in the output: none for special tokens and for ids that do not exist.
    fn bytes(&self, token: u32) -> &[u8];
}

/// Settings of one generation.
#[derive(Clone, Debug)]
pub struct GenerationOptions {
    /// The most tokens to generate. 512 by default.
    pub max_tokens: usize,
    /// How tokens are chosen. Greedy by default.
    pub sampling: SamplingParams,
    /// Ids that end the sequence (end of text, end of turn). None by default.
    pub end_tokens: Vec<u32>,
    /// Texts at which to stop; they are not part of the output. None by default.
    pub stop: Vec<String>,
}

impl Default for GenerationOptions {
    fn default() -> GenerationOptions {
        GenerationOptions {
            max_tokens: 512,
            sampling: SamplingParams::default(),
            end_tokens: Vec::new(),
            stop: Vec::new(),
        }
    }
}

/// What the output is to the grammar when the generation was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStatus {
    /// There is no constraint.
    Unconstrained,
    /// Only a prefix of a word of the grammar.
    Prefix,
    /// A word of the grammar, though a longer one might have followed.
    Word,
}

impl fmt::Display for OutputStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputStatus::Unconstrained => "the output may be incomplete",
            OutputStatus::Prefix => "the output is only a prefix of a word of the grammar, not a word",
            OutputStatus::Word => "the output is a word of the grammar, but more might have followed",
        })
    }
}

/// Why a generation ended. Its text is a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The output is a word of the grammar that nothing may follow.
    Complete,
    /// The model ended the sequence.
    EndOfSequence,
    /// `max_tokens` tokens were generated.
    TokenLimit {
        /// The limit, in tokens.
        limit: usize,
        /// What the output is.
        status: OutputStatus,
    },
    /// The model's context is full.
    ContextLimit {
        /// The context, in tokens, prompt and output together.
        limit: usize,
        /// What the output is.
        status: OutputStatus,
    },
    /// A stop string came up.
    StopString {
        /// Which.
        stop: String,
        /// What the tokens generated so far are, the stop string's among them.
        status: OutputStatus,
    },
}

impl FinishReason {
    /// The output is whole: the grammar or the model ended it, or it is a word of the grammar all the same.
    pub fn is_complete(&self) -> bool {
        match self {
            FinishReason::Complete | FinishReason::EndOfSequence => true,
            FinishReason::TokenLimit { status, .. } | FinishReason::ContextLimit { status, .. } => {
                *status == OutputStatus::Word
            }
            FinishReason::StopString { status, .. } => *status == OutputStatus::Unconstrained,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FinishReason::Complete => f.write_str("the output is complete: the grammar allows nothing more"),
            FinishReason::EndOfSequence => f.write_str("the model ended the output"),
            FinishReason::TokenLimit { limit, status } => {
                write!(f, "stopped at the limit of {limit} tokens: {status}")
            }
            FinishReason::ContextLimit { limit, status } => {
                write!(f, "stopped because the model's context of {limit} tokens is full: {status}")
            }
            FinishReason::StopString { stop, status } => {
                write!(f, "stopped at the stop string {stop:?}: {status}")
            }
        }
    }
}

/// The outcome of [`generate`].
#[derive(Clone, Debug)]
pub struct Generation {
    /// The text, without a stop string; bytes that are no UTF-8 are U+FFFD.
    pub text: String,
    /// All tokens generated, the one that ended the sequence among them.
    pub tokens: Vec<u32>,
    /// Why it ended.
    pub finish: FinishReason,
    /// How long it took.
    pub timings: Timings,
}

/// Generates from `prompt` with `model`, under `constraint` if there is one, and hands `on_text` each piece of text as
/// soon as it is certain.
///
/// The model is given a sequence of its own, which is closed at the end. Tokens that are the only ones allowed cost no step of the model: they are fed together with
/// the next one that is needed. When the constraint has nothing more to allow, the model is not asked either.
///
/// # Errors
/// An empty prompt or one that fills the context, a sampling setting out of range, a mask that allows nothing, and what
/// the model and the constraint report.
pub fn generate(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    constraint: Option<&mut dyn Constraint>,
    prompt: &[u32],
    options: &GenerationOptions,
    on_text: &mut dyn FnMut(&str),
) -> Result<Generation> {
    if prompt.is_empty() {
        return Err(errors::empty_prompt());
    }
    if let Some(context) = model.context_length().filter(|&context| prompt.len() >= context) {
        return Err(errors::prompt_too_long(prompt.len(), context));
    }
    if options.stop.iter().any(String::is_empty) {
        return Err(errors::empty_stop());
    }
    let mut sampler = Sampler::new(options.sampling.clone())?;
    prompt.iter().for_each(|&token| sampler.observe(token));
    let sequence = model.open()?;
    let run = Run {
        sequence,
        pending: prompt.to_vec(),
        mask: constraint.as_ref().map(|_| vec![0; detokenizer.token_count().div_ceil(32)]),
        stream: TextStream::new(options.stop.iter().cloned()),
        model: &mut *model,
        detokenizer,
        constraint,
        options,
        on_text,
        sampler,
        text: String::new(),
        tokens: Vec::new(),
        timings: Timings::default(),
    };
    let generation = run.finish();
    model.close(sequence);
    generation
}

/// The state of one generation.
struct Run<'a, 'c> {
    model: &'a mut dyn Model,
    sequence: SequenceId,
    detokenizer: &'a dyn Detokenizer,
    constraint: Option<&'a mut (dyn Constraint + 'c)>,
    options: &'a GenerationOptions,
    on_text: &'a mut dyn FnMut(&str),
    sampler: Sampler,
    stream: TextStream,
    /// tokens of the sequence that the model has not been fed
    pending: Vec<u32>,
    /// present with a constraint
    mask: Option<Vec<u32>>,
    text: String,
    tokens: Vec<u32>,
    timings: Timings,
}

impl Run<'_, '_> {
    fn finish(mut self) -> Result<Generation> {
        let mut decoding = None;
        let finish = loop {
            if let Some(finish) = self.limit_reached()? {
                break finish;
            }
            let token = self.choose(&mut decoding)?;
            if let Some(finish) = self.take(token)? {
                break finish;
            }
        };
        let shown = self.text.len();
        if !matches!(finish, FinishReason::StopString { .. }) {
            self.stream.finish(&mut self.text);
            self.show(shown);
        }
        self.timings.decode = decoding.map(|start: Instant| start.elapsed()).unwrap_or_default();
        self.timings.tokens = self.tokens.len();
        Ok(Generation { text: self.text, tokens: self.tokens, finish, timings: self.timings })
    }

    /// Reasons to end before another token is chosen.
    fn limit_reached(&mut self) -> Result<Option<FinishReason>> {
        if let Some(constraint) = self.constraint.as_deref_mut()
            && constraint.is_finished()?
        {
            return Ok(Some(FinishReason::Complete));
        }
        if self.tokens.len() >= self.options.max_tokens {
            let status = self.status()?;
            return Ok(Some(FinishReason::TokenLimit { limit: self.options.max_tokens, status }));
        }
        let length = self.model.length(self.sequence)? + self.pending.len();
        match self.model.context_length() {
            // the token to come must have a place as well
            Some(limit) if length >= limit => {
                Ok(Some(FinishReason::ContextLimit { limit, status: self.status()? }))
            }
            _ => Ok(None),
        }
    }

    fn status(&mut self) -> Result<OutputStatus> {
        Ok(match self.constraint.as_deref_mut() {
            None => OutputStatus::Unconstrained,
            Some(constraint) => match constraint.is_accepting()? {
                true => OutputStatus::Word,
                false => OutputStatus::Prefix,
            },
        })
    }

    /// The next token: the only one allowed, or the sampler's choice.
    fn choose(&mut self, decoding: &mut Option<Instant>) -> Result<u32> {
        let mut mask_time = None;
        if let (Some(constraint), Some(mask)) = (self.constraint.as_deref_mut(), self.mask.as_deref_mut()) {
            let start = Instant::now();
            mask.fill(0);
            constraint.fill_mask(mask)?;
            mask_time = Some(start.elapsed());
        }
        let forced = self.mask.as_deref().map(only_bit).transpose()?.flatten();
        let token = match forced {
            Some(token) if (token as usize) < self.model.vocabulary_size() => {
                self.timings.forced_tokens += 1;
                token
            }
            // a token that the model does not have is no token it can be fed
            Some(_) => return Err(errors::empty_mask()),
            None => self.ask(decoding)?,
        };
        if let Some(constraint) = self.constraint.as_deref_mut() {
            let start = Instant::now();
            constraint.accept_token(token)?;
            self.timings.add_mask(mask_time.unwrap_or_default() + start.elapsed());
        }
        Ok(token)
    }

    /// Feeds the model what it has not seen, and samples.
    fn ask(&mut self, decoding: &mut Option<Instant>) -> Result<u32> {
        let expected = self.model.vocabulary_size();
        let start = Instant::now();
        let feed = Feed { sequence: self.sequence, tokens: &self.pending, rows: Rows::Last };
        let logits = self.model.feed(&[feed])?;
        let time = start.elapsed();
        let mut buffer = Vec::new();
        let logits = logits.row(0, &mut buffer)?;
        if logits.len() != expected {
            return Err(errors::logits_length(logits.len(), expected));
        }
        if decoding.is_none() {
            *decoding = Some(Instant::now());
            self.timings.prefill = time;
            self.timings.prefill_tokens = self.pending.len();
        } else {
            self.timings.model += time;
            self.timings.model_steps += 1;
        }
        self.pending.clear();
        let start = Instant::now();
        let token = self.sampler.sample(logits, self.mask.as_deref())?;
        self.timings.sampling += start.elapsed();
        Ok(token)
    }

    /// Appends `token`; gives a reason to end that lies in it.
    fn take(&mut self, token: u32) -> Result<Option<FinishReason>> {
        self.tokens.push(token);
        self.pending.push(token);
        self.sampler.observe(token);
        if self.options.end_tokens.contains(&token) {
            return Ok(Some(FinishReason::EndOfSequence));
        }
        let shown = self.text.len();
        let stop = self.stream.push(self.detokenizer.bytes(token), &mut self.text).map(str::to_owned);
        self.show(shown);
        match stop {
            Some(stop) => Ok(Some(FinishReason::StopString { stop, status: self.status()? })),
            None => Ok(None),
        }
    }

    fn show(&mut self, from: usize) {
        let piece = self.text.get(from..).unwrap_or_default();
        if !piece.is_empty() {
            (self.on_text)(piece);
        }
    }
}

/// The only token that `mask` allows; None if it allows several. It is an error if it allows none.
fn only_bit(mask: &[u32]) -> Result<Option<u32>> {
    let mut words = mask.iter().enumerate().filter(|&(_, &word)| word != 0);
    let Some((index, word)) = words.next() else { return Err(errors::empty_mask()) };
    let alone = word.is_power_of_two() && words.next().is_none();
    Ok(alone.then(|| index as u32 * 32 + word.trailing_zeros()))
}
