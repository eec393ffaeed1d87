//! The crate's tests, through its public API.

mod chat_template;
mod decode_ort;
mod generation;
mod model_folder;
mod sampler;
mod text_stream;
