//! A language model as a chooser, from arguments.

use super::chooser::{Asking, ChooserArgs};
use crate::cli::errors;
use crate::cli::model::Parts;
use crate::decode::ort::OrtDecoder;
use crate::decode::{ChatTemplate, Message, PromptTokenizer, Sampling};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::{self, ModelChooser};
use crate::vocabulary::Vocabulary;
use std::sync::Arc;

/// A model with what writes its prompts.
pub(super) struct LoadedModel {
    pub(super) vocabulary: Arc<Vocabulary>,
    model: OrtDecoder,
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
    asking: plan::Asking,
    sampling: Sampling,
}

impl LoadedModel {
    /// Loads the model that `--model` names.
    pub(super) fn load(arguments: &ChooserArgs, limits: &Limits) -> Result<LoadedModel> {
        let path = arguments.model.as_ref().ok_or_else(errors::needs_model)?;
        let settings = &arguments.model_settings;
        let mut parts = Parts::find(path, settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(settings, &tokenizer, limits)?.vocabulary);
        let asking = match arguments.asking {
            Asking::Likelihood => plan::Asking::Likelihood,
            Asking::Answer | Asking::Whole | Asking::Free => plan::Asking::Answer,
        };
        let (temperature, top_p, seed) = (arguments.temperature, arguments.top_p, arguments.seed);
        let sampling = Sampling { temperature, top_p, seed, ..Sampling::default() };
        let model = parts.load(settings)?;
        Ok(LoadedModel { vocabulary, model, tokenizer, template: parts.template.take(), asking, sampling })
    }

    /// The model as a chooser. Prompts are written with its chat template, if it has one.
    pub(super) fn chooser(&mut self) -> Result<ModelChooser<'_>> {
        let (tokenizer, template) = (&self.tokenizer, self.template.as_ref());
        let encode = move |text: &str| match template {
            Some(template) => tokenizer.encode(&template.render(&[Message::user(text)], true)?, false),
            None => tokenizer.encode(text, true),
        };
        let vocabulary = Arc::clone(&self.vocabulary);
        ModelChooser::new(&mut self.model, vocabulary, Box::new(encode), self.asking, self.sampling.clone())
    }
}
