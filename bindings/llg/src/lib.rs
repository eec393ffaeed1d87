//! The functions of llguidance that llama.cpp links, implemented by Grammata: 13 functions and the structs that they
//! take, with the layout of llguidance 1.9.1. `include/llguidance.h` declares them; docs/hosts.md explains how to link
//! the library.
//!
//! - `tokenizer` and `matcher` have the functions.
//! - `abi` has the structs.
//! - `grammar` maps kinds of grammars to sources, `state` follows a text.
//! - `border` checks values from C. It alone reads and writes through pointers; `tokenizer` and `matcher` use `unsafe`
//!   only where a function relies on the contract of the header.

// the contract of each function is in the header, which has no `# Safety` sections
#![allow(clippy::missing_safety_doc)]

pub mod abi;

#[allow(unsafe_code)]
pub mod tokenizer;

#[allow(unsafe_code)]
pub mod matcher;

#[allow(unsafe_code)]
mod border;
mod errors;
mod grammar;
mod state;
#[cfg(test)]
mod tests;
