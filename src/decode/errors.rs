//! The errors and notices of this room.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

fn model(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Model, diagnostic)
}

/// The mask of a step has no bit set.
pub(super) fn empty_mask() -> Error {
    let diagnostic = Diagnostic::new("decode/empty-mask", "the constraint allows no token here")
        .allowed("at least one token, or the end of the sequence")
        .help("the vocabulary lacks tokens that the grammar needs, or the model's vocabulary is smaller than the tokenizer's");
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// Every allowed token has a logit that is not a number or is minus infinity.
pub(super) fn no_candidate() -> Error {
    model(
        Diagnostic::new("decode/no-candidate", "the model gives no allowed token a probability")
            .found("logits that are NaN or minus infinity for every allowed token")
            .help("the model's numbers overflowed (f16 weights?), or it forbids what the grammar asks for"),
    )
}

/// A sampling setting outside its range.
pub(super) fn setting(name: &str, found: f32, allowed: &str) -> Error {
    usage(
        Diagnostic::new("decode/sampling", format!("the sampling setting `{name}` is out of range"))
            .found(found.to_string())
            .allowed(allowed)
            .help("temperature 0 is greedy; top_k 0, top_p 1, min_p 0 and repetition_penalty 1 switch a setting off"),
    )
}

/// A prompt of no tokens.
pub(super) fn empty_prompt() -> Error {
    usage(
        Diagnostic::new("decode/empty-prompt", "the prompt has no tokens")
            .allowed("at least one token")
            .help("begin the prompt with the beginning-of-sequence token, or write some text"),
    )
}

/// A prompt that leaves no room in the model's context.
pub(super) fn prompt_too_long(tokens: usize, context: usize) -> Error {
    usage(
        Diagnostic::new("decode/prompt-too-long", "the prompt does not fit into the model's context")
            .found(format!("{tokens} tokens"))
            .allowed(format!("fewer than {context} tokens"))
            .help("shorten the prompt, or use a model with a longer context"),
    )
}

/// An empty stop string.
pub(super) fn empty_stop() -> Error {
    usage(
        Diagnostic::new("decode/empty-stop", "a stop string is empty")
            .allowed("at least one character")
            .help("leave the empty stop string out"),
    )
}

/// A model that gave another number of logits than it announced.
pub(super) fn logits_length(found: usize, expected: usize) -> Error {
    model(
        Diagnostic::new(
            "decode/logits",
            "the model gave another number of logits than its vocabulary has tokens",
        )
        .found(found.to_string())
        .allowed(expected.to_string())
        .help("the implementation of LanguageModel is wrong"),
    )
}

/// A chat template that cannot be read or rendered.
pub(super) fn template(found: String, place: Place) -> Error {
    Error::new(
        ErrorKind::Grammar,
        Diagnostic::new("decode/chat-template", "the chat template cannot be used")
            .at(place)
            .cause(found)
            .allowed("a Jinja template as in tokenizer_config.json, over messages, add_generation_prompt and tools")
            .help("check the messages (roles, their order), or pass another template"),
    )
}

/// A settings file of a model that is not what Hugging Face writes.
pub(super) fn settings(path: &std::path::Path, found: impl std::fmt::Display) -> Error {
    model(
        Diagnostic::new("decode/settings", "the model's settings cannot be read")
            .in_file(path.display().to_string())
            .cause(found)
            .allowed("a JSON object as Hugging Face writes it")
            .help("fetch the file again from where the model came from"),
    )
}

/// A folder without a file that a model needs.
pub(super) fn folder(folder: &std::path::Path, missing: &str) -> Error {
    model(
        Diagnostic::new("decode/model-folder", format!("the model's folder holds no `{missing}`"))
            .in_file(folder.display().to_string())
            .allowed("a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json")
            .help("give the folder that holds the model, or run `cargo xtask setup` for .models/smollm2"),
    )
}

/// A tokenizer file that cannot be loaded, or a text that it cannot cut.
#[cfg(feature = "huggingface")]
pub(super) fn tokenizer(what: impl Into<String>, found: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Vocabulary,
        Diagnostic::new("decode/tokenizer", what)
            .cause(found)
            .allowed("a Hugging Face tokenizer.json")
            .help("use the tokenizer.json that came with the model"),
    )
}
