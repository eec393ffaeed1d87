//! The arguments of `grammata serve`. The module `serving` runs it, in builds with the server.

use crate::args::limits::LimitArgs;
use crate::args::model::ModelSettings;
use clap::value_parser;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Answers `/v1/chat/completions` and `/v1/responses`. Answers under a schema are valid, and complete within their limit
/// of tokens. `SIGTERM` and `SIGINT` let running outputs end.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "server"), allow(dead_code))] // read with the feature `server` only
pub(crate) struct Arguments {
    /// An ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) model_settings: ModelSettings,
    /// The name of the model in requests [default: the name of its folder or file]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) name: Option<String>,
    /// The family of the model, which says how it writes calls of tools and reasoning, such as `qwen_3`, or a preset of
    /// your own: a file that ends with `.toml` [default: none, and no tools]
    #[arg(long, value_name = "FAMILY", help_heading = "Model")]
    pub(crate) family: Option<String>,
    /// Whether the model reasons first
    #[arg(long, value_name = "MODE", default_value = "enabled", value_parser = ["enabled", "disabled", "auto"],
        help_heading = "Model")]
    pub(crate) reasoning: String,
    /// Serve clients at this address; port 0 is any. Other addresses than those of this machine need --api-key-env
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8000")]
    pub(crate) listen: SocketAddr,
    /// The environment variable with the key that clients must send
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) api_key_env: Option<String>,
    /// Outputs in one run of the model
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u64).range(1..=1024))]
    pub(crate) batch: u64,
    /// Outputs that wait, at most; more are refused with status 429
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 256, value_parser = value_parser!(u64).range(..=1_000_000))]
    pub(crate) queue: u64,
    /// The most bytes of a request
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 8 << 20)]
    pub(crate) body_bytes: usize,
    /// Keep mask files of the grammars in this folder, so that a server that is started again need not explore them
    /// once more. Nobody else should be able to write to it
    #[arg(long, value_name = "FOLDER")]
    pub(crate) mask_folder: Option<PathBuf>,
    /// What is logged to standard error: `off`, `error`, `warn`, `info`, `debug`
    #[arg(hide_short_help = true, long, value_name = "LEVEL", default_value = "info", value_parser = ["off", "error", "warn", "info", "debug"])]
    pub(crate) log_level: String,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
