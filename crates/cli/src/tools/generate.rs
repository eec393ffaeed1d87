//! The arguments of `grammata tools generate`. `generation` does the work, in builds with ONNX Runtime.

use super::SetArgs;
use super::grammar::ChoiceName;
use super::prompt::LevelName;
use crate::model::ModelSettings;
use std::path::PathBuf;

/// A whole turn: the tools that the request needs are found, the model writes a call of one of them under the grammar of exactly
/// these, and the HTTP request that the call stands for is shown. Nothing is sent.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read by `generation` only
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) set: SetArgs,
    /// What the user says
    #[arg(long, value_name = "TEXT")]
    pub(super) request: String,
    /// The call format: a name, or a file of TOML
    #[arg(long, value_name = "NAME", default_value = "hermes")]
    pub(super) call_format: String,
    /// Whether the turn calls tools
    #[arg(long, value_enum, default_value_t = ChoiceName::Required)]
    pub(super) choice: ChoiceName,
    /// How the tool is chosen
    #[arg(long, value_enum, default_value_t = ChooseName::Tokens)]
    pub(super) choose: ChooseName,
    /// What the prompt says of the tools
    #[arg(long, value_enum, default_value_t = LevelName::Signature)]
    pub(super) detail: LevelName,
    /// Only this many tools, those that retrieval finds for the request by words; 0 takes all
    #[arg(short, value_name = "N", default_value_t = 5)]
    pub(super) k: usize,
    /// Only the tools found, without those whose results they need
    #[arg(long)]
    pub(super) no_prerequisites: bool,
    /// A tool that may be called; may be repeated. Nothing is retrieved then
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Vec<String>,
    /// The fewest calls of a turn that calls tools
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) min_calls: u32,
    /// The most calls of a turn
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) max_calls: u32,
    /// The most tokens of the turn
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(super) max_tokens: usize,
    /// 0 takes the most probable token; higher values are more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "Model")]
    pub(super) temperature: f32,
    /// Equal seeds give equal turns
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub(super) seed: u64,
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(super) model: PathBuf,
    #[command(flatten)]
    pub(super) model_settings: ModelSettings,
}

/// How the tool of a call is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ChooseName {
    /// Token by token, as the rest of the turn
    Tokens,
    /// The name that the model gives the most probability, by best-first search
    Exact,
}
