//! Runs `grammata serve`.

use crate::args::model::Parts;
use crate::cmd::serve::Arguments;
use crate::cmd::tag;
use crate::io::errors;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::{Error, Result};
use grammata_agents::tools::ReasoningMode;
use grammata_decode::{Model, PromptTokenizer};
use grammata_server::{ApiKey, Served, Server, ServerOptions, stop_on_signals};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let key = arguments.api_key_env.as_deref().map(key).transpose()?;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let options = ServerOptions::default()
        .batch(count(arguments.batch))
        .queue(count(arguments.queue))
        .body_bytes(arguments.body_bytes)
        .key(key.map(ApiKey::from))
        .folder(arguments.mask_folder.clone())
        .limits(limits.clone());
    Server::check_address(arguments.listen, &options)?;
    let at = |cause: std::io::Error| Error::io(Path::new(&arguments.listen.to_string()), &cause);
    // before the model is loaded, which takes a while
    let listener = TcpListener::bind(arguments.listen).map_err(at)?;
    let address = listener.local_addr().map_err(at)?;
    let preset = arguments.family.as_deref().map(|family| tag::preset(family, &limits)).transpose()?;
    let parts = Parts::find(&arguments.model, &arguments.model_settings, &limits)?;
    let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, &limits)?;
    let vocabulary = parts.vocabulary(&arguments.model_settings, &tokenizer, &limits)?.vocabulary;
    let settings = arguments.model_settings.clone();
    let template = parts.template.clone();
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&arguments.model));
    let served = Served {
        name: name.clone(),
        vocabulary: Arc::new(vocabulary),
        tokenizer,
        template,
        preset,
        reasoning: arguments.reasoning.parse().unwrap_or(ReasoningMode::Enabled),
        model: Box::new(move || Ok(Box::new(parts.load(&settings)?) as Box<dyn Model>)),
    };
    let level = arguments.log_level.parse().unwrap_or(tracing_subscriber::filter::LevelFilter::INFO);
    // a second call in one process, as in tests, keeps the first log
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(is_terminal);
    let _ = log.with_writer(std::io::stderr).try_init();
    let server = Server::new(served, options)?;
    let stop = stop_on_signals()?;
    messages::plain(&format!("serving `{name}` at http://{address}/v1"));
    output.flush()?;
    server.run(listener, stop)?;
    Ok(Exit::Done)
}

/// Returns the key in an environment variable.
fn key(variable: &str) -> Result<String> {
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ => Err(errors::no_variable(variable)),
    }
}

/// Returns the name of a model's folder, or of its file without the extension.
fn name_of(model: &Path) -> String {
    let name = if model.is_dir() { model.file_name() } else { model.file_stem() };
    name.map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
}
