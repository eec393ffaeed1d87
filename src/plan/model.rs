//! A language model as a chooser: asked for a number under a grammar of the numbers that there are, so that one call
//! suffices; or for the likelihood of each; or for a whole plan in one go.

use super::chooser::Chooser;
use super::errors;
use super::question::Question;
use crate::decode::LanguageModel;
use crate::error::Result;
use crate::grammar::{Grammar, GrammarBuilder};
use crate::mask::{CompiledGrammar, Compiler};
use crate::syntax::automaton_spec::{SymbolSet, subset};
use crate::vocabulary::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Asking {
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

/// A language model that chooses.
pub struct ModelChooser<'m> {
    model: &'m mut dyn LanguageModel,
    vocabulary: Arc<Vocabulary>,
    encode: Box<Encode<'m>>,
    asking: Asking,
    /// What the model has been fed.
    fed: Vec<u32>,
    grammars: FxHashMap<(usize, Option<(usize, usize)>), CompiledGrammar>,
    /// What was asked so far.
    pub usage: ModelUse,
}

impl std::fmt::Debug for ModelChooser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelChooser").field("asking", &self.asking).field("usage", &self.usage).finish()
    }
}

impl<'m> ModelChooser<'m> {
    /// A chooser. `encode` writes a question in tokens: with the model's chat template, if it has one.
    pub fn new(
        model: &'m mut dyn LanguageModel,
        vocabulary: Arc<Vocabulary>,
        encode: Box<Encode<'m>>,
        asking: Asking,
    ) -> ModelChooser<'m> {
        let (fed, grammars, usage) = (Vec::new(), FxHashMap::default(), ModelUse::default());
        ModelChooser { model, vocabulary, encode, asking, fed, grammars, usage }
    }

    /// The logits after `tokens`. What the model has been fed of them is not fed again.
    fn run(&mut self, tokens: &[u32]) -> Result<&[f32]> {
        let start = Instant::now();
        let same = self.fed.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        // the last token is fed in any case: its logits are wanted
        let same = same.min(tokens.len().saturating_sub(1));
        if self.fed.len() > same {
            self.model.truncate(same)?;
            self.fed.truncate(same);
        }
        let new = tokens.get(same..).unwrap_or_default();
        self.usage.runs += 1;
        self.usage.tokens += new.len();
        let logits = self.model.step(new)?;
        self.fed.extend_from_slice(new);
        self.usage.time += start.elapsed();
        Ok(logits)
    }

    /// What the model writes after a prompt, the most likely token at each place: under a grammar to the end of a word of
    /// it, else to the end of the model's turn, `most` tokens at most. Also says whether it came to that end.
    ///
    /// # Errors
    /// The prompt cannot be written in tokens; what the model reports; limits.
    pub fn write(
        &mut self,
        prompt: &str,
        grammar: Option<&CompiledGrammar>,
        most: usize,
    ) -> Result<(String, bool)> {
        let mut tokens = (self.encode)(prompt)?;
        let mut matcher = grammar.map(CompiledGrammar::matcher);
        let mut written: Vec<u8> = Vec::new();
        self.usage.calls += 1;
        let end = tokens.len().saturating_add(most).min(self.model.context_length().unwrap_or(usize::MAX));
        loop {
            let mut allowed: Option<Vec<TokenId>> = None;
            if let Some(matcher) = &mut matcher {
                if matcher.is_finished()? {
                    break;
                }
                allowed = Some(matcher.mask()?.iter().collect());
            }
            if tokens.len() >= end {
                return Ok((String::from_utf8_lossy(&written).into_owned(), false));
            }
            let token = match allowed.as_deref() {
                Some(&[only]) => Some(only),
                allowed => best(self.run(&tokens)?, allowed),
            };
            let token = token.ok_or_else(|| errors::no_answer_of_model("no token is allowed"))?;
            if self.vocabulary.is_eos(token) {
                break;
            }
            if let Some(matcher) = &mut matcher {
                matcher.accept_token(token)?;
            }
            written.extend_from_slice(self.vocabulary.bytes(token).unwrap_or_default());
            tokens.push(token.get());
        }
        Ok((String::from_utf8_lossy(&written).into_owned(), true))
    }

    fn answer(&mut self, question: &Question) -> Result<String> {
        let compiled = self.grammar(question)?;
        match self.write(&question.text, Some(&compiled), usize::MAX)? {
            (answer, true) => Ok(answer),
            (_, false) => Err(errors::no_answer_of_model("the context is full")),
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

    /// The logarithms of how likely the model is to give each answer.
    fn likelihoods(&mut self, question: &Question) -> Result<Vec<f64>> {
        let prompt = (self.encode)(&question.text)?;
        self.usage.calls += 1;
        let mut scores = Vec::with_capacity(question.choices.len());
        for number in 1..=question.choices.len() {
            let mut tokens = prompt.clone();
            let mut score = 0.0;
            let text = number.to_string();
            let spelled = self.vocabulary.encode_greedy(text.as_bytes());
            for token in spelled.ok_or_else(|| errors::no_answer_of_model(&text))?.iter().map(|id| id.get()) {
                let logits = self.run(&tokens)?;
                score += log_probability(logits, token);
                tokens.push(token);
            }
            scores.push(score);
        }
        Ok(scores)
    }
}

impl Chooser for ModelChooser<'_> {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        if self.asking == Asking::Likelihood {
            let scores = self.likelihoods(question)?;
            let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            return Ok(best.map_or(0, |(place, _)| place));
        }
        let answer = self.answer(question)?;
        super::chooser::place_of(&question.choices, &answer)
            .ok_or_else(|| errors::no_answer_of_model(&answer))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        let answer = self.answer(question)?;
        super::chooser::places_of(question, &answer).ok_or_else(|| errors::no_answer_of_model(&answer))
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let scores = self.likelihoods(question)?;
        // among the choices that there are
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = scores.iter().map(|score| (score - top).exp()).sum::<f64>().ln() + top;
        Ok(scores.into_iter().map(|score| score - sum).collect())
    }
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

/// The most likely token, among those allowed.
fn best(logits: &[f32], allowed: Option<&[TokenId]>) -> Option<TokenId> {
    let at = |id: &TokenId| logits.get(id.get() as usize).copied().unwrap_or(f32::NEG_INFINITY);
    match allowed {
        Some(allowed) => allowed.iter().copied().max_by(|a, b| at(a).total_cmp(&at(b))),
        None => {
            (0..u32::try_from(logits.len()).ok()?).map(TokenId::new).max_by(|a, b| at(a).total_cmp(&at(b)))
        }
    }
}

fn log_probability(logits: &[f32], token: u32) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - top).exp()).sum();
    logits.get(token as usize).map_or(f64::NEG_INFINITY, |&logit| f64::from(logit - top) - sum.ln())
}
