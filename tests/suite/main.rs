//! The test suite: one module a topic, data under `tests/cases` and `tests/diagnostics`.

mod diagnostics;
mod earley;
mod engine_properties;
mod fuzz_regressions;
mod gbnf;
mod grammar_analysis;
mod naive;
mod regex;
mod texts;
mod vocabulary;
mod vocabulary_load;
