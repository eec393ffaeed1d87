//! Arms, and the records of their outputs.

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

    /// Returns whether neither a grammar nor a decoder for tools is used.
    pub(super) fn is_unconstrained(self) -> bool {
        matches!(self, Arm::Free | Arm::FreeRetry)
    }

    /// Returns whether the arm can write turns of a format.
    pub(super) fn writes(self, format: &str) -> bool {
        match self {
            Arm::Free | Arm::Full => true,
            Arm::FreeRetry => format != "toolken",
            Arm::Published => format == "react",
            // formats whose values have types, and whose name is known before the arguments
            Arm::Structure | Arm::Name => ["json", "react", "python"].contains(&format),
            Arm::FullExact => ["json", "react", "python", "relation"].contains(&format),
        }
    }
}

/// The lenient reader's result for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lenient {
    pub(super) fault: Option<Fault>,
    pub(super) right: bool,
}

/// The record of an output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) arm: Arm,
    pub(super) text: String,
    pub(super) fault: Option<Fault>,
    /// The tool of the call, if there is no fault.
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    pub(super) right: bool,
    /// The lenient reader's result, for the arms `free` and `free+retry` in all formats but `toolken`. It is computed
    /// from the text whenever records are summarised, so that older journals have it as well.
    #[serde(skip)]
    pub(super) lenient: Option<Lenient>,
    /// Whether the calls contain the whole path of the answer; `None` if the answer is no path. It is computed from the
    /// text as `lenient` is.
    #[serde(skip)]
    pub(super) has_path: Option<bool>,
    pub(super) tokens: usize,
    /// Number of runs of the model, including the run of the prompt.
    pub(super) model_calls: usize,
    pub(super) forced_tokens: usize,
    pub(super) mask_ms: f64,
    pub(super) time_ms: f64,
}
