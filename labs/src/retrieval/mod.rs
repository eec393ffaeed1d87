//! Evaluates the retrieval of tools, and writes data for training models that write queries.

pub mod drafts;
mod errors;
pub mod metrics;
pub mod pools;
pub mod training;
