//! A language model as a policy, from arguments.

use super::policy::{PolicyArgs, Prompting};
use crate::cli::errors;
use crate::cli::model::Parts;
use crate::decode::ort::OrtModel;
use crate::decode::{ChatTemplate, Message, PromptTokenizer, SamplingParams};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::policy::{ModelPolicy, PromptEncoder, PromptMode, PromptOptions};
use crate::vocabulary::Vocabulary;
use std::sync::Arc;

/// A model with what writes its prompts.
pub(super) struct LoadedModel {
    pub(super) vocabulary: Arc<Vocabulary>,
    model: OrtModel,
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
    options: PromptOptions,
}

impl LoadedModel {
    /// Loads the model that `--model` names.
    pub(super) fn load(arguments: &PolicyArgs, limits: &Limits) -> Result<LoadedModel> {
        let path = arguments.model.as_ref().ok_or_else(errors::needs_model)?;
        let settings = &arguments.model_settings;
        let mut parts = Parts::find(path, settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(settings, &tokenizer, limits)?.vocabulary);
        let mode = match arguments.prompt_mode {
            Prompting::Choice(mode) => mode,
            Prompting::Whole | Prompting::Free => PromptMode::Answer,
        };
        let (temperature, top_p, seed) = (arguments.temperature, arguments.top_p, arguments.seed);
        let sampling = SamplingParams { temperature, top_p, seed, ..SamplingParams::default() };
        let options = PromptOptions { mode, orders: usize::from(arguments.orders), sampling };
        let model = parts.load(settings)?;
        Ok(LoadedModel { vocabulary, model, tokenizer, template: parts.template.take(), options })
    }

    /// The model as a policy.
    pub(super) fn policy(&mut self) -> Result<ModelPolicy<'_>> {
        let encoder = Encoder { tokenizer: &self.tokenizer, template: self.template.as_ref() };
        let vocabulary = Arc::clone(&self.vocabulary);
        ModelPolicy::new(&mut self.model, vocabulary, Box::new(encoder), self.options.clone())
    }
}

/// Writes prompts with the model's chat template, if it has one.
struct Encoder<'m> {
    tokenizer: &'m PromptTokenizer,
    template: Option<&'m ChatTemplate>,
}

impl PromptEncoder for Encoder<'_> {
    fn prompt(&self, question: &str) -> Result<Vec<u32>> {
        match self.template {
            Some(template) => {
                self.tokenizer.encode(&template.render(&[Message::user(question)], true)?, false)
            }
            None => self.tokenizer.encode(question, true),
        }
    }

    fn answer(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode(text, false)
    }
}
