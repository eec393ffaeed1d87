//! The test suite: one module a topic.

mod texts;
mod vocabulary;
mod vocabulary_load;
