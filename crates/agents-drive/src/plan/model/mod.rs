//! A language model as a policy. A [`PromptMode`] decides how the model is asked: the model generates a number under a
//! grammar, or the numbers or the options' texts are scored by their probabilities.

mod distribution;
mod numbers;
mod orders;
mod session;
mod texts;
mod trie;
mod written;

pub use numbers::answers;
pub use written::Written;

use crate::plan::errors;
use grammata::error::Result;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::vocabulary::Vocabulary;
use grammata_agents::plan::policy::{
    Answer, ArgumentRequest, Needs, Policy, answer_of, no_probability, normalised,
};
use grammata_agents::plan::{AnswerForm, Question};
use grammata_decode::{Model, Sampler, SamplingParams};
use rustc_hash::FxHashMap;
use serde_json::Value;
use session::Session;
use std::sync::Arc;
use std::time::Duration;

/// How a model chooses an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PromptMode {
    /// The model generates the number of a listed option, constrained by a grammar of the numbers.
    Answer,
    /// Scores the numbers of the listed options by their probabilities as the answer.
    Likelihood,
    /// Scores the texts of the listed options by their probabilities as a prefix of the answer, normalised by length in
    /// bytes.
    Text,
    /// As `Text`, but the question does not list the options, so their order has no effect.
    #[default]
    Open,
}

/// All prompt modes: name, description and value.
pub const PROMPT_MODES: [(&str, &str, PromptMode); 4] = [
    ("answer", "the number that it writes under a grammar of the numbers", PromptMode::Answer),
    ("likelihood", "the probabilities of the options' numbers", PromptMode::Likelihood),
    ("text", "the probabilities of the options' texts, after a list of them", PromptMode::Text),
    ("open", "the probabilities of the options' texts, without a list of them", PromptMode::Open),
];

impl PromptMode {
    fn form(self) -> AnswerForm {
        match self {
            PromptMode::Answer | PromptMode::Likelihood => AnswerForm::Number,
            PromptMode::Text => AnswerForm::Text,
            PromptMode::Open => AnswerForm::Open,
        }
    }
}

grammata_base::options! {
    /// How a model is prompted, and how it chooses.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct PromptOptions {
        /// The prompt mode.
        pub mode: PromptMode,
        /// The number of orders in which the options are listed. The log-probabilities are averaged over them (a
        /// geometric mean). Up to the number of options, orders are evenly spaced rotations; further ones are random.
        /// With several orders, [`PromptMode::Answer`] acts as [`PromptMode::Likelihood`]. [`PromptMode::Open`] has no
        /// order, and a question for a set uses only one. Default: 1.
        pub orders: usize = 1,
        /// How tokens, or options by their scores, are sampled. The seed is also the seed of the random orders.
        pub sampling: SamplingParams,
        /// Whether answers carry the log-probabilities of their tokens, which trainers need. Each token of an answer
        /// costs one run of the model. Default: off.
        pub token_log_probabilities: bool,
    }
}

/// Usage counters of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// The number of prompts that the model answered.
    pub calls: usize,
    /// The number of batches that the model was fed.
    pub runs: usize,
    /// The number of tokens that the model was fed. A common prefix of two prompts is fed once.
    pub tokens: usize,
    /// The time that the model took for all prompts.
    pub time: Duration,
}

/// Tokenises prompts and answers for a model.
pub trait PromptEncoder {
    /// Tokenises a question up to where the model's answer begins, with the model's chat template if it has one.
    ///
    /// # Errors
    /// The template or the tokenizer fails.
    fn prompt(&self, question: &str) -> Result<Vec<u32>>;

    /// Tokenises a prefix of the model's answer.
    ///
    /// # Errors
    /// The tokenizer fails.
    fn answer(&self, text: &str) -> Result<Vec<u32>>;
}

/// A policy that asks a language model.
pub struct ModelPolicy<'m> {
    session: Session<'m>,
    vocabulary: Arc<Vocabulary>,
    compiler: Compiler,
    encoder: Box<dyn PromptEncoder + 'm>,
    mode: PromptMode,
    orders: usize,
    sampler: Sampler,
    token_log_probabilities: bool,
    grammars: FxHashMap<(usize, Option<(usize, usize)>), CompiledGrammar>,
}

impl std::fmt::Debug for ModelPolicy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelPolicy")
            .field("mode", &self.mode)
            .field("orders", &self.orders)
            .field("usage", &self.session.usage)
            .finish_non_exhaustive()
    }
}

impl<'m> ModelPolicy<'m> {
    /// Creates a policy that asks `model`.
    ///
    /// # Errors
    /// A sampling parameter is out of its range, or the model fails.
    pub fn new(
        model: &'m mut dyn Model,
        vocabulary: Arc<Vocabulary>,
        encoder: Box<dyn PromptEncoder + 'm>,
        options: PromptOptions,
    ) -> Result<ModelPolicy<'m>> {
        let PromptOptions { mode, orders, sampling, token_log_probabilities } = options;
        Ok(ModelPolicy {
            session: Session::new(model)?,
            compiler: Compiler::new(Arc::clone(&vocabulary)),
            vocabulary,
            encoder,
            mode,
            orders: orders.max(1),
            sampler: Sampler::new(sampling)?,
            token_log_probabilities,
            grammars: FxHashMap::default(),
        })
    }

    /// Calls `observer` with the usage so far after each batch that the model is fed.
    pub fn observe(&mut self, observer: impl FnMut(&ModelUse) + 'm) {
        self.session.observer = Some(Box::new(observer));
    }

    /// Returns the usage so far.
    pub fn usage(&self) -> ModelUse {
        self.session.usage
    }

    /// Returns the orders in which a question lists its options.
    fn orders(&self, question: &Question) -> Vec<Vec<usize>> {
        let count = if self.mode == PromptMode::Open { 1 } else { self.orders };
        orders::orders(question.choices.len(), count, self.sampler.settings().seed)
    }

    /// Returns the unnormalised scores of the choices in one order.
    fn scores_in_order(&mut self, question: &Question, order: &[usize]) -> Result<Vec<f64>> {
        let text = question.in_order(order)?;
        let prompt = self.encoder.prompt(&text)?;
        self.session.usage.calls += 1;
        match self.mode {
            PromptMode::Answer | PromptMode::Likelihood => {
                let listed = self.session.score(&prompt, &numbers::trie(order.len(), &self.vocabulary)?)?;
                let mut scores = vec![f64::NEG_INFINITY; order.len()];
                for (&place, score) in order.iter().zip(listed) {
                    if let Some(slot) = scores.get_mut(place) {
                        *slot = score;
                    }
                }
                Ok(scores)
            }
            PromptMode::Text | PromptMode::Open => self.text_scores(&prompt, &question.choices),
        }
    }

    /// Generates a number, or chooses by score.
    fn choice(&mut self, question: &Question) -> Result<Answer> {
        if question.set.is_some() || self.mode == PromptMode::Answer && self.orders == 1 {
            let written = self.answer(question)?;
            let answer = answer_of(question, &written.text);
            let answer = answer.ok_or_else(|| errors::no_choice_answered(&written.text))?;
            return Ok(Answer { log_probability: Some(written.log_probability), ..answer });
        }
        let scores = self.scores(question)?;
        let weights: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        let place = self.sampler.sample(&weights, None)? as usize;
        Ok(Answer { log_probability: scores.get(place).copied(), ..Answer::one(place) })
    }
}

impl Policy for ModelPolicy<'_> {
    /// Returns the number that the model generates, or the choice with the best score, or a choice sampled by score.
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        let answer = self.choice(question)?;
        if !self.token_log_probabilities {
            return Ok(answer);
        }
        let completion = question.completion(&answer.places);
        let tokens = self.token_log_probabilities(&question.text, &completion)?;
        Ok(Answer { token_log_probabilities: Some(tokens), ..answer })
    }
    /// Returns the log-probabilities of the choices, averaged over the orders and normalised (the probabilities sum to
    /// 1). [`PromptMode::Answer`] scores as [`PromptMode::Likelihood`].
    ///
    /// # Errors
    /// `plan/model`: the model assigns no choice a probability, or the question exceeds its context, or the vocabulary
    /// cannot spell a number. Otherwise the errors of the template, the tokenizer and the model.
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let orders = self.orders(question);
        let mut mean = vec![0.0; question.choices.len()];
        for order in &orders {
            let scores = self.scores_in_order(question, order)?;
            let scores = normalised(&scores).ok_or_else(no_probability)?;
            mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / orders.len() as f64);
        }
        normalised(&mean).ok_or_else(no_probability)
    }

    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        self.write_arguments(request)
    }

    fn needs(&self) -> Needs {
        Needs { form: self.mode.form(), ..Needs::default() }
    }
}
