//! A language model as a policy: asked for a number under a grammar of the numbers that there are, so that one call
//! suffices; or for the likelihood of each; or for a whole plan in one go.

use crate::decode::{Feed as ModelFeed, Logits, Model, Rows, Sampler, SamplingParams, SequenceId};
use crate::error::Result;
use crate::grammar::{Grammar, GrammarBuilder};
use crate::mask::{CompiledGrammar, Compiler};
use crate::plan::errors;
use crate::plan::policy::{Answer, Policy, answer_of};
use crate::plan::question::Question;
use crate::syntax::automaton_spec::{SymbolSet, subset};
use crate::vocabulary::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PromptMode {
    /// For its answer, token by token, under a grammar of the answers.
    #[default]
    Answer,
    /// For the likelihood of each answer.
    Likelihood,
}

/// What a model was asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// How many prompts it answered.
    pub calls: usize,
    /// How often it was run.
    pub runs: usize,
    /// How many tokens it was fed; what two prompts begin with alike is fed once.
    pub tokens: usize,
    /// How long that took.
    pub time: Duration,
}

/// Writes a prompt in tokens.
pub type Encode<'m> = dyn Fn(&str) -> Result<Vec<u32>> + 'm;

/// A model with what it has been fed, so that what two prompts begin with alike is fed once.
struct Feed<'m> {
    model: &'m mut dyn Model,
    sequence: SequenceId,
    fed: Vec<u32>,
    /// a row of logits that a device left in its own memory
    copied: Vec<f32>,
    usage: ModelUse,
}

/// A language model that chooses.
pub struct ModelPolicy<'m> {
    feed: Feed<'m>,
    vocabulary: Arc<Vocabulary>,
    encode: Box<Encode<'m>>,
    mode: PromptMode,
    sampler: Sampler,
    grammars: FxHashMap<(usize, Option<(usize, usize)>), CompiledGrammar>,
}

impl std::fmt::Debug for ModelPolicy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelPolicy")
            .field("mode", &self.mode)
            .field("usage", &self.feed.usage)
            .finish_non_exhaustive()
    }
}

impl Drop for Feed<'_> {
    fn drop(&mut self) {
        self.model.close(self.sequence);
    }
}

impl Feed<'_> {
    /// The logits after `tokens`. What the model has been fed of them is not fed again.
    fn run(&mut self, tokens: &[u32]) -> Result<&[f32]> {
        let start = Instant::now();
        let same = self.fed.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        // the last token is fed in any case: its logits are wanted
        let same = same.min(tokens.len().saturating_sub(1));
        if self.fed.len() > same {
            self.model.truncate(self.sequence, same)?;
            self.fed.truncate(same);
        }
        let new = tokens.get(same..).unwrap_or_default();
        self.usage.runs += 1;
        self.usage.tokens += new.len();
        let feed = ModelFeed { sequence: self.sequence, tokens: new, rows: Rows::Last };
        let logits = self.model.feed(&[feed])?;
        self.fed.extend_from_slice(new);
        self.usage.time += start.elapsed();
        match logits {
            Logits::Host(rows) => Ok(rows.first().copied().unwrap_or_default()),
            Logits::Device(device) => {
                device.copy(0, &mut self.copied)?;
                Ok(&self.copied)
            }
        }
    }
}

impl<'m> ModelPolicy<'m> {
    /// A policy. `encode` writes a question in tokens: with the model's chat template, if it has one. `sampling` says how
    /// it chooses a token of its answer, or with [`PromptMode::Likelihood`] an answer by its likelihood.
    ///
    /// # Errors
    /// A setting of `sampling` out of its range, or a failure of the model.
    pub fn new(
        model: &'m mut dyn Model,
        vocabulary: Arc<Vocabulary>,
        encode: Box<Encode<'m>>,
        mode: PromptMode,
        sampling: SamplingParams,
    ) -> Result<ModelPolicy<'m>> {
        let sequence = model.open()?;
        let feed = Feed { model, sequence, fed: Vec::new(), copied: Vec::new(), usage: ModelUse::default() };
        let sampler = Sampler::new(sampling)?;
        Ok(ModelPolicy { feed, vocabulary, encode, mode, sampler, grammars: FxHashMap::default() })
    }

    /// What was asked so far.
    pub fn usage(&self) -> ModelUse {
        self.feed.usage
    }

    /// What the model writes after a prompt, token by token as its sampling says: under a grammar to the end of a word of
    /// it, else to the end of the model's turn, `most` tokens at most. Also says whether it came to that end.
    ///
    /// # Errors
    /// The prompt cannot be written in tokens; what the model and the sampler report; limits.
    pub fn write(
        &mut self,
        prompt: &str,
        grammar: Option<&CompiledGrammar>,
        most: usize,
    ) -> Result<(String, bool)> {
        let mut tokens = (self.encode)(prompt)?;
        let mut matcher = grammar.map(CompiledGrammar::matcher);
        let mut written: Vec<u8> = Vec::new();
        self.feed.usage.calls += 1;
        let context = self.feed.model.context_length().unwrap_or(usize::MAX);
        let end = tokens.len().saturating_add(most).min(context);
        loop {
            let mut allowed = None;
            if let Some(matcher) = &mut matcher {
                if matcher.is_finished()? {
                    break;
                }
                let mut words = vec![0; self.vocabulary.mask_words()];
                matcher.fill_mask(&mut words)?;
                allowed = Some(words);
            }
            if tokens.len() >= end {
                return Ok((String::from_utf8_lossy(&written).into_owned(), false));
            }
            let token = match allowed.as_deref().and_then(only) {
                Some(only) => only,
                None => self.sampler.sample(self.feed.run(&tokens)?, allowed.as_deref())?,
            };
            if self.vocabulary.is_eos(TokenId::new(token)) {
                break;
            }
            if let Some(matcher) = &mut matcher {
                matcher.accept_token(TokenId::new(token))?;
            }
            written.extend_from_slice(self.vocabulary.bytes(TokenId::new(token)).unwrap_or_default());
            tokens.push(token);
        }
        Ok((String::from_utf8_lossy(&written).into_owned(), true))
    }

    fn answer(&mut self, question: &Question) -> Result<String> {
        let compiled = self.grammar(question)?;
        match self.write(&question.text, Some(&compiled), usize::MAX)? {
            (answer, true) => Ok(answer),
            (_, false) => Err(errors::context_full(self.feed.model.context_length().unwrap_or_default())),
        }
    }

    /// The answers that a question has, as a grammar for the model's tokens.
    fn grammar(&mut self, question: &Question) -> Result<CompiledGrammar> {
        let key = (question.choices.len(), question.set);
        if let Some(known) = self.grammars.get(&key) {
            return Ok(known.clone());
        }
        let compiled = Compiler::new(Arc::clone(&self.vocabulary)).compile(&answers(key.0, key.1)?)?;
        self.grammars.insert(key, compiled.clone());
        Ok(compiled)
    }

    /// The logarithms of how likely the model is to give each answer: its number, and then nothing that makes it the number
    /// of another answer (1 of 10 to 19).
    fn likelihoods(&mut self, question: &Question) -> Result<Vec<f64>> {
        let prompt = (self.encode)(&question.text)?;
        self.feed.usage.calls += 1;
        let mut scores = Vec::with_capacity(question.choices.len());
        let numbers: Vec<String> = (1..=question.choices.len()).map(|number| number.to_string()).collect();
        for text in &numbers {
            let mut tokens = prompt.clone();
            let mut score = 0.0;
            let spelled = self.vocabulary.encode_greedy(text.as_bytes());
            for token in spelled.ok_or_else(|| errors::no_token_for(text))? {
                let logits = self.feed.run(&tokens)?;
                score += log_probability(logits, [token]);
                tokens.push(token.get());
            }
            let longer = self.continuations(text, &numbers);
            if !longer.is_empty() {
                let logits = self.feed.run(&tokens)?;
                let ends = 1.0 - log_probability(logits, longer).exp();
                score += ends.max(f64::MIN_POSITIVE).ln();
            }
            scores.push(score);
        }
        match scores.iter().any(|score| score.is_finite()) {
            true => Ok(scores),
            false => Err(errors::no_probability()),
        }
    }

    /// The tokens that after `text` begin the rest of a longer one of `numbers`.
    fn continuations(&self, text: &str, numbers: &[String]) -> Vec<TokenId> {
        let trie = self.vocabulary.trie();
        let mut tokens: Vec<TokenId> = Vec::new();
        for rest in numbers.iter().filter_map(|number| number.strip_prefix(text)) {
            let mut node = trie.root();
            for byte in rest.bytes() {
                let Some(child) = trie.child(node, byte) else { break };
                node = child;
                tokens.extend(trie.tokens(node));
            }
        }
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

impl Policy for ModelPolicy<'_> {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        if self.mode == PromptMode::Likelihood && question.set.is_none() {
            let scores = self.likelihoods(question)?;
            let weights: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
            let place = self.sampler.sample(&weights, None)? as usize;
            let log_probability = normalised(&scores).get(place).copied();
            return Ok(Answer { places: vec![place], log_probability });
        }
        let answer = self.answer(question)?;
        answer_of(question, &answer).ok_or_else(|| errors::no_choice_answered(&answer))
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok(normalised(&self.likelihoods(question)?))
    }
}

/// The same logarithms less that of their sum, so that their probabilities sum to 1.
fn normalised(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = scores.iter().map(|score| (score - top).exp()).sum::<f64>().ln() + top;
    scores.iter().map(|score| score - sum).collect()
}

/// The answers to a question with so many choices: a number, or numbers in rising order with commas between them.
///
/// # Errors
/// Limits.
pub fn answers(choices: usize, set: Option<(usize, usize)>) -> Result<Grammar> {
    let mut g = GrammarBuilder::new();
    let numbers: Vec<String> = (1..=choices).map(|number| number.to_string()).collect();
    let answer = match set {
        None => {
            let numbers: Vec<_> = numbers.iter().map(|number| g.text(number)).collect();
            g.choice(numbers)
        }
        Some((min, max)) => {
            let set = SymbolSet { of: numbers, separator: ", ".to_owned(), empty: "0".to_owned(), min, max };
            subset(&set, &mut g)
        }
    };
    let root = g.declare("answer");
    g.define(root, answer);
    g.build(root)
}

/// The one token that a mask allows, if it is one.
fn only(words: &[u32]) -> Option<u32> {
    let mut set = words.iter().enumerate().filter(|(_, word)| **word != 0);
    let (place, word) = set.next()?;
    let alone = set.next().is_none() && word.is_power_of_two();
    alone.then(|| place as u32 * 32 + word.trailing_zeros())
}

/// The logarithm of how likely it is that one of `tokens` is next. Logits that are NaN count as minus infinity.
fn log_probability(logits: &[f32], tokens: impl IntoIterator<Item = TokenId>) -> f64 {
    // max skips NaN
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if top == f32::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    let weight = |logit: f32| match logit {
        _ if logit.is_nan() => 0.0,
        // infinity too
        _ if logit == top => 1.0,
        _ => f64::from(logit - top).exp(),
    };
    let all: f64 = logits.iter().map(|&logit| weight(logit)).sum();
    let of_tokens: f64 = tokens
        .into_iter()
        .filter_map(|token| logits.get(token.get() as usize))
        .map(|&logit| weight(logit))
        .sum();
    (of_tokens / all).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_leave_out_what_is_no_number() {
        let of = |logits: &[f32], tokens: &[u32]| {
            log_probability(logits, tokens.iter().copied().map(TokenId::new)).exp()
        };
        assert!((of(&[0.0, 0.0, f32::NAN], &[0]) - 0.5).abs() < 1e-12);
        assert!((of(&[0.0, 0.0, f32::NEG_INFINITY], &[0, 1]) - 1.0).abs() < 1e-12);
        assert_eq!(of(&[0.0, f32::NAN], &[1, 7]), 0.0);
        assert_eq!(of(&[f32::NAN, f32::NEG_INFINITY], &[0]), 0.0);
    }
}
