//! An arm, and what is kept of an output of it.

use super::fault::Fault;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A way to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Arm {
    /// The model alone
    Free,
    /// The model alone, asked again with what was wrong, up to three times in all
    #[value(name = "free+retry")]
    #[serde(rename = "free+retry")]
    FreeRetry,
    /// The published algorithm of ToolDec, rebuilt (react only)
    Published,
    /// The automaton up to the end of the tool's name, then the model alone
    Name,
    /// The automaton of a call grammar in which values are of any type
    Structure,
    /// The automaton of the call grammar
    Full,
    /// The same with the most probable name of all
    #[value(name = "full+exact")]
    #[serde(rename = "full+exact")]
    FullExact,
}

impl Arm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Arm::Free => "free",
            Arm::FreeRetry => "free+retry",
            Arm::Published => "published",
            Arm::Name => "name",
            Arm::Structure => "structure",
            Arm::Full => "full",
            Arm::FullExact => "full+exact",
        }
    }

    /// Whether no grammar and no decoder of tools takes part.
    pub(super) fn is_unconstrained(self) -> bool {
        matches!(self, Arm::Free | Arm::FreeRetry)
    }

    /// Whether it writes turns of a format.
    pub(super) fn writes(self, format: &str) -> bool {
        match self {
            Arm::Free | Arm::Full => true,
            Arm::FreeRetry => format != "toolken",
            Arm::Published => format == "react",
            // values have types, and a name is known before the arguments come
            Arm::Structure | Arm::Name => ["json", "react", "python"].contains(&format),
            Arm::FullExact => ["json", "react", "python", "relation"].contains(&format),
        }
    }
}

/// How the lenient reader finds an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lenient {
    pub(super) fault: Option<Fault>,
    pub(super) right: bool,
}

/// What is kept of an output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) arm: Arm,
    pub(super) text: String,
    pub(super) fault: Option<Fault>,
    /// The call, if nothing is wrong with it.
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    pub(super) right: bool,
    /// How the lenient reader finds it, for arms without a grammar. It is judged from the text whenever records are summed up, so that
    /// journals that were written before it have it too.
    #[serde(skip)]
    pub(super) lenient: Option<Lenient>,
    pub(super) tokens: usize,
    /// Runs of the model, the prompt's among them.
    pub(super) model_calls: usize,
    pub(super) forced_tokens: usize,
    pub(super) mask_ms: f64,
    pub(super) time_ms: f64,
}
