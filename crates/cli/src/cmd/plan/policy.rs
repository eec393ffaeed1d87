//! Policies from arguments.

use crate::args::endpoint::EndpointArgs;
use crate::args::model::ModelSettings;
use crate::args::source;
use crate::io::errors;
use crate::io::screen::Screen;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::plan::Policy;
use grammata_agents::plan::policy::{AdversarialPolicy, FirstPolicy, RandomPolicy, ScriptedPolicy};
use grammata_agents_drive::plan::{InteractivePolicy, PROMPT_MODES, PromptMode};
use std::path::PathBuf;

/// Who chooses, and what they are shown.
#[derive(Debug, clap::Args)]
pub(super) struct PolicyArgs {
    /// Who decides at a choice [default: model with --model or --endpoint, script with --answers, otherwise first]
    #[arg(long, value_enum, value_name = "POLICY", help_heading = "Policy")]
    pub(super) policy: Option<Kind>,
    /// Answers for the script, one a line: numbers or labels
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(super) answers: Option<PathBuf>,
    /// The answer that a model is asked for
    #[arg(long, value_parser = prompt_modes(), default_value = "open", value_name = "MODE", help_heading = "Policy")]
    pub(super) prompt_mode: Prompting,
    /// List the options to a model in N orders, and average the logarithms of its probabilities
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Policy")]
    pub(super) orders: u16,
    /// How a model chooses an option (with `--prompt-mode answer` a token): 0 takes the most probable one, more is more
    /// varied
    #[arg(hide_short_help = true, long, value_name = "T", default_value_t = 0.0, help_heading = "Policy")]
    pub(super) temperature: f32,
    /// Only the most probable of these that together reach P
    #[arg(hide_short_help = true, long, value_name = "P", default_value_t = 1.0, help_heading = "Policy")]
    pub(super) top_p: f32,
    /// Equal seeds give equal random choices, and equal choices of a model
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 0, help_heading = "Policy")]
    pub(super) seed: u64,
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(super) model: Option<PathBuf>,
    #[command(flatten)]
    pub(super) model_settings: ModelSettings,
    #[command(flatten)]
    pub(super) chat: EndpointArgs,
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
    /// A model that is asked by chat
    #[value(skip)]
    Chat,
}

/// The answer that a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompting {
    /// The answer to each question.
    Choice(PromptMode),
    /// The whole plan. A local model writes it under the grammar of the spec's texts; an answer by chat is checked
    /// instead.
    Whole,
    /// The whole plan, without a grammar; it may be wrong.
    Free,
}

/// The prompt modes for whole plans.
const WHOLE: [(&str, &str, Prompting); 2] = [
    ("whole", "the whole plan, under the grammar of the spec's texts", Prompting::Whole),
    ("free", "the whole plan, without a grammar; it may be wrong", Prompting::Free),
];

/// Returns a parser of the names of prompt modes.
fn prompt_modes() -> impl TypedValueParser<Value = Prompting> {
    let rows = || {
        let each = PROMPT_MODES.iter().map(|&(name, what, mode)| (name, what, Prompting::Choice(mode)));
        each.chain(WHOLE)
    };
    PossibleValuesParser::new(rows().map(|(name, what, _)| PossibleValue::new(name).help(what))).try_map(
        move |name| rows().find(|(known, ..)| *known == name).map(|(.., mode)| mode).ok_or("no such mode"),
    )
}

impl PolicyArgs {
    /// Returns the policy to use, from `--policy` or the other arguments.
    pub(super) fn kind(&self) -> Kind {
        match (&self.model, &self.answers) {
            _ if self.chat.is_given() && matches!(self.policy, None | Some(Kind::Model)) => Kind::Chat,
            _ if self.policy.is_some() => self.policy.unwrap_or(Kind::First),
            (Some(_), _) => Kind::Model,
            (None, Some(_)) => Kind::Script,
            (None, None) => Kind::First,
        }
    }

    /// Creates a policy that uses no model.
    ///
    /// # Errors
    /// The file of `--answers` is not named or cannot be read, or the policy needs a model.
    pub(super) fn simple(&self) -> Result<Box<dyn Policy>> {
        Ok(match self.kind() {
            Kind::First => Box::new(FirstPolicy),
            Kind::Random => Box::new(RandomPolicy::new(self.seed)),
            Kind::Adversarial => Box::new(AdversarialPolicy),
            Kind::Ask => Box::new(InteractivePolicy::new(
                std::io::BufReader::new(std::io::stdin()),
                Screen::escaping(std::io::stderr()),
            )),
            Kind::Script => {
                let path = self.answers.as_ref().ok_or_else(errors::needs_answers)?;
                let text = source::text(path, &Limits::default())?;
                Box::new(ScriptedPolicy::new(text.lines().map(str::to_owned).collect::<Vec<_>>()))
            }
            Kind::Model | Kind::Chat => return Err(errors::needs_model()),
        })
    }
}
