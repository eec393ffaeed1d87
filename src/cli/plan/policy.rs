//! Policies from arguments.

use crate::cli::model::ModelSettings;
use crate::cli::{errors, source};
use crate::error::Result;
use crate::limits::Limits;
use crate::plan::Policy;
use crate::plan::policy::{AdversarialPolicy, FirstPolicy, InteractivePolicy, RandomPolicy, ScriptedPolicy};
use clap::ValueEnum;
use std::path::PathBuf;

/// Who chooses, and what they are shown.
#[derive(Debug, clap::Args)]
pub(super) struct PolicyArgs {
    /// Who decides at a choice [default: model with --model, script with --answers, else first]
    #[arg(long, value_enum, value_name = "POLICY", help_heading = "Policy")]
    pub(super) policy: Option<Kind>,
    /// Answers for the script, one a line: numbers or labels
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(super) answers: Option<PathBuf>,
    /// How a model is asked
    #[arg(long, value_enum, default_value_t = PromptMode::Answer, value_name = "MODE", help_heading = "Policy")]
    pub(super) prompt_mode: PromptMode,
    /// A model's tokens (or with `--prompt-mode likelihood` its answers): 0 takes the most probable one, more is more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Policy")]
    pub(super) temperature: f32,
    /// Only the most probable of these that together reach P
    #[arg(long, value_name = "P", default_value_t = 1.0, help_heading = "Policy")]
    pub(super) top_p: f32,
    /// Equal seeds give equal random choices, and equal choices of a model
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Policy")]
    pub(super) seed: u64,
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(super) model: Option<PathBuf>,
    #[command(flatten)]
    pub(super) model_settings: ModelSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// The first choice
    First,
    /// Any choice, each as likely
    Random,
    /// A choice that leads to a dead end where there is one, else the furthest from a plan
    Adversarial,
    /// The answers of a file
    Script,
    /// A person: questions go to standard error, answers come from standard input, `quit` ends
    Ask,
    /// A language model
    Model,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PromptMode {
    /// For its answer to each question, under a grammar of the answers
    Answer,
    /// For the likelihood of each answer
    Likelihood,
    /// For the whole plan, under the grammar of the spec's texts
    Whole,
    /// For the whole plan, without a grammar; it may be wrong
    Free,
}

impl PolicyArgs {
    /// Who chooses.
    pub(super) fn kind(&self) -> Kind {
        match (&self.model, &self.answers) {
            _ if self.policy.is_some() => self.policy.unwrap_or(Kind::First),
            (Some(_), _) => Kind::Model,
            (None, Some(_)) => Kind::Script,
            (None, None) => Kind::First,
        }
    }

    /// A policy that is no model.
    pub(super) fn simple(&self) -> Result<Box<dyn Policy>> {
        Ok(match self.kind() {
            Kind::First => Box::new(FirstPolicy),
            Kind::Random => Box::new(RandomPolicy::new(self.seed)),
            Kind::Adversarial => Box::new(AdversarialPolicy),
            Kind::Ask => {
                Box::new(InteractivePolicy::new(std::io::BufReader::new(std::io::stdin()), std::io::stderr()))
            }
            Kind::Script => {
                let path = self.answers.as_ref().ok_or_else(errors::needs_answers)?;
                let text = source::text(path, &Limits::default())?;
                Box::new(ScriptedPolicy::new(text.lines().map(str::to_owned).collect::<Vec<_>>()))
            }
            Kind::Model => return Err(errors::needs_model()),
        })
    }
}
