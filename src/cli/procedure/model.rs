//! A language model as an agent, from arguments.

use crate::cli::model::ModelSettings;
use std::path::PathBuf;
#[cfg(feature = "ort")]
use {
    crate::cli::model::Parts,
    crate::decode::ort::OrtModel,
    crate::decode::{ChatTemplate, Message, PromptTokenizer, SamplingParams},
    crate::error::Result,
    crate::limits::Limits,
    crate::plan::policy::{ModelPolicy, PromptEncoder, PromptOptions},
    crate::procedures::agent::ModelAgent,
    crate::vocabulary::Vocabulary,
    std::sync::Arc,
};

/// Which model writes, and how it chooses tokens.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read where a model can run
pub(super) struct ModelArgs {
    /// The agent is this model: an ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(super) model: Option<PathBuf>,
    /// How a model chooses a token: 0 takes the most probable one, more is more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Model")]
    pub(super) temperature: f32,
    /// Equal seeds give equal choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) settings: ModelSettings,
}

/// A model with what writes its prompts.
#[cfg(feature = "ort")]
pub(super) struct LoadedModel {
    vocabulary: Arc<Vocabulary>,
    model: OrtModel,
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
    sampling: SamplingParams,
}

#[cfg(feature = "ort")]
impl LoadedModel {
    /// Loads the model that `--model` names; `None` without it.
    pub(super) fn load(arguments: &ModelArgs, limits: &Limits) -> Result<Option<LoadedModel>> {
        let Some(path) = &arguments.model else { return Ok(None) };
        let settings = &arguments.settings;
        let mut parts = Parts::find(path, settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(settings, &tokenizer, limits)?.vocabulary);
        let (temperature, seed) = (arguments.temperature, arguments.seed);
        let sampling = SamplingParams { temperature, seed, ..SamplingParams::default() };
        let model = parts.load(settings)?;
        Ok(Some(LoadedModel { vocabulary, model, tokenizer, template: parts.template.take(), sampling }))
    }

    /// The model as an agent of one session.
    pub(super) fn agent(&mut self, limits: &Limits) -> Result<ModelAgent<'_>> {
        let encoder = Encoder { tokenizer: &self.tokenizer, template: self.template.as_ref() };
        let options = PromptOptions { sampling: self.sampling.clone(), ..PromptOptions::default() };
        let vocabulary = Arc::clone(&self.vocabulary);
        let policy = ModelPolicy::new(&mut self.model, vocabulary, Box::new(encoder), options)?;
        Ok(ModelAgent::new(policy, &self.vocabulary, limits))
    }
}

/// Writes prompts with the model's chat template, if it has one.
#[cfg(feature = "ort")]
struct Encoder<'m> {
    tokenizer: &'m PromptTokenizer,
    template: Option<&'m ChatTemplate>,
}

#[cfg(feature = "ort")]
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
