//! The labs: code that reproduces papers, compares methods over many units, and makes training data. No crate of the
//! product imports it.

mod commands;
pub mod flap;
pub mod flow_metrics;
mod flow_queries;
pub mod procedures;
pub mod retrieval;

pub use commands::run;
pub use flow_queries::{Query, queries};
