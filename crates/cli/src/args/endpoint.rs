//! Arguments that name a chat model: a chat server or a command.

use crate::args::deadline::deadline;
use crate::io::text::counted;
use crate::io::{errors, messages};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammata::error::Result;
use grammata_agents_drive::chat::{Chat, CommandChat, Usage};
use grammata_endpoint::{DIALECTS, Dialect, Endpoint, Header, Key, Options, Proxy};
use std::time::Duration;

/// The environment variable that holds the key of an `https` server if `--endpoint-key-env` names no other.
const KEY: &str = "OPENAI_API_KEY";

/// Which server or command is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct EndpointArgs {
    /// Ask the chat server at this address, which speaks OpenAI's protocol
    #[arg(long, value_name = "URL", conflicts_with = "model", help_heading = "Endpoint")]
    pub endpoint: Option<String>,
    /// Ask a command: it reads a line of JSON with `question`, and `choices` or `schema`, and writes the answer
    #[arg(hide_short_help = true, long, value_name = "CMD", conflicts_with_all = ["model", "endpoint"], help_heading = "Endpoint")]
    pub policy_command: Option<String>,
    /// The server's name of the model
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME",
        requires = "endpoint",
        help_heading = "Endpoint"
    )]
    pub endpoint_model: Option<String>,
    /// The forms of answers that the server accepts; if it refuses one, the next weaker one is used
    #[arg(hide_short_help = true, long, value_parser = dialects(), default_value = DIALECTS[0].name, value_name = "DIALECT", help_heading = "Endpoint")]
    pub endpoint_dialect: &'static Dialect,
    /// The environment variable that holds the server's key [default: OPENAI_API_KEY, with `https` and without
    /// `--endpoint-header` only]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "VARIABLE",
        requires = "endpoint",
        help_heading = "Endpoint"
    )]
    pub endpoint_key_env: Option<String>,
    /// Send a header with each request, with the value of an environment variable
    #[arg(hide_short_help = true, long, value_name = "NAME=VARIABLE", value_parser = assigned, requires = "endpoint", help_heading = "Endpoint")]
    pub endpoint_header: Vec<(String, String)>,
    /// Reach the server by this HTTP proxy [default: that of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "URL",
        requires = "endpoint",
        help_heading = "Endpoint"
    )]
    pub endpoint_proxy: Option<String>,
    /// Read answers in parts as they are written
    #[arg(hide_short_help = true, long, requires = "endpoint", help_heading = "Endpoint")]
    pub endpoint_stream: bool,
    /// The most tries of a request that the server is too busy for, or that does not reach it
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Endpoint")]
    pub endpoint_tries: u32,
    /// Seconds that one answer of the server or the command may take
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value = "120", value_parser = deadline, help_heading = "Endpoint")]
    pub endpoint_deadline: Duration,
}

/// Returns a parser that accepts the name of one of the [`DIALECTS`], and lists them in the help.
fn dialects() -> impl TypedValueParser<Value = &'static Dialect> {
    let values = DIALECTS.iter().map(|dialect| PossibleValue::new(dialect.name).help(dialect.about));
    PossibleValuesParser::new(values).try_map(|name| Dialect::named(&name).ok_or("no such dialect"))
}

/// Parses `NAME=VARIABLE`.
fn assigned(text: &str) -> std::result::Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, variable)| !name.is_empty() && !variable.is_empty());
    let (name, variable) = parts.ok_or("not NAME=VARIABLE, such as api-key=AZURE_OPENAI_API_KEY")?;
    Ok((name.to_owned(), variable.to_owned()))
}

/// Returns the scheme, host and port of an address.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    url[start..].find(['/', '?']).map_or(url, |end| &url[..start + end])
}

impl EndpointArgs {
    /// Returns whether a server or a command is given.
    pub fn is_given(&self) -> bool {
        self.endpoint.is_some() || self.policy_command.is_some()
    }

    /// Returns these arguments with another server. It gets the key and the headers only if it is the same server, up to
    /// the path: they are secrets.
    pub fn with_server(&self, url: Option<String>) -> EndpointArgs {
        let is_same = self.endpoint.as_deref().map(origin) == url.as_deref().map(origin);
        let mut args = EndpointArgs { endpoint: url, ..self.clone() };
        if !is_same {
            args.endpoint_key_env = None;
            args.endpoint_header.clear();
        }
        args
    }

    /// Creates the client of the server or of the command; `None` if neither is given. Nothing is sent and no command
    /// is run yet. A server gets `temperature` and `seed`; a command does not.
    ///
    /// # Errors
    /// The address, the proxy, a header or the key cannot be used, or the variable of a header or of the key is not set.
    pub fn load(&self, temperature: f32, seed: u64) -> Result<Option<Box<dyn Chat>>> {
        if let Some(command) = &self.policy_command {
            return Ok(Some(Box::new(CommandChat::new(command, self.endpoint_deadline))));
        }
        let Some(url) = &self.endpoint else { return Ok(None) };
        let options = Options::default()
            .model(self.endpoint_model.clone())
            .key(self.key(url)?)
            .headers(self.headers()?)
            .proxy(self.proxy(url)?)
            .dialect(self.endpoint_dialect)
            .stream(self.endpoint_stream)
            .temperature(temperature)
            .seed(seed)
            .tries(self.endpoint_tries)
            .first_byte(self.endpoint_deadline)
            .deadline(self.endpoint_deadline);
        Ok(Some(Box::new(Endpoint::new(url, options)?)))
    }

    /// Returns the key for the server at `url`: that of `--endpoint-key-env`, otherwise, if `url` begins with
    /// `https://` and there is no `--endpoint-header`, that of [`KEY`] if it is set and not empty; otherwise `None`.
    /// Without TLS, others can read the key on its way, and a server with headers of its own is not OpenAI's. So the key
    /// is sent to these only if the user names its variable.
    fn key(&self, url: &str) -> Result<Option<Key>> {
        let is_set = || std::env::var(KEY).is_ok_and(|key| !key.is_empty());
        match &self.endpoint_key_env {
            Some(name) => key(Some(name)),
            None if url.starts_with("https://") && self.endpoint_header.is_empty() && is_set() => {
                key(Some(KEY))
            }
            None => Ok(None),
        }
    }

    fn headers(&self) -> Result<Vec<Header>> {
        // a message names the header: a value that was given in place of a variable would be shown otherwise
        let header = |(name, variable): &(String, String)| {
            let value = value(variable).ok_or_else(|| errors::no_key(&format!("of the header `{name}`")))?;
            Header::new(name, value)
        };
        self.endpoint_header.iter().map(header).collect()
    }

    fn proxy(&self, url: &str) -> Result<Option<Proxy>> {
        match &self.endpoint_proxy {
            Some(address) => Proxy::new(address).map(Some),
            None => Proxy::of_environment(url),
        }
    }
}

/// Returns the key in an environment variable; `None` if `variable` is `None`.
///
/// # Errors
/// `cli/no-key`: the variable is not set, is empty or is not Unicode. `endpoint/key`: the key has characters other than
/// visible ASCII.
pub fn key(variable: Option<&str>) -> Result<Option<Key>> {
    let key = |name: &str| Key::new(value(name).ok_or_else(|| errors::no_key(&format!("`{name}`")))?);
    variable.map(key).transpose()
}

/// Returns the value of an environment variable; `None` if it is not set, is empty or is not Unicode.
fn value(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

/// Writes a summary of answers, tokens and time to standard error, unless the run is quiet.
pub fn report(usage: &Usage) {
    let tokens = match usage.uncounted {
        0 => format!(
            "{} in prompts, {} in answers",
            counted(usage.prompt_tokens as usize, "token"),
            usage.answer_tokens
        ),
        _ => "tokens are not known".to_owned(),
    };
    let again = match usage.sent.saturating_sub(usage.answers) {
        0 => String::new(),
        more => format!(" ({more} more were refused or failed)"),
    };
    let answers = counted(usage.answers as usize, "answer");
    messages::plain(&format!("{answers}{again}, {tokens}, in {:.1?}", usage.time));
}
