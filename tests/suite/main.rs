//! The test suite: one module a topic.

mod earley;
mod engine_properties;
mod texts;
mod vocabulary;
mod vocabulary_load;
