//! Text generation by a model, token by token.

use super::distribution::Distribution;
use super::{ModelPolicy, numbers};
use crate::plan::errors;
use grammata::error::Result;
use grammata::mask::CompiledGrammar;
use grammata::vocabulary::TokenId;
use grammata_agents::plan::Question;
use grammata_agents::plan::policy::ArgumentRequest;
use serde_json::Value;

/// A text that a model wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Whether the text is complete: a word of the grammar or, without a grammar, ended by the model.
    pub is_complete: bool,
    /// The natural logarithm of the probability of the text's tokens, each among the tokens that the grammar allowed,
    /// regardless of the temperature.
    pub log_probability: f64,
}

/// The maximum number of tokens of the arguments of one step.
const MOST_ARGUMENT_TOKENS: usize = 1_024;

impl ModelPolicy<'_> {
    /// Generates text after a prompt with the policy's sampling parameters. Generation ends with a word of the grammar
    /// that cannot continue, or with an end-of-sequence token; or after `most` tokens, or if the context is full.
    ///
    /// # Errors
    /// The prompt cannot be tokenised or exceeds the context; those of the model and the sampler; limits.
    pub fn write(&mut self, prompt: &str, grammar: Option<&CompiledGrammar>, most: usize) -> Result<Written> {
        let mut tokens = self.encoder.prompt(prompt)?;
        let mut matcher = grammar.map(CompiledGrammar::matcher);
        let mut bytes: Vec<u8> = Vec::new();
        let mut log_probability = 0.0;
        self.session.usage.calls += 1;
        let end = tokens.len().saturating_add(most);
        let is_complete = loop {
            let mut allowed = None;
            if let Some(matcher) = &mut matcher {
                if matcher.is_finished() {
                    break true;
                }
                let mut words = vec![0; self.vocabulary.mask_words()];
                matcher.fill_mask(&mut words)?;
                allowed = Some(words);
            }
            // a full context has no room for another token, but the logits of its last token are known
            if tokens.len() >= end || tokens.len() > self.session.context_length() && !bytes.is_empty() {
                break false;
            }
            let token = match allowed.as_deref().and_then(only) {
                Some(only) => only,
                None => {
                    let logits = self.session.logits(&tokens)?;
                    let token = self.sampler.sample(logits, allowed.as_deref())?;
                    log_probability += log_probability_among(logits, token, allowed.as_deref());
                    token
                }
            };
            if self.vocabulary.is_eos(TokenId::new(token)) {
                break true;
            }
            if let Some(matcher) = &mut matcher {
                matcher.accept_token(TokenId::new(token))?;
            }
            bytes.extend_from_slice(self.vocabulary.bytes(TokenId::new(token)).unwrap_or_default());
            tokens.push(token);
        };
        Ok(Written { text: String::from_utf8_lossy(&bytes).into_owned(), is_complete, log_probability })
    }

    /// Generates the JSON arguments of an action, constrained by the grammar of their schema.
    pub(super) fn write_arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        let Some(grammar) = request.grammar() else { return Ok(Value::Null) };
        let compiled = self.compiler.compile(grammar)?;
        let written = self.write(request.text, Some(&compiled), MOST_ARGUMENT_TOKENS)?;
        match written.is_complete {
            true => request.parse(&written.text),
            false => Err(errors::arguments_too_long(MOST_ARGUMENT_TOKENS)),
        }
    }

    /// Generates the number or numbers of an answer.
    pub(super) fn answer(&mut self, question: &Question) -> Result<Written> {
        let compiled = self.grammar(question)?;
        let written = self.write(&question.text, Some(&compiled), usize::MAX)?;
        match written.is_complete {
            true => Ok(written),
            false => {
                let context = self.session.context_length();
                Err(errors::context_full(context.saturating_add(1), context))
            }
        }
    }

    /// Returns the grammar of the answers to a question, compiled for the model's tokens.
    fn grammar(&mut self, question: &Question) -> Result<CompiledGrammar> {
        let key = (question.choices.len(), question.set);
        if let Some(known) = self.grammars.get(&key) {
            return Ok(known.clone());
        }
        let compiled = self.compiler.compile(&numbers::answers(key.0, key.1)?)?;
        self.grammars.insert(key, compiled.clone());
        Ok(compiled)
    }
}

/// Returns the token that a mask allows; `None` unless the mask allows exactly one.
fn only(words: &[u32]) -> Option<u32> {
    let mut set = words.iter().enumerate().filter(|(_, word)| **word != 0);
    let (place, word) = set.next()?;
    let alone = set.next().is_none() && word.is_power_of_two();
    alone.then(|| place as u32 * 32 + word.trailing_zeros())
}

/// Returns the natural logarithm of the probability of a token among the tokens that a mask allows, or among all tokens
/// without a mask.
fn log_probability_among(logits: &[f32], token: u32, allowed: Option<&[u32]>) -> f64 {
    let all = Distribution::of(logits);
    let token = all.of_token(TokenId::new(token));
    match allowed {
        None => token,
        Some(words) => token - all.of_any(tokens(words)),
    }
}

fn tokens(words: &[u32]) -> impl Iterator<Item = TokenId> + '_ {
    words.iter().zip(0u32..).flat_map(|(&word, place)| {
        (0..32).filter(move |bit| word >> bit & 1 != 0).map(move |bit| TokenId::new(place * 32 + bit))
    })
}
