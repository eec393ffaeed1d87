//! The folder of a sentence encoder, as the library `sentence-transformers` writes it.

use super::errors;
use crate::folder::ModelFolder;
use crate::settings::read_settings;
use grammata::error::Result;
use grammata::limits::Limits;
use std::path::{Path, PathBuf};

/// The maximum number of tokens per text if the folder does not name one: that of BERT.
const DEFAULT_TOKENS: usize = 512;
/// The upper bound of tokens per text, even if the folder names a greater number: attention takes memory quadratic in
/// them.
const MOST_TOKENS: usize = 8_192;

/// The files of a sentence encoder, and how many tokens of a text it reads.
#[derive(Clone, Debug)]
pub struct EmbedderFolder {
    /// The ONNX model: `model.onnx` of the folder, or `onnx/model.onnx` if the former is missing.
    pub model: PathBuf,
    /// The file `tokenizer.json` of the folder.
    pub tokenizer: PathBuf,
    /// The most tokens of a text that the encoder reads, including special ones: `max_seq_length` of
    /// `sentence_bert_config.json` or the context length of `config.json` (see [`ModelFolder::context_length`]),
    /// whichever is less; 512 if neither is set; never more than 8,192.
    pub max_tokens: usize,
}

impl EmbedderFolder {
    /// Reads `folder` like [`ModelFolder::open`].
    ///
    /// # Errors
    /// Errors of [`ModelFolder::open`]; `sentence_bert_config.json` or `1_Pooling/config.json` cannot be read or has an
    /// invalid value; or the latter asks for another pooling than the mean (`decode/embedder-pooling`).
    pub fn open(folder: &Path, limits: &Limits) -> Result<EmbedderFolder> {
        let ModelFolder { model, tokenizer, context_length, .. } = ModelFolder::open(folder, limits)?;
        check_pooling(folder, limits)?;
        let own = own_maximum(folder, limits)?;
        let least = own.into_iter().chain(context_length).min();
        let max_tokens = least.unwrap_or(DEFAULT_TOKENS).min(MOST_TOKENS);
        Ok(EmbedderFolder { model, tokenizer, max_tokens })
    }
}

fn own_maximum(folder: &Path, limits: &Limits) -> Result<Option<usize>> {
    const FILE: &str = "sentence_bert_config.json";
    let settings = read_settings(folder, FILE, limits)?;
    let Some(value) = settings.get("max_seq_length").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    match value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0) {
        Some(most) => Ok(Some(most)),
        None => {
            let path = folder.join(FILE);
            Err(crate::errors::settings(&path, value.to_string(), "/max_seq_length"))
        }
    }
}

/// Refuses any pooling except the mean. The pooling is given by booleans `pooling_mode_…`, or by one member
/// `pooling_mode` with a name. A file that is missing or has no such member means the mean.
fn check_pooling(folder: &Path, limits: &Limits) -> Result<()> {
    const FILE: &str = "1_Pooling/config.json";
    for (name, value) in read_settings(folder, FILE, limits)? {
        let is_other = match name.as_str() {
            "pooling_mode" => value.as_str() != Some("mean"),
            "pooling_mode_mean_tokens" => value.as_bool() != Some(true),
            name => name.starts_with("pooling_mode_") && value.as_bool() != Some(false),
        };
        if is_other {
            return Err(errors::pooling(&folder.join(FILE), &format!("/{name}"), &value.to_string()));
        }
    }
    Ok(())
}
