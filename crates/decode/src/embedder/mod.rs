//! Sentence encoders: their folders and their errors.

pub(crate) mod errors;
mod folder;

pub use folder::EmbedderFolder;
