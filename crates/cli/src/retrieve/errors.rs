//! Errors of `grammata retrieve`.

use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind};

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn needs_model(mode: &str) -> Error {
    usage(
        Diagnostic::new("cli/needs-model", "a model writes the queries, but none is named")
            .found(format!("`--mode {mode}` without `--model`"))
            .allowed("`--mode utterance` or `--mode split` without a model")
            .help("add `--model PATH`, a folder or an ONNX file"),
    )
}

pub(super) fn needs_embedder(ranker: &str) -> Error {
    usage(
        Diagnostic::new("cli/needs-embedder", "vectors are compared, but no embedder is named")
            .found(format!("`{ranker}` without `--embedder`"))
            .help("add `--embedder FOLDER` (`cargo xtask setup` makes .models/minilm), or take `--ranker lexical`"),
    )
}

pub(super) fn needs_examples() -> Error {
    usage(
        Diagnostic::new("cli/needs-examples", "the few-shot prompt needs answered requests")
            .found("`--mode few_shot` without `--examples`")
            .allowed("a file of requests with the tools that they need")
            .help("add `--examples FILE`, or take `--mode zero_shot`"),
    )
}

pub(super) fn no_requests() -> Error {
    usage(
        Diagnostic::new("cli/no-requests", "there is no request to measure with")
            .allowed("requests of which this catalogue has all needed tools, at most k of them")
            .help("name a file with `--requests FILE`, and let `--where` keep some of it"),
    )
}

pub(super) fn other_units(found: usize, expected: usize) -> Error {
    usage(
        Diagnostic::new("cli/other-requests", "the two runs have no request in common")
            .found(format!("{found} requests"))
            .allowed(format!("some of the {expected} requests of this run"))
            .help("compare runs over the same requests"),
    )
}

/// A query that is longer than the embedder reads.
pub(super) fn query_cut(number: usize, kept: usize) -> Diagnostic {
    Diagnostic::new("cli/text-cut", "the embedder reads only the beginning of a query")
        .found(format!("query {number}"))
        .allowed(format!("{kept} tokens"))
        .help("search sentences (`--mode split`), or say less")
}
