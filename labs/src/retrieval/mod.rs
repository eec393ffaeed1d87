//! Retrieval of tools, measured, and the data that a model is trained on to write queries.

pub mod drafts;
mod errors;
pub mod metrics;
pub mod pools;
pub mod training;
