//! Arguments of `grammata-lab flow evaluate`.

use clap::ValueEnum;
use grammata_cli::args::limits::LimitArgs;
use grammata_cli::cmd::flow::model::ModelArgs;
use serde_json::Value;
use std::path::PathBuf;

/// Makes plans for queries in several ways, each plan a line of a journal: a run that was interrupted continues where
/// it stopped. Writes a table of FLAP's measures, means with standard deviations.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    /// The domains, files in TOML
    #[arg(value_name = "DOMAIN", required = true)]
    pub(super) domains: Vec<PathBuf>,
    /// The queries: a table for each domain, with a list for each flow
    #[arg(long, value_name = "FILE")]
    pub(super) queries: PathBuf,
    /// What is compared
    #[arg(long, value_enum)]
    pub(super) experiment: Experiment,
    /// The journal, a file of JSON lines
    #[arg(long, value_name = "FILE")]
    pub(super) journal: PathBuf,
    /// The most queries of each flow, from the first on
    #[arg(long, value_name = "N")]
    pub(super) per_flow: Option<usize>,
    /// The most queries of each domain, of those that are chosen
    #[arg(long, value_name = "N")]
    pub(super) per_domain: Option<usize>,
    /// Candidates of the published decoder
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(super) candidates: usize,
    /// Tokens of the published decoder's look-ahead
    #[arg(long, value_name = "L", default_value_t = 32)]
    pub(super) lookahead: usize,
    /// Write the report into this file too, as HTML if its name ends so, else as Markdown
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Experiment {
    /// Choice of the flow: similarities, likelihoods, both; queries of other domains
    Intent,
    /// Plans without thoughts that keep the steps, with the relevant flow, all flows, or the most similar one
    Plain,
    /// Plans that keep the steps, with each kind of thoughts
    Thoughts,
    /// Without a grammar: greedy without and with thoughts, nucleus
    Baselines,
    /// Without a grammar: beam search
    Beam,
    /// Levels 1 to 6, plans without thoughts
    Levels,
    /// The published decoder, all terms
    Published,
    /// Four draws at each call, scored, against greedy
    Samples,
    /// Plans that keep the steps of changed domains: steps swapped, APIs renamed, a flow added
    Changes,
}

impl Arguments {
    /// Returns the settings that a journal must have to be continued.
    pub(super) fn settings(&self) -> Value {
        self.model.settings(&format!("{:?}", self.experiment).to_lowercase())
    }
}
