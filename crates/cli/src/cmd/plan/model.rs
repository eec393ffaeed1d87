//! A language model as a policy, from arguments.

use super::policy::{PolicyArgs, Prompting};
use crate::args::model::PolicyModel;
use crate::io::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::vocabulary::Vocabulary;
use grammata_agents_drive::plan::{ModelPolicy, PromptMode, PromptOptions};
use grammata_decode::SamplingParams;
use std::sync::Arc;

/// A language model and the options of its prompts.
pub(super) struct LoadedModel {
    model: PolicyModel,
    options: PromptOptions,
}

impl LoadedModel {
    /// Loads the model of `--model`. With `token_log_probabilities` its answers include the log-probabilities of their
    /// tokens.
    pub(super) fn load(
        arguments: &PolicyArgs,
        token_log_probabilities: bool,
        limits: &Limits,
    ) -> Result<LoadedModel> {
        let path = arguments.model.as_ref().ok_or_else(errors::needs_model)?;
        let model = PolicyModel::load(path, &arguments.model_settings, limits)?;
        let mode = match arguments.prompt_mode {
            Prompting::Choice(mode) => mode,
            Prompting::Whole | Prompting::Free => PromptMode::Answer,
        };
        let (temperature, top_p, seed) = (arguments.temperature, arguments.top_p, arguments.seed);
        let sampling = SamplingParams::default().temperature(temperature).top_p(top_p).seed(seed);
        let options = PromptOptions::default()
            .mode(mode)
            .orders(usize::from(arguments.orders))
            .sampling(sampling)
            .token_log_probabilities(token_log_probabilities);
        Ok(LoadedModel { model, options })
    }

    pub(super) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.model.vocabulary
    }

    /// Returns a policy that asks the model.
    pub(super) fn policy(&mut self) -> Result<ModelPolicy<'_>> {
        self.model.policy(self.options.clone())
    }
}
