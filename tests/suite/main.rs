//! The test suite: one module a topic, data under `tests/cases` and `tests/diagnostics`.

mod automaton_spec;
mod chat_template;
mod cli;
mod cli_generate;
mod decode_ort;
mod diagnostics;
mod earley;
mod engine_properties;
mod fuzz_regressions;
mod gbnf;
mod generation;
mod grammar_analysis;
mod grammars;
mod hostile;
mod json_schema;
mod language;
mod maskbench;
mod model_folder;
mod regex;
mod sampler;
mod text_stream;
mod texts;
mod tidy;
mod vocabulary;
mod vocabulary_load;
