//! A model's folder, as Hugging Face's tools write it.

use super::chat::ChatTemplate;
use super::errors;
use super::settings::{self, Settings, read_settings, token_text};
use grammata::error::Result;
use grammata::limits::Limits;
use std::path::{Path, PathBuf};

/// The files and settings of a model's folder: the model, its tokenizer, its chat template and its end tokens.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    /// The ONNX model: `model.onnx` of the folder, or `onnx/model.onnx` if the former is missing.
    pub model: PathBuf,
    /// The file `tokenizer.json` of the folder.
    pub tokenizer: PathBuf,
    /// The chat template; `None` if the folder has none.
    pub template: Option<ChatTemplate>,
    /// Ids of the tokens that end a sequence: `eos_token_id` of `generation_config.json` and `config.json`, in
    /// ascending order and without duplicates.
    pub end_tokens: Vec<u32>,
    /// The text of the token that ends a turn: `eos_token` of `tokenizer_config.json`. Chat models may name another
    /// token there than in `end_tokens`; both end a sequence. `None` if it is neither a string nor an object with a
    /// string `content`.
    pub end_token: Option<String>,
    /// The context length in tokens: `max_position_embeddings` or GPT-2's `n_positions` of `config.json`, or of its
    /// `text_config`. `None` if neither is set.
    pub context_length: Option<usize>,
}

impl ModelFolder {
    /// Reads a model's folder. Only regular files are read. A link that leads out of the folder (in the cache of
    /// `huggingface_hub`: out of the repository) is an error.
    ///
    /// # Errors
    /// `decode/model-folder`: the model or the tokenizer is missing. Errors of [`of_files`](ModelFolder::of_files), and
    /// of links and files that cannot be read.
    pub fn open(folder: &Path, limits: &Limits) -> Result<ModelFolder> {
        let mut models = ["model.onnx", "onnx/model.onnx"].into_iter();
        let model = loop {
            let Some(name) = models.next() else { return Err(errors::folder(folder, "model.onnx")) };
            // the path as given, not the resolved one, because ONNX Runtime looks up files with further weights next to
            // it
            if settings::find(folder, name)?.is_some() {
                break folder.join(name);
            }
        };
        if settings::find(folder, "tokenizer.json")?.is_none() {
            return Err(errors::folder(folder, "tokenizer.json"));
        }
        ModelFolder::of_files(model, folder.join("tokenizer.json"), limits)
    }

    /// Combines a model and its tokenizer with the settings in the tokenizer's folder.
    ///
    /// # Errors
    /// A settings file or the chat template cannot be read, is too large (`limit/exceeded`), or is invalid
    /// (`decode/settings`, `decode/chat-template`).
    pub fn of_files(model: PathBuf, tokenizer: PathBuf, limits: &Limits) -> Result<ModelFolder> {
        let folder = tokenizer.parent().unwrap_or(Path::new(""));
        let config = read_settings(folder, "config.json", limits)?;
        let generation = read_settings(folder, "generation_config.json", limits)?;
        let mut end_tokens = Vec::new();
        for (name, settings) in [("config.json", &config), ("generation_config.json", &generation)] {
            if let Some(value) = settings.get("eos_token_id") {
                let wrong = || errors::settings(&folder.join(name), value.to_string(), "/eos_token_id");
                end_tokens.extend(ids(value).ok_or_else(wrong)?);
            }
        }
        end_tokens.sort_unstable();
        end_tokens.dedup();
        let tokenizer_config = read_settings(folder, "tokenizer_config.json", limits)?;
        let template = ChatTemplate::from_folder(folder, limits)?;
        let context_length = context_length(folder, &config)?;
        let end_token = tokenizer_config.get("eos_token").and_then(token_text);
        Ok(ModelFolder { model, tokenizer, template, end_tokens, end_token, context_length })
    }
}

/// Returns the context length of `config.json`, or of its `text_config`, in tokens. `None` if neither names one. A
/// value that is neither null nor a positive integer is an error.
fn context_length(folder: &Path, config: &Settings) -> Result<Option<usize>> {
    let text = config.get("text_config").and_then(serde_json::Value::as_object);
    let places = [("", Some(config)), ("/text_config", text)];
    for (prefix, settings) in places.into_iter().filter_map(|(prefix, settings)| Some((prefix, settings?))) {
        for name in ["max_position_embeddings", "n_positions"] {
            let Some(value) = settings.get(name).filter(|value| !value.is_null()) else { continue };
            let length = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
            return match length {
                Some(length) => Ok(Some(length)),
                None => {
                    let place = format!("{prefix}/{name}");
                    Err(errors::settings(&folder.join("config.json"), value.to_string(), &place))
                }
            };
        }
    }
    Ok(None)
}

/// Reads the value of `eos_token_id`: an id, a list of ids, or null (no ids). `None` for anything else.
fn ids(value: &serde_json::Value) -> Option<Vec<u32>> {
    match value {
        serde_json::Value::Null => Some(Vec::new()),
        serde_json::Value::Array(list) => list.iter().map(id).collect(),
        one => Some(vec![id(one)?]),
    }
}

fn id(value: &serde_json::Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}
