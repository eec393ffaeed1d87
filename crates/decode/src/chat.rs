//! Chat templates: they render messages as the text that a model was trained on.
//!
//! Templates are Jinja as Hugging Face's `apply_chat_template` renders it: blocks trimmed, Python's string methods, the
//! variables `messages`, `add_generation_prompt`, `tools` and `documents` (none if they are not set), the texts of the
//! special tokens, the functions `raise_exception` and `strftime_now`, and a `tojson` that writes what `json.dumps`
//! writes. A template comes with a model and is not trusted: it is rendered in the sandbox of the crate
//! `grammata_template`.

use super::errors;
use super::settings::{read_settings, read_text, token_text};
use grammata::diagnostic::{Notation, Source};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_template::chat::{self, dialect};
use minijinja::value::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

/// The variables of special tokens that a tokenizer may define.
const TOKENS: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// The speaker: `system`, `user`, `assistant`, or another role that the template accepts.
    pub role: String,
    /// The text of the message.
    pub content: String,
}

impl Message {
    /// Creates a message with the given role and text. The role is not checked.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        Message { role: role.into(), content: content.into() }
    }

    /// Creates a `system` message: an instruction to the model.
    pub fn system(content: impl Into<String>) -> Message {
        Message::new("system", content)
    }

    /// Creates a `user` message.
    pub fn user(content: impl Into<String>) -> Message {
        Message::new("user", content)
    }

    /// Creates an `assistant` message: earlier output of the model.
    pub fn assistant(content: impl Into<String>) -> Message {
        Message::new("assistant", content)
    }

    fn to_value(&self) -> Value {
        Value::from_pairs([("role", self.role.as_str()), ("content", self.content.as_str())])
    }
}

/// A chat template, with the special tokens and the variables that it may read.
#[derive(Clone, Debug)]
pub struct ChatTemplate {
    source: String,
    /// The texts of special tokens by the names of their variables.
    tokens: BTreeMap<&'static str, String>,
    variables: BTreeMap<String, serde_json::Value>,
    now: Option<SystemTime>,
    limits: Limits,
}

impl ChatTemplate {
    /// Checks that `source` can be parsed, and stores it. The texts of the special tokens are empty and no variables
    /// are set.
    ///
    /// # Errors
    /// `limit/exceeded`: the source is longer than `limits.source_bytes`. `decode/chat-template`: the source is not
    /// valid Jinja, uses a part of Jinja that the sandbox does not support, or exceeds a fixed bound of the sandbox,
    /// for instance on tokens (the error names line and column); or no thread can be started.
    pub fn new(source: impl Into<String>, limits: &Limits) -> Result<ChatTemplate> {
        let source = source.into();
        limits.check_source(&source)?;
        let source = dialect(None).without_generation_tags(&source);
        let checked = dialect(None).check(&source);
        checked.map_err(|fault| in_source(fault.into_error(limits, errors::template), &source))?;
        Ok(ChatTemplate {
            source,
            tokens: BTreeMap::from([("bos_token", String::new()), ("eos_token", String::new())]),
            variables: BTreeMap::new(),
            now: None,
            limits: limits.clone(),
        })
    }

    /// Reads the chat template of a model's folder from the first place that has one: the file `chat_template.jinja`,
    /// then the member `chat_template` of `chat_template.json`, `tokenizer_config.json` and `config.json`. The texts of
    /// special tokens, such as `bos_token`, come from the first of the three JSON files that names them, and are
    /// undefined otherwise. Returns `None` if the model has no template. Only regular files are read. Links are
    /// followed as in [`ModelFolder::open`](super::ModelFolder::open).
    ///
    /// # Errors
    /// One of the named files exists but cannot be read, is outside the folder, is larger than `limits.source_bytes`,
    /// or is not UTF-8; one of the JSON files is not a JSON object; errors of [`ChatTemplate::new`].
    pub fn from_folder(folder: &Path, limits: &Limits) -> Result<Option<ChatTemplate>> {
        let settings = [
            read_settings(folder, "chat_template.json", limits)?,
            read_settings(folder, "tokenizer_config.json", limits)?,
            read_settings(folder, "config.json", limits)?,
        ];
        let source = match read_text(folder, "chat_template.jinja", limits)? {
            Some(source) => Some(source),
            None => settings.iter().find_map(|s| template_of(s.get("chat_template")?)),
        };
        let Some(source) = source else { return Ok(None) };
        let token = |name: &str| settings.iter().find_map(|s| token_text(s.get(name)?));
        let tokens = TOKENS.into_iter().filter_map(|name| Some((name, token(name)?))).collect();
        Ok(Some(ChatTemplate { tokens, ..ChatTemplate::new(source, limits)? }))
    }

    /// Sets the texts of the tokens that begin and end a sequence. The template reads them as `bos_token` and
    /// `eos_token`.
    pub fn with_tokens(mut self, bos_token: impl Into<String>, eos_token: impl Into<String>) -> ChatTemplate {
        self.tokens.insert("bos_token", bos_token.into());
        self.tokens.insert("eos_token", eos_token.into());
        self
    }

    /// Sets a variable that the template reads, such as `tools` or `enable_thinking`.
    pub fn with_variable(mut self, name: impl Into<String>, value: serde_json::Value) -> ChatTemplate {
        self.variables.insert(name.into(), value);
        self
    }

    /// Sets the time that `strftime_now` formats, in UTC. By default it formats the time at which it is called.
    pub fn with_time(mut self, now: SystemTime) -> ChatTemplate {
        self.now = Some(now);
        self
    }

    /// Returns the template's source. Tags `{% generation %}` and `{% endgeneration %}`, which mark the model's words
    /// for training, are replaced by `{% with %}` and `{% endwith %}`, padded to the same length.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders the prompt for `messages`. `add_generation_prompt` tells the template to end the prompt with the
    /// beginning of the model's answer.
    ///
    /// # Errors
    /// `decode/chat-template`: the template refuses the messages (`raise_exception`) or fails. `limit/exceeded`:
    /// rendering takes more than `limits.template_work` or more than 20 seconds, or the output has more than
    /// `limits.source_bytes` bytes. The error names the line if it is known.
    pub fn render(&self, messages: &[Message], add_generation_prompt: bool) -> Result<String> {
        let context = || self.context(messages, add_generation_prompt);
        let rendered = dialect(self.now).render(&self.source, context, &self.limits);
        rendered.map_err(|fault| in_source(fault.into_error(&self.limits, errors::template), &self.source))
    }

    fn context(&self, messages: &[Message], add_generation_prompt: bool) -> Value {
        let mut all: BTreeMap<&str, Value> = BTreeMap::from([
            ("messages", messages.iter().map(Message::to_value).collect()),
            ("add_generation_prompt", Value::from(add_generation_prompt)),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
        ]);
        all.extend(self.tokens.iter().map(|(name, text)| (*name, Value::from(text.as_str()))));
        all.extend(self.variables.iter().map(|(name, json)| (name.as_str(), chat::from_json(json))));
        Value::from_pairs(all)
    }
}

fn in_source(error: Error, source: &str) -> Error {
    error.in_source(&Source::new(source, Notation::Text))
}

/// Returns the chat template in the value of a `chat_template` setting: the string itself, or the `template` of the
/// entry named `default` in a list of named templates. `None` for any other value.
fn template_of(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(source) => Some(source.clone()),
        serde_json::Value::Array(named) => named
            .iter()
            .find(|entry| entry.get("name").and_then(|n| n.as_str()) == Some("default"))
            .and_then(|entry| Some(entry.get("template")?.as_str()?.to_owned())),
        _ => None,
    }
}
