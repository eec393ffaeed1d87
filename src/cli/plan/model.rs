//! A language model as a policy, from arguments.

use super::policy::{PolicyArgs, PromptMode};
use crate::cli::errors;
use crate::cli::model::Parts;
use crate::decode::ort::OrtModel;
use crate::decode::{ChatTemplate, Message, PromptTokenizer, SamplingParams};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::policy::{self, ModelPolicy};
use crate::vocabulary::Vocabulary;
use std::sync::Arc;

/// A model with what writes its prompts.
pub(super) struct LoadedModel {
    pub(super) vocabulary: Arc<Vocabulary>,
    model: OrtModel,
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
    prompt_mode: policy::PromptMode,
    sampling: SamplingParams,
}

impl LoadedModel {
    /// Loads the model that `--model` names.
    pub(super) fn load(arguments: &PolicyArgs, limits: &Limits) -> Result<LoadedModel> {
        let path = arguments.model.as_ref().ok_or_else(errors::needs_model)?;
        let settings = &arguments.model_settings;
        let mut parts = Parts::find(path, settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(settings, &tokenizer, limits)?.vocabulary);
        let prompt_mode = match arguments.prompt_mode {
            PromptMode::Likelihood => policy::PromptMode::Likelihood,
            PromptMode::Answer | PromptMode::Whole | PromptMode::Free => policy::PromptMode::Answer,
        };
        let (temperature, top_p, seed) = (arguments.temperature, arguments.top_p, arguments.seed);
        let sampling = SamplingParams { temperature, top_p, seed, ..SamplingParams::default() };
        let model = parts.load(settings)?;
        Ok(LoadedModel {
            vocabulary,
            model,
            tokenizer,
            template: parts.template.take(),
            prompt_mode,
            sampling,
        })
    }

    /// The model as a policy. Prompts are written with its chat template, if it has one.
    pub(super) fn policy(&mut self) -> Result<ModelPolicy<'_>> {
        let (tokenizer, template) = (&self.tokenizer, self.template.as_ref());
        let encode = move |text: &str| match template {
            Some(template) => tokenizer.encode(&template.render(&[Message::user(text)], true)?, false),
            None => tokenizer.encode(text, true),
        };
        let vocabulary = Arc::clone(&self.vocabulary);
        ModelPolicy::new(
            &mut self.model,
            vocabulary,
            Box::new(encode),
            self.prompt_mode,
            self.sampling.clone(),
        )
    }
}
