//! Grammata for C and C++.
//!
//! The header `include/grammata.h` is made of these files by cbindgen, in this order; its comment has the contract of all
//! functions.
//!
//! - `version`, `vocabulary`, `grammar`, `mask_file`, `archive`, `cache`, `matcher`, `steps`, `llama`, `explanation`, `batch` and
//!   `error` have the functions.
//! - `llama_sampler` has what llama.cpp calls of a sampler.
//! - `failure` has the statuses and the errors of the border itself.
//! - `raw` checks what comes from C and gives back what goes there. It alone reads and writes through pointers; in the other
//!   files `unsafe` stands only where a function takes up the contract of the header (`tests.rs` holds them to it).
//! - `options` reads options, which are JSON text: a struct could not grow without breaking who was compiled before.

// the contract of each function is that of the header, which has no sections for Rust
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
