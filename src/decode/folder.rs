//! A model's folder, as Hugging Face's tools write it.

use super::chat::ChatTemplate;
use super::errors;
use super::settings::{read_settings, token_text};
use crate::error::Result;
use crate::limits::Limits;
use std::path::{Path, PathBuf};

/// What a folder holds: a model, its tokenizer, how it is talked to and which tokens end it.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    /// The ONNX model: `model.onnx`, or the same in `onnx/`.
    pub model: PathBuf,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// The chat template, if the model has one.
    pub template: Option<ChatTemplate>,
    /// Ids of the tokens that end a sequence: `eos_token_id` of `generation_config.json` and `config.json`, rising.
    pub end_tokens: Vec<u32>,
    /// The text of the token that ends a turn: `eos_token` of `tokenizer_config.json`. Chat models may name another one
    /// there than in `end_tokens`; both end a sequence.
    pub end_token: Option<String>,
    /// The context in tokens: `max_position_embeddings` of `config.json`.
    pub context_length: Option<usize>,
}

impl ModelFolder {
    /// Looks into `folder`.
    ///
    /// # Errors
    /// There is no model or no tokenizer, or a settings file cannot be read.
    pub fn open(folder: &Path, limits: &Limits) -> Result<ModelFolder> {
        let models = [folder.join("model.onnx"), folder.join("onnx").join("model.onnx")];
        let Some(model) = models.into_iter().find(|path| path.is_file()) else {
            return Err(errors::folder(folder, "model.onnx"));
        };
        let tokenizer = folder.join("tokenizer.json");
        if !tokenizer.is_file() {
            return Err(errors::folder(folder, "tokenizer.json"));
        }
        let config_path = folder.join("config.json");
        let config = read_settings(&config_path, limits)?;
        let generation_path = folder.join("generation_config.json");
        let generation = read_settings(&generation_path, limits)?;
        let mut end_tokens = Vec::new();
        for (path, settings) in [(&config_path, &config), (&generation_path, &generation)] {
            if let Some(value) = settings.get("eos_token_id") {
                let ids =
                    ids(value).ok_or_else(|| errors::settings(path, format!("eos_token_id: {value}")))?;
                end_tokens.extend(ids);
            }
        }
        end_tokens.sort_unstable();
        end_tokens.dedup();
        let tokenizer_config = read_settings(&folder.join("tokenizer_config.json"), limits)?;
        let context = config.get("max_position_embeddings").and_then(serde_json::Value::as_u64);
        Ok(ModelFolder {
            model,
            tokenizer,
            template: ChatTemplate::from_folder(folder, limits)?,
            end_tokens,
            end_token: tokenizer_config.get("eos_token").and_then(token_text),
            context_length: context.and_then(|n| usize::try_from(n).ok()),
        })
    }
}

/// An id or a list of ids; None where it is neither.
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
