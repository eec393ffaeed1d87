//! Naive oracles and generators for testing the engine. Not part of the public API.
//!
//! [`agreement`] compares the engine with the oracles.
//!
//! The oracles ([`earley`], [`brute_mask`]) share no code with the engine: they use only the public interface of
//! [`grammar`](grammata::grammar), and are written to be obviously right rather than fast. The generators
//! ([`generate`]) turn a string of bytes into grammars, vocabularies, schemas and walks, so that property tests and
//! fuzzing share them.

pub mod agreement;
pub mod bounded_parts;
pub mod brute_mask;
pub mod budgets;
mod byte_tokens;
pub mod differential;
pub mod distances;
pub mod drafts;
pub mod earley;
mod end_tokens;
pub mod fuzz;
#[cfg(feature = "agents")]
pub mod fuzz_endpoint;
#[cfg(feature = "agents")]
pub mod fuzz_flows;
#[cfg(feature = "agents")]
pub mod fuzz_guard;
mod fuzz_limits;
#[cfg(feature = "agents")]
pub mod fuzz_procedures;
#[cfg(feature = "agents")]
pub mod fuzz_server;
#[cfg(feature = "agents")]
pub mod fuzz_templates;
#[cfg(feature = "agents")]
pub mod fuzz_tools;
pub mod generate;
pub mod growth;
pub mod mask_files;
pub mod names;
mod outcome;
pub mod pressure;
#[cfg(feature = "agents")]
pub mod requests;
#[cfg(feature = "agents")]
pub mod round_trips;
pub mod soak;
pub mod strategies;
mod taken;
pub mod targets;
pub mod token_indices;
pub mod token_sets;
#[cfg(feature = "agents")]
pub mod tool_sessions;
