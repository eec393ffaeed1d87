//! The tests of decoding: one module for each topic.

mod adjusted_logits;
mod chat_template;
mod decode_batches;
mod decode_device;
mod decode_drivers;
mod decode_exact;
mod decode_ort;
mod decode_overlap;
mod decode_scheduler;
mod decode_schemas;
mod decode_searches;
mod decode_special_tokens;
mod embedder;
mod faulty_device;
mod generation;
mod model_folder;
mod models;
mod sampler;
mod text_stream;

#[path = "../../../../tests/suite/properties.rs"]
#[allow(dead_code)] // other test programs that include the file use more of it
mod properties;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
