//! Grammata for C and C++.
//!
//! cbindgen generates the header `include/grammata.h` from these files, in this order; a comment in it has the contract
//! of all functions.
//!
//! - `version`, `vocabulary`, `grammar`, `mask_file`, `archive`, `token_index`, `cache`, `matcher`, `steps`, `event`, `draft`,
//!   `llama`, `explanation`, `batch` and `error` have the functions.
//! - `llama_sampler` has the functions that llama.cpp calls.
//! - `failure` has the statuses and the errors of the C interface itself.
//! - `raw` checks values from C and returns values to C. It alone reads and writes through pointers. `llama_sampler`
//!   uses `unsafe` also to call llama.cpp; the other files use it only where a function relies on the contract of the
//!   header (`tests.rs` enforces this).
//! - `options` reads options as JSON text: a struct could not grow without breaking compiled callers.

// the contract of each function is in the header, which has no `# Safety` sections
#![allow(clippy::missing_safety_doc)]

pub mod failure;

#[allow(unsafe_code)]
pub mod version;

#[allow(unsafe_code)]
pub mod vocabulary;

#[allow(unsafe_code)]
pub mod grammar;

#[allow(unsafe_code)]
pub mod mask_file;

#[allow(unsafe_code)]
pub mod archive;

#[allow(unsafe_code)]
pub mod token_index;

#[allow(unsafe_code)]
pub mod cache;

#[allow(unsafe_code)]
pub mod matcher;

#[allow(unsafe_code)]
pub mod steps;

#[allow(unsafe_code)]
pub mod event;

#[allow(unsafe_code)]
pub mod draft;

#[allow(unsafe_code)]
pub mod llama;

#[allow(unsafe_code)]
pub mod llama_sampler;

#[allow(unsafe_code)]
pub mod explanation;

#[allow(unsafe_code)]
pub mod batch;

#[allow(unsafe_code)]
pub mod error;

mod options;
#[allow(unsafe_code)]
mod raw;
#[cfg(test)]
mod tests;
