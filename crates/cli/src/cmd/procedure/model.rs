//! A language model as an agent, from arguments.

use crate::args::model::ModelSettings;
use std::path::PathBuf;
#[cfg(feature = "ort")]
use {
    crate::args::model::PolicyModel,
    grammata::error::Result,
    grammata::limits::Limits,
    grammata_agents_drive::plan::PromptOptions,
    grammata_agents_drive::procedures::{ModelAgent, ModelUser, UserScript},
    grammata_decode::SamplingParams,
    std::sync::Arc,
};

/// Which model writes, and how it chooses tokens.
#[derive(Clone, Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub struct ModelArgs {
    /// The agent is this model: an ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub model: Option<PathBuf>,
    /// How a model chooses a token: 0 takes the most probable one, more is more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Model")]
    pub temperature: f32,
    /// Equal seeds give equal choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub seed: u64,
    #[command(flatten)]
    /// How the model is run.
    pub settings: ModelSettings,
}

/// A language model and its sampling settings.
#[cfg(feature = "ort")]
pub struct LoadedModel {
    model: PolicyModel,
    sampling: SamplingParams,
}

#[cfg(feature = "ort")]
impl LoadedModel {
    /// Loads the model that `--model` names; `None` if it is not given.
    pub fn load(arguments: &ModelArgs, limits: &Limits) -> Result<Option<LoadedModel>> {
        let Some(path) = &arguments.model else { return Ok(None) };
        let model = PolicyModel::load(path, &arguments.settings, limits)?;
        let (temperature, seed) = (arguments.temperature, arguments.seed);
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        Ok(Some(LoadedModel { model, sampling }))
    }

    /// Returns a user that the model plays, with the aims of a script.
    pub(super) fn user(&mut self, script: &UserScript, limits: &Limits) -> Result<ModelUser<'_>> {
        let options = PromptOptions::default().sampling(self.sampling.clone());
        let vocabulary = Arc::clone(&self.model.vocabulary);
        ModelUser::new(self.model.policy(options)?, &vocabulary, script, limits)
    }

    /// Returns the model as the agent of one session.
    pub fn agent(&mut self, limits: &Limits) -> Result<ModelAgent<'_>> {
        let options = PromptOptions::default().sampling(self.sampling.clone());
        let vocabulary = Arc::clone(&self.model.vocabulary);
        Ok(ModelAgent::new(self.model.policy(options)?, &vocabulary, limits))
    }
}
