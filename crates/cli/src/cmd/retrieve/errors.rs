//! Errors of `grammata retrieve`.

grammata_base::errors! {
    pub Usage;

    /// The error that the query mode `mode` needs a model, but none is named.
    needs_model(mode: &str) = "cli/needs-model", "a model writes the queries, but none is named"
        found("`--query-mode {mode}` without `--model`")
        allowed("`--query-mode utterance` or `--query-mode split` without a model")
        help("add `--model PATH`, a folder or an ONNX file");
}

grammata_base::errors! {
    pub(super) Usage;

    needs_embedder(ranker: &str) = "cli/needs-embedder", "vectors are compared, but no embedder is named"
        found("`{ranker}` without `--embedder`")
        help("add `--embedder FOLDER`, a folder with model.onnx and tokenizer.json, or take `--ranker lexical`");

    needs_examples() = "cli/needs-examples", "the few-shot prompt needs answered requests"
        found("`--query-mode few-shot` without `--few-shot-from`")
        allowed("a file of requests with the tools that they need")
        help("add `--few-shot-from FILE`, or take `--query-mode zero-shot`");

    /// The warning that a query is longer than the embedder's maximum.
    query_cut(number: usize, kept: usize) =
        Diagnostic "cli/text-cut", "the embedder reads only the beginning of a query"
        found("query {number}")
        allowed("{kept} tokens")
        help("search sentences (`--query-mode split`), or say less");
}
