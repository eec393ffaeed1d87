//! The arguments of `grammata generate`. The module `generation` runs it, in builds with ONNX Runtime.

use crate::args::model::ModelSettings;
use crate::args::source::SourceArgs;
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// The text goes to standard output as it comes, the summary to standard error. At the end the text is checked
/// against the grammar from scratch.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) model_settings: ModelSettings,
    #[command(flatten)]
    pub(crate) prompt: PromptArgs,
    /// The prompt is a user's message: write it with the model's chat template
    #[arg(long, help_heading = "Prompt")]
    pub(crate) chat: bool,
    /// An instruction before the user's message
    #[arg(long, value_name = "TEXT", requires = "chat", help_heading = "Prompt")]
    pub(crate) system: Option<String>,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// The most tokens to generate. The text is always complete within them
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub(crate) max_tokens: usize,
    /// Cut the text after --max-tokens, complete or not
    #[arg(long)]
    pub(crate) cut: bool,
    /// Stop before this text; may be given several times
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub(crate) stop: Vec<String>,
    /// Stop after this time, and keep the text so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Generate without the grammar, and only check at the end
    #[arg(long)]
    pub(crate) unconstrained: bool,
    /// Write the beginnings and ends of the output's JSON values to a file as JSON lines, as they occur
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with_all = ["beam", "best_of", "prompts", "unconstrained"])]
    pub(crate) events: Option<PathBuf>,
    /// With `--output-format json` or --prompts, add for each token the natural logarithm of the model's probability,
    /// and the probability of the tokens that the grammar refused in its place
    #[arg(hide_short_help = true, long)]
    pub(crate) logprobs: bool,
    /// Outputs of each line of --prompts, with seeds from --seed on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST_OUTPUTS), requires = "prompts", help_heading = "Prompt")]
    pub(crate) n: u64,
    /// Outputs of --prompts in one run of the model
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=MOST_OUTPUTS), requires = "prompts", hide_short_help = true, help_heading = "Prompt")]
    pub(crate) batch: u64,
}

/// Maximum number of outputs for one prompt, and of outputs that are computed together: the largest value of `--n`,
/// `--batch`, `--beam` and `--best-of`.
pub(crate) const MOST_OUTPUTS: u64 = 1024;

fn seconds(argument: &str) -> std::result::Result<Duration, String> {
    let seconds = argument.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "it must be a number of seconds, 0 or more".to_owned())
}

/// How many outputs are made, of which the best is written.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub(crate) struct SearchArgs {
    /// Beam search of this width; the best output is written, all of them with `--output-format json`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_OUTPUTS), conflicts_with_all = ["best_of", "timeout", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed"], help_heading = "Search")]
    pub(crate) beam: Option<u64>,
    /// Draw this many outputs, with seeds from --seed on; the best is written, all of them with `--output-format json`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_OUTPUTS), requires = "temperature", help_heading = "Search")]
    pub(crate) best_of: Option<u64>,
    /// Outputs are ranked by log-probability divided by the number of tokens to the power X: 0 by probability, 1 by the mean of
    /// a token
    #[arg(hide_short_help = true, long, value_name = "X", default_value_t = 0.0, value_parser = exponent, allow_negative_numbers = true, help_heading = "Search")]
    pub(crate) length_exponent: f64,
}

fn exponent(argument: &str) -> std::result::Result<f64, String> {
    let number = argument.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "it must be a number".to_owned())
}

/// Where the prompt is from.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub(crate) struct PromptArgs {
    /// The text that the model continues, or answers with --chat
    #[arg(long = "prompt", value_name = "TEXT", allow_negative_numbers = true, help_heading = "Prompt")]
    pub(crate) text: Option<String>,
    /// A file with the prompt
    #[arg(long = "prompt-file", value_name = "FILE", help_heading = "Prompt")]
    pub(crate) file: Option<PathBuf>,
    /// A file with a prompt a line, as JSON with `prompt` or `messages` and, perhaps, a grammar and options of its
    /// own; `-` for standard input. Each output is a line of JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["beam", "best_of"], help_heading = "Prompt")]
    pub(crate) prompts: Option<PathBuf>,
}

/// How tokens are chosen.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub(crate) struct SamplingArgs {
    /// 0 takes the most probable token; higher values are more varied
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = not_negative, allow_negative_numbers = true, help_heading = "Sampling")]
    pub(crate) temperature: f32,
    /// Only the K most probable tokens; 0 keeps all
    #[arg(hide_short_help = true, long, value_name = "K", default_value_t = 0, help_heading = "Sampling")]
    pub(crate) top_k: usize,
    /// Only the most probable tokens that together reach P
    #[arg(hide_short_help = true, long, value_name = "P", default_value_t = 1.0, value_parser = not_negative, allow_negative_numbers = true, help_heading = "Sampling")]
    pub(crate) top_p: f32,
    /// Only tokens at least P times as probable as the most probable
    #[arg(hide_short_help = true, long, value_name = "P", default_value_t = 0.0, value_parser = not_negative, allow_negative_numbers = true, help_heading = "Sampling")]
    pub(crate) min_p: f32,
    /// More than 1 makes recent tokens less probable
    #[arg(hide_short_help = true, long, value_name = "X", default_value_t = 1.0, value_parser = not_negative, allow_negative_numbers = true, help_heading = "Sampling")]
    pub(crate) repetition_penalty: f32,
    /// Equal seeds give equal texts
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Sampling")]
    pub(crate) seed: u64,
    /// The distribution from which texts are drawn; `exact` needs --temperature
    #[arg(long, value_enum, default_value_t = Sampling::Masked, help_heading = "Sampling")]
    pub(crate) sampling: Sampling,
    /// The most texts that `--sampling exact` begins for an output
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1000, help_heading = "Sampling")]
    pub(crate) tries: usize,
}

/// A distribution of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sampling {
    /// The probabilities of the allowed tokens, scaled to 1 at each step
    Masked,
    /// The model's distribution of texts, given that the text is one of the grammar
    Exact,
}

fn not_negative(argument: &str) -> std::result::Result<f32, String> {
    let number = argument.parse().ok().filter(|&number: &f32| number >= 0.0 && number.is_finite());
    number.ok_or_else(|| "it must be a number, 0 or more".to_owned())
}
