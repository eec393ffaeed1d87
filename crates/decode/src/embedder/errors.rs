//! The errors of sentence encoders.

use grammata::diagnostic::Place;
#[cfg(feature = "ort")]
use grammata::limits::{LimitKind, Limits};
use std::path::Path;

/// Returns the place of a text: the JSON Pointer of `index` in the list of texts.
#[cfg(feature = "ort")]
fn text_place(index: usize) -> Place {
    Place::Pointer(format!("/{index}"))
}

grammata_base::errors! {
    pub(super) Model;

    /// A model with an unsupported way of pooling its tokens.
    pooling(path: &Path, pointer: &str, found: &str) =
        "decode/embedder-pooling", "the model pools its tokens in another way"
        in_file(path.display().to_string())
        at(Place::Pointer(pointer.to_owned()))
        found(found)
        allowed("the mean over the tokens (`pooling_mode_mean_tokens`)")
        help("use a model with mean pooling, all-MiniLM-L6-v2 for instance");
}

grammata_base::errors! {
    pub(crate) Model;

    /// A maximum of tokens per text that leaves no room beyond the special tokens.
    #[cfg(feature = "ort")]
    max_tokens(found: usize, special: usize) =
        "decode/embedder-max-tokens", "the embedder's maximum leaves no room for a text"
        found("at most {found} tokens")
        allowed("more than the {special} special tokens of every text")
        help("correct `max_seq_length` in sentence_bert_config.json");

    /// A text without tokens, not even special ones.
    #[cfg(feature = "ort")]
    no_tokens(text: usize) = Usage "decode/no-tokens", "a text has no tokens, and the tokenizer adds none"
        at(text_place(text)) allowed("at least one token") help("leave empty texts out");

    /// A failure of a run, such as a token id that the model's embedding table lacks.
    #[cfg(feature = "ort")]
    run(reason: impl std::fmt::Display) = "decode/model-run", "ONNX Runtime failed to run the embedder"
        cause(reason) help("use the tokenizer.json and the settings that came with the model");
}

/// Checks the number of texts and the size of each text against the limits.
///
/// # Errors
/// `limit/exceeded`: there are more texts than `embedding_texts`, or a text has more than `embedding_text_bytes` bytes.
#[cfg(feature = "ort")]
pub(crate) fn check_texts(texts: &[&str], limits: &Limits) -> grammata::Result<()> {
    if texts.len() > limits.embedding_texts {
        let found = format!("{} texts", texts.len());
        return Err(Limits::exceeded(LimitKind::EmbeddingTexts, limits.embedding_texts, found));
    }
    let most = limits.embedding_text_bytes;
    match texts.iter().enumerate().find(|(_, text)| text.len() > most) {
        Some((index, text)) => {
            let found = format!("{} bytes", text.len());
            Err(Limits::exceeded(LimitKind::EmbeddingTextBytes, most, found).or_at(&text_place(index)))
        }
        None => Ok(()),
    }
}

grammata_base::errors! {
    pub(crate) Model;

    /// A model whose inputs or outputs are not those of an embedder.
    #[cfg(feature = "ort")]
    interface(what: impl Into<String>, found: impl AsRef<str>) = "decode/embedder-interface", (what)
        found(found)
        allowed("inputs input_ids, attention_mask and optionally token_type_ids (i64, [batch, sequence]); an output \
        sentence_embedding [batch, size], or token_embeddings or last_hidden_state [batch, sequence, size] (f32 or \
        f16, size fixed)")
        help("export the model with optimum: `optimum-cli export onnx --task feature-extraction`");
}
