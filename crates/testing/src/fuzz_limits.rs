//! The limits of fuzz targets and of random cases.

use grammata::limits::Limits;

/// Limits low enough that an input of a few kilobytes reaches them.
pub(super) fn limits() -> Limits {
    Limits::default()
        .source_bytes(1 << 16)
        .source_depth(500)
        .pattern_bytes(1 << 12)
        .grammar_nodes(20_000)
        .automaton_states(50_000)
        .cache_bytes(4 << 20)
        .lockstep_search(200)
        .plan_states(2_000)
        .procedure_nodes(200)
        .tokenizer_bytes(1 << 16)
        .vocabulary_tokens(1 << 12)
        .token_bytes(1 << 8)
}

/// Limits small enough to end expensive random cases soon.
pub(super) fn small_limits() -> Limits {
    Limits::default().lockstep_search(300).completion_search(2000).cache_bytes(4 << 20)
}
