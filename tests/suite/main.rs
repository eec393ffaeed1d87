//! The test suite: one module a topic.

mod earley;
mod engine_properties;
mod fuzz_regressions;
mod texts;
mod vocabulary;
mod vocabulary_load;
