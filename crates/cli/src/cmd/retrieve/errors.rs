//! Errors of `grammata retrieve`.

use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind};

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

/// The error that the query mode `mode` needs a model, but none is named.
pub fn needs_model(mode: &str) -> Error {
    usage(
        Diagnostic::new("cli/needs-model", "a model writes the queries, but none is named")
            .found(format!("`--query-mode {mode}` without `--model`"))
            .allowed("`--query-mode utterance` or `--query-mode split` without a model")
            .help("add `--model PATH`, a folder or an ONNX file"),
    )
}

pub(super) fn needs_embedder(ranker: &str) -> Error {
    usage(
        Diagnostic::new("cli/needs-embedder", "vectors are compared, but no embedder is named")
            .found(format!("`{ranker}` without `--embedder`"))
            .help("add `--embedder FOLDER`, a folder with model.onnx and tokenizer.json, or take `--ranker lexical`"),
    )
}

pub(super) fn needs_examples() -> Error {
    usage(
        Diagnostic::new("cli/needs-examples", "the few-shot prompt needs answered requests")
            .found("`--query-mode few-shot` without `--few-shot-from`")
            .allowed("a file of requests with the tools that they need")
            .help("add `--few-shot-from FILE`, or take `--query-mode zero-shot`"),
    )
}

/// The warning that a query is longer than the embedder's maximum.
pub(super) fn query_cut(number: usize, kept: usize) -> Diagnostic {
    Diagnostic::new("cli/text-cut", "the embedder reads only the beginning of a query")
        .found(format!("query {number}"))
        .allowed(format!("{kept} tokens"))
        .help("search sentences (`--query-mode split`), or say less")
}
