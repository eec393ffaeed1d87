//! What both ways to ask, chat completions and responses, have in common: reading the body, and an order for outputs.

use crate::errors::ApiError;
use grammata::diagnostic::did_you_mean;
use grammata::syntax::{Source, json_schema};
use hyper::StatusCode;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most outputs of one request.
const MOST_OUTPUTS: u32 = 128;

/// The most stop strings of one request.
const MOST_STOPS: usize = 16;

/// What a request orders, in whatever form it came.
#[derive(Debug)]
pub(crate) struct Order {
    /// The messages, as chat templates read them.
    pub(crate) messages: Vec<Value>,
    /// The tools, as chat completions have them.
    pub(crate) tools: Vec<Value>,
    pub(crate) tool_choice: Value,
    pub(crate) parallel_tool_calls: bool,
    pub(crate) format: Format,
    pub(crate) settings: Settings,
    /// The most tokens of an output; `None` for as many as the context has room for.
    pub(crate) max_tokens: Option<usize>,
    /// The member of the body that has `max_tokens`.
    pub(crate) max_tokens_name: &'static str,
    pub(crate) outputs: u32,
    pub(crate) log_probabilities: bool,
    pub(crate) alternatives: usize,
    pub(crate) reasoning: Reasoning,
    /// Whether tools have no members `function` and `custom` in the body.
    pub(crate) is_flat: bool,
}

/// Whether the model is to reason.
#[derive(Debug)]
pub(crate) struct Reasoning {
    /// `None` if the request does not say.
    pub(crate) is_on: Option<bool>,
    /// How much, as chat templates read it.
    pub(crate) effort: Option<String>,
    /// The member of the body that has the effort.
    pub(crate) place: &'static str,
}

/// The form of the text of an answer.
#[derive(Debug)]
pub(crate) enum Format {
    /// Any text.
    Text,
    /// JSON by a schema, which is at `place` in the body.
    Schema { schema: Value, place: &'static str },
    /// A text of a grammar, which is at `place` in the body.
    Grammar { source: Box<Source>, place: &'static str },
}

impl Format {
    /// The options with which a schema is compiled if there are no tools.
    pub(crate) fn options() -> json_schema::Options {
        json_schema::Options::generation()
    }
}

/// How tokens are chosen, and what else may be asked for in either form of request.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Settings {
    pub(crate) temperature: Option<f32>,
    pub(crate) top_p: Option<f32>,
    pub(crate) top_k: Option<usize>,
    pub(crate) min_p: Option<f32>,
    pub(crate) repetition_penalty: Option<f32>,
    pub(crate) frequency_penalty: Option<f32>,
    pub(crate) presence_penalty: Option<f32>,
    pub(crate) logit_bias: Option<Map<String, Value>>,
    pub(crate) min_tokens: Option<usize>,
    pub(crate) seed: Option<i64>,
    pub(crate) stop: Option<Stop>,
    /// Whether an answer under a grammar must be complete within `max_tokens`. Default: yes.
    pub(crate) complete: Option<bool>,
    /// Seconds after which the output is cut.
    pub(crate) timeout: Option<f64>,
    /// Variables of the chat template.
    pub(crate) chat_template_kwargs: Option<Map<String, Value>>,
}

/// One stop string or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Stop {
    One(String),
    Several(Vec<String>),
}

impl Settings {
    /// Returns the stop strings.
    pub(crate) fn stops(&self) -> Result<Vec<String>, ApiError> {
        let stops = match &self.stop {
            None => Vec::new(),
            Some(Stop::One(text)) => vec![text.clone()],
            Some(Stop::Several(texts)) => texts.clone(),
        };
        if stops.len() > MOST_STOPS || stops.iter().any(String::is_empty) {
            let message = format!("`stop` must be at most {MOST_STOPS} texts, none of them empty");
            return Err(ApiError::invalid("stop", message));
        }
        Ok(stops)
    }

    /// Returns the tokens with a bias, of a vocabulary with `width` ids.
    pub(crate) fn biases(&self, width: usize) -> Result<Vec<(u32, f32)>, ApiError> {
        let Some(members) = &self.logit_bias else { return Ok(Vec::new()) };
        let bias = |(id, bias): (&String, &Value)| {
            let at = format!("logit_bias.{id}");
            // written otherwise, one id could occur twice
            let known = |number: &u32| number.to_string() == *id && (*number as usize) < width;
            let Some(id) = id.parse::<u32>().ok().filter(known) else {
                let message = format!(
                    "`{at}`: the name must be the id of a token, from 0 to {}",
                    width.saturating_sub(1)
                );
                return Err(ApiError::invalid(&at, message));
            };
            match bias.as_f64() {
                Some(bias) => Ok((id, bias as f32)),
                None => Err(ApiError::invalid(&at, format!("`{at}` must be a number from -100 to 100"))),
            }
        };
        members.iter().map(bias).collect()
    }

    /// Returns the time after which an output is cut.
    pub(crate) fn time(&self) -> Result<Option<Duration>, ApiError> {
        let Some(seconds) = self.timeout else { return Ok(None) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) => Ok(Some(time)),
            Err(_) => Err(ApiError::invalid("timeout", "`timeout` must be a number of seconds, 0 or more")),
        }
    }
}

/// The most alternatives of a token.
const MOST_ALTERNATIVES: usize = 20;

/// Checks a number of alternatives of each token.
pub(crate) fn alternatives(count: Option<usize>) -> Result<usize, ApiError> {
    match count.unwrap_or(0) {
        count @ 0..=MOST_ALTERNATIVES => Ok(count),
        other => {
            let message = format!("`top_logprobs` is {other}; it must be from 0 to {MOST_ALTERNATIVES}");
            Err(ApiError::invalid("top_logprobs", message))
        }
    }
}

/// Checks a number of outputs.
pub(crate) fn outputs(n: Option<u32>) -> Result<u32, ApiError> {
    match n.unwrap_or(1) {
        count @ 1..=MOST_OUTPUTS => Ok(count),
        other => Err(ApiError::invalid("n", format!("`n` is {other}; it must be from 1 to {MOST_OUTPUTS}"))),
    }
}

/// The members of the settings.
const SETTINGS: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "min_tokens",
    "seed",
    "stop",
    "complete",
    "timeout",
    "chat_template_kwargs",
];

/// Members that say something about the client, and nothing about the output.
const ABOUT_CLIENT: &[&str] =
    &["user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"];

/// Reads a body that has the members `own`, the settings and what says something about the client. An error names the
/// member that it is about.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8], own: &[&str]) -> Result<(T, Settings), ApiError> {
    let members: BTreeMap<String, IgnoredAny> = serde_json::from_slice(body).map_err(|cause| {
        let message = format!("the body is not a JSON object: {cause}");
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", None, message)
    })?;
    let known = || own.iter().chain(SETTINGS).chain(ABOUT_CLIENT).copied();
    if let Some(name) = members.keys().find(|name| !known().any(|other| other == *name)) {
        let help = did_you_mean(name, known(), "leave it out");
        let message = format!("the parameter `{name}` is not supported: {help}");
        return Err(ApiError::unsupported(name, message));
    }
    Ok((part(body)?, part(body)?))
}

// from the text, not from a `Value`: serde_json 1.0 cannot turn a `Value` with an integer of 65 to 128 bits into another
pub(crate) fn part<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(body)).map_err(|error| {
        let place = Some(error.path().to_string()).filter(|path| path != ".");
        let message = format!("{}: {}", place.as_deref().unwrap_or("the body"), error.inner());
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", place, message)
    })
}

/// Refuses a member that is there and has another value than those that change nothing.
pub(crate) fn only(name: &'static str, value: Option<&Value>, allowed: &[Value]) -> Result<(), ApiError> {
    match value {
        Some(value) if !allowed.contains(value) => {
            let allowed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
            let message = format!("`{name}` is {value}; this server supports only {}", allowed.join(" and "));
            Err(ApiError::unsupported(name, message))
        }
        _ => Ok(()),
    }
}

/// Refuses members of the object `at` that are not known, which would otherwise be ignored in silence.
pub(crate) fn only_members(members: &Map<String, Value>, known: &[&str], at: &str) -> Result<(), ApiError> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let at = format!("{at}.{name}");
            Err(ApiError::unsupported(&at, format!("`{at}` is not supported")))
        }
    }
}
