//! The integration tests: one module a topic, data under `tests/cases` and `tests/diagnostics`.

mod diagnostics;
mod gbnf;
mod grammar_analysis;
mod naive;
mod regex;
