//! The test suite, through the public API: one module a topic.

mod chat_template;
mod decode_ort;
mod generation;
mod sampler;
mod text_stream;
mod texts;
mod vocabulary;
mod vocabulary_load;
