//! The errors of decoding.

use grammata::diagnostic::{Diagnostic, Notation, Place, Source};
use grammata::error::{Error, ErrorKind};
use grammata::limits::{LimitKind, Limits};
use std::path::Path;

fn model(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Model, diagnostic)
}

grammata_base::errors! {
    pub(super) Usage;

    /// The mask of a step allows no token, or no token that the model has.
    empty_mask() = Rejected "decode/empty-mask", "the constraint allows no token here"
        allowed("at least one token, or the end of the sequence")
        help("the vocabulary lacks tokens that the grammar needs, or the model's vocabulary is smaller than the tokenizer's");

    /// Every allowed token has a logit that is NaN or minus infinity.
    no_candidate() = Model "decode/no-candidate", "the model gives no allowed token a probability"
        found("logits that are NaN or minus infinity for every allowed token")
        help("the model's numbers overflowed (f16 weights?), or it forbids everything that the grammar allows");

    /// A device chose a token that the mask does not allow or that the model does not have.
    not_allowed(token: u32) =
        Model "decode/device-choice", "the device chose a token that the mask does not allow"
        found("token {token}")
        help("check the device with `cargo xtask device-check`, or keep logits on the host (`on_device(Some(false))`)");

    /// A sampling setting outside its range.
    setting(name: &str, found: f32, allowed: &str) =
        "decode/sampling", "the sampling setting `{name}` is out of range"
        found(found.to_string())
        allowed(allowed)
        help("temperature 0 is greedy; top_k 0, top_p 1, min_p 0 and repetition_penalty 1 switch a setting off");

    /// A sampling setting that exact sampling does not support.
    exact_sampling(name: &str, found: &str) =
        "decode/exact-sampling", "exact sampling does not go with this `{name}`"
        found(found)
        allowed("a temperature of more than 0; top_k 0, top_p 1, min_p 0 and repetition_penalty 1")
        help("set the temperature to 1 for the model's own distribution, and leave the other settings out");

    /// A queue that has no room for another request.
    queue_full(waiting: usize) = Limit "decode/queue-full", "too many requests wait"
        found("{waiting} waiting requests")
        allowed("a request while `Scheduler::has_room`")
        help("submit it again after some steps, or raise `queue` of `SchedulerOptions`");

    /// A prompt of no tokens.
    empty_prompt() = "decode/empty-prompt", "the prompt has no tokens"
        allowed("at least one token")
        help("begin the prompt with the beginning-of-sequence token, or write some text");

    /// A prompt that leaves no room in the model's context.
    prompt_too_long(tokens: usize, context: usize) =
        "decode/prompt-too-long", "the prompt does not fit into the model's context"
        found("{tokens} tokens")
        allowed("fewer than {context} tokens")
        help("shorten the prompt, or use a model with a longer context");

    /// A beam search of width 0, or with a length exponent that is not finite.
    beam(width: usize, exponent: f64) = "decode/beam", "the settings of the beam search are out of range"
        found("width {width}, length exponent {exponent}")
        allowed("a width of 1 or more, a finite length exponent")
        help("width 1 is a greedy search");

    /// An empty stop string.
    empty_stop() = "decode/empty-stop", "a stop string is empty"
        allowed("at least one character") help("leave the empty stop string out");

    /// A row of logits whose length is not the model's vocabulary size.
    logits_length(found: usize, expected: usize) =
        Model "decode/logits", "the model gave another number of logits than its vocabulary has tokens"
        found(found.to_string())
        allowed(expected.to_string())
        help("the implementation of `Model::feed` is wrong");

    /// A sequence that is not open.
    no_sequence() = "decode/no-sequence", "the sequence is not open"
        allowed("a sequence that this model opened or forked and that was not closed")
        help("open one with `Model::open`");

    /// A sequence that occurs twice in one batch.
    twice_in_batch() = "decode/twice-in-batch", "a sequence occurs twice in one batch"
        allowed("one feed for each sequence")
        help("put the tokens of a sequence into one feed, or feed two forks of it");

    /// A feed without tokens.
    no_tokens() = "decode/no-tokens", "a feed has no tokens" allowed("at least one");

    /// A token id that is not below the model's vocabulary size.
    token(token: u32, vocabulary: usize) = "decode/token-range", "the model does not have this token"
        found(token.to_string())
        allowed("less than {vocabulary}")
        help("use the tokenizer that came with the model");

    /// A sequence longer than the model's context.
    context(tokens: usize, limit: usize) =
        "decode/context", "the sequence does not fit into the model's context"
        found("{tokens} tokens")
        allowed("at most {limit}")
        help("shorten the prompt or generate fewer tokens");

    /// A row of logits that does not exist.
    row(row: usize, rows: usize) = "decode/row-range", "the row of logits does not exist"
        found(row.to_string()) allowed("less than {rows}");

    /// A truncation to more tokens than a sequence has.
    truncate(length: usize, available: usize) =
        "decode/truncate", "the sequence is shorter than the requested length"
        found(length.to_string()) allowed("at most {available}");

    /// A chat template that cannot be read or rendered.
    template(found: String, place: Place) = Grammar "decode/chat-template", "the chat template cannot be used"
        at(place)
        cause(found)
        allowed("a Jinja template as in tokenizer_config.json, over messages, add_generation_prompt and tools")
        help("check the messages (roles, their order), or pass another template");

    /// A model's folder without the file `missing`.
    folder(folder: &Path, missing: &str) =
        Model "decode/model-folder", "the model's folder holds no `{missing}`"
        in_file(folder.display().to_string())
        allowed("a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json")
        help("give the folder that holds the model, or run `cargo xtask setup` for .models/smollm2 and .models/minilm");
}

/// A settings file of a model with a value that Hugging Face's tools would not write. `pointer` is the JSON Pointer of
/// the value in the file.
pub(super) fn settings(path: &Path, found: impl AsRef<str>, pointer: &str) -> Error {
    model(settings_diagnostic(path).at(Place::Pointer(pointer.to_owned())).found(found))
}

/// A settings file of a model that is not valid JSON.
pub(super) fn settings_json(path: &Path, text: &str, cause: &serde_json::Error) -> Error {
    let place = Place::LineColumn { line: cause.line(), column: cause.column() };
    model(settings_diagnostic(path).at(place).cause(cause)).in_source(&Source::new(text, Notation::Json))
}

fn settings_diagnostic(path: &Path) -> Diagnostic {
    of_file(path, "decode/settings", "the model's settings cannot be read")
        .allowed("a JSON object as Hugging Face writes it")
}

fn of_file(path: &Path, code: &'static str, message: &str) -> Diagnostic {
    Diagnostic::new(code, message)
        .in_file(path.display().to_string())
        .help("fetch the file again from where the model came from")
}

/// A settings file of a model that is not UTF-8.
pub(super) fn not_utf8(path: &Path, valid_up_to: usize) -> Error {
    let diagnostic = of_file(path, "decode/settings", "the model's settings are not UTF-8");
    model(diagnostic.at(Place::Byte(valid_up_to)).allowed("a text file in UTF-8"))
}

/// A settings file that is larger than the limit.
pub(super) fn settings_size(path: &Path, limit: usize) -> Error {
    let error = Limits::exceeded(LimitKind::SourceBytes, limit, "more bytes");
    error.in_file(&path.display().to_string())
}

/// A tokenizer file that cannot be loaded, or a text that cannot be tokenized.
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
